"""Threads for work that may wait: so many at a time, so many in line, and no more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

LINE = 16
"""How many wait in line for each thread."""


class BoundedThreads:
    """Runs work in threads; work that nobody waits for any more keeps its place until it is done.

    Examples
    --------
    >>> BoundedThreads(2).submit(lambda: 42).result()
    42
    """

    def __init__(self, count: int) -> None:
        self._most, self._waiting = count * (1 + LINE), 0
        self._guard = threading.Lock()
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="discreet-service")

    def submit(self, work: Callable[[], Result]) -> Future[Result] | None:
        """Begin some work, now or in its turn; None if too much waits."""
        with self._guard:
            if self._waiting >= self._most:
                return None
            self._waiting += 1
        future = self._pool.submit(work)
        future.add_done_callback(self._leave)
        return future

    def _leave(self, _: Future[Result]) -> None:
        with self._guard:
            self._waiting -= 1
