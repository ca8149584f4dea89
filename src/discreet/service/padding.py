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

    Parameters
    ----------
    pad
        Seconds; zero for no padding.
    clock, sleep
        What says the time and waits, for tests.

    Examples
    --------
    >>> Padding(0.25).end(start=10.0, now=10.01), Padding(0.25).end(start=10.0, now=10.3)
    (10.25, 10.5)
    """

    pad: float
    clock: Clock = time.monotonic
    sleep: Sleep = asyncio.sleep

    def end(self, start: float, now: float) -> float:
        """Return when a response leaves whose work began at ``start`` and is done now."""
        if self.pad == 0:
            return now
        return start + self.pad * max(1, math.ceil((now - start) / self.pad))

    def is_overrun(self, start: float) -> bool:
        """Say whether the work took longer than one pad, so that it can be seen."""
        return self.pad > 0 and self.clock() - start > self.pad

    async def wait(self, start: float) -> None:
        """Wait until the response may leave."""
        end = self.end(start, self.clock())
        while (left := end - self.clock()) > 0:
            await self.sleep(left)
