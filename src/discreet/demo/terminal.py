"""Words and bars for a terminal 78 columns wide, with or without Unicode, with or without a tty."""

from __future__ import annotations

import sys
import textwrap
import time
from types import TracebackType
from typing import Self

from discreet.demo.curve import Spread

WIDTH = 78
BAR = 30
STRIP = 30


def title(text: str) -> None:
    """Print a heading."""
    rule = "─" if _has("─") else "-"
    print(f"\n{text}\n{rule * WIDTH}", flush=True)


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "), flush=True)


def bar(share: float) -> str:
    """Draw how much of a whole there is.

    Examples
    --------
    >>> len(bar(0.5))
    32
    """
    full = round(BAR * min(1.0, max(0.0, share)))
    filled, empty = ("█", "░") if _has("█░") else ("#", ".")
    return f"[{filled * full}{empty * (BAR - full)}]"


def strip(spread: Spread, *, start: float, stop: float, marks: tuple[float, ...]) -> str:
    """Draw a band, its middle, and marks to compare it with, on a scale from start to stop.

    Examples
    --------
    >>> len(strip(Spread(0.6, 0.65, 0.7), start=0.5, stop=0.8, marks=(0.75,)))
    30
    """

    def place(value: float) -> int:
        return min(STRIP - 1, max(0, round((value - start) / (stop - start) * (STRIP - 1))))

    line, dot, mark = ("━", "●", "┊") if _has("━●┊") else ("=", "O", ":")
    cells = [" "] * STRIP
    for value in marks:
        cells[place(value)] = mark
    for cell in range(place(spread.low), place(spread.high) + 1):
        cells[cell] = line
    cells[place(spread.median)] = dot
    return "".join(cells)


class Progress:
    """A bar that stays below the lines printed meanwhile; without a tty only the lines appear."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._done = 0
        self._start = time.monotonic()
        self._is_shown = sys.stdout.isatty()

    def __enter__(self) -> Self:
        self._draw()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clear()

    def step(self) -> None:
        """Count one step."""
        self._done += 1
        self._draw()

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._clear()
        print(text, flush=True)
        self._draw()

    def _draw(self) -> None:
        if not self._is_shown:
            return
        left = ""
        if 0 < self._done < self._steps:
            passed = time.monotonic() - self._start
            left = f"about {passed / self._done * (self._steps - self._done):.0f} s left"
        text = f"    {bar(self._done / self._steps)} {self._done} of {self._steps} fits  {left}"
        print(f"\r{text:<{WIDTH}}", end="", flush=True)

    def _clear(self) -> None:
        if self._is_shown:
            print(f"\r{'':<{WIDTH}}\r", end="", flush=True)


def _has(characters: str) -> bool:
    """Say whether the terminal can show these characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
