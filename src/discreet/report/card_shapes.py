"""Shapes of an additive model on its card: a small picture of each column, and a table.

Every number was released; nothing is fetched, and a picture has a title for readers who cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Protocol

from discreet._page import escape_html
from discreet._types import Json
from discreet.errors import InputError, InputTypeError

MOST_SHAPES = 60
"""So many are drawn; of more, the most important."""

LEAST_SHARE = 1e-4
"""Values of a smaller share of rows have no data, as far as the noisy marginal tells."""


class ShapeOfColumn(Protocol):
    """What a card asks of shapes, such as those of an additive model's ``shapes_``."""

    def to_json(self) -> Json:
        """Return importance, ends or levels, values, shares, and what is missing."""


def document_of_shapes(shapes: Mapping[str, ShapeOfColumn]) -> list[Json]:
    """Return what a card says of shapes, the most important first."""
    if not isinstance(shapes, Mapping) or not all(
        hasattr(one, "to_json") for one in shapes.values()
    ):
        raise InputTypeError(
            "shapes must be those of an additive model, model.shapes_; got a value of type "
            f"{type(shapes).__name__}."
        )
    listed: list[Json] = [{"column": str(name)} | shape.to_json() for name, shape in shapes.items()]
    return sorted(listed, key=_importance_of, reverse=True)[:MOST_SHAPES]


def _importance_of(shape: Json) -> float:
    return float(shape["importance"])


def check_shapes(shapes: list[Json]) -> None:
    """Raise if the parts of a shape do not fit together."""
    for shape in shapes:
        known = len(shape["values"])
        levels, ends = shape["levels"], shape["ends"]
        agrees = (
            known == len(shape["shares"]) > 0
            and (levels is None) != (ends is None)
            and (levels is None or len(levels) == known)
            and (ends is None or (len(ends) == 2 and ends[0] < ends[1]))
        )
        if not agrees:
            raise InputError("a shape on this card does not agree with itself; make it again.")


def describe_shape(shape: Json) -> tuple[str, ...]:
    """Return a line of a table: column, importance, where least and most is added, missing."""
    values, shares = shape["values"], shape["shares"]
    places = [place for place, share in enumerate(shares) if share > LEAST_SHARE]
    places = places or list(range(len(values)))
    least, most = (choose(places, key=values.__getitem__) for choose in (min, max))
    missing = "" if shape["missing"] is None else f"{shape['missing']:+.3g}"
    told = (f"{values[place]:+.3g} at {name_place(shape, place)}" for place in (least, most))
    return (shape["column"], f"{shape['importance']:.3g}", *told, missing)


def name_place(shape: Json, place: int) -> str:
    """Return the level at a place, or the number in its middle."""
    if shape["levels"] is not None:
        return str(shape["levels"][place])
    low, high = shape["ends"]
    digits = 10 if shape.get("is_whole") else 4
    return f"{low + (high - low) * (place + 0.5) / len(shape['values']):.{digits}g}"


LEFT, WIDTH, RIGHT, HEIGHT, FLOOR = 34.0, 208.0, 10.0, 116.0, 22.0
"""Of a picture: margins, how large it is, and the marginal beneath its curve."""

LETTER, LINE = 6.3, 13.0
"""How wide and how high letters are."""

LONGEST_GAP = 3
"""So many parts between others are not shaded: whole numbers would leave a comb."""


@dataclass(frozen=True)
class HeightScale:
    """From the least to the largest value of all shapes where there are data; zero is in it."""

    low: float
    high: float

    def height(self, value: float) -> float:
        """Return how far below the top of a picture a value stands; at an end if beyond it."""
        place = (self.high - value) / ((self.high - self.low) or 1.0)
        return 5 + min(max(place, 0.0), 1.0) * (HEIGHT - 10)

    def ticks(self) -> str:
        """Return what stands at the left: both ends, and zero if there is room beside it."""
        zero = self.height(0.0)
        shown = [value for value in (self.high, self.low) if abs(self.height(value) - zero) > LINE]
        return "".join(
            _write(f"{value:+.2g}" if value else "0", LEFT - 4, self.height(value) + 4, "end")
            for value in (*shown, 0.0)
        )


def draw_shapes(shapes: list[Json]) -> str:
    """Return SVG pictures of shapes, all on one scale of values."""
    values = [
        value
        for shape in shapes
        for value, share in zip(shape["values"], shape["shares"], strict=True)
        if share > LEAST_SHARE
    ]
    scale = HeightScale(min(0.0, *values), max(0.0, *values))
    return f'<div class="shapes">{"".join(_draw(shape, scale) for shape in shapes)}</div>'


def _draw(shape: Json, scale: HeightScale) -> str:
    values, shares = shape["values"], shape["shares"]
    step, tall = WIDTH / len(values), FLOOR / max(max(shares) ** 0.5, 1e-9)
    parts = [_box("empty", LEFT + begin * step, HEIGHT, (end - begin) * step, HEIGHT)
             for begin, end in list_empty(shape)]  # fmt: skip
    wide = step if shape["levels"] is None else 0.8 * step
    parts += [
        _box("marginal", LEFT + (place + 0.5) * step - wide / 2, HEIGHT, wide, share**0.5 * tall)
        for place, share in enumerate(shares)
        if share > LEAST_SHARE
    ]
    zero = f'y1="{scale.height(0.0):.1f}" y2="{scale.height(0.0):.1f}"'
    parts.append(f'<line class="blind" x1="{LEFT:g}" x2="{LEFT + WIDTH:g}" {zero}/>')
    points = [
        (LEFT + (place + 0.5) * step, scale.height(value)) for place, value in enumerate(values)
    ]
    if shape["levels"] is None:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="curve" points="{line}"/>')
    else:
        parts += [f'<circle class="level" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points]
    parts.append(f'<rect class="frame" x="{LEFT:g}" y="0" width="{WIDTH:g}" height="{HEIGHT:g}"/>')
    below, rows, beside = _name_values(shape)
    words = escape_html(": ".join(describe_shape(shape)[::2][:2]))
    return (
        f"<figure><figcaption><b>{escape_html(shape['column'])}</b>{beside}</figcaption>"
        f'<svg viewBox="0 0 {LEFT + WIDTH + RIGHT:g} {HEIGHT + rows * LINE + 6:g}" role="img">'
        f"<title>{words}</title>{''.join(parts)}{scale.ticks()}{below}</svg></figure>"
    )


def list_empty(shape: Json) -> list[tuple[int, int]]:
    """Return where stretches without data begin and end; of numbers no short ones between others.

    Of numbers that are declared as whole ones all stretches count.

    Examples
    --------
    >>> list_empty({"shares": [0, 0.5, 0, 0.5, 0, 0, 0, 0, 0.5], "levels": None})
    [(0, 1), (4, 8)]
    """
    shares, stretches = shape["shares"], list[tuple[int, int]]()
    has_gaps = shape["levels"] is None and not shape.get("is_whole")
    for is_empty, places in groupby(range(len(shares)), lambda place: shares[place] <= LEAST_SHARE):
        listed = list(places)
        begin, end = listed[0], listed[-1] + 1
        is_short = end - begin <= LONGEST_GAP and 0 < begin < end < len(shares)
        if is_empty and not (is_short and has_gaps):
            stretches.append((begin, end))
    return stretches


def _name_values(shape: Json) -> tuple[str, int, str]:
    """Return names beneath a picture, in how many rows, and what stands above if none fit."""
    if shape["levels"] is None:
        low, high = shape["ends"]
        ends = ((low, 0.0, "start"), ((low + high) / 2, 0.5, "middle"), (high, 1.0, "end"))
        texts = [_write(f"{x:.4g}", LEFT + at * WIDTH, HEIGHT + LINE, how) for x, at, how in ends]
        return "".join(texts), 1, ""
    names = [str(level) for level in shape["levels"]]
    slot = WIDTH / len(names)
    lines = [wrap(name, max(int(slot / LETTER), 1), break_long_words=False) for name in names]
    if (
        max(map(len, lines)) > 2
        or max(len(each) for name in lines for each in name) > slot / LETTER
    ):
        if max(map(len, names)) * LETTER > slot + 2 * RIGHT:
            return "", 0, f"<br>from left to right: {escape_html(', '.join(names))}"
        lines = [[name] if place % 2 == 0 else ["", name] for place, name in enumerate(names)]
    texts = [
        _write(line, LEFT + (place + 0.5) * slot, HEIGHT + (row + 1) * LINE, "middle")
        for place, name in enumerate(lines)
        for row, line in enumerate(name)
        if line
    ]
    return "".join(texts), max(map(len, lines)), ""


def _write(text: str, x: float, y: float, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="tick" {place}>{escape_html(text)}</text>'


def _box(kind: str, x: float, bottom: float, width: float, height: float) -> str:
    place = f'x="{x:.1f}" y="{bottom - height:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {place}/>'
