"""Words and bars for a terminal 78 columns wide, with or without Unicode, with or without a tty."""

from __future__ import annotations

import textwrap

from discreet._progress import WIDTH, can_show
from discreet.demo.accuracy_curve import Spread

STRIP = 30


def print_title(text: str) -> None:
    """Print a heading."""
    rule = "─" if can_show("─") else "-"
    print(f"\n{text}\n{rule * WIDTH}", flush=True)


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "), flush=True)


def draw_strip(spread: Spread, *, start: float, stop: float, marks: tuple[float, ...]) -> str:
    """Draw a band, its middle, and marks to compare it with, on a scale from start to stop.

    Examples
    --------
    >>> len(draw_strip(Spread(0.6, 0.65, 0.7), start=0.5, stop=0.8, marks=(0.75,)))
    30
    """

    def place(value: float) -> int:
        return min(STRIP - 1, max(0, round((value - start) / (stop - start) * (STRIP - 1))))

    line, dot, mark = ("━", "●", "┊") if can_show("━●┊") else ("=", "O", ":")
    cells = [" "] * STRIP
    for value in marks:
        cells[place(value)] = mark
    for cell in range(place(spread.low), place(spread.high) + 1):
        cells[cell] = line
    cells[place(spread.median)] = dot
    return "".join(cells)
