"""What is done with one partition of a table, where it is: the tasks that Dask's workers run.

Nothing here raises: what an engine writes about a failed task, in the logs of workers, would quote
its arguments. A task that fails answers with :class:`Broken`, which says nothing of any row.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from discreet._private_part import silence
from discreet._types import Integers, Vector
from discreet.data.arrays import accept_rows
from discreet.data.arrow import arrow_codes
from discreet.data.cells import label_of, number_of, numbers_of, read_spelling
from discreet.data.frame import Coded, Frame, arrow_array_of
from discreet.data.kinds import NUMBER, OTHER, TEXT, is_categorical, kind_of, shortest
from discreet.data.source import Kernel, Prepared, Remake
from discreet.data.stored.table import Encoding, Piece, RowPlace, Wanted
from discreet.data.summation import RunningSums
from discreet.questions.bounds import Bounds

LABELS, WEIGHTS = "the labels y", "the weights"
"""What columns are called that were not in the data frame."""


@dataclass(frozen=True)
class Broken:
    """What a task answers with if it has failed."""

    why: str = ""
    """What is wrong with the partition; nothing if it is not the partition."""


UNREAD = Broken("Dask could not read or convert the rows of a partition.")
UNEQUAL = Broken("partitions of X and of y or weights differ in length.")


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """Makes a piece of one partition."""

    encoding: Encoding
    is_frame: bool

    def piece(self, rows: Any, labels: Any, weights: Any, number: int = 0) -> Piece | Broken:
        """Return the rows of a partition; labels and weights are among the columns of a frame."""
        piece = self.read(rows, labels, weights, number)
        if isinstance(piece, Broken):
            return piece
        matrix = piece.matrix
        if matrix.ndim != 2 or matrix.shape[1] != self.encoding.total_width:
            return Broken("a partition has another number of columns than the whole.")
        return piece

    def read(self, rows: Any, labels: Any, weights: Any, number: int = 0) -> Piece | Broken:
        """Return the rows of a partition as they are encoded, be that a matrix or not."""
        place = RowPlace(number)
        if self.is_frame:
            frame = self._read_frame(rows)
            return frame if isinstance(frame, Broken) else self.encoding.piece_of(frame, place)
        if any(one is not None and len(one) != len(rows) for one in (labels, weights)):
            return UNEQUAL
        return self._read_arrays(rows, labels, weights, place)

    def _read_arrays(self, rows: Any, labels: Any, weights: Any, place: RowPlace) -> Piece:
        encoding, targets = self.encoding, None
        if encoding.beside:
            targets, labels = _read_table(labels.reshape(len(labels), -1)), None
        if encoding.target is not None:
            labels = _read_column(labels, encoding.target)
        if encoding.weight is not None:
            weights = _read_column(weights, encoding.weight)
        return encoding.piece(_read_table(rows), targets, labels, weights, place)

    def _read_frame(self, rows: Any) -> Frame | Broken:
        names = list(rows.columns)
        for column in self.encoding.wanted:
            name = column.name
            if names.count(name) != 1 and str(name).startswith((LABELS, WEIGHTS)):
                return UNEQUAL
            if names.count(name) != 1:
                return Broken(f"a partition does not have the column {name!r}, or has it twice.")
            if kind_of(rows.dtypes.iloc[names.index(name)]).holds == OTHER:
                return Broken(f"in a partition the column {name!r} has another type.")
        wanted = self.encoding.wanted
        return Frame({column.name: _read_column(rows[column.name], column) for column in wanted})


def _read_column(cells: Any, column: Wanted) -> Any:
    """Return cells as what is declared of their column, whatever type their partition has.

    A loader may give a partition another type because of one cell, so a cell is read alike in
    every type: text that spells a number is that number where numbers are declared, and a number
    is its text where text is.
    """
    labels, kind = column.labels, kind_of(cells.dtype)
    if labels is None:
        return _read_numbers(cells)
    if all(isinstance(label, str) for label in labels):
        return _read_codes(cells, _text)
    if any(isinstance(label, str) for label in labels):
        return _read_codes(cells, _label)
    if kind.narrow is np.float32:
        return _read_codes(cells, _shortest_number)
    return _read_numbers(cells) if kind.holds == NUMBER else _read_codes(cells, _number_spelt)


def _read_numbers(cells: Any) -> Vector:
    if (
        kind_of(cells.dtype).holds != NUMBER
        or is_categorical(cells.dtype)
        or cells.dtype.kind == "O"
    ):
        coded = _read_codes(cells, number_of)
        return np.asarray(coded.distinct, dtype=np.float64)[coded.places]
    if isinstance(cells, np.ndarray):
        return np.asarray(cells, dtype=np.float64)
    return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))


def _read_codes(cells: Any, read: Callable[[Any], Any]) -> Coded:
    """Return cells as places in a list of what their distinct values are read as."""
    held = arrow_array_of(cells)
    if held is not None:
        coded = arrow_codes(held)
        listed, places = coded.distinct.tolist(), coded.places
    elif is_categorical(cells.dtype):
        listed, places = cells.cat.categories.tolist(), cells.cat.codes.to_numpy()
    elif kind_of(cells.dtype).holds in (TEXT, NUMBER) and hasattr(cells, "factorize"):
        places, distinct = cells.factorize()
        listed = distinct.tolist()
    else:  # values may be of any kind, even such that cannot be looked up
        listed, places = cells.tolist(), np.arange(len(cells))
    read_as = np.empty(len(listed) + 1, dtype=object)
    read_as[:-1] = [read(value) for value in listed]
    read_as[-1] = read(None)  # where a place is minus one
    return Coded(read_as, places.astype(np.int64))


def _text(cell: Any) -> str | None:
    """Return a cell as text, by itself; None if it is neither text nor a number."""
    label = label_of(cell)
    if isinstance(label, str):
        return label
    number = number_of(label)
    if not np.isfinite(number):
        return None
    return str(int(number)) if number == int(number) else repr(number)


def _number_spelt(cell: Any) -> float | None:
    """Return a cell as the number or truth value that it spells, by itself; None if neither."""
    number = read_spelling(cell)
    return None if np.isnan(number) else number


def _shortest_number(cell: Any) -> float | None:
    """Return a cell of single precision as the number that it is taken for, None if missing."""
    number = number_of(cell)
    return None if np.isnan(number) else shortest(number)


def _label(cell: Any) -> Any:
    """Return a cell by itself: text, a number, or None."""
    label = label_of(cell)
    if isinstance(label, str):
        return label
    number = number_of(label)
    return None if np.isnan(number) else number


def _read_table(rows: Any) -> Any:
    """Return an array of numbers, as it is if it is one."""
    if kind_of(rows.dtype).holds == NUMBER:
        return rows
    return numbers_of(rows.ravel().tolist()).reshape(rows.shape)


def pick_columns(names: Sequence[str], rows: Any) -> Any:
    """Return some columns of a data frame, as far as it has them."""
    return rows[[name for name in names if name in rows.columns]]


def add_columns(names: Sequence[str], rows: Any, *columns: Any) -> Any:
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


def fail_to_read() -> Broken:
    """Answer for a partition that Dask could not convert."""
    return UNREAD


def count_rows(rows: Any) -> int | Broken:
    """Return how many rows a partition has."""
    return rows if isinstance(rows, Broken) else run_quietly(lambda: len(rows))


def facts_of(part: Part | Broken) -> tuple[int, int] | Broken:
    """Return how many rows a partition has, and its mark."""
    return part if isinstance(part, Broken) else (part.rows.count, part.mark)


def prepare_part(
    rows: Any, labels: Any, weights: Any, *, reading: Reading, bounds: Bounds, number: int
) -> Part | Broken:
    """Read, encode and clip the rows of a partition, which has this number among all."""

    def prepare() -> Part | Broken:
        if isinstance(rows, Broken):
            return rows
        piece = reading.piece(rows, labels, weights, number)
        if isinstance(piece, Broken):
            return piece
        if not piece.matrix.shape[0]:
            return Part(_no_rows(piece, bounds), 0)
        source = accept_rows(piece.matrix, piece.labels, piece.weights, bounds)
        return Part(source.prepare(bounds), _mark_of(piece))

    return run_quietly(prepare)


def look_at_part(
    rows: Any, labels: Any, weights: Any, *, reading: Reading, look: Callable[[Piece], Any]
) -> Any:
    """Return what ``look`` says of the rows of a partition."""

    def answer() -> Any:
        if isinstance(rows, Broken):
            return rows
        piece = reading.read(rows, labels, weights)
        return piece if isinstance(piece, Broken) else look(piece)

    return run_quietly(answer)


def _mark_of(piece: Piece) -> int:
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
    one = accept_rows(
        sparse.csr_array(zeros) if sparse.issparse(like.matrix) else zeros,
        None if bounds.labels is None else np.zeros(1),
        None if like.weights is None or bounds.max_weight is None else np.zeros(1),
        bounds,
    )
    return one.prepare(bounds).take(np.arange(0))


def work_on(part: Part | Broken, *, mark: int, work: Callable[[Part], Any]) -> Any:
    """Do something with a partition, unless it was computed again and became another."""
    if isinstance(part, Broken):
        return part
    if part.mark != mark:
        return Broken("a partition that was computed again has become another.")
    return run_quietly(lambda: work(part))


def sum_blocks(part: Part, *, kernel: Kernel, size: int) -> RunningSums:
    """Add up what a kernel says of the blocks of a partition."""
    sums = RunningSums()
    for block in part.rows.blocks(size):
        sums.add(kernel(block()))
    return sums


def merge_sums(sums: Sequence[RunningSums | Broken]) -> RunningSums | Broken:
    """Add totals to one another, in order."""

    def merge() -> RunningSums | Broken:
        total = RunningSums()
        for one in sums:
            if isinstance(one, Broken):
                return one
            total.absorb(one)
        return total

    return run_quietly(merge)


def take_rows(part: Part, *, positions: Integers) -> Part:
    """Return some rows of a partition."""
    return replace(part, rows=part.rows.take(positions))


def relabel_rows(part: Part, *, change: Callable[[Vector], Vector]) -> Part:
    """Return the rows of a partition with other labels."""
    return replace(part, rows=part.rows.relabel(change))


def remake_rows(part: Part, *, change: Remake, bounds: Bounds) -> Part:
    """Return rows made of those of a partition, each of its own row alone."""
    if not part.rows.count:
        like = Piece(np.zeros((0, 1)), part.rows.labels, part.rows.weights)
        return replace(part, rows=_no_rows(like, bounds))
    return replace(part, rows=change(part.rows).prepare(bounds))


Answer = TypeVar("Answer")


def run_quietly(work: Callable[[], Answer]) -> Answer | Broken:
    """Do the work; whatever it raises could quote rows in the log of a worker."""
    try:
        with silence():
            return work()
    except Exception:
        return Broken()
