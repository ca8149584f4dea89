"""Answers that leave at a public time: how long the work took is not to be seen.

How long an answer takes depends on how many records were learnt from, and on whether somebody asked
the same before. So a response leaves a whole number of pads after its work began, whatever it says.
The work begins when the whole request is there: if it began with the first byte, a client could
choose, by sending the last one late, at which point of the pad the work starts, and measure it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Padding:
    """Waits until a whole number of pads has passed.

    Examples
    --------
    >>> Padding(0.25).end(start=10.0, now=10.01), Padding(0.25).end(start=10.0, now=10.3)
    (10.25, 10.5)
    """

    pad: float
    pad_row: float = 0.0
    clock: Clock = time.monotonic
    sleep: Sleep = asyncio.sleep

    def length(self, rows: int) -> float:
        """Return how long the pad of a request is."""
        return 0.0 if self.pad == 0 else self.pad + self.pad_row * max(0, rows - 1)

    def end(self, start: float, now: float, rows: int = 1) -> float:
        """Return when a response leaves."""
        length = self.length(rows)
        return now if length == 0 else start + length * max(1, math.ceil((now - start) / length))

    def is_overrun(self, start: float, rows: int = 1) -> bool:
        """Say whether the work took longer than one pad, so that it can be seen."""
        return self.pad > 0 and self.clock() - start > self.length(rows)

    async def wait(self, start: float, rows: int = 1) -> None:
        """Wait until the response may leave."""
        end = self.end(start, self.clock(), rows)
        while (left := end - self.clock()) > 0:
            await self.sleep(left)
