"""Calls that wait together are made together: many requests share one wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Told = TypeVar("Told")


class JointCalls(Generic[Asked, Told]):
    """Lets one thread call for all that wait, in the order in which they came.

    Parameters
    ----------
    call
        What takes a list and returns a list of the same length, each entry by itself.
    most
        How many entries one call may hold; a longer list goes alone.

    Examples
    --------
    >>> calls = JointCalls(lambda numbers: [2 * number for number in numbers], most=100)
    >>> calls([1, 2])
    [2, 4]
    """

    def __init__(self, call: Callable[[list[Asked]], list[Told]], most: int) -> None:
        self._call, self._most = call, most
        self._waiting: list[tuple[list[Asked], Future[list[Told]]]] = []
        self._guard, self._turn = threading.Lock(), threading.Lock()

    def __call__(self, asked: Sequence[Asked]) -> list[Told]:
        """Return what is told of each; a failure of others is not ours."""
        own: Future[list[Told]] = Future()
        with self._guard:
            self._waiting.append((list(asked), own))
        while not own.done():
            with self._turn:
                if not own.done():
                    self._serve()
        return own.result()

    def _serve(self) -> None:
        """Call for those that wait now; each by itself if the joint call fails."""
        group = self._take()
        try:
            told = self._call([each for asked, _ in group for each in asked])
        except Exception as error:
            if len(group) == 1:
                group[0][1].set_exception(error)
                return
            for asked, future in group:
                try:
                    future.set_result(self._call(asked))
                except Exception as own:
                    future.set_exception(own)
            return
        start = 0
        for asked, future in group:
            future.set_result(told[start : start + len(asked)])
            start += len(asked)

    def _take(self) -> list[tuple[list[Asked], Future[list[Told]]]]:
        with self._guard:
            count, size = 1, len(self._waiting[0][0])
            for asked, _ in self._waiting[1:]:
                size += len(asked)
                if size > self._most:
                    break
                count += 1
            group, self._waiting = self._waiting[:count], self._waiting[count:]
        return group
