"""Pictures of what an additive model has learnt: a curve for each column, and how much it counts.

Beneath each curve stands the noisy marginal of the column, roots of shares. Where there are no
data, as far as it tells, the ground is shaded and the curve is dotted. All of it was released.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._types import Booleans
from discreet.additive.column_shape import ColumnShape
from discreet.errors import InputError
from discreet.preprocessing import Numeric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOUR, GROUND, MARGINAL = "#1f5fa8", "#ececec", "#b9c7d8"
WIDTH, HEIGHT, ACROSS = 3.6, 2.7, 3
LONGEST_NAME, LONGEST_LINE = 14, 10
ROOM = 42
"""For letters beneath a picture."""

LONGEST_GAP = 12
"""So many cells between others are drawn as these are."""

MOST_LEVELS = 24
"""More levels are not named in a picture."""


def start_figure(width: float, height: float) -> Figure:
    """Return an empty figure, without a window; notebooks show it, with or without pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'discreet[plot]'.") from None

    class Picture(Figure):
        def _repr_html_(self) -> str:
            self.savefig(written := BytesIO(), format="png", dpi=90)
            return f'<img src="data:image/png;base64,{b64encode(written.getvalue()).decode()}">'

    return Picture(figsize=(width, height), layout="constrained")


def draw_shapes(
    shapes: Mapping[str, ColumnShape], adds: str, classes: Sequence[Any] | None
) -> Figure:
    """Return a figure with a picture for each column; all have one scale of values.

    ``adds`` says what values are; ``classes`` names the lines, if there are several.
    """
    across = min(ACROSS, len(shapes))
    down = -(-len(shapes) // across)
    figure = start_figure(max(WIDTH * across, 6.4), HEIGHT * down + 0.6)
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for axes, (name, shape) in zip(grid.flat, shapes.items(), strict=False):
        draw_shape(axes, name, shape)
    for axes in grid.flat[len(shapes) :]:
        axes.set_visible(False)
    has_bands = any(shape.band is not None for shape in shapes.values())
    beside = "\nbands: how far noise for privacy may have moved it" if has_bands else ""
    figure.suptitle(as_plain(f"What each column {adds}{beside}"), fontsize=10)
    if classes is not None:
        figure.legend([as_plain(name) for name in classes], loc="outside lower center", ncols=8)
    return figure


def as_plain(name: Any) -> str:
    """Return a name as pictures show it: between two dollars there is no formula."""
    return str(name).replace("$", r"\$")


def draw_shape(axes: Any, name: str, shape: ColumnShape) -> None:
    """Draw one column: a curve for numbers, points for levels."""
    axes.axhline(0, color="0.5", lw=0.8, zorder=1)
    draw = _draw_numbers if isinstance(shape.column, Numeric) else _draw_levels
    draw(axes, shape)
    share = shape.shares[-1]
    told = f"\n{share:.1%} {_absent(shape)}: {_list_signed(shape.missing)}"
    beside = told if shape.shows_missing else ""
    axes.set_title(as_plain(f"{name}{beside}"), fontsize=10)
    axes.tick_params(labelsize=8)


def _absent(shape: ColumnShape) -> str:
    return "missing" if isinstance(shape.column, Numeric) else "anything else"


def _list_signed(values: Any) -> str:
    return ", ".join(f"{value:+.2g}" for value in np.atleast_1d(values))


def _draw_numbers(axes: Any, shape: ColumnShape) -> None:
    edges, middles = shape.drawn_edges, shape.middles
    known = shape.has_data if shape.is_whole else _close_gaps(shape.has_data)
    for begin, end in _stretches(~known):
        axes.axvspan(edges[begin], edges[end], color=GROUND, lw=0, zorder=0)
    below = _marginal_axes(axes, shape)
    below.stairs(np.sqrt(shape.shares[:-1]), edges, fill=True, color=MARGINAL)
    for place, line in enumerate(np.atleast_2d(shape.values)):
        colour = COLOUR if shape.values.ndim == 1 else f"C{place}"
        dot = "." if shape.is_whole and middles.size <= MOST_LEVELS else ""
        axes.plot(middles, np.where(known, line, np.nan), dot + "-", color=colour, lw=1.8, zorder=3)
        axes.plot(middles, line, color=colour, lw=0.7, ls=":", zorder=2, label="_unknown")
        if shape.band is not None:
            band = np.atleast_2d(shape.band)[place]
            axes.fill_between(
                middles, line - band, line + band, where=known, color=colour, alpha=0.2, lw=0
            )
    axes.set_xlim(edges[0], edges[-1])


def _close_gaps(known: Booleans) -> Booleans:
    """Take short gaps for known: whole numbers fill one cell of several, and leave a comb."""
    closed = known.copy()
    for begin, end in _stretches(~known):
        if begin > 0 and end < known.size and end - begin <= LONGEST_GAP:
            closed[begin:end] = True
    return closed


def _draw_levels(axes: Any, shape: ColumnShape) -> None:
    places = np.arange(len(shape.levels))
    for begin, end in _stretches(~shape.has_data):
        axes.axvspan(begin - 0.5, end - 0.5, color=GROUND, lw=0, zorder=0)
    below = _marginal_axes(axes, shape)
    below.bar(places, np.sqrt(shape.shares[:-1]), color=MARGINAL, width=0.8)
    for place, line in enumerate(np.atleast_2d(shape.values)):
        colour = COLOUR if shape.values.ndim == 1 else f"C{place}"
        axes.plot(places, line, "o", color=colour, ms=5, zorder=3)
        axes.vlines(places, 0, line, color=colour, lw=1.2, zorder=2)
        if shape.band is not None:
            band = np.atleast_2d(shape.band)[place]
            axes.errorbar(places, line, band, fmt="none", color=colour, alpha=0.5, capsize=2)
    axes.set_xlim(-0.6, places.size - 0.4)
    if places.size <= MOST_LEVELS:
        names = [_shorten(str(level)) for level in shape.levels]
        lines = [wrap(name, LONGEST_LINE) for name in names]
        if places.size * max(len(line) for name in lines for line in name) <= ROOM:
            axes.set_xticks(places, [as_plain("\n".join(name)) for name in lines])
        else:
            axes.set_xticks(places, list(map(as_plain, names)), rotation=45, ha="right")
    else:
        axes.set_xlabel(f"{places.size} levels", fontsize=8)


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _marginal_axes(axes: Any, shape: ColumnShape) -> Any:
    """Return axes for the roots of shares, in the lowest fifth of a picture, behind its curve.

    Roots, because of many columns most values are in one cell.
    """
    below = axes.twinx()
    below.set_ylim(0, 5 * max(float(shape.shares[:-1].max()) ** 0.5, 1e-9))
    below.set_yticks([])
    below.set_zorder(0)
    axes.set_zorder(1)
    axes.patch.set_visible(False)
    return below


def _stretches(marks: Booleans) -> list[tuple[int, int]]:
    """Return where stretches of marked cells begin and end.

    Examples
    --------
    >>> _stretches(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    turns = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]])))
    return [(int(begin), int(end)) for begin, end in pairwise(turns.tolist())][::2]


def draw_importance(importance: Mapping[str, float]) -> Figure:
    """Return a figure with a bar for each column, the longest on top."""
    figure = start_figure(6.4, 0.9 + 0.26 * len(importance))
    axes = figure.add_subplot()
    places = range(len(importance))
    axes.barh(places, list(importance.values()), color=COLOUR, height=0.7)
    axes.set_yticks(places, list(map(as_plain, importance)))
    axes.invert_yaxis()
    axes.set_xlabel("importance: standard deviation of what a column adds", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
