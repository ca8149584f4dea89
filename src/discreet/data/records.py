"""Records of a stream as they arrive: taken by type and shape, clipped each by itself.

Types of a table are public. A block of a stream may be a single record, and data frames take their
types from cells: of a block in which every ward is missing the column is one of floats, and of one
with a date in it a column of dates. What the type of a block cannot hold is therefore not refused:
such a column becomes one of objects, which is read cell by cell, as single records are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet._private_part import silence
from discreet._types import Array, Vector
from discreet.data.arrays import accept_rows
from discreet.data.arrow import import_arrow
from discreet.data.cells import numbers_of
from discreet.data.dense import bring_inside
from discreet.data.frame import Coded
from discreet.data.given_column import OBJECTS, GivenColumn, as_objects, column_of, family, type_of
from discreet.data.kinds import ANYTHING, OTHER, TEXT, check_kind, kind_of
from discreet.data.matrix import columns_of
from discreet.data.source import Prepared, Source
from discreet.errors import InputError, InputTypeError
from discreet.questions.bounds import Bounds

Given = Source | tuple[Array, Vector | None]
"""Records that were accepted: stored or odd ones as a source, plain arrays as they are."""


Ready = Prepared | tuple[Array, Vector | None]
"""Records that may be clipped."""


def accept_records(X: Any, y: Any, bounds: Bounds) -> Given:
    """Take records by their shape, whatever the types of their cells.

    Arrays of floats, which most records come in, take a short way.
    """
    if _is_plain(X, 2) and X.shape[1] == bounds.n_features and len(X):
        if y is None and bounds.labels is None:
            return X, None
        if _is_plain(y, 1) and len(y) == len(X) and bounds.labels is not None:
            return X, y
    return accept_rows(loosen_rows(X), loosen_labels(y, _refuse_text), None, bounds)


def _refuse_text(given: GivenColumn) -> None:
    if given.kind == TEXT:
        raise InputTypeError("labels must be numbers.")


def _is_plain(values: Any, axes: int) -> bool:
    return type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == axes


def count_records(given: Given) -> int | None:
    """Return how many records there are, which is public; None if they must be read for that."""
    if isinstance(given, Source):
        return given.count if given.knows_count else None
    return len(given[0])


def prepare_records(given: Given, bounds: Bounds) -> Ready:
    """Read records, and work out how each is clipped."""
    return given.prepare(bounds) if isinstance(given, Source) else given


def clip_records(ready: Ready, bounds: Bounds, size: int) -> Iterator[tuple[Array, Vector | None]]:
    """Yield up to ``size`` clipped records and their labels at a time, in order.

    They are, to the last bit, what opened rows are. Arrays that were given may be yielded as they
    are, and must not be overwritten.
    """
    if isinstance(ready, Prepared):
        for make in ready.blocks(size):
            block = make()
            yield block.rows(), block.labels
        return
    X, y = ready
    for start in range(0, len(X), size):
        yield _clip(X[start : start + size], None if y is None else y[start : start + size], bounds)


def _clip(X: Array, y: Vector | None, bounds: Bounds) -> tuple[Array, Vector | None]:
    labels, unknown = (None, None) if bounds.labels is None or y is None else bounds.labels.clean(y)
    is_inside = unknown is None and bounds.features.holds_surely(X)
    rows = X if is_inside else bring_inside(X, unknown, bounds)
    if bounds.intercept is None:
        return rows, labels
    whole = np.empty((len(rows), bounds.width))
    whole[:, :-1] = rows
    whole[:, -1] = bounds.intercept
    return whole, labels


Labels = Sequence[Any] | None
"""The declared labels of a column; None for numbers."""


def _want_numbers(name: Any, place: int) -> Labels:
    return None


@silence()
def loosen_rows(X: Any, labels_of: Callable[[Any, int], Labels] = _want_numbers) -> Any:
    """Return a block with columns of objects where their types do not go with what is declared.

    Examples
    --------
    >>> import pandas
    >>> loosen_rows(pandas.DataFrame({"age": ["old"], "stay": [3]})).dtypes.tolist()
    [dtype('O'), dtype('int64')]
    """
    if type(X) is np.ndarray:
        return _loosen_array(X)
    columns = columns_of(X)
    if columns is None:
        return X
    names = X.column_names if family(X) == "pyarrow" else list(X.columns)
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        labels = labels_of(name, place)
        if not _holds(column, labels):
            X = _REPLACE[family(X)](X, place, _list_cells(column), labels)
    return X


@silence()
def loosen_labels(y: Any, check: Callable[[GivenColumn], None]) -> Any:
    """Return labels of a block as a column of objects, if their type is one that is refused.

    Examples
    --------
    >>> def refuse(column): raise InputTypeError("not such")
    >>> loosen_labels(np.array([1.5]), refuse).kind
    'anything'
    """
    is_column = isinstance(y, np.ndarray) or (family(y) in _REPLACE and hasattr(y, "__len__"))
    if not is_column or len(getattr(y, "shape", (1,))) != 1 or isinstance(y, np.ma.MaskedArray):
        return y
    try:
        given = column_of(y, "y")
        check(given)
    except InputTypeError:
        return GivenColumn(ANYTHING, OBJECTS, len(y), lambda: (as_objects(_list_cells(y)), None))
    return given


def _holds(column: Any, labels: Labels) -> bool:
    """Say whether the type of a column can hold what is declared."""
    try:
        check_kind("", "", labels, kind_of(type_of(column)))
    except InputError:
        return False
    return True


def _list_cells(column: Any) -> list[Any]:
    """Return cells as they are."""
    kind = kind_of(type_of(column))
    if kind.holds == OTHER and not kind.is_bytes:
        return _list_others(column)
    given = column_of(column, "a column")
    cells = given.cells.expand() if isinstance(given.cells, Coded) else given.cells
    missing = np.zeros(len(given), dtype=bool) if given.missing is None else given.missing
    return [
        None if is_missing else cell
        for cell, is_missing in zip(cells.tolist(), missing, strict=True)
    ]


def _list_others(column: Any) -> list[Any]:
    """Return cells of a type neither of numbers nor of text: some may be numbers all the same."""
    if getattr(type_of(column), "kind", "") == "c":
        column = np.asarray(column)
    try:
        if isinstance(column, np.ndarray):
            column = _loosen_array(column)
        ways = (getattr(column, name, None) for name in ("to_pylist", "tolist", "to_list"))
        return list(next(way for way in ways if way is not None)())
    except Exception:  # whatever a foreign column raises could quote its contents
        return [None] * len(column)


def _loosen_array(X: Any) -> Any:
    """Return an array of text as one of objects; of others that hold no numbers, nothing is left.

    One complex number makes all others complex, so that these are taken for what they were.
    """
    kind = kind_of(X.dtype)
    if kind.holds == TEXT or kind.is_bytes:
        return X.astype(object)
    if X.dtype.kind == "c":
        return np.where(X.imag == 0, X.real, np.nan)
    return np.full(X.shape, None, dtype=object) if kind.holds == OTHER else X


def _replace_in_pandas(X: Any, place: int, cells: list[Any], labels: Labels) -> Any:
    import pandas

    again = X.copy(deep=False)
    again.isetitem(place, pandas.Series(as_objects(cells), index=X.index, dtype=object))
    return again


def _replace_in_polars(X: Any, place: int, cells: list[Any], labels: Labels) -> Any:
    import polars

    return X.with_columns(polars.Series(X.columns[place], cells, dtype=polars.Object))


def _replace_in_arrow(X: Any, place: int, cells: list[Any], labels: Labels) -> Any:
    """Replace a column by numbers or text: Arrow has no objects."""
    arrow = import_arrow()
    if labels is None:
        column = arrow.array(numbers_of(cells))
    elif all(cell is None or isinstance(cell, str) for cell in cells) and _are_text(labels):
        column = arrow.array(cells, arrow.string())
    else:
        column = arrow.nulls(len(cells))
    return X.set_column(place, X.column_names[place], column)


def _are_text(labels: Sequence[Any]) -> bool:
    return any(isinstance(label, str) for label in labels)


_REPLACE: dict[str, Callable[[Any, int, list[Any], Labels], Any]] = {
    "pandas": _replace_in_pandas,
    "polars": _replace_in_polars,
    "pyarrow": _replace_in_arrow,
}
