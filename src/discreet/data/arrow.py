"""Cells of Arrow columns, wherever they come from: Parquet and CSV files, tables, data frames.

Each cell is read by itself, whatever its bytes are: Arrow does not check that text is UTF-8, and
what it says of a cell that it cannot convert would quote it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet._types import Integers, Vector
from discreet.data.cells import text_of
from discreet.data.frame import CellArray, Coded
from discreet.data.kinds import TEXT, kind_of, shortest
from discreet.errors import InputError

Meaning = Callable[[Any], Any]
"""Which declared value a cell means, by itself."""


def import_arrow() -> Any:
    """Import Arrow when it is first needed."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ModuleNotFoundError:
        pyarrow = None
    if pyarrow is None:
        raise InputError(
            "tables in files need the package pyarrow; install it with pip install "
            "'discreet[parquet]'."
        )
    return pyarrow


def arrow_numbers(column: Any) -> Vector:
    """Return the cells of a column of numbers as floats, NaN where one is missing.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_numbers(pyarrow.array([1, None, 3]))
    array([ 1., nan,  3.])
    """
    arrow = import_arrow()
    if not hasattr(column, "chunks"):
        return _read_numbers(arrow, column)
    return np.concatenate([np.empty(0), *(_read_numbers(arrow, chunk) for chunk in column.chunks)])


def arrow_codes(column: Any, meaning: Meaning | None = None) -> Coded:
    """Return the cells of a column as places in a list of distinct values, or of what these mean.

    Examples
    --------
    >>> import pyarrow
    >>> coded = arrow_codes(pyarrow.array(["a", None, "a"]))
    >>> coded.distinct.tolist(), coded.places.tolist()
    (['a', None], [0, 1, 0])
    """
    arrow = import_arrow()
    if not hasattr(column, "chunks"):
        return _read_codes(arrow, column, meaning)
    distinct, places, start = [np.empty(1, dtype=object)], [np.empty(0, dtype=np.int64)], 1
    for chunk in column.chunks:
        coded = _read_codes(arrow, chunk, meaning)
        distinct.append(coded.distinct)
        places.append(coded.places + start)
        start += coded.distinct.size
    return Coded(np.concatenate(distinct), np.concatenate(places))


def arrow_text(column: Any) -> list[str | None]:
    """Return the cells of a column of text, None where one is missing or no UTF-8.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_text(pyarrow.array([b"yes", None, bytes([255])]))
    ['yes', None, None]
    """
    arrow = import_arrow()
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    held = column.cast(arrow.large_binary()).to_pylist()
    return [None if cell is None else text_of(cell) for cell in held]


def is_plain_text(dtype: Any) -> bool:
    """Say whether an Arrow type is text that is not coded already."""
    return not hasattr(dtype, "index_type") and kind_of(dtype).holds == TEXT


def list_meanings(listed: Sequence[Any], meaning: Meaning | None) -> CellArray:
    """Return distinct values as what they mean, and None after them for missing ones."""
    distinct = np.empty(len(listed) + 1, dtype=object)
    distinct[: len(listed)] = listed if meaning is None else list(map(meaning, listed))
    return distinct


def _read_numbers(arrow: Any, array: Any) -> Vector:
    if arrow.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if not arrow.types.is_float64(array.type):
        array = _cast_to_floats(arrow, array)
    numbers: Vector = array.to_numpy(zero_copy_only=False)
    return numbers


def _cast_to_floats(arrow: Any, array: Any) -> Any:
    if arrow.types.is_decimal(array.type):
        # By way of text, which is rounded correctly; the direct way can be off by one digit.
        array = arrow.compute.cast(array, arrow.string())
    return arrow.compute.cast(array, arrow.float64(), safe=False)  # whole numbers may be rounded


def _read_codes(arrow: Any, array: Any, meaning: Meaning | None) -> Coded:
    """Return places in the list of distinct values; every value has one, whatever its bytes."""
    types = arrow.types
    if types.is_null(array.type):
        return Coded(list_meanings([], meaning), np.zeros(len(array), dtype=np.int64))
    if types.is_decimal(array.type):
        array = _cast_to_floats(arrow, array)
    if not types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    if types.is_decimal(values.type):
        values = _cast_to_floats(arrow, values)
    listed: list[Any] = arrow_text(values) if is_plain_text(values.type) else values.to_pylist()
    if types.is_float32(values.type):
        listed = [None if value is None else shortest(value) for value in listed]
    indices = array.indices.fill_null(len(listed)) if array.indices.null_count else array.indices
    places: Integers = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded(list_meanings(listed, meaning), places)
