"""A progress bar for terminals, with or without Unicode; nothing where there is no terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

WIDTH = 78
BAR = 30


def can_show(characters: str) -> bool:
    """Say whether the terminal can show these characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def bar(share: float) -> str:
    """Draw how much of a whole there is.

    Examples
    --------
    >>> len(bar(0.5))
    32
    """
    full = round(BAR * min(1.0, max(0.0, share)))
    filled, empty = ("█", "░") if can_show("█░") else ("#", ".")
    return f"[{filled * full}{empty * (BAR - full)}]"


class Progress:
    """A bar that stays below the lines printed meanwhile; without a tty only the lines appear."""

    def __init__(self, steps: int, noun: str, *, is_shown: bool = True) -> None:
        self._steps = steps
        self._noun = noun
        self._done = 0
        self._start = time.monotonic()
        self._is_shown = is_shown and sys.stdout.isatty()

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
        done = f"{self._done} of {self._steps} {self._noun}"
        print(f"\r{f'    {bar(self._done / self._steps)} {done}  {left}':<{WIDTH}}", end="")
        sys.stdout.flush()

    def _clear(self) -> None:
        if self._is_shown:
            print(f"\r{'':<{WIDTH}}\r", end="", flush=True)
