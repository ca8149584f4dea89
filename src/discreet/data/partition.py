"""What is done with one partition of a table, where it is.

Nothing here raises: what an engine writes about a failed task, in the logs of workers, would quote
its arguments. A task that fails answers with :class:`Broken`, which says nothing of any row.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from discreet._types import Integers, Vector
from discreet.data.accept import source_of
from discreet.data.frame import Coded, Frame
from discreet.data.source import Kernel, Prepared, Remake
from discreet.data.stored import Encoding, Wanted
from discreet.data.stream import Piece
from discreet.data.total import Sums
from discreet.declared import Bounds

LABELS, WEIGHTS = "the labels y", "the weights"
"""What columns are called that were not in the data frame."""

NUMBER, TEXT, ANYTHING, OTHER = "numbers", "text", "anything", "something else"


@dataclass(frozen=True)
class Broken:
    """What a task answers with if it has failed."""

    why: str = ""
    """What is wrong with the partition; nothing if it is not the partition."""


UNEQUAL = Broken("partitions of X and of y or weights differ in length.")


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """Makes a piece of one partition.

    Parameters
    ----------
    encoding
        How rows become a matrix, labels and weights.
    kinds
        What each column of a data frame can hold; empty if rows are an array.
    """

    encoding: Encoding
    kinds: Mapping[str, str]

    def piece(self, rows: Any, labels: Any, weights: Any) -> Piece | Broken:
        """Return the rows of a partition; labels and weights are among the columns of a frame."""
        encoding = self.encoding
        if encoding.features is not None:
            cells = self._cells(rows)
            if isinstance(cells, Broken):
                return cells
            rows = Frame({column.name: cells[column.name] for column in encoding.features})
            labels = None if encoding.target is None else cells[encoding.target.name]
            weights = None if encoding.weight is None else cells[encoding.weight.name]
        matrix = encoding.encode(rows)
        found = None if labels is None or encoding.label is None else encoding.label(labels)
        lengths = {len(one) for one in (found, weights) if one is not None}
        if matrix.ndim != 2 or matrix.shape[1] != encoding.width:
            return Broken("a partition has another number of columns than the whole.")
        if lengths - {matrix.shape[0]}:
            return UNEQUAL
        return Piece(matrix, found, weights)

    def _cells(self, rows: Any) -> dict[str, Any] | Broken:
        names = list(rows.columns)
        for name, kind in self.kinds.items():
            if names.count(name) != 1 and name in (LABELS, WEIGHTS):
                return UNEQUAL
            if names.count(name) != 1:
                return Broken(f"a partition does not have the column {name!r}, or has it twice.")
            found = kind_of(rows.dtypes.iloc[names.index(name)])
            if ANYTHING not in (found, kind) and found != kind:
                return Broken(f"in a partition the column {name!r} has another type.")
        return {column.name: _column(rows[column.name], column) for column in self.encoding.wanted}


def _column(cells: Any, column: Wanted) -> Any:
    """Return the cells of a column as numbers, or as they are; text is looked up once a value."""
    dtype = getattr(cells, "dtype", None)
    if not hasattr(cells, "to_numpy"):
        return np.asarray(cells)
    if column.is_number and kind_of(dtype) == NUMBER:
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.is_number:
        return np.array([_number(cell) for cell in cells.tolist()], dtype=np.float64)
    if kind_of(dtype) == TEXT or type(dtype).__name__ == "CategoricalDtype":
        places, distinct = cells.factorize()
        listed = np.empty(len(distinct) + 1, dtype=object)
        listed[: len(distinct)] = distinct.tolist()
        return Coded(listed, places.astype(np.int64))  # minus one: the last, which is None
    if kind_of(dtype) == NUMBER and not isinstance(dtype, np.dtype):
        return cells.to_numpy(dtype=object, na_value=None)
    return cells.to_numpy()


def _number(cell: Any) -> float:
    """Return a cell of mixed types as a number, by itself; NaN if it is none."""
    try:
        return np.nan if isinstance(cell, str | bytes) else float(cell)
    except (OverflowError, TypeError, ValueError):
        return np.nan


def with_columns(names: Sequence[str], rows: Any, *columns: Any) -> Any:
    """Return a data frame with more columns, by place; without them if their lengths differ."""
    if any(len(column) != len(rows) for column in columns):
        return rows
    named = zip(names, columns, strict=True)
    return rows.assign(**{name: column.set_axis(rows.index) for name, column in named})


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """Clipped rows of a partition, and a mark of what they were made of."""

    rows: Prepared
    mark: int


def length(rows: Any) -> int | Broken:
    return quietly(lambda: len(rows))


def facts(part: Part | Broken) -> tuple[int, int] | Broken:
    return part if isinstance(part, Broken) else (part.rows.count, part.mark)


def prepared(
    rows: Any, labels: Any, weights: Any, *, reading: Reading, bounds: Bounds
) -> Part | Broken:
    def prepare() -> Part | Broken:
        piece = reading.piece(rows, labels, weights)
        if isinstance(piece, Broken):
            return piece
        if not piece.matrix.shape[0]:
            return Part(_no_rows(piece, bounds), 0)
        source = source_of(piece.matrix, piece.labels, piece.weights, bounds)
        return Part(source.prepare(bounds), _mark(piece))

    return quietly(prepare)


def _mark(piece: Piece) -> int:
    """Return a number that is another one, almost surely, for other rows."""
    matrix, is_sparse = piece.matrix, sparse.issparse(piece.matrix)
    arrays = [matrix.data, matrix.indices, matrix.indptr] if is_sparse else [matrix]
    mark = 0
    for array in (*arrays, piece.labels, piece.weights):
        if array is not None:
            mark = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, mark)
    return mark


def _no_rows(like: Piece, bounds: Bounds) -> Prepared:
    """Return no rows, of the same kind as others: one of zeros, left out again."""
    zeros = np.zeros((1, bounds.n_features))
    one = source_of(
        sparse.csr_array(zeros) if sparse.issparse(like.matrix) else zeros,
        None if bounds.labels is None else np.zeros(1),
        None if like.weights is None or bounds.max_weight is None else np.zeros(1),
        bounds,
    )
    return one.prepare(bounds).take(np.arange(0))


def checked(part: Part | Broken, *, mark: int, work: Callable[[Part], Any]) -> Any:
    """Do something with a partition, unless it was computed again and became another."""
    if isinstance(part, Broken):
        return part
    if part.mark != mark:
        return Broken("a partition that was computed again has become another.")
    return quietly(lambda: work(part))


def summed(part: Part, *, kernel: Kernel, size: int) -> Sums:
    sums = Sums()
    for block in part.rows.blocks(size):
        sums.add(kernel(block()))
    return sums


def merged(sums: Sequence[Sums | Broken]) -> Sums | Broken:
    """Add totals to one another, in order."""

    def merge() -> Sums | Broken:
        total = Sums()
        for one in sums:
            if isinstance(one, Broken):
                return one
            total.absorb(one)
        return total

    return quietly(merge)


def taken(part: Part, *, positions: Integers) -> Part:
    return replace(part, rows=part.rows.take(positions))


def relabelled(part: Part, *, relabel: Callable[[Vector], Vector]) -> Part:
    return replace(part, rows=part.rows.relabelled(relabel))


def remade(part: Part, *, remake: Remake, bounds: Bounds) -> Part:
    if not part.rows.count:
        like = Piece(np.zeros((0, 1)), part.rows.labels, part.rows.weights)
        return replace(part, rows=_no_rows(like, bounds))
    return replace(part, rows=remake(part.rows).prepare(bounds))


Answer = TypeVar("Answer")


def quietly(work: Callable[[], Answer]) -> Answer | Broken:
    """Do the work; whatever it raises could quote rows in the log of a worker."""
    try:
        with np.errstate(all="ignore"):
            return work()
    except Exception:
        return Broken()


def kind_of(dtype: Any) -> str:
    """Say what a column of this type can hold."""
    if type(dtype).__name__ == "CategoricalDtype":
        return ANYTHING if dtype.categories is None else kind_of(dtype.categories.dtype)
    if dtype.kind in "biuf":
        return NUMBER
    if type(dtype).__name__ == "StringDtype" or dtype.kind in "UT":
        return TEXT
    name = str(dtype)
    if name.startswith(("string", "large_string")):
        return TEXT
    if name.startswith(("decimal", "double", "float", "int", "uint", "bool")):
        return NUMBER
    return ANYTHING if dtype.kind == "O" and name == "object" else OTHER
