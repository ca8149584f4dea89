"""Which side of a split a record falls on: a keyed hash of its own cells, and of nothing else.

Every cell is read by itself, so that a record has one hash in every container: numbers, truth
values and text that spells either are numbers of 64 bits, other text is its UTF-8, and all that is
missing is one thing. A fraction that single precision can hold is the shortest that it could mean
there, as text would spell it. What a column's type became because of other records changes no
cell. Zeros are left out, so that a sparse row hashes as a dense one does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet._private_part import silence
from discreet._types import Booleans, Integers, Vector
from discreet.data.cells import label_of, number_of, read_spelling
from discreet.data.frame import Coded, Frame
from discreet.data.given_column import column_of
from discreet.data.kinds import NUMERIC_KINDS, shortest
from discreet.data.matrix import cells_of, columns_of
from discreet.errors import InputError

Bytes = NDArray[np.uint8]

CELL, PLACE = 16, 8
HASHED_AT_ONCE = 2**12
"""Rows that are hashed together."""

NOTHING = frozenset(["", "nan", "na", "n/a", "null", "none", "<na>"])
"""How text spells that a cell is missing, in any case."""

MISSING = struct.pack("<dd", np.nan, 0.0)
PURPOSE = b"discreet split"


@dataclass(frozen=True)
class RecordSides:
    """Says of each record, by itself, whether it is for testing."""

    test: float
    key: bytes = field(repr=False)

    @silence()
    def of(self, X: Any, y: Any = None) -> Booleans:
        """Return the side of each row of a table, or of columns, with its targets."""
        parts = [_read_table(X, "X")]
        if y is not None:
            # Targets are counted from the end, where no feature is, however many there are.
            parts.append(_read_targets(y))
        return self._compare(parts)

    def _compare(self, parts: Sequence[_Cells]) -> Booleans:
        count = parts[0].count
        words = np.empty(count, dtype="<u8")
        blank = blake2b(key=self.key, digest_size=8, person=PURPOSE)
        for start in range(0, count, HASHED_AT_ONCE):
            stop = min(start + HASHED_AT_ONCE, count)
            read = [part.read(start, stop) for part in parts]
            words[start:stop] = list(_hash_rows(blank, read, stop - start))
        return words < np.uint64(int(self.test * 2**64))


Entries = tuple[Bytes, Integers]
"""Cells that are not zero, each with its place, row after row; and where each row begins."""


@dataclass(frozen=True, eq=False, repr=False)
class _Cells:
    """A table whose rows can be asked for as bytes, a few at a time."""

    count: int
    read: Callable[[int, int], Entries]


def _hash_rows(blank: Any, read: list[Entries], count: int) -> Iterator[int]:
    for row in range(count):
        digest = blank.copy()
        for entries, edges in read:
            digest.update(entries[edges[row] : edges[row + 1]])
        yield int.from_bytes(digest.digest(), "little")


def _read_table(X: Any, name: str) -> _Cells:
    if sparse.issparse(X):
        return _read_sparse(X)
    return _read_columns(_columns_in(X, name), np.arange)


def _read_targets(y: Any) -> _Cells:
    is_table = isinstance(y, Frame) or len(getattr(y, "shape", ())) == 2
    columns = _columns_in(y, "y") if is_table else [y]
    return _read_columns(columns, lambda width: -1 - np.arange(width))


def _columns_in(X: Any, name: str) -> list[Any]:
    if isinstance(X, Frame):
        return [X[column] for column in X.columns]
    columns = columns_of(X)
    if columns is not None:
        return columns
    cells = cells_of(X, name)
    if cells.ndim != 2:
        raise InputError(f"{name} must be a table with two axes; got {cells.ndim}.")
    return list(cells.T)


def _read_columns(columns: list[Any], places: Callable[[int], Integers]) -> _Cells:
    readers = [_reader_of(column_of(column, "a column")) for column in columns]
    if not readers:
        raise InputError("a table without columns has no records to tell apart.")
    count = readers[0][0]
    listed = places(len(columns)).astype("<i8").view(np.uint8).reshape(-1, PLACE)

    def read(start: int, stop: int) -> Entries:
        entries = np.empty((stop - start, len(columns), PLACE + CELL), dtype=np.uint8)
        entries[:, :, :PLACE] = listed
        for place, (_, cells) in enumerate(readers):
            entries[:, place, PLACE:] = cells(start, stop)
        kept = entries[:, :, PLACE:].any(axis=2)
        return _with_edges(entries[kept], kept.sum(axis=1))

    return _Cells(count, read)


def _with_edges(entries: Bytes, lengths: Integers) -> Entries:
    edges = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return entries.reshape(-1), edges * (PLACE + CELL)


def _reader_of(column: Any) -> tuple[int, Callable[[int, int], Bytes]]:
    """Return how many cells there are, and what reads some of them as bytes, each by itself."""
    cells = column.cells
    if isinstance(cells, Coded):
        listed, places = _bytes_of_cells(cells.distinct.tolist()), cells.places
        return len(column), lambda start, stop: listed[places[start:stop]]
    if cells.dtype.kind in NUMERIC_KINDS:
        numbers = column.numbers()
        return len(column), lambda start, stop: _bytes_of_numbers(numbers[start:stop])
    return len(column), lambda start, stop: _bytes_of_cells(cells[start:stop].tolist())


def _bytes_of_numbers(numbers: Vector) -> Bytes:
    written = np.zeros((len(numbers), 2), dtype="<f8")
    written[:, 0] = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # -0.0 is 0.0
    narrow = np.flatnonzero(written[:, 0].astype(np.float32) == written[:, 0])
    narrow = narrow[np.trunc(written[narrow, 0]) != written[narrow, 0]]
    written[narrow, 0] = [shortest(number) for number in written[narrow, 0]]
    return written.view(np.uint8)


def _bytes_of_cells(cells: list[Any]) -> Bytes:
    written = b"".join(map(_bytes_of_cell, cells))
    return np.frombuffer(written, dtype=np.uint8).reshape(-1, CELL)


def _bytes_of_cell(cell: Any) -> bytes:
    label = label_of(cell)
    number = read_spelling(label) if isinstance(label, str) else number_of(label)
    if number == number:
        is_narrow = np.float32(number) == number and not number.is_integer()
        return struct.pack("<dd", shortest(number) if is_narrow else number + 0.0, 0.0)
    if not isinstance(label, str) or label.strip().lower() in NOTHING:
        return MISSING
    return blake2b(label.encode("utf-8", "surrogatepass"), digest_size=CELL).digest()


def _read_sparse(X: Any) -> _Cells:
    held = X.tocsr(copy=True)
    held.sum_duplicates()  # each entry once, in the order of its columns

    def read(start: int, stop: int) -> Entries:
        edges = held.indptr[start : stop + 1]
        within = slice(int(edges[0]), int(edges[-1]))
        entries = np.empty((within.stop - within.start, PLACE + CELL), dtype=np.uint8)
        entries[:, :PLACE] = held.indices[within].astype("<i8").view(np.uint8).reshape(-1, PLACE)
        with np.errstate(all="ignore"):
            entries[:, PLACE:] = _bytes_of_numbers(held.data[within].astype(np.float64))
        kept = entries[:, PLACE:].any(axis=1)
        counted = np.concatenate([[0], np.cumsum(kept)])
        return _with_edges(entries[kept], np.diff(counted[edges - edges[0]]))

    return _Cells(int(held.shape[0]), read)
