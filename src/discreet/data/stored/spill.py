"""Rows as they were made for one pass, in a temporary file, so that others need not make them.

Spilling to disk: a cache of prepared pieces that do not fit into memory. The file has no name from
the beginning (or loses it at once, where the system knows no other way), so that nothing is left of
it when the process ends, however it ends; only its owner can open it. It lies in the folder that
``TMPDIR`` names. ``DISCREET_SPILL=no`` does without.

Nothing depends on it but time: a piece that is not in the file is made again, and what is read back
is, bit for bit, what was made. So writing stops without an error when the disk is full, or slow.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeGuard

import numpy as np

from discreet.data.dense import PreparedArray
from discreet.data.source import Prepared
from discreet.errors import PrivacyError, SourceChanged

SWITCH = "DISCREET_SPILL"

OFF = ("no", "0", "false", "off")

SHARE_OF_DISK = 0.5
"""How much of what is free on the disk may be taken, by all temporary files of this process."""

SLOWEST = 2**28
"""Bytes a second, of one thread, below which writing takes longer than it saves: memory takes them
faster at first, the disk may not."""

PATIENCE = 1.0
"""Seconds of a pass after which a slow disk is given up, until the next pass."""


def is_switched_off() -> bool:
    """Say whether rows are not to be written to temporary files."""
    return os.environ.get(SWITCH, "").strip().lower() in OFF


VECTORS = ("labels", "weights", "scale", "spoilt")


@dataclass(frozen=True, eq=False)
class _Slot:
    """Where a piece lies, and the piece without its arrays."""

    offset: int
    bare: PreparedArray
    shape: tuple[int, int]
    by_columns: bool
    parts: tuple[str, ...]  # the vectors beside the matrix
    sums: tuple[int, ...]  # of the bits, which must be the same when they are read back


@dataclass(frozen=True, eq=False)
class _Descriptor:
    """An open file, closed when nobody refers to it: not before the last thread is done with it."""

    number: int

    def __post_init__(self) -> None:
        weakref.finalize(self, _close_descriptor, self.number)


def _close_descriptor(number: int) -> None:
    with suppress(OSError):  # it is temporary: what cannot be kept need not be
        os.close(number)


_FLOORS: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""How many bytes each open file leaves free on its disk."""


class Spill:
    """Pieces in a temporary file, by their places."""

    def __init__(self, file: int, floor: int) -> None:
        self._file: _Descriptor | None = _Descriptor(file)
        self._end = 0
        self._slots: dict[int, _Slot] = {}
        self._lock = Lock()
        self._is_stopped, self._seconds, self._bytes = False, 0.0, 0
        _FLOORS[self] = floor

    @classmethod
    def open(cls) -> Spill | None:
        """Return an empty one, or None where there is no room or it is switched off."""
        if is_switched_off() or not hasattr(os, "preadv"):
            return None
        folder = tempfile.gettempdir()
        if _is_memory(folder):
            return None
        try:
            with tempfile.TemporaryFile(prefix="discreet-", buffering=0) as file:
                free = shutil.disk_usage(folder).free
                return cls(os.dup(file.fileno()), int(free * (1 - SHARE_OF_DISK)))
        except OSError:
            return None

    def close(self) -> None:
        """Give the file back to the system, when the last thread is done; it is gone with that."""
        self._is_stopped, self._file = True, None
        self._slots.clear()
        _FLOORS.pop(self, None)

    @property
    def reach(self) -> int:
        """How many pieces, from the first on, are there."""
        place = 0
        while place in self._slots:
            place += 1
        return place

    def begin(self) -> None:
        """Try again what was too slow in the last pass."""
        self._is_stopped, self._seconds, self._bytes = self._file is None, 0.0, 0

    def write(self, place: int, piece: Prepared) -> None:
        """Keep a piece, if that is possible and quick; from any thread."""
        file = self._file
        if file is None or self._is_stopped or place in self._slots or not _is_plain(piece):
            return
        named: dict[str, Any] = {name: getattr(piece, name) for name in VECTORS}
        vectors = {name: vector for name, vector in named.items() if vector is not None}
        matrix = piece.matrix
        by_columns = bool(matrix.flags.f_contiguous)
        arrays = [matrix.T if by_columns else matrix, *vectors.values()]
        size = sum(array.nbytes for array in arrays)
        with self._lock:
            offset, self._end = self._end, self._end + size
        start = time.perf_counter()
        if not _has_room(file, size) or not _write_all(file.number, arrays, offset):
            self._is_stopped = True
            return
        nothing: dict[str, Any] = dict.fromkeys(VECTORS)
        bare = replace(piece, matrix=None, **nothing)
        sums = tuple(map(_sum_of_bits, arrays))
        self._slots[place] = _Slot(offset, bare, matrix.shape, by_columns, tuple(vectors), sums)
        with self._lock:
            self._seconds += time.perf_counter() - start
            self._bytes += size
            if self._seconds > PATIENCE + self._bytes / SLOWEST:
                self._is_stopped = True

    def read(self, place: int) -> PreparedArray:
        """Return a piece as it was written; from any thread."""
        file, slot = self._file, self._slots.get(place)
        if file is None or slot is None:
            raise PrivacyError("a temporary file was read after it was closed.")
        matrix = np.empty(slot.shape, order="F" if slot.by_columns else "C")
        vectors: dict[str, Any] = {
            name: np.empty(slot.shape[0], dtype=np.bool_ if name == "spoilt" else np.float64)
            for name in slot.parts
        }
        arrays = [matrix.T if slot.by_columns else matrix, *vectors.values()]
        try:
            found = os.preadv(file.number, arrays, slot.offset)
        except OSError:
            found = -1
        is_whole = found == sum(array.nbytes for array in arrays)
        if not is_whole or tuple(map(_sum_of_bits, arrays)) != slot.sums:
            raise SourceChanged(
                "the temporary file of prepared rows could not be read back, so nothing is "
                f"released; the charge stands. Set {SWITCH}=no to do without it."
            )
        return replace(slot.bare, matrix=matrix, **vectors)


def _is_plain(piece: Prepared) -> TypeGuard[PreparedArray]:
    if not isinstance(piece, PreparedArray) or not piece.count:
        return False
    matrix = piece.matrix
    is_packed = matrix.flags.f_contiguous or matrix.flags.c_contiguous
    vectors = (piece.labels, piece.weights, piece.scale)
    return bool(
        isinstance(matrix, np.ndarray)
        and matrix.dtype == np.float64
        and is_packed
        and all(v is None or (v.dtype == np.float64 and v.flags.c_contiguous) for v in vectors)
    )


def _sum_of_bits(array: Any) -> int:
    """Return a sum of an array's words, which damage on a disk would almost surely change."""
    if array.dtype == np.bool_:
        return int(array.sum())
    words = array.view(np.uint64)
    return int(words.sum()) ^ int(np.bitwise_xor.reduce(words, axis=None))


def _has_room(file: _Descriptor, size: int) -> bool:
    """Say whether so much more leaves free what all open files are to leave."""
    try:
        disk = os.fstatvfs(file.number)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize - size > max(_FLOORS.values(), default=0)


def _is_memory(folder: str) -> bool:
    """Say whether files in a folder are kept in memory, where that can be found out."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return False
    place = os.path.realpath(folder)
    holding = [mount for mount in mounts if os.path.commonpath([place, mount[0]]) == mount[0]]
    return max(holding, key=lambda mount: len(mount[0]), default=["", ""])[1] in ("tmpfs", "ramfs")


def _write_all(file: int, arrays: Sequence[Any], offset: int) -> bool:
    try:
        return bool(os.pwritev(file, arrays, offset) == sum(array.nbytes for array in arrays))
    except OSError:
        return False
