"""Shapes of an additive model on its card: a small picture of each column, and a table.

Every number was released; nothing is fetched, and a picture has a title for readers who cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    return f"{low + (high - low) * (place + 0.5) / len(shape['values']):.4g}"


WIDTH, HEIGHT, FLOOR = 220.0, 120.0, 20.0
"""Of a picture, and of the marginal beneath its curve."""


def draw_shapes(shapes: list[Json]) -> str:
    """Return SVG pictures of shapes, all on one scale of values."""
    largest = max((abs(value) for shape in shapes for value in shape["values"]), default=0.0)
    return f'<div class="shapes">{"".join(_draw(shape, largest or 1.0) for shape in shapes)}</div>'


def _draw(shape: Json, largest: float) -> str:
    values, shares = shape["values"], shape["shares"]
    step, top = WIDTH / len(values), max(max(shares) ** 0.5, 1e-9)
    middle = HEIGHT / 2

    def height(value: float) -> float:
        return middle - value / largest * (middle - 6)

    parts = []
    for place, share in enumerate(shares):
        left = place * step
        if share <= LEAST_SHARE:
            parts.append(_box("empty", left, 0, step, HEIGHT))
            continue
        tall = share**0.5 / top * FLOOR
        parts.append(_box("marginal", left, HEIGHT - tall, step, tall))
    parts.append(f'<line class="blind" x1="0" x2="{WIDTH:g}" y1="{middle:g}" y2="{middle:g}"/>')
    centres = [(place + 0.5) * step for place in range(len(values))]
    if shape["levels"] is None:
        line = " ".join(f"{x:.1f},{height(y):.1f}" for x, y in zip(centres, values, strict=True))
        parts.append(f'<polyline class="curve" points="{line}"/>')
    else:
        parts += [
            f'<circle class="level" cx="{x:.1f}" cy="{height(y):.1f}" r="3"/>'
            for x, y in zip(centres, values, strict=True)
        ]
    words = escape_html(": ".join(describe_shape(shape)[::2][:2]))
    name = escape_html(shape["column"])
    ends = f"{name_ends(shape)[0]} … {name_ends(shape)[1]}"
    return (
        f'<figure><svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img"><title>{words}</title>'
        f"{''.join(parts)}</svg><figcaption><b>{name}</b><br>{escape_html(ends)}</figcaption></figure>"
    )


def name_ends(shape: Json) -> tuple[str, str]:
    """Return what stands at the left and at the right of a picture."""
    if shape["levels"] is not None:
        return str(shape["levels"][0]), str(shape["levels"][-1])
    return f"{shape['ends'][0]:.4g}", f"{shape['ends'][1]:.4g}"


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    )
