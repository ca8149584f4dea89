"""A column as the caller gave it: its type is public, its cells are read each by itself, and later.

Some containers change the type of a whole column because of one missing cell when they are asked
for an array. A column is therefore taken by the type it has, never by the type it would be given;
and no cell is looked at until cells are asked for, after the charge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from discreet._private_part import silence
from discreet._types import Booleans, Vector
from discreet.data.arrow import arrow_text
from discreet.data.cells import numbers_of, text_of
from discreet.data.frame import Coded, arrow_array_of, is_held_by_arrow
from discreet.data.kinds import (
    ANYTHING,
    NUMBER,
    NUMERIC_KINDS,
    OTHER,
    TEXT,
    is_categorical,
    is_sparse_column,
    kind_of,
)
from discreet.data.source import refuse_changed
from discreet.errors import InputError, InputTypeError

OBJECTS = np.dtype(object)

Found = tuple[Any, Booleans | None]
"""Cells as they are read: numbers or text in an array of their type, other cells in one of objects,
or any coded; and which numbers are missing, where their type cannot say so itself."""


@dataclass(frozen=True, eq=False, repr=False)
class GivenColumn:
    """One column, accepted by its type; its cells are read when they are first asked for."""

    kind: str
    dtype: np.dtype[Any]
    size: int
    read: Callable[[], Found]

    def __len__(self) -> int:
        return self.size

    @cached_property
    def _read_cells(self) -> Found:
        with silence():
            cells, missing = self.read()
        if len(cells.places if isinstance(cells, Coded) else cells) != self.size:
            refuse_changed()
        return cells, missing

    @property
    def cells(self) -> Any:
        """Numbers or text in an array of their type, other cells in one of objects, or coded."""
        return self._read_cells[0]

    @property
    def missing(self) -> Booleans | None:
        """Which numbers are none, where their type cannot say so itself."""
        return self._read_cells[1]

    def numbers(self) -> Vector:
        """Return each cell as a number, NaN if it is none."""
        cells = self.cells
        if isinstance(cells, Coded):
            return numbers_of(cells.distinct.tolist())[cells.places]
        if cells.dtype.kind not in NUMERIC_KINDS:
            return numbers_of(cells.tolist())
        with np.errstate(all="ignore"):  # what is too large becomes infinite, without a warning
            numbers: Vector = cells.astype(np.float64, copy=False)
        return numbers if self.missing is None else np.where(self.missing, np.nan, numbers)

    def stored_numbers(self) -> Any:
        """Return numbers in the type they have, and read cell by cell if they have none."""
        cells = self.cells
        is_coded = isinstance(cells, Coded)
        if is_coded or self.missing is not None or cells.dtype.kind not in NUMERIC_KINDS:
            return self.numbers()
        return cells


@silence()
def column_of(values: Any, name: str) -> GivenColumn:
    """Return a column by the type of its container; what is not known is refused by that type.

    Examples
    --------
    >>> column_of([1, "x"], "y").kind, column_of(np.array([b"a"]), "y").kind
    ('anything', 'text')
    >>> column_of({1, 2}, "y")
    Traceback (most recent call last):
        ...
    discreet.errors.InputTypeError: y must be a list, an array, or a column of a data frame; ...
    """
    if isinstance(values, GivenColumn):
        return values
    if isinstance(values, Coded):
        return GivenColumn(ANYTHING, OBJECTS, len(values.places), lambda: (values, None))
    accept = READERS.get(family(values))
    if accept is not None:
        return accept(values, name)
    if isinstance(values, np.ndarray):
        return _of_array(values, name)
    if is_sequence(values):
        listed = list_cells(values)
        if listed is None:
            raise _no_known_column(values, name)
        return _of_cells(ANYTHING, len(listed), lambda: list(listed))
    if hasattr(values, "__array__"):
        return _of_array(convert(values, name), name)
    raise _no_known_column(values, name)


def family(values: object) -> str:
    """Return which library a container comes from: the first name of its, or its base's, module."""
    for base in type(values).__mro__:
        origin = base.__module__.partition(".")[0]
        if origin in READERS:
            return origin
    return ""


def type_of(column: Any) -> Any:
    """Return the type of a column of a data frame, as its library says it."""
    return column.type if family(column) == "pyarrow" else column.dtype


def is_sequence(values: object) -> bool:
    """Say whether these are cells or rows one after the other, rather than one text or buffer."""
    return isinstance(values, Sequence) and not isinstance(
        values, str | bytes | bytearray | memoryview
    )


def list_cells(values: Any) -> list[Any] | tuple[Any, ...] | None:
    """Return what a sequence holds, which is looked at no further; None if it cannot say."""
    kind = type(values)
    for base in (list, tuple):
        if issubclass(kind, base):
            held: Any = values if kind is base else base.__getitem__(values, slice(None))
            return held  # type: ignore[no-any-return]
    try:
        return list(values)
    except Exception:  # whatever a foreign sequence raises could quote its contents
        return None


def as_objects(cells: Sequence[Any]) -> Any:
    """Return cells in an array of objects, which changes none of them."""
    listed = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        listed[place] = cell
    return listed


def convert(values: Any, name: str) -> Any:
    """Return what a foreign container says it is as an array."""
    try:
        array = values.__array__()
    except Exception:  # whatever a foreign container raises could quote its contents
        array = None
    if not isinstance(array, np.ndarray):
        raise _no_known_column(values, name)
    return array


def _of_cells(kind: str, size: int, listed: Callable[[], list[Any]]) -> GivenColumn:
    """Return a column of cells each of which has its own type."""
    return GivenColumn(kind, OBJECTS, size, lambda: (as_objects(listed()), None))


def _of_array(values: Any, name: str) -> GivenColumn:
    if isinstance(values, np.ma.MaskedArray):
        raise InputTypeError(f"{name} must not be a masked array; fill it, with NaN if you like.")
    cells = np.asarray(values)
    if cells.ndim != 1:
        raise InputError(f"{name} must be a 1d array; got {cells.ndim} axes.")
    kind = _kind_held(cells.dtype, name)
    if cells.dtype.kind in "TS":  # which cut or decode cells when they are compared
        return GivenColumn(kind, OBJECTS, cells.size, lambda: (cells.astype(object), None))
    return GivenColumn(kind, cells.dtype, cells.size, lambda: (cells, None))


def _of_pandas(values: Any, name: str) -> GivenColumn:
    if not hasattr(values, "dtype"):
        raise _no_column(values, name)
    dtype, size = values.dtype, len(values)
    if is_categorical(dtype):
        coded = getattr(values, "array", values)
        listed = column_of(coded.categories, name)
        return GivenColumn(listed.kind, OBJECTS, size, lambda: _read_codes(listed, coded.codes))
    if isinstance(dtype, np.dtype):
        return _of_array(np.asarray(values), name)
    if is_sparse_column(dtype):
        return _of_sparse(getattr(values, "array", values), name)
    kind = _kind_held(dtype, name)
    if kind == NUMBER and dtype.kind in NUMERIC_KINDS:
        numeric = np.dtype(dtype.numpy_dtype)
        return GivenColumn(
            kind,
            numeric,
            size,
            lambda: _with_missing(
                values.to_numpy(dtype=numeric, na_value=_nothing(numeric)),
                np.asarray(values.isna()),
            ),
        )
    if kind == TEXT and is_held_by_arrow(dtype):
        return _of_cells(kind, size, lambda: arrow_text(arrow_array_of(values)))
    return GivenColumn(kind, OBJECTS, size, lambda: (np.asarray(values, dtype=object), None))


def _of_sparse(values: Any, name: str) -> GivenColumn:
    """Return a column of which most cells are one fill value, in the type of the others."""
    import pandas

    subtype = values.dtype.subtype
    kind = _kind_held(subtype, name)
    if subtype.kind in "biu" and pandas.isna(values.dtype.fill_value):
        return GivenColumn(kind, subtype, len(values), lambda: _read_sparse(values))
    dtype = subtype if subtype.kind in NUMERIC_KINDS else OBJECTS
    return GivenColumn(
        kind,
        dtype,
        len(values),  # left to itself, pandas chooses a type by what the cells are
        lambda: (_of_array(np.asarray(values, dtype=dtype), name).cells, None),
    )


def _read_sparse(values: Any) -> Found:
    missing = np.ones(len(values), dtype=bool)
    missing[values.sp_index.to_int_index().indices] = False
    cells = np.zeros(len(values), dtype=values.dtype.subtype)
    cells[~missing] = values.sp_values
    return _with_missing(cells, missing)


def _of_polars(values: Any, name: str) -> GivenColumn:
    if not hasattr(values, "dtype"):
        raise _no_column(values, name)
    dtype, size = values.dtype, len(values)
    kind = _kind_held(dtype, name)
    if dtype.is_float():
        return GivenColumn(kind, _numeric_type(values), size, lambda: (values.to_numpy(), None))
    if dtype.is_integer() or (kind == NUMBER and not dtype.is_numeric()):  # truth values
        numeric = _numeric_type(values)
        return GivenColumn(
            kind,
            numeric,
            size,
            lambda: _with_missing(
                values.fill_null(_nothing(numeric)).to_numpy(), values.is_null().to_numpy()
            ),
        )
    if kind == TEXT:
        return _of_cells(kind, size, lambda: _read_polars_text(values))
    return _of_cells(kind, size, values.to_list)


def _numeric_type(values: Any) -> np.dtype[Any]:
    """Return NumPy's type of a Polars column of numbers; none of its cells is looked at."""
    dtype: np.dtype[Any] = values.clear().to_numpy().dtype
    return dtype


def _of_arrow(values: Any, name: str) -> GivenColumn:
    if not hasattr(values, "is_null"):
        raise _no_column(values, name)
    kind, words, size = _kind_held(values.type, name), str(values.type), len(values)
    if kind == NUMBER and not words.startswith(("dictionary", "decimal")):
        dtype = np.dtype(values.type.to_pandas_dtype())
        return GivenColumn(kind, dtype, size, lambda: _read_arrow_numbers(values, dtype))
    if kind == TEXT:
        return _of_cells(kind, size, lambda: arrow_text(values))
    return _of_cells(kind, size, values.to_pylist)


def _read_arrow_numbers(values: Any, dtype: np.dtype[Any]) -> Found:
    missing = np.asarray(values.is_null())
    filled = values.fill_null(_nothing(dtype)) if missing.any() else values
    return _with_missing(np.asarray(filled), missing)


def _read_polars_text(values: Any) -> list[str | None]:
    """Return text from its bytes: Polars does not check them, and panics later."""
    import polars

    text = values if values.dtype == polars.Binary else values.cast(polars.String)
    held = text.cast(polars.Binary).to_list()
    return [None if cell is None else text_of(cell) for cell in held]


def _kind_held(dtype: Any, name: str) -> str:
    """Say what a column of this type holds; other types are refused."""
    kind = kind_of(dtype)
    if kind.holds == OTHER and not kind.is_bytes:
        raise InputTypeError(
            f"{name} must hold numbers, text or truth values; got the type "
            f"{kind.words}. Convert it first."
        )
    return TEXT if kind.is_bytes else kind.holds


def _of_dask(values: Any, name: str) -> NoReturn:
    raise InputTypeError(
        f"{name} is a collection of Dask's and the table is not; pass both as Dask's, or compute "
        "it first."
    )


READERS: dict[str, Callable[[Any, str], GivenColumn]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
    "dask": _of_dask,
}


def _nothing(dtype: np.dtype[Any]) -> bool | int:
    """Return what stands where a number is missing: of the column's type, so that it keeps it."""
    return False if dtype.kind == "b" else 0


def _with_missing(cells: Any, missing: Booleans) -> Found:
    return cells, missing if missing.any() else None


def _read_codes(listed: GivenColumn, places: Any) -> Found:
    """Return cells that are places in a list, minus one where there is none."""
    distinct = as_objects([*listed.cells.tolist(), None])
    return Coded(distinct, np.asarray(places).astype(np.int64)), None


def _no_column(values: Any, name: str) -> InputError | InputTypeError:
    if len(getattr(values, "shape", ())) == 2:
        return InputError(f"{name} must be a 1d array; got a table.")
    return _no_known_column(values, name)


def _no_known_column(values: object, name: str) -> InputTypeError:
    return InputTypeError(
        f"{name} must be a list, an array, or a column of a data frame; got a value of type "
        f"{type(values).__name__}."
    )
