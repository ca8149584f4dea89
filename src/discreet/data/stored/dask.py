"""Dask data frames and arrays as rows, checked by their types; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from discreet.data.dense import NO_ROWS, rows_of_width
from discreet.data.frame import matrix_of
from discreet.data.kinds import ANYTHING, OTHER, kind_of
from discreet.data.source import Source
from discreet.data.stored import worker
from discreet.data.stored.partitions import PreparedPartitions, compute_tasks, make_task
from discreet.data.stored.table import (
    Encoding,
    OpenedTable,
    Piece,
    Seen,
    StoredTable,
    TargetCount,
    Wanted,
    check_found,
    names_of_targets,
)
from discreet.data.stored.worker import LABELS, WEIGHTS, Reading
from discreet.errors import InputError, InputTypeError, SourceChanged
from discreet.questions.bounds import Bounds


def is_dask(X: object) -> bool:
    """Say whether this is a Dask collection, without importing Dask."""
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
    labels: Any = None
    weights: Any = None

    @classmethod
    def owns(cls, X: object) -> bool:
        return is_dask(X) or isinstance(X, DaskTable)

    @classmethod
    def open(cls, X: Any) -> Self:
        """Take a collection by its types and partitions."""
        if isinstance(X, cls):
            return X
        if not _is_collection(X) or X.ndim != 2:
            raise InputTypeError(
                "X must be a Dask data frame, or a Dask array with two axes; got "
                f"{type(X).__name__}."
            )
        return cls(X if _is_frame(X) else _rechunk_rows(X))

    def attach(self, y: Any, weights: Any, *, are_several: bool = False) -> DaskTable:
        """Return the table with labels and weights that came beside it."""
        if y is None and weights is None:
            return self
        if self.labels is not None or self.weights is not None:
            raise InputError("a DaskTable brings its labels and weights with it; leave y out.")
        return replace(
            self,
            labels=_align("y", y, self.rows, most_axes=2 if are_several else 1),
            weights=_align("sample_weight", weights, self.rows),
        )

    def with_targets(self, y: Any, target: Any, weight: Any, count: TargetCount) -> OpenedTable:
        names = names_of_targets(target, count)
        is_named = isinstance(weight, str)
        y = None if count == "none" else y
        if count != "none" and bool(names) == (y is not None or self.labels is not None):
            raise InputError(
                "where are the labels? Pass target with the name of a column of the Dask data "
                "frame, or y with a Dask array or column."
            )
        table = self.attach(y, None if is_named else weight, are_several=count == "several")
        if table.names is None and (names or is_named):
            raise InputError("a Dask array has no names; pass y and sample_weight as arrays.")
        is_single = isinstance(target, str) if names else getattr(table.labels, "ndim", 1) == 1
        targets = () if count == "none" else names or table.names_beside
        return OpenedTable(table, targets, weight if is_named else None, is_single=is_single)

    @property
    def names_beside(self) -> tuple[str, ...]:
        """What the labels that came beside the rows are called."""
        if self.labels is None:
            return ()
        if self.labels.ndim == 1:
            return (LABELS,)
        return tuple(f"{LABELS}, {place}" for place in range(self.labels.shape[1]))

    @property
    def names(self) -> list[str] | None:
        return list(self.rows.columns) if _is_frame(self.rows) else None

    @property
    def width(self) -> int:
        return len(self.rows.columns) if _is_frame(self.rows) else int(self.rows.shape[1])

    def __repr__(self) -> str:
        return f"<Dask: {self.rows.npartitions} partitions of {self.width} columns>"

    def check_same_names(self) -> None:
        return  # whether partitions keep to the type of the whole is seen when they are computed

    def source(self, encoding: Encoding) -> DaskSource:
        for column in (*encoding.beside, *([encoding.target] if encoding.target else ())):
            for dtype in _types_of(self.labels):
                _check_kind("y", column, dtype)
        if self.weights is not None:
            encoding = replace(encoding, weight=Wanted(WEIGHTS))
            _check_kind("sample_weight", Wanted(WEIGHTS), self.weights.dtype)
        if self.names is not None:
            return self._source_of_frame(encoding)
        for column in encoding.features or (Wanted("X"),):
            _check_kind("X", column, self.rows.dtype)
        given = [self.rows, self.labels, self.weights]
        parts = [_delay(one, self.rows.npartitions) for one in given]
        reading = Reading(encoding, is_frame=False)
        return DaskSource(tuple(zip(*parts, strict=True)), reading, _lengths(self.rows))

    def _source_of_frame(self, encoding: Encoding) -> DaskSource:
        """Return rows with labels and weights as columns of one frame, which Dask then optimises.

        It may make one partition of several, and would do so differently with two frames.
        """
        if self.labels is not None and encoding.target is not None:
            encoding = replace(encoding, target=replace(encoding.target, name=LABELS))
        encoding.check_apart()
        beside = dict(zip(self.names_beside, _columns_of(self.labels), strict=True))
        if self.weights is not None:
            beside[WEIGHTS] = self.weights
        inside = [column for column in encoding.wanted if column.name not in beside]
        for column in inside:
            self._check(column)
        rows = _pick_columns([column.name for column in inside], self.rows)
        if beside:
            meta = rows._meta.assign(**{name: one._meta for name, one in beside.items()})
            rows = rows.map_partitions(
                partial(worker.add_columns, list(beside)),
                *beside.values(),
                meta=meta,
                align_dataframes=False,
                enforce_metadata=False,  # Dask would raise on a worker, and quote rows
            )
        parts = tuple((part, None, None) for part in _delay(rows, 0))
        return DaskSource(parts, Reading(encoding, is_frame=True))

    def map_rows(self, answer: Callable[[Any], Any], columns: Sequence[Wanted] | None) -> Any:
        """Return what ``answer`` says of the rows of each partition, when that is computed."""
        if self.names is None or columns is None:
            return map_lazily(answer, self.rows)
        missing = [column.name for column in columns if column.name not in self.names]
        if missing:
            raise InputError(f"the column {missing[0]!r}, which the model knows, is missing.")
        return map_lazily(answer, self.rows[[column.name for column in columns]])

    def survey(self, look: Callable[[Piece], Seen], encoding: Encoding) -> list[Seen]:
        source = self.source(encoding)
        task = make_task(worker.look_at_part, reading=source.reading, look=look)
        return compute_tasks([task(*given) for given in source.partitions])

    def _check(self, column: Wanted) -> None:
        """Refuse a column that is missing, or whose type does not go with what is declared."""
        found = [place for place, name in enumerate(self.rows.columns) if name == column.name]
        check_found("the Dask data frame", column.name, len(found))
        _check_kind("the Dask data frame", column, self.rows.dtypes.iloc[found[0]])


@dataclass(frozen=True, eq=False, repr=False)
class DaskSource(Source):
    """Rows in partitions."""

    partitions: tuple[tuple[Any, Any, Any], ...]
    reading: Reading
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
        return self.reading.encoding.total_width

    def _count(self) -> int:
        if self.lengths is not None:
            return sum(self.lengths)
        if not self._counted:
            tasks = [make_task(worker.count_rows)(rows) for rows, _, _ in self.partitions]
            self._counted.append(sum(compute_tasks(tasks)))
        return self._counted[0]

    def check(self, bounds: Bounds) -> None:
        width = self.width
        if width != bounds.n_features:
            raise InputError(f"X must have {bounds.n_features} columns, as declared; got {width}.")
        if self.lengths is not None and self.count == 0:
            raise InputError(NO_ROWS)
        self.reading.encoding.check_bounds(bounds)

    def check_held(self, bounds: Bounds) -> None:
        raise InputError(
            "this mechanism holds all rows in one memory, and rows of Dask stay with its workers; "
            "pass an array, or use another mechanism."
        )

    def block_rows(self) -> int:
        return rows_of_width(self.width)

    def prepare(self, bounds: Bounds) -> PreparedPartitions:
        prepare, reading = worker.prepare_part, self.reading
        parts = [
            make_task(prepare, reading=reading, bounds=bounds, number=number)(*given)
            for number, given in enumerate(self.partitions)
        ]
        prepared = PreparedPartitions.compute(parts, bounds)
        if prepared.count == 0:
            raise SourceChanged(NO_ROWS)
        if (self.knows_count or self._counted) and prepared.count != self.count:
            raise SourceChanged("the number of rows changed while they were read.")
        return prepared


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
    table = DaskTable.open(X).attach(y, weights)
    features = None if table.names is None else tuple(Wanted(name) for name in table.names)
    target = None if y is None else Wanted("y")
    label = None if y is None else np.asarray
    return table.source(Encoding(features, matrix_of, table.width, target, label))


def map_lazily(answer: Callable[[Any], Any], X: Any) -> Any:
    """Return what ``answer`` says of the rows of each partition, when that is computed.

    Examples
    --------
    >>> import dask.array
    >>> rows = dask.array.ones((3, 2), chunks=(2, 2))
    >>> map_lazily(lambda rows: rows.sum(axis=1), rows).compute()
    array([2., 2., 2.])
    """
    if _is_frame(X):
        indexed = partial(_answer_with_index, answer)
        return X.map_partitions(indexed, meta=indexed(X._meta_nonempty).iloc[:0])
    X = _rechunk_rows(X)
    example = answer(np.zeros((1, X.shape[1]), dtype=X.dtype))
    if example.ndim == 1:
        return X.map_blocks(answer, dtype=example.dtype, drop_axis=1, meta=example[:0])
    chunks = (X.chunks[0], (example.shape[1],))
    return X.map_blocks(answer, dtype=example.dtype, chunks=chunks, meta=example[:0])


def _answer_with_index(answer: Callable[[Any], Any], rows: Any) -> Any:
    """Return an answer about a data frame as a column or frame with the same index."""
    import pandas

    said = answer(rows)
    make = pandas.Series if said.ndim == 1 else pandas.DataFrame
    return make(said, index=rows.index)


def _pick_columns(names: list[str], frame: Any) -> Any:
    """Return some columns of a data frame; from files, the others are not even read.

    Where Dask would have to pick columns out of a partition, a missing one would make it raise on
    a worker, and write rows to its log.
    """
    chosen = frame[names]
    nodes = chosen.optimize(fuse=False).expr.walk()
    if not any(type(node).__name__ == "Projection" for node in nodes):
        return chosen
    pick = partial(worker.pick_columns, names)
    return frame.map_partitions(pick, meta=chosen._meta, enforce_metadata=False)


def _is_collection(X: Any) -> bool:
    """Say whether this is a data frame or a column of Dask, or an array of NumPy's arrays."""
    if not is_dask(X) or type(X).__module__.split(".")[1] not in ("array", "dataframe"):
        return False
    return _is_frame(X) or not hasattr(X, "chunks") or type(X._meta) is np.ndarray


def _is_frame(X: Any) -> bool:
    return hasattr(X, "dtypes") and hasattr(X, "columns")


def _rechunk_rows(X: Any, name: str = "X") -> Any:
    """Return an array whose partitions are not cut across columns."""
    if not isinstance(X.shape[1], (int, np.integer)):
        raise InputError(
            f"{name} must have a known number of columns; call compute_chunk_sizes on it."
        )
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _align(name: str, column: Any, X: Any, most_axes: int = 1) -> Any:
    """Return labels or weights, refusing those that are not partitioned like the rows."""
    if column is None:
        return None
    expected = "column of a data frame" if _is_frame(X) else "array"
    is_like = _is_collection(column) and hasattr(column, "chunks") != _is_frame(X)
    if not is_like or not 1 <= getattr(column, "ndim", 0) <= most_axes:
        raise InputTypeError(
            f"{name} must be a Dask {expected} with one entry for each row of X; got "
            f"{type(column).__name__}."
        )
    known, own = _lengths(X), _lengths(column)
    if known is not None and own is not None and known != own:
        if sum(known) != sum(own):
            raise InputError(f"{name} must have one entry for each row of X.")
        column = column.rechunk({0: known})
    if not _is_frame(X) and column.ndim == 2:
        column = _rechunk_rows(column, name)
    if _is_frame(column) and len(set(column.columns)) < len(column.columns):
        raise InputError(f"{name} must have columns of different names; some name comes twice.")
    if column.npartitions != X.npartitions:
        raise InputError(
            f"{name} must have as many partitions as X, {X.npartitions}; got "
            f"{column.npartitions}. Repartition one of them."
        )
    return column


def _columns_of(labels: Any) -> list[Any]:
    """Return the columns of labels that came beside a frame."""
    if labels is None:
        return []
    return [labels] if labels.ndim == 1 else [labels[name] for name in labels.columns]


def _types_of(labels: Any) -> list[Any]:
    if labels is None:
        return []
    return [labels.dtype] if hasattr(labels, "dtype") else list(labels.dtypes)


def _lengths(X: Any) -> tuple[int, ...] | None:
    """Return how many rows each partition has, if that is known without computing one."""
    if not hasattr(X, "chunks"):
        return None
    lengths = X.chunks[0]
    return None if any(length != length for length in lengths) else tuple(map(int, lengths))


def _delay(X: Any, partitions: int) -> list[Any]:
    """Return what Dask will compute for each partition, None for each of a table without any.

    Dask converts text of what it was made of in memory already here, and raises, with the cell, on
    text that it cannot convert. As for a partition that fails later, the charge comes first.
    """
    if X is None:
        return [None] * partitions
    try:
        return list(np.ravel(np.array(X.to_delayed())))
    except OSError:  # a file that is not there, or the caller's time-out: neither is a cell's
        raise
    except Exception:
        return [make_task(worker.fail_to_read)() for _ in range(X.npartitions)]


def _check_kind(place: str, column: Wanted, dtype: Any) -> None:
    kind = kind_of(dtype)
    numbers = [label for label in column.labels or () if not isinstance(label, str)]
    if len(set(map(float, numbers))) < len(numbers):
        raise InputError(
            f"{place}: numbers of Dask are read as floats, which do not tell {numbers} apart."
        )
    if kind.holds == ANYTHING and column.is_number:
        kind = replace(kind, holds=OTHER)  # partitions are to be numbers, or declared as such
    column.check(place, kind)
