"""Pictures of a description: a histogram for numbers, bars with intervals for levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._page import INK, LINES, PALE
from discreet.additive.pictures import as_plain, start_figure
from discreet.preprocessing import Numeric
from discreet.statistics.column_description import ColumnDescription

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT, ACROSS = 3.6, 2.5, 3

MOST_LEVELS = 16
"""More levels are not named."""

Columns = Mapping[str, ColumnDescription]


def draw_description(columns: Columns, groups: Mapping[str, Columns]) -> Figure:
    """Return a figure with a picture for each column; groups, if there are any, are lines."""
    across = min(ACROSS, len(columns))
    down = -(-len(columns) // across)
    figure = start_figure(max(WIDTH * across, 6.4), HEIGHT * down + 0.5)
    grid = figure.subplots(down, across, squeeze=False)
    for axes, (name, column) in zip(grid.flat, columns.items(), strict=False):
        parts = {group: found[name] for group, found in groups.items() if name in found}
        if isinstance(column.declared, Numeric):
            _draw_numbers(axes, column, parts)
        else:
            _draw_levels(axes, column, parts)
        axes.set_title(as_plain(name), fontsize=10)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid.flat[len(columns) :]:
        axes.set_visible(False)
    if groups:
        marks = [figure.axes[0].plot([], [], color=colour)[0] for colour in _colours(groups)]
        figure.legend(marks, list(map(as_plain, groups)), loc="outside lower center", ncols=8)
    return figure


def _colours(groups: Mapping[str, Any]) -> list[str]:
    return [LINES[place % len(LINES)] for place in range(len(groups))]


def _draw_numbers(axes: Any, column: ColumnDescription, parts: Columns) -> None:
    """Draw how values are spread; of groups shares, so that they can be compared."""
    edges, counts = column.histogram()
    middle = column.statistics["50 %"]
    if parts:
        for part, colour in zip(parts.values(), _colours(parts), strict=True):
            found = part.histogram()[1]
            axes.stairs(found / max(float(found.sum()), 1e-9), edges, color=colour, lw=1.4)
        axes.set_ylabel("share of rows", fontsize=8)
    else:
        axes.stairs(counts, edges, fill=True, color=LINES[0], alpha=0.55)
        axes.axvspan(middle.low, middle.high, color=INK, alpha=0.15, lw=0)
        axes.axvline(middle.value, color=INK, lw=1.2)
        axes.set_ylabel("rows", fontsize=8)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(bottom=0)


def _draw_levels(axes: Any, column: ColumnDescription, parts: Columns) -> None:
    """Draw the share of each level, with its interval."""
    shown: Columns = parts or {"": column}
    places, height = np.arange(len(column.levels)), 0.8 / len(shown)
    for number, (part, colour) in enumerate(zip(shown.values(), _colours(shown), strict=True)):
        shares = [part.statistics["share", level] for level in column.levels]
        values = np.array([share.value for share in shares])
        ends = np.array([[share.low for share in shares], [share.high for share in shares]])
        axes.barh(
            places + height * (number + 0.5) - 0.4, values, height, color=colour,
            alpha=0.55, xerr=np.abs(ends - values), ecolor=INK, error_kw={"lw": 1},
        )  # fmt: skip
    axes.invert_yaxis()
    axes.set_xlabel("share of rows", fontsize=8)
    axes.xaxis.grid(visible=True, color=PALE)
    axes.set_axisbelow(True)
    if places.size <= MOST_LEVELS:
        names = (level if len(level) <= 18 else level[:17] + "…" for level in column.levels)
        axes.set_yticks(places, list(map(as_plain, names)))
    else:
        axes.set_ylabel(f"{places.size} levels", fontsize=8)
        axes.set_yticks([])
