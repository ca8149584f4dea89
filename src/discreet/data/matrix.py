"""A table of numbers as the caller gave it: its type is public, cells are read each by itself.

A table is accepted by the type and the shape of its container (validated, as scikit-learn would say
of an array) before anything is paid, and its cells are converted to floats when rows are opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import getattr_static
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from discreet._private_part import silence
from discreet.data.cells import numbers_of
from discreet.data.frame import Frame, matrix_of, refuse_lazy
from discreet.data.given_column import (
    GivenColumn,
    as_objects,
    column_of,
    convert,
    family,
    is_sequence,
    list_cells,
    type_of,
)
from discreet.data.kinds import NUMERIC_KINDS, TEXT, kind_of
from discreet.data.source import refuse_changed
from discreet.errors import InputError, InputTypeError


@dataclass(frozen=True, eq=False, repr=False)
class GivenMatrix:
    """A table of numbers, accepted by its type and shape; its cells have not been read."""

    held: Any
    read: Callable[[], Any]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns; the first is private unless the unit says otherwise."""
        count, width = self.held.shape
        return int(count), int(width)

    @property
    def is_sparse(self) -> bool:
        """Whether it is a SciPy sparse matrix."""
        return bool(sparse.issparse(self.held))

    def numbers(self) -> Any:
        """Read the cells: an array of numbers or a sparse matrix, as it is if it is one."""
        with silence():
            numbers = self.read()
        if numbers.shape != self.shape:
            refuse_changed()
        return numbers


@silence()
def accept_matrix(X: Any, name: str = "X") -> GivenMatrix:
    """Take a table of numbers by its type and shape; what is none is refused, and no cell is read.

    Data frames, lists and arrays of objects will be read cell by cell, NaN where one is no number.

    Examples
    --------
    >>> given = accept_matrix([[1, "2.5"], [None, "x"]])
    >>> given.shape
    (2, 2)
    >>> given.numbers()
    array([[1. , 2.5],
           [nan, nan]])
    """
    if sparse.issparse(X):
        return _of_array(X, name)
    if isinstance(X, Frame):
        return _of_frame(X)
    names_of(X, name)
    columns = columns_of(X)
    if columns is not None:
        return _of_columns(columns, X, name)
    if is_sequence(X):
        rows = _of_rows(X, name)
        return GivenMatrix(rows, rows.numbers)
    return _of_array(cells_of(X, name), name)


def table_of(X: Any, name: str = "X") -> Any:
    """Return an array of numbers or a sparse matrix, as it is if it is one; cells are read."""
    return accept_matrix(X, name).numbers()


@silence()
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
    if is_sequence(X):
        rows = _of_rows(X, name)
        return as_objects(rows.cells()).reshape(rows.shape)
    if hasattr(X, "__array__") and not family(X):
        return cells_of(convert(X, name), name)
    raise InputTypeError(
        f"{name} must be an array of rows and columns, a sparse matrix or a data frame; got a "
        f"value of type {type(X).__name__}. Convert it first, to an array or a data frame."
    )


def hold_table(X: Any, name: str = "X") -> Any:
    """Return a table that says what it holds whenever it is asked.

    Lists and foreign arrays become arrays, once and before anything is paid; what cannot be
    answered for is refused by its type.
    """
    if sparse.issparse(X) or names_of(X, name) is not None:
        return X
    return cells_of(X, name)


CONVERSIONS = (
    "collect", "to_native", "to_pandas", "to_arrow_table", "to_pyarrow", "df", "compute",
)  # fmt: skip
"""What tables of other libraries call the way to one that is known; the first is advised."""


def names_of(X: Any, name: str = "X") -> list[Any] | None:
    """Return the names of the columns of a data frame, None for what has none.

    Tables of other libraries are refused by type: how they would answer is not known.

    Examples
    --------
    >>> import pandas as pd
    >>> names_of(pd.DataFrame({"age": [47]})), names_of([[47]])
    (['age'], None)
    """
    if isinstance(X, Frame):
        return list(X.columns)
    if isinstance(X, np.ndarray):
        return None
    refuse_lazy(X)
    if not _is_known_frame(X):
        if getattr_static(X, "columns", None) is not None:
            raise _foreign_table(X, name)
        return None
    listed = list(X.column_names if family(X) == "pyarrow" else X.columns)
    if len(set(listed)) != len(listed):
        raise InputError(f"{name} must have columns of different names; some name comes twice.")
    return listed


def _is_known_frame(X: Any) -> bool:
    is_known = family(X) in ("pandas", "polars", "pyarrow")
    return is_known and len(getattr(X, "shape", ())) == 2


def _foreign_table(X: Any, name: str) -> InputTypeError:
    ways = [way for way in CONVERSIONS if callable(getattr_static(type(X), way, None))]
    advice = f"Pass {name}.{ways[0]}()." if ways else "Convert it first."
    return InputTypeError(
        f"{name} must be a data frame of pandas or Polars, an Arrow table, or an array; got a "
        f"value of type {type(X).__name__}. {advice}"
    )


def columns_of(X: Any) -> list[Any] | None:
    """Return the columns of a data frame, None for anything else."""
    if not _is_known_frame(X):
        return None
    match family(X):
        case "pandas":
            return [X.iloc[:, place] for place in range(X.shape[1])]
        case "polars":
            return list(X.get_columns())
        case "pyarrow":
            return list(X.columns)
    return None


def _of_array(X: Any, name: str) -> GivenMatrix:
    """Accept an array or sparse matrix of numbers; its type and its axes decide."""
    if X.ndim != 2:
        raise _no_table(name)
    if X.dtype.kind in NUMERIC_KINDS:
        return GivenMatrix(X, lambda: X)
    if X.dtype.kind != "O" or sparse.issparse(X):
        raise _no_table(name)
    return GivenMatrix(X, lambda: numbers_of(X.ravel().tolist()).reshape(X.shape))


def _of_frame(X: Frame) -> GivenMatrix:
    """Accept columns that were read as numbers already."""
    table = matrix_of(X)
    return GivenMatrix(table, lambda: table)


def _of_columns(columns: list[Any], X: Any, name: str) -> GivenMatrix:
    """Accept a data frame of numbers by the types of its columns."""
    if family(X) == "pandas" and _is_one_block(X.dtypes.tolist()):
        return GivenMatrix(X, X.to_numpy)
    if any(kind_of(type_of(column)).holds == TEXT for column in columns):
        raise _no_table(name)
    given = [column_of(column, name) for column in columns]
    if any(column.kind == TEXT for column in given):  # bytes, too, are text in a column
        raise _no_table(name)
    return GivenMatrix(X, lambda: _side_by_side(given, len(X)))


def _side_by_side(columns: list[GivenColumn], count: int) -> Any:
    table = np.empty((count, len(columns)), order="F")
    for target, column in zip(table.T, columns, strict=True):
        target[:] = column.numbers()
    return table


def _is_one_block(dtypes: list[Any]) -> bool:
    """Say whether all columns have one type of NumPy's, so that no cell can change it."""
    first = dtypes[0] if dtypes else None
    return (
        isinstance(first, np.dtype)
        and first.kind in NUMERIC_KINDS
        and dtypes.count(first) == len(dtypes)
    )


@dataclass(frozen=True, eq=False, repr=False)
class _ListedRows:
    """Rows of one length in a list; that they have it is public, as the type of an array is."""

    rows: list[Any]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), self.width

    def cells(self) -> list[Any]:
        """Return all cells, row after row; none is changed."""
        listed = [row.tolist() if isinstance(row, np.ndarray) else row for row in self.rows]
        if any(len(row) != self.width for row in listed):
            refuse_changed()
        return list(chain.from_iterable(listed))

    def numbers(self) -> Any:
        return numbers_of(self.cells()).reshape(self.shape)


def _of_rows(rows: Sequence[Any], name: str) -> _ListedRows:
    held = list_cells(rows)
    if held is None:
        raise _ragged_table(name)
    listed = [_row(row, name) for row in held]
    width = len(listed[0]) if listed else 0
    if any(len(row) != width for row in listed):
        raise _ragged_table(name)
    return _ListedRows(listed, width)


def _row(row: Any, name: str) -> Any:
    """Return one row, whose cells are read no further; what is no row is refused."""
    if isinstance(row, np.ma.MaskedArray) and row.ndim == 1:
        return list(row.tolist())
    if is_sequence(row):
        listed = list_cells(row)
        if listed is None:
            raise _ragged_table(name)
        return listed
    cells: Any = convert(row, name) if hasattr(row, "__array__") else np.empty(())
    if cells.ndim != 1:
        raise _ragged_table(name)
    return [None] * cells.size if cells.dtype.kind in "mM" else np.asarray(cells)


def _ragged_table(name: str) -> InputError:
    return InputError(
        f"{name} must be a table with two axes: rows of the same length, each a list, a tuple or "
        "an array. Make a data frame of dicts."
    )


def _no_table(name: str) -> InputError:
    return InputError(
        f"{name} must be a table of real numbers with two axes. Reshape your data with "
        f"{name}.reshape(-1, 1) if it is one column; encode text. Complex data not supported."
    )
