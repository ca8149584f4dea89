"""What is left of an oracle, shown as of a public clock: neither when it changes nor how long it
takes to read tells of the work under way.
"""

from __future__ import annotations

import threading
import time
import weakref

from discreet.service.answering import Answering, ServiceStanding

SHORTEST = 1.0
"""Seconds between two looks, at least."""


class StandingWatch:
    """Looks at what is left in a thread of its own, and shows it from the next tick on."""

    def __init__(self, answering: Answering, pad: float) -> None:
        self.shown: ServiceStanding | None = answering.standing()
        period = max(SHORTEST, pad)
        watching = threading.Thread(
            target=_watch, args=(weakref.ref(self), answering, period), daemon=True
        )
        watching.start()


def _watch(owner: weakref.ref[StandingWatch], answering: Answering, period: float) -> None:
    seen: ServiceStanding | None = None
    has_looked = False
    while True:
        time.sleep(period - time.time() % period)
        watch = owner()
        if watch is None:
            return
        if has_looked:
            watch.shown = seen
        del watch
        try:
            seen = answering.standing()
        except Exception:
            seen = None  # it cannot be read; requests are told so
        has_looked = True
