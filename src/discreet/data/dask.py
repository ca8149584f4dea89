"""Dask data frames and arrays as rows; the only place that knows Dask.

Partitions are encoded, clipped and summed where they are. What comes back is, for each pass, one
total of the blocks of a few neighbouring partitions; beside it only their numbers of rows, once.
Totals are added in the order of the partitions, whichever came first, so a pass that was repeated
because a worker was lost brings the same numbers. Noise is drawn where the fit was called, after.

Tasks never raise: what Dask writes about a failed task, in the logs of workers, would quote its
arguments. They answer with :class:`Broken` instead, which says nothing of any row.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import numpy as np
from scipy import sparse

from discreet._types import Integers, Vector
from discreet.data.accept import source_of
from discreet.data.block import Block
from discreet.data.dense import rows_of_width
from discreet.data.frame import Coded, Frame, matrix_of
from discreet.data.source import Kernel, Prepared, Remake, Source
from discreet.data.stored import Encoding, StoredTable, Wanted, check_apart
from discreet.data.stream import CACHED_BYTES, HELD_BYTES, Piece
from discreet.data.total import Sums
from discreet.declared import Bounds
from discreet.errors import InputError, InputTypeError, PrivacyError, SourceChanged

MERGED = 8
"""Totals of so many neighbouring partitions are added before they leave the workers."""

NUMBER, TEXT, ANYTHING, OTHER = "numbers", "text", "anything", "something else"


def is_dask(X: object) -> bool:
    """Say whether this is a Dask collection, without importing Dask.

    Examples
    --------
    >>> is_dask([[1.0]])
    False
    """
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "__dask_graph__")


@dataclass(frozen=True, eq=False, repr=False)
class DaskTable(StoredTable):
    """A Dask data frame or array, with its labels and weights; nothing has been computed.

    Examples
    --------
    >>> import dask.array
    >>> DaskTable.open(dask.array.ones((6, 2), chunks=(3, 2)))
    <Dask: 2 partitions of 2 columns>
    """

    rows: Any
    labels: Any
    weights: Any

    @classmethod
    def open(cls, X: Any, y: Any = None, weights: Any = None) -> DaskTable:
        """Take collections by their types and partitions."""
        if isinstance(X, DaskTable):
            return X
        if not is_dask(X) or not hasattr(X, "to_delayed") or X.ndim != 2:
            raise InputTypeError(
                "X must be a Dask data frame, or a Dask array with two axes; got "
                f"{type(X).__name__}."
            )
        if not _is_frame(X):
            X = _whole_rows(X)
        return cls(X, _beside("y", y, X), _beside("sample_weight", weights, X))

    @property
    def names(self) -> list[str] | None:
        return list(self.rows.columns) if _is_frame(self.rows) else None

    @property
    def width(self) -> int:
        return len(self.rows.columns) if _is_frame(self.rows) else int(self.rows.shape[1])

    def __repr__(self) -> str:
        return f"<Dask: {_partitions(self.rows)} partitions of {self.width} columns>"

    def check_same_names(self) -> None:
        return  # whether partitions keep to the type of the whole is seen when they are computed

    def source(self, encoding: Encoding) -> DaskSource:
        kinds: dict[str, str] = {}
        rows = self.rows
        if encoding.features is not None:
            check_apart(encoding.features, encoding.target, encoding.weight)
            wanted = [*encoding.features]
            wanted += (
                [] if encoding.target is None or self.labels is not None else [encoding.target]
            )
            wanted += [] if encoding.weight is None else [encoding.weight]
            kinds = {column.name: self._kind(column) for column in wanted}
            rows = rows[list(kinds)]  # the others are not even read
        elif _kind(rows.dtype) != NUMBER and encoding.features is None:
            raise InputTypeError(f"X must hold numbers; its type is {rows.dtype}.")
        if self.labels is not None and encoding.target is not None:
            _check_kind("y", encoding.target, _kind(self.labels.dtype), self.labels.dtype)
        given = [rows, self.labels, self.weights]
        return DaskSource(
            tuple(zip(*(_delayed(one, _partitions(rows)) for one in given), strict=True)),
            _Reading(encoding, kinds, self.labels is not None, self.weights is not None),
            _lengths(self.rows),
        )

    def _kind(self, column: Wanted) -> str:
        """Return what a column of the frame can hold, if it goes with what is declared."""
        found = [place for place, name in enumerate(self.rows.columns) if name == column.name]
        if len(found) != 1:
            times = "comes twice; names must differ" if found else "which is declared, is missing"
            raise InputError(f"the Dask data frame: the column {column.name!r}, {times}.")
        dtype = self.rows.dtypes.iloc[found[0]]
        kind = _kind(dtype)
        _check_kind("the Dask data frame", column, kind, dtype)
        return kind


@dataclass(frozen=True, eq=False, repr=False)
class DaskSource(Source):
    """Rows in partitions.

    Parameters
    ----------
    partitions
        What Dask will compute for each: rows, labels and weights, None where there are none.
    reading
        What makes a piece of them.
    lengths
        How many rows each has, if that is known.
    """

    partitions: tuple[tuple[Any, Any, Any], ...]
    reading: _Reading
    lengths: tuple[int, ...] | None = None
    _counted: list[int] = field(default_factory=list, init=False)

    @property
    def knows_count(self) -> bool:  # type: ignore[override]
        return self.lengths is not None

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array; partitions of unknown length are computed to count their rows."""
        return self._count(), self.width

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.reading.encoding.width

    def _count(self) -> int:
        if self.lengths is not None:
            return sum(self.lengths)
        if not self._counted:
            tasks = [_task(_length)(rows) for rows, _, _ in self.partitions]
            self._counted.append(sum(_computed(tasks)))
        return self._counted[0]

    def check(self, bounds: Bounds) -> None:
        reading, width = self.reading, self.reading.encoding.width
        if width != bounds.n_features:
            raise InputError(f"X must have {bounds.n_features} columns, as declared; got {width}.")
        if self.lengths is not None:
            _check_count(self.count, bounds, InputError)
        if (bounds.labels is not None) != reading.has_labels:
            raise InputError("Dask rows need labels exactly if the bounds declare them.")
        if reading.has_weights and bounds.max_weight is None:
            raise InputError("weights need a declared largest one; pass max_weight.")
        if reading.encoding.is_sparse and not bounds.features.contains(
            np.zeros(width), tolerance=0.0
        ):
            raise InputError("sparse rows need a set that contains the origin; use a ball.")

    def check_held(self, bounds: Bounds) -> None:
        raise InputError(
            "this mechanism holds all rows in one memory, and rows of Dask stay with its workers; "
            "pass an array, or use another mechanism."
        )

    def block_rows(self) -> int:
        return rows_of_width(self.width)

    def prepare(self, bounds: Bounds) -> Scattered:
        prepared = _task(_prepared, reading=self.reading, bounds=bounds)
        scattered = Scattered.kept([prepared(*given) for given in self.partitions], bounds)
        _check_count(scattered.count, bounds, SourceChanged)
        if (self.knows_count or self._counted) and scattered.count != self.count:
            raise SourceChanged("the number of rows changed while they were read.")
        return scattered


@dataclass(frozen=True, eq=False, repr=False)
class Scattered(Prepared):
    """Clipped rows in partitions, each with a worker; only sums of them come here.

    Parameters
    ----------
    parts
        Dask's name of each partition.
    bounds
        What is declared of rows.
    lengths
        How many rows each partition has.
    marks
        What each must be known by if it is computed again, because its worker was lost.
    """

    is_streamed = True

    parts: tuple[Any, ...]
    bounds: Bounds
    lengths: Integers
    marks: tuple[int, ...]

    @classmethod
    def kept(cls, parts: Sequence[Any], bounds: Bounds) -> Scattered:
        """Compute partitions, and keep them: workers as they can, this process if they are few."""
        is_cluster = _is_cluster()
        if is_cluster:
            parts = _persisted(parts)
        facts = _computed([_task(_facts)(part) for part in parts])
        lengths = np.array([length for length, _ in facts], dtype=np.int64)
        if not is_cluster and _is_little(lengths.sum(), bounds):
            parts = _persisted(parts)
        return cls(tuple(parts), bounds, lengths, tuple(mark for _, mark in facts))

    @property
    def count(self) -> int:
        return int(self.lengths.sum())

    @property
    def has_labels(self) -> bool:
        return self.bounds.labels is not None

    def _each(self, function: Callable[..., Any], **options: Any) -> list[Any]:
        """Return a task for each partition, which is refused if it is not what it was."""
        return [
            _task(_checked, mark=mark, work=partial(function, **options))(part)
            for part, mark in zip(self.parts, self.marks, strict=True)
        ]

    def sum(self, kernel: Kernel, size: int, threads: int = 1) -> Any:
        tasks = self._each(_summed, kernel=kernel, size=size)
        while len(tasks) > MERGED:
            starts = range(0, len(tasks), MERGED)
            tasks = [_task(_merged)(tasks[start : start + MERGED]) for start in starts]
        total = _merged(_computed(tasks))
        return _sound(total).value()

    def block(self, start: int, stop: int) -> Block:
        _stay()

    def gather(self) -> tuple[Any, Vector | None]:
        _stay()

    def blocks(self, size: int) -> NoReturn:
        _stay()

    def at_once(self, block_rows: int) -> int:
        return 0  # nothing is gained by gathering samples together

    def take(self, positions: Integers) -> Scattered:
        """Return some rows, in the order of the partitions; those without one are left out."""
        ends = np.cumsum(self.lengths)
        ordered = np.sort(positions)
        cuts = np.searchsorted(ordered, np.append(0, ends))
        chosen = np.flatnonzero(np.diff(cuts)) if positions.size else np.arange(1)
        starts = ends - self.lengths
        parts = [
            _task(
                _checked,
                mark=self.marks[number],
                work=partial(_taken, positions=ordered[slice(*cuts[number : number + 2])] - first),
            )(self.parts[number])
            for number, first in zip(chosen.tolist(), starts[chosen].tolist(), strict=True)
        ]
        return replace(
            self,
            parts=tuple(parts),
            lengths=np.diff(cuts)[chosen],
            marks=tuple(self.marks[number] for number in chosen.tolist()),
        )

    def part(self, start: int, stop: int) -> Scattered:
        if start == 0 and stop >= self.count:
            return self
        return self.take(np.arange(start, min(stop, self.count)))

    def thin(self, step: int) -> Scattered:
        if not _is_cluster():
            step = max(step, -(-self.count * self.bounds.n_features * 8 // HELD_BYTES))
        few = self.take(np.arange(0, self.count, step))
        return replace(few, parts=_persisted(few.parts))

    def relabelled(self, relabel: Callable[[Vector], Vector]) -> Scattered:
        return replace(self, parts=tuple(self._each(_relabelled, relabel=relabel)))

    def remade(self, remake: Remake, bounds: Bounds) -> tuple[Callable[[], Prepared], int]:
        parts = self._each(_remade, remake=remake, bounds=bounds)
        if _is_cluster() or _is_little(self.count, bounds):
            parts = list(_persisted(parts))
        made = replace(self, parts=tuple(parts), bounds=bounds)
        return lambda: made, rows_of_width(bounds.n_features)


def dask_rows(X: Any, y: Any = None, *, weights: Any = None) -> DaskSource:
    """Return the numbers of Dask collections as stored rows, for :class:`discreet.data.Rows`.

    Parameters
    ----------
    X
        A Dask array with two axes, or a Dask data frame of numbers.
    y, weights
        One label, and one weight, for each row: Dask arrays or columns, partitioned like ``X``.

    Examples
    --------
    >>> import dask.array
    >>> from discreet.data import Bounds, Rows
    >>> from discreet.geometry import L2Ball
    >>> rows = dask.array.ones((6, 2), chunks=(3, 2))
    >>> Rows(dask_rows(rows), bounds=Bounds(L2Ball(1.0), n_features=2))
    <sealed rows: 2 features, unit 'add_remove'>
    """
    table = DaskTable.open(X, y, weights)
    features = None if table.names is None else tuple(Wanted(name) for name in table.names)
    target = None if y is None else Wanted("y")
    label = None if y is None else np.asarray
    return table.source(Encoding(features, matrix_of, table.width, target, label))


def lazily(answer: Callable[[Any], Any], X: Any) -> Any:
    """Return what ``answer`` says of the rows of each partition, when that is computed.

    Examples
    --------
    >>> import dask.array
    >>> rows = dask.array.ones((3, 2), chunks=(2, 2))
    >>> lazily(lambda rows: rows.sum(axis=1), rows).compute()
    array([2., 2., 2.])
    """
    if _is_frame(X):
        indexed = partial(_indexed, answer)
        return X.map_partitions(indexed, meta=indexed(X._meta_nonempty).iloc[:0])
    X = _whole_rows(X)
    example = answer(np.zeros((1, X.shape[1]), dtype=X.dtype))
    if example.ndim == 1:
        return X.map_blocks(answer, dtype=example.dtype, drop_axis=1, meta=example[:0])
    chunks = (X.chunks[0], (example.shape[1],))
    return X.map_blocks(answer, dtype=example.dtype, chunks=chunks, meta=example[:0])


def _indexed(answer: Callable[[Any], Any], rows: Any) -> Any:
    """Return an answer about a data frame as a column or frame with the same index."""
    import pandas

    said = answer(rows)
    make = pandas.Series if said.ndim == 1 else pandas.DataFrame
    return make(said, index=rows.index)


@dataclass(frozen=True)
class Broken:
    """What a task answers with if it has failed."""

    why: str = ""
    """What is wrong with the partition; nothing if it is not the partition."""


@dataclass(frozen=True, eq=False, repr=False)
class _Reading:
    """Makes a piece of one partition, on a worker."""

    encoding: Encoding
    kinds: Mapping[str, str]  # what each column of a data frame can hold
    has_own_labels: bool
    has_own_weights: bool

    @property
    def has_labels(self) -> bool:
        return self.has_own_labels or self.encoding.target is not None

    @property
    def has_weights(self) -> bool:
        return self.has_own_weights or self.encoding.weight is not None

    def piece(self, rows: Any, labels: Any, weights: Any) -> Piece | Broken:
        encoding = self.encoding
        if encoding.features is None:
            features = rows
        else:
            cells = self._cells(rows)
            if isinstance(cells, Broken):
                return cells
            features = Frame({column.name: cells[column.name] for column in encoding.features})
            if encoding.target is not None and not self.has_own_labels:
                labels = cells[encoding.target.name]
            if encoding.weight is not None:
                weights = cells[encoding.weight.name]
        if self.has_own_labels and encoding.target is not None:
            labels = _column(labels, encoding.target)
        matrix = encoding.encode(features)
        found = None if labels is None or encoding.label is None else encoding.label(labels)
        weights = None if weights is None else _column(weights, Wanted("weight"))
        lengths = {len(one) for one in (found, weights) if one is not None}
        if matrix.ndim != 2 or matrix.shape[1] != encoding.width:
            return Broken("a partition has another number of columns than the whole.")
        if lengths - {matrix.shape[0]}:
            return Broken("partitions of X and of y or weights differ in length.")
        return Piece(matrix, found, weights)

    def _cells(self, rows: Any) -> dict[str, Any] | Broken:
        encoding = self.encoding
        wanted = {column.name: column for column in encoding.features or ()}
        for column in (encoding.target, encoding.weight):
            if column is not None and column.name in self.kinds:
                wanted[column.name] = column
        for name, kind in self.kinds.items():
            if list(rows.columns).count(name) != 1:
                return Broken(f"a partition does not have the column {name!r}, or has it twice.")
            found = _kind(rows.dtypes.iloc[list(rows.columns).index(name)])
            if ANYTHING not in (found, kind) and found != kind:
                return Broken(f"in a partition the column {name!r} has another type.")
        return {name: _column(rows[name], column) for name, column in wanted.items()}


def _column(cells: Any, column: Wanted) -> Any:
    """Return the cells of a column as numbers, or as they are; text is looked up once a value."""
    dtype = getattr(cells, "dtype", None)
    if not hasattr(cells, "to_numpy"):
        return np.asarray(cells)
    if column.is_number and _kind(dtype) == NUMBER:
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    if _kind(dtype) == TEXT or type(dtype).__name__ == "CategoricalDtype":
        places, distinct = cells.factorize()
        listed = np.empty(len(distinct) + 1, dtype=object)
        listed[: len(distinct)] = distinct.tolist()
        return Coded(listed, places.astype(np.int64))  # minus one: the last, which is None
    if _kind(dtype) == NUMBER and not isinstance(dtype, np.dtype):
        return cells.to_numpy(dtype=object, na_value=None)
    return cells.to_numpy()


@dataclass(frozen=True, eq=False, repr=False)
class _Part:
    """Clipped rows of a partition, and a mark of what they were made of."""

    rows: Prepared
    mark: int


def _length(rows: Any) -> int | Broken:
    return _quietly(lambda: len(rows))


def _facts(part: _Part | Broken) -> tuple[int, int] | Broken:
    return part if isinstance(part, Broken) else (part.rows.count, part.mark)


def _prepared(
    rows: Any, labels: Any, weights: Any, *, reading: _Reading, bounds: Bounds
) -> _Part | Broken:
    def prepare() -> _Part | Broken:
        piece = reading.piece(rows, labels, weights)
        if isinstance(piece, Broken):
            return piece
        if not piece.matrix.shape[0]:
            return _Part(_no_rows(piece, bounds), 0)
        source = source_of(piece.matrix, piece.labels, piece.weights, bounds)
        return _Part(source.prepare(bounds), _mark(piece))

    return _quietly(prepare)


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


def _checked(part: _Part | Broken, *, mark: int, work: Callable[[_Part], Any]) -> Any:
    """Do something with a partition, unless it was computed again and became another."""
    if isinstance(part, Broken):
        return part
    if part.mark != mark:
        return Broken("a partition that was computed again has become another.")
    return _quietly(lambda: work(part))


def _summed(part: _Part, *, kernel: Kernel, size: int) -> Sums:
    sums = Sums()
    for block in part.rows.blocks(size):
        sums.add(kernel(block()))
    return sums


def _merged(sums: Sequence[Sums | Broken]) -> Sums | Broken:
    """Add totals to one another, in order."""

    def merge() -> Sums | Broken:
        total = Sums()
        for one in sums:
            if isinstance(one, Broken):
                return one
            total.absorb(one)
        return total

    return _quietly(merge)


def _taken(part: _Part, *, positions: Integers) -> _Part:
    return replace(part, rows=part.rows.take(positions))


def _relabelled(part: _Part, *, relabel: Callable[[Vector], Vector]) -> _Part:
    return replace(part, rows=part.rows.relabelled(relabel))


def _remade(part: _Part, *, remake: Remake, bounds: Bounds) -> _Part:
    if not part.rows.count:
        like = Piece(np.zeros((0, 1)), part.rows.labels, part.rows.weights)
        return replace(part, rows=_no_rows(like, bounds))
    return replace(part, rows=remake(part.rows).prepare(bounds))


Answer = TypeVar("Answer")


def _quietly(work: Callable[[], Answer]) -> Answer | Broken:
    """Do the work; whatever it raises could quote rows in the log of a worker."""
    try:
        with np.errstate(all="ignore"):
            return work()
    except Exception:
        return Broken()


def _task(function: Callable[..., Any], **options: Any) -> Any:
    """Return a task that Dask names at random, and not by what it is given."""
    return _dask().delayed(partial(function, **options), pure=False)


def _persisted(parts: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_dask().persist(*parts))


def _computed(tasks: Sequence[Any]) -> list[Any]:
    """Return what tasks answer; what Dask says of a failure may quote rows, and is dropped."""
    try:
        answers = list(_dask().compute(*tasks))
    except Exception:
        answers = None
    if answers is None:
        raise SourceChanged(
            "Dask could not compute a partition: the rows cannot be read, or too many workers were "
            "lost. Nothing is released, the charge stands."
        )
    return [_sound(answer) for answer in answers]


def _sound(answer: Answer | Broken) -> Answer:
    if isinstance(answer, Broken):
        if not answer.why:
            raise PrivacyError("the private part stopped on a worker.")
        raise SourceChanged(f"{answer.why} Nothing is released, the charge stands.")
    return answer


def _dask() -> Any:
    import dask

    return dask


def _is_cluster() -> bool:
    """Say whether Dask computes with workers that keep results, and spill them if need be."""
    get = _dask().base.get_scheduler()
    owner = getattr(get, "__self__", None)
    return type(owner).__module__.partition(".")[0] == "distributed"


def _is_little(count: int, bounds: Bounds) -> bool:
    """Say whether so many rows are kept in this process."""
    return int(count) * bounds.n_features * 8 <= CACHED_BYTES


def _stay() -> NoReturn:
    raise PrivacyError("rows of Dask stay with its workers; sum them.")


def _check_count(count: int, bounds: Bounds, error: type[Exception]) -> None:
    if count == 0:
        raise error("X must have at least one row; got none.")
    if count > bounds.max_rows:
        raise error(f"X has more rows than the declared max_rows = {bounds.max_rows}.")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "dtypes")


def _whole_rows(X: Any) -> Any:
    """Return an array whose partitions are not cut across columns."""
    if not isinstance(X.shape[1], (int, np.integer)):
        raise InputError("X must have a known number of columns; call compute_chunk_sizes on it.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _beside(name: str, column: Any, X: Any) -> Any:
    """Return labels or weights, refusing those that are not partitioned like the rows."""
    if column is None:
        return None
    if not is_dask(column) or getattr(column, "ndim", 0) != 1:
        raise InputTypeError(
            f"{name} must be a Dask array or column with one entry for each row of X; got "
            f"{type(column).__name__}."
        )
    known, own = _lengths(X), _lengths(column)
    if known is not None and own is not None and known != own:
        if sum(known) != sum(own):
            raise InputError(f"{name} must have one entry for each row of X.")
        column = column.rechunk((known,))
    if _partitions(column) != _partitions(X):
        raise InputError(
            f"{name} must have as many partitions as X, {_partitions(X)}; got "
            f"{_partitions(column)}. Repartition one of them."
        )
    return column


def _partitions(X: Any) -> int:
    return int(X.npartitions)


def _lengths(X: Any) -> tuple[int, ...] | None:
    """Return how many rows each partition has, if that is known without computing one."""
    if not hasattr(X, "chunks"):
        return None
    lengths = X.chunks[0]
    return None if any(length != length for length in lengths) else tuple(map(int, lengths))


def _delayed(X: Any, partitions: int) -> list[Any]:
    return [None] * partitions if X is None else list(np.ravel(np.array(X.to_delayed())))


def _kind(dtype: Any) -> str:
    """Say what a column of this type can hold."""
    if type(dtype).__name__ == "CategoricalDtype":
        return ANYTHING if dtype.categories is None else _kind(dtype.categories.dtype)
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


def _check_kind(place: str, column: Wanted, kind: str, dtype: Any) -> None:
    if kind == ANYTHING and not (column.is_number and place != "y"):
        return
    column.check(
        place, number=kind in (NUMBER, ANYTHING), text=kind in (TEXT, ANYTHING), kind=str(dtype)
    )
