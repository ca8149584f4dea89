"""Large arrays that are used again as soon as nobody refers to them any more: a buffer pool.

A system that hands out fresh memory clears it first, which can take longer than what is done with
it; and C libraries give large arrays back to the system whenever they are freed. While stored rows
are worked on, a few arrays are therefore kept, and forgotten at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Literal

import numpy as np

from discreet._types import Array, Vector

SMALLEST = 2**15
"""Smaller arrays, in numbers, are left to the C library."""

MOST_NUMBERS = 2**24


def _references(buffers: list[Vector], place: int) -> int:
    return sys.getrefcount(buffers[place])


_COUNTS = hasattr(sys, "getrefcount") and getattr(sys, "_is_gil_enabled", lambda: True)()
_ALONE = _references([np.empty(1)], 0) if _COUNTS else 0
"""How many references this interpreter counts where there are none but the list's."""


def lies_by_columns(matrix: Array) -> bool:
    """Say whether a column's entries lie together in memory, and a row's do not.

    Examples
    --------
    >>> lies_by_columns(np.ones((3, 2), order="F")[:2]), lies_by_columns(np.ones((3, 2)))
    (True, False)
    """
    between_rows, between_columns = matrix.strides
    return between_rows == matrix.itemsize < between_columns


class BufferPool:
    """Arrays to be used again, as long as somebody asks to keep them.

    Examples
    --------
    >>> pool = BufferPool()
    >>> with pool.keep():
    ...     first = pool.empty((256, 256)).base
    ...     place = id(first)
    ...     del first
    ...     id(pool.empty((200, 300), order="F").base) == place
    True
    """

    def __init__(self) -> None:
        self._users = 0
        self._buffers: list[Vector] = []
        self._lock = Lock()

    def __reduce__(self) -> str:
        return "BUFFERS"  # that of another process, where what refers to it is sent

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Keep arrays until the last user is gone."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._buffers.clear()

    def empty_like(self, matrix: Array) -> Array:
        """Return an array of the same shape and layout."""
        return self.empty(matrix.shape, order="F" if lies_by_columns(matrix) else "C")

    def empty(self, shape: tuple[int, ...], order: Literal["C", "F"] = "C") -> Array:
        """Return an array that holds anything, as NumPy's own function does."""
        size = shape[0] * shape[1]
        if not self._users or size < SMALLEST or not _ALONE:
            return np.empty(shape, order=order)
        with self._lock:
            sizes = [buffer.size for buffer in self._buffers]
            for place, room in enumerate(sizes):
                if size <= room <= 2 * size and _references(self._buffers, place) == _ALONE:
                    return self._buffers[place][:size].reshape(shape, order=order)
            fresh = np.empty(size)
            if sum(sizes) + size <= MOST_NUMBERS:
                self._buffers.append(fresh)
            return fresh.reshape(shape, order=order)


BUFFERS = BufferPool()
