"""The trade-off curve as a drawing inside of a page.

The trade-off function, as SVG.
"""

from __future__ import annotations

import math

from discreet._html import escape_html
from discreet.report.tradeoff import Tradeoff

LEFT, TOP, SIDE = 62.0, 14.0, 300.0
WIDTH, HEIGHT = 384, 372
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_tradeoff(curve: Tradeoff, words: str) -> str:
    """Return SVG of the curve; its title and description serve readers who cannot see it."""
    corners = list(zip(curve.alarms, curve.least_misses, strict=True))
    line = " ".join(f"{_x(alarms)},{_y(misses)}" for alarms, misses in corners)
    floor = f"{_x(0)},{_y(0)} {line} {_x(1)},{_y(0)}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="curve-title curve-desc">'
        '<title id="curve-title">Trade-off curve: misses against false alarms</title>'
        f'<desc id="curve-desc">{escape_html(words)}</desc>'
        f'<polygon class="impossible" points="{floor}"/>'
        f"{_axes()}"
        f'<line class="blind" x1="{_x(0)}" y1="{_y(1)}" x2="{_x(1)}" y2="{_y(0)}"/>'
        f'<polyline class="curve" points="{line}"/>'
        f'<text class="note" x="{_x(0.985)}" y="{_y(0.93)}" text-anchor="end">'
        "dashed: blind guessing</text>"
        f'<text class="note" x="{_x(0.985)}" y="{_y(0.86)}" text-anchor="end">'
        "line: the best attacker</text>"
        f'<text class="note" x="{_x(0.985)}" y="{_y(0.79)}" text-anchor="end">'
        "shaded: no attack gets here</text>"
        "</svg>"
    )


def _axes() -> str:
    parts = [
        f'<rect class="frame" x="{_x(0)}" y="{_y(1)}" width="{SIDE:g}" height="{SIDE:g}"/>',
        f'<text x="{_x(0.5)}" y="{HEIGHT - 8}" text-anchor="middle">false alarms</text>',
        f'<text transform="translate(16 {_y(0.5)}) rotate(-90)" text-anchor="middle">misses</text>',
    ]
    for tick in TICKS:
        percent = f"{100 * tick:.0f} %"
        parts.append(
            f'<text class="tick" x="{_x(tick)}" y="{TOP + SIDE + 17:g}" text-anchor="middle">'
            f"{percent}</text>"
            f'<text class="tick" x="{LEFT - 7:g}" y="{float(_y(tick)) + 4:g}" text-anchor="end">'
            f"{percent}</text>"
        )
    return "".join(parts)


def _x(share: float) -> str:
    return f"{LEFT + SIDE * share:.3f}"


def _y(share: float) -> str:
    """Return a height, rounded downwards: no drawn bound is above the true one."""
    return f"{math.ceil(1000 * (TOP + SIDE * (1 - share))) / 1000:.3f}"
