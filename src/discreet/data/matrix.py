"""A table of numbers as the caller gave it: its type is public, cells are read each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from discreet._quiet import quiet
from discreet.data.cells import numbers_of
from discreet.data.given_column import as_objects, column_of, converted, family
from discreet.data.kinds import NUMERIC_KINDS, TEXT, kind_of
from discreet.errors import InputError, InputTypeError


@quiet()
def table_of(X: Any, name: str = "X") -> Any:
    """Return an array of numbers or a sparse matrix, as it is if it is one.

    Data frames, lists and arrays of objects become numbers cell by cell, NaN where a cell is none.

    Examples
    --------
    >>> table_of([[1, "2.5"], [None, "x"]])
    array([[1. , 2.5],
           [nan, nan]])
    """
    if sparse.issparse(X):
        return _checked(X, name)
    columns = columns_of(X)
    if columns is not None:
        return _side_by_side(columns, X, name)
    if _is_sequence(X):
        return _of_rows(X, name)
    return _checked(cells_of(X, name), name)


@quiet()
def cells_of(X: Any, name: str = "X") -> Any:
    """Return an array of cells, none of which is changed; what is no table is refused by its type.

    Examples
    --------
    >>> cells_of([[1, "x"], [[2, 3], None]])
    array([[1, 'x'],
           [list([2, 3]), None]], dtype=object)
    """
    if isinstance(X, np.ma.MaskedArray):
        raise InputTypeError(f"{name} must not be a masked array; fill it, with NaN if you like.")
    if isinstance(X, np.matrix):
        raise InputTypeError(f"{name} must not be a np.matrix; use np.asarray.")
    if isinstance(X, np.ndarray):
        return X
    if _is_sequence(X):
        listed = _listed(X, name)
        width = len(listed[0]) if listed else 0
        return as_objects(list(chain.from_iterable(listed))).reshape(len(listed), width)
    if hasattr(X, "__array__") and not family(X):
        return cells_of(converted(X, name), name)
    raise InputTypeError(
        f"{name} must be an array of rows and columns, a sparse matrix or a data frame; got a "
        f"value of type {type(X).__name__}."
    )


def _is_sequence(X: Any) -> bool:
    return isinstance(X, Sequence) and not isinstance(X, str | bytes | bytearray)


def columns_of(X: Any) -> list[Any] | None:
    """Return the columns of a data frame, None for anything else.

    Examples
    --------
    >>> columns_of(np.zeros((2, 3))) is None
    True
    """
    if len(getattr(X, "shape", ())) != 2:
        return None
    match family(X):
        case "pandas":
            return [X.iloc[:, place] for place in range(X.shape[1])]
        case "polars":
            return list(X.get_columns())
        case "pyarrow":
            return list(X.columns)
    return None


def _side_by_side(columns: list[Any], X: Any, name: str) -> Any:
    if family(X) == "pandas" and _is_one_block(X.dtypes.tolist()):
        return X.to_numpy()
    if any(kind_of(_type_of(column)).holds == TEXT for column in columns):
        raise _no_table(name)
    given = [column_of(column, name) for column in columns]
    if any(column.kind == TEXT for column in given):  # bytes, too, are text in a column
        raise _no_table(name)
    table = np.empty((X.shape[0], len(given)), order="F")
    for target, column in zip(table.T, given, strict=True):
        target[:] = column.numbers()
    return table


def _type_of(column: Any) -> Any:
    return column.type if family(column) == "pyarrow" else column.dtype


def _is_one_block(dtypes: list[Any]) -> bool:
    """Say whether all columns have one type of NumPy's, so that no cell can change it."""
    first = dtypes[0] if dtypes else None
    return (
        isinstance(first, np.dtype)
        and first.kind in NUMERIC_KINDS
        and dtypes.count(first) == len(dtypes)
    )


def _checked(X: Any, name: str) -> Any:
    """Return an array or sparse matrix of numbers; its type and its axes decide."""
    if X.ndim != 2:
        raise _no_table(name)
    if X.dtype.kind in NUMERIC_KINDS:
        return X
    if X.dtype.kind != "O" or sparse.issparse(X):
        raise _no_table(name)
    return numbers_of(X.ravel().tolist()).reshape(X.shape)


def _of_rows(rows: Sequence[Any], name: str) -> Any:
    listed = _listed(rows, name)
    width = len(listed[0]) if listed else 0
    return numbers_of(chain.from_iterable(listed)).reshape(len(listed), width)


def _listed(rows: Sequence[Any], name: str) -> list[Sequence[Any]]:
    """Return rows of one length; that they have it is public, as the type of an array is."""
    listed = [_row(row, name) for row in rows]
    if any(len(row) != len(listed[0]) for row in listed):
        raise _ragged(name)
    return listed


def _row(row: Any, name: str) -> Sequence[Any]:
    """Return the cells of one row, which are read no further; what is no row is refused."""
    kind = type(row)
    for base in (list, tuple):
        if issubclass(kind, base):
            return row if kind is base else base.__getitem__(row, slice(None))
    if isinstance(row, np.ma.MaskedArray) and row.ndim == 1:
        return list(row.tolist())
    if _is_sequence(row):
        return _cells_of_foreign(row, name)
    cells: Any = converted(row, name) if hasattr(row, "__array__") else np.empty(())
    if cells.ndim != 1:
        raise _ragged(name)
    return [None] * cells.size if cells.dtype.kind in "mM" else list(cells.tolist())


def _cells_of_foreign(row: Sequence[Any], name: str) -> list[Any]:
    try:
        return list(row)
    except Exception:  # whatever a foreign row raises could quote its contents
        pass
    raise _ragged(name)


def _ragged(name: str) -> InputError:
    return InputError(f"{name} must be a table with two axes: rows of the same length.")


def _no_table(name: str) -> InputError:
    return InputError(
        f"{name} must be a table of real numbers with two axes. Reshape your data with "
        f"{name}.reshape(-1, 1) if it is one column; encode text. Complex data not supported."
    )
