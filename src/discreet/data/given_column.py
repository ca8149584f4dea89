"""A column as the caller gave it: its type is public, its cells are read each by itself.

Some containers change the type of a whole column because of one missing cell when they are asked
for an array. A column is therefore taken by the type it has, never by the type it would be given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from discreet._quiet import quiet
from discreet._types import Booleans, Vector
from discreet.data.cells import numbers_of, text_of
from discreet.data.frame import Coded, held_by_arrow
from discreet.data.kinds import (
    ANYTHING,
    NUMBER,
    NUMERIC_KINDS,
    OTHER,
    TEXT,
    is_categorical,
    kind_of,
)
from discreet.errors import InputError, InputTypeError


@dataclass(frozen=True, eq=False, repr=False)
class Given:
    """Cells of one column.

    Parameters
    ----------
    kind
        What the type of the column says of its cells: numbers, text, or anything.
    cells
        Numbers or text in an array of their type, other cells in one of objects, or any coded.
    missing
        Which numbers are none, where their type cannot say so itself.
    """

    kind: str
    cells: Any
    missing: Booleans | None = None

    def __len__(self) -> int:
        return len(self.cells.places if isinstance(self.cells, Coded) else self.cells)

    def numbers(self) -> Vector:
        """Return each cell as a number, NaN if it is none."""
        cells = self.cells
        if isinstance(cells, Coded):
            return numbers_of(cells.distinct.tolist())[cells.places]
        if cells.dtype.kind not in NUMERIC_KINDS:
            return numbers_of(cells.tolist())
        with np.errstate(all="ignore"):  # what is too large becomes infinite, without a word
            numbers: Vector = cells.astype(np.float64, copy=False)
        return numbers if self.missing is None else np.where(self.missing, np.nan, numbers)

    def stored(self) -> Any:
        """Return numbers in the type they have, and read cell by cell if they have none."""
        is_coded = isinstance(self.cells, Coded)
        if is_coded or self.missing is not None or self.cells.dtype.kind not in NUMERIC_KINDS:
            return self.numbers()
        return self.cells


@quiet()
def column_of(values: Any, name: str) -> Given:
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
    if isinstance(values, Given):
        return values
    if isinstance(values, Coded):
        return Given(ANYTHING, values)
    found = READERS.get(family(values))
    if found is not None:
        return found(values, name)
    if isinstance(values, np.ndarray):
        return _of_array(values, name)
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return Given(ANYTHING, as_objects(values))
    if hasattr(values, "__array__"):
        return _of_array(converted(values, name), name)
    raise _unknown(values, name)


def family(values: object) -> str:
    """Return which library a container comes from: the first name of its, or its base's, module."""
    for base in type(values).__mro__:
        origin = base.__module__.partition(".")[0]
        if origin in READERS:
            return origin
    return ""


def as_objects(cells: Sequence[Any]) -> Any:
    """Return cells in an array of objects, which changes none of them."""
    listed = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        listed[place] = cell
    return listed


def converted(values: Any, name: str) -> Any:
    """Return what a foreign container says it is as an array."""
    try:
        array = values.__array__()
    except Exception:  # whatever a foreign container raises could quote its contents
        array = None
    if not isinstance(array, np.ndarray):
        raise _unknown(values, name)
    return array


def _of_array(values: Any, name: str) -> Given:
    if isinstance(values, np.ma.MaskedArray):
        raise InputTypeError(f"{name} must not be a masked array; fill it, with NaN if you like.")
    cells = np.asarray(values)
    if cells.ndim != 1:
        raise InputError(f"{name} must be a 1d array; got {cells.ndim} axes.")
    holds = _held(cells.dtype, name)
    is_plain = cells.dtype.kind not in "TS"  # others cut or decode cells when they are compared
    return Given(holds, cells if is_plain else cells.astype(object))


def _of_pandas(values: Any, name: str) -> Given:
    if not hasattr(values, "dtype"):
        raise _no_column(values, name)
    dtype = values.dtype
    if is_categorical(dtype):
        coded = getattr(values, "array", values)
        return _coded(column_of(coded.categories, name), np.asarray(coded.codes))
    if isinstance(dtype, np.dtype):
        return _of_array(np.asarray(values), name)
    if str(dtype).startswith("Sparse["):
        return _of_sparse(getattr(values, "array", values), name)
    holds = _held(dtype, name)
    if holds == NUMBER and dtype.kind in NUMERIC_KINDS:
        missing = np.asarray(values.isna())
        return _typed(values.to_numpy(dtype=dtype.numpy_dtype, na_value=0), missing)
    held = held_by_arrow(values)
    if holds == TEXT and held is not None:
        return _of_arrow(held, name)
    return Given(holds, np.asarray(values, dtype=object))


def _of_sparse(values: Any, name: str) -> Given:
    """Return a column of which most cells are one fill value, in the type of the others."""
    import pandas

    dtype = values.dtype
    if dtype.subtype.kind not in "biu" or not pandas.isna(dtype.fill_value):
        return _of_array(np.asarray(values), name)
    missing = np.ones(len(values), dtype=bool)
    missing[values.sp_index.to_int_index().indices] = False
    cells = np.zeros(len(values), dtype=dtype.subtype)
    cells[~missing] = values.sp_values
    return _typed(cells, missing)


def _of_polars(values: Any, name: str) -> Given:
    if not hasattr(values, "dtype"):
        raise _no_column(values, name)
    dtype = values.dtype
    holds = _held(dtype, name)
    if dtype.is_float():
        return Given(holds, values.to_numpy())
    if dtype.is_integer() or (holds == NUMBER and not dtype.is_numeric()):  # truth values
        return _typed(values.fill_null(0).to_numpy(), values.is_null().to_numpy())
    if holds == TEXT:
        return _spelt(_as_bytes_of_polars(values))
    return Given(holds, as_objects(values.to_list()))


def _of_arrow(values: Any, name: str) -> Given:
    if not hasattr(values, "is_null"):
        raise _no_column(values, name)
    holds, words = _held(values.type, name), str(values.type)
    if holds == NUMBER and not words.startswith(("dictionary", "decimal")):
        missing = np.asarray(values.is_null())
        filled = values.fill_null(False if words == "bool" else 0) if missing.any() else values
        return _typed(np.asarray(filled), missing)
    if holds == TEXT:
        return _spelt(_as_bytes_of_arrow(values))
    return Given(holds, as_objects(values.to_pylist()))


def _as_bytes_of_polars(values: Any) -> list[bytes | None]:
    import polars

    text = values if values.dtype == polars.Binary else values.cast(polars.String)
    return list(text.cast(polars.Binary).to_list())


def _as_bytes_of_arrow(values: Any) -> list[bytes | None]:
    import pyarrow

    is_coded = pyarrow.types.is_dictionary(values.type)
    text = values.cast(values.type.value_type) if is_coded else values
    return list(text.cast(pyarrow.large_binary()).to_pylist())


def _spelt(cells: list[bytes | None]) -> Given:
    """Return text from its bytes: Arrow and Polars do not check them, and quote or panic later."""
    return Given(TEXT, as_objects([None if cell is None else text_of(cell) for cell in cells]))


def _held(dtype: Any, name: str) -> str:
    """Say what a column of this type holds; other types are refused."""
    kind = kind_of(dtype)
    if kind.holds == OTHER and not kind.is_bytes:
        raise InputTypeError(
            f"{name} must hold numbers, text or truth values; got the type "
            f"{kind.words.partition('<')[0]}. Convert it first."
        )
    return TEXT if kind.is_bytes else kind.holds


def _of_dask(values: Any, name: str) -> NoReturn:
    raise InputTypeError(
        f"{name} is a collection of Dask's and the table is not; pass both as Dask's, or compute "
        "it first."
    )


READERS: dict[str, Callable[[Any, str], Given]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
    "dask": _of_dask,
}


def _typed(cells: Any, missing: Booleans) -> Given:
    return Given(NUMBER, cells, missing if missing.any() else None)


def _coded(listed: Given, places: Any) -> Given:
    """Return cells that are places in a list, minus one where there is none."""
    distinct = as_objects([*listed.cells.tolist(), None])
    return Given(listed.kind, Coded(distinct, places.astype(np.int64)))


def _no_column(values: Any, name: str) -> InputError | InputTypeError:
    if len(getattr(values, "shape", ())) == 2:
        return InputError(f"{name} must be a 1d array; got a table.")
    return _unknown(values, name)


def _unknown(values: object, name: str) -> InputTypeError:
    return InputTypeError(
        f"{name} must be a list, an array, or a column of a data frame; got a value of type "
        f"{type(values).__name__}."
    )
