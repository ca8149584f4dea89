"""Calls that wait together are made together: many requests share one wait for the disk."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Told = TypeVar("Told")


class JointCalls(Generic[Asked, Told]):
    """Lets one thread call for all that wait, in the order in which they came.

    Examples
    --------
    >>> calls = JointCalls(lambda words: [each.upper() for each in words], len, most=100, line=10)
    >>> calls.submit("yes").result()
    'YES'
    """

    def __init__(
        self,
        call: Callable[[list[Asked]], Sequence[Told | Exception]],
        size: Callable[[Asked], int],
        *,
        most: int,
        line: int,
    ) -> None:
        self._call, self._size, self._most, self._line = call, size, most, line
        self._waiting: deque[tuple[Asked, Future[Told]]] = deque()
        self._guard, self._is_busy = threading.Lock(), False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="discreet-joint")

    def submit(self, asked: Asked) -> Future[Told] | None:
        """Join those that wait; None if too many do. Who cancels the future before it has begun is
        not called for."""
        own: Future[Told] = Future()
        with self._guard:
            if len(self._waiting) >= self._line:
                return None
            self._waiting.append((asked, own))
            is_first, self._is_busy = not self._is_busy, True
        if is_first:
            self._thread.submit(self._serve)
        return own

    def _serve(self) -> None:
        """Call until nobody waits."""
        while group := self._take():
            try:
                found = self._call([asked for asked, _ in group])
                for (_, future), told in zip(group, found, strict=True):
                    if isinstance(told, Exception):
                        future.set_exception(told)
                    else:
                        future.set_result(told)
            except BaseException as error:
                for _, future in group:
                    if not future.done():
                        future.set_exception(error)

    def _take(self) -> list[tuple[Asked, Future[Told]]]:
        """Return those whose turn it is; nobody's if nobody waits, and then others must begin."""
        group: list[tuple[Asked, Future[Told]]] = []
        with self._guard:
            total = 0
            while self._waiting:
                asked, future = self._waiting[0]
                total += self._size(asked)
                if group and total > self._most:
                    break
                self._waiting.popleft()
                if future.set_running_or_notify_cancel():
                    group.append((asked, future))
            self._is_busy = bool(group)
        return group
