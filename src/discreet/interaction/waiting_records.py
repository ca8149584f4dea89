"""Single records that were accepted and wait to be learnt from together, in their order.

A private call costs some fifty microseconds, whatever it brings. How a stream is cut into blocks
changes no answer, so single records wait until there are several, or until somebody asks.

Records are put in line by any thread, without a lock, so that nobody who is interrupted, or who
interrupts, waits for anybody; they are taken out in private calls alone, one of these at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from discreet._private_part import Sealed
from discreet._types import Array, Vector

Record = tuple[Array, Vector | None]
"""A row and its label, of one record."""

MOST_WAITING = 256
"""So many single records wait, at most, of one thread."""

MOST_NUMBERS = 2**16
"""So many numbers wait, at most: wide records wait in smaller company."""

FAR = 1024
"""So many rounds must be left beyond a full line; nearer to the horizon nobody waits."""


class WaitingRecords(Sealed):
    """Records that wait; as secret as the state that will know them.

    Who puts a record in looks afterwards whether the line is still open. A private call closes the
    line first and takes the records out then, so that a record that came too late is always noticed
    by who brought it.
    """

    __slots__ = ("__waiting", "_is_open", "_room")
    _sealed = "records that wait are secret."

    def __init__(self, width: int) -> None:
        self.__waiting: list[Record | Empty] = []
        self._is_open = False
        self._room = min(MOST_WAITING, MOST_NUMBERS // width)

    @property
    def count(self) -> int:
        """How many rounds wait; those that are being learnt from are among them."""
        return len(self.__waiting)

    @property
    def is_open(self) -> bool:
        """Whether records may wait; who has put one in has to look again."""
        return self._is_open

    def close(self) -> None:
        """Let nobody join from now on."""
        self._is_open = False

    def open_unless_near(self, left: int) -> None:
        """Let records join again, if this many are far from the last."""
        self._is_open = left >= self._room + FAR

    def join(self, record: Record | Empty) -> bool:
        """Put a record in, if there is room; say whether it is in."""
        if not self._is_open or len(self.__waiting) >= self._room:
            return False
        self.__waiting.append(record)
        return True

    def withdraw(self, record: Record | Empty) -> bool:
        """Take out a record that was not learnt from; say whether it was there."""
        for place, other in enumerate(self.__waiting):
            if other is record:
                del self.__waiting[place]
                return True
        return False

    def blocks(self) -> Iterator[tuple[int, Record | None]]:
        """Yield how many rounds come next, and the block of their records; None if they are empty.

        They stay in line until :meth:`forget` is told of them.
        """
        waiting = self.__waiting[:]
        for is_empty, some in groupby(waiting, lambda record: isinstance(record, Empty)):
            part: list[Any] = list(some)
            yield len(part), None if is_empty else _stack(part)

    def forget(self, count: int) -> None:
        """Take out the first rounds, which were learnt from."""
        del self.__waiting[:count]

    def __repr__(self) -> str:
        return "<secret records>"


class Empty:
    """A round without a record."""

    __slots__ = ()


def _stack(part: list[Record]) -> Record:
    rows = np.concatenate([row for row, _ in part])
    labels = [label for _, label in part if label is not None]
    return rows, np.concatenate(labels) if labels else None


def keep_record(given: Any) -> Record | None:
    """Return a copy of one plain record, which its owner may overwrite; None if it is not one."""
    if type(given) is not tuple or len(given[0]) != 1:
        return None
    row, label = given
    return row.copy(), None if label is None else label.copy()
