"""Whose a row is: ids of any kind as tags of 128 bits, each cell by itself, alike everywhere.

The type of a column of ids is public, and one that cannot hold ids is refused by it; no cell is a
reason for anything. Whole numbers of up to 64 bits are their own tags. All other ids are written
down, with their kind and their length, and hashed under a secret key: 127 bits, so that of N
different ids two have one tag with a chance of at most N**2 / 2**128. What is no id is missing.
"""

from __future__ import annotations

import datetime
import struct
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._private_part import silence
from discreet._types import Booleans, Integers
from discreet.data.arrow import import_arrow
from discreet.data.frame import Coded, arrow_array_of, is_held_by_arrow
from discreet.data.given_column import convert, family, is_sequence, list_cells
from discreet.data.kinds import is_categorical, is_sparse_column, name_of_type
from discreet.data.source import refuse_changed
from discreet.errors import InputError, InputTypeError

Tags = NDArray[np.uint64]
"""Two words for each row. The second is zero for a whole number and odd for a hash."""

WORD = 2**64
NO_ID = np.array([0, 2], dtype=np.uint64)
"""The tag of a row whose id is missing: neither a number nor a hash."""

PURPOSE = b"discreet ids"
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
NANOSECONDS = {"h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""How long the units of NumPy's times are."""


@dataclass(frozen=True, eq=False, repr=False)
class Ids:
    """A column of ids, accepted by its type; its cells are read when rows are opened.

    Examples
    --------
    >>> tags = accept_ids([7, "7", None, 7]).tags(b"secret")
    >>> [bool((tag == tags[0]).all()) for tag in tags], is_known(tags).tolist()
    ([True, False, False, True], [True, True, False, True])
    """

    size: int
    read: Callable[[bytes], Tags]

    def __len__(self) -> int:
        return self.size

    def tags(self, key: bytes) -> Tags:
        """Return the tag of each row, under a secret key."""
        with silence():
            tags = self.read(key)
        if len(tags) != self.size:
            refuse_changed()
        return tags


def is_known(tags: Tags) -> Booleans:
    """Say which rows have an id."""
    known: Booleans = tags[:, 1] != NO_ID[1]
    return known


@silence()
def accept_ids(values: Any, name: str = "groups") -> Ids:
    """Take a column of ids by its type and length; reads no cell.

    Examples
    --------
    >>> len(accept_ids(np.array(["a", "b"])))
    2
    >>> accept_ids(np.array([0.5]))
    Traceback (most recent call last):
        ...
    discreet.errors.InputTypeError: groups must hold ids: whole numbers, text, bytes or dates; ...
    """
    accept = _READERS.get(family(values))
    if isinstance(values, Ids):
        return values
    if isinstance(values, Coded):
        return _of_listed(len(values.places), values.distinct.tolist, lambda: values.places)
    if accept is not None and hasattr(values, "__len__"):
        return accept(values, name)
    if is_sequence(values):
        listed = list_cells(values)
        if listed is not None:
            return Ids(len(listed), lambda key: _tag_cells(list(listed), key))
    if isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        return _of_array(values if isinstance(values, np.ndarray) else convert(values, name), name)
    raise InputTypeError(
        f"{name} must be a list, an array, or a column of a data frame, with an id for each row; "
        f"got a value of type {type(values).__name__}."
    )


def _refuse_type(name: str, words: object) -> InputTypeError:
    return InputTypeError(
        f"{name} must hold ids: whole numbers, text, bytes or dates; got the type {words}. Convert "
        "it first: a column of numbers with missing cells to nullable whole numbers, or to text."
    )


def _of_array(values: Any, name: str) -> Ids:
    if isinstance(values, np.ma.MaskedArray):
        raise InputTypeError(f"{name} must not be a masked array; make a list, None for missing.")
    cells = np.asarray(values)
    if cells.ndim != 1:
        raise InputError(f"{name} must be a 1d array; got {cells.ndim} axes.")
    match cells.dtype.kind:
        case "i" | "u":
            return Ids(cells.size, lambda key: _tag_numbers(cells, None, key))
        case "M" if np.datetime_data(cells.dtype)[0] != "generic":
            return Ids(cells.size, lambda key: _tag_times(cells, key))
        case "b" | "U" | "S" | "O" | "T":
            return Ids(cells.size, lambda key: _tag_cells(cells.astype(object).tolist(), key))
    raise _refuse_type(name, name_of_type(cells.dtype))


def _of_listed(size: int, listed: Callable[[], list[Any]], places: Callable[[], Integers]) -> Ids:
    """Return ids that are places in a list; minus one is the last of it, or missing."""

    def read(key: bytes) -> Tags:
        tags = np.vstack([_tag_cells(listed(), key), NO_ID])
        return tags[places()]

    return Ids(size, read)


def _of_pandas(values: Any, name: str) -> Ids:
    dtype, size = getattr(values, "dtype", None), len(values)
    if dtype is None or len(values.shape) != 1:
        raise InputError(f"{name} must be one column; got a table.")
    if is_categorical(dtype):
        coded = getattr(values, "array", values)
        listed = accept_ids(coded.categories, name)
        return Ids(size, lambda key: _pick(listed.tags(key), np.asarray(coded.codes)))
    if isinstance(dtype, np.dtype):
        return _of_array(np.asarray(values), name)
    if is_held_by_arrow(dtype):
        return _of_arrow(arrow_array_of(values), name)
    words = name_of_type(dtype)
    if words == "datetime64":  # of a time zone
        return Ids(size, lambda key: _tag_cells(values.astype(object).tolist(), key))
    if is_sparse_column(dtype) and dtype.subtype.kind not in "iu":
        raise _refuse_type(name, words)
    if getattr(dtype, "kind", "") in "iu":
        numeric = np.dtype(dtype.subtype if is_sparse_column(dtype) else dtype.numpy_dtype)

        def read(key: bytes) -> Tags:
            missing = np.asarray(values.isna())
            return _tag_numbers(np.asarray(values.fillna(0).to_numpy(dtype=numeric)), missing, key)

        return Ids(size, read)
    if words in ("string", "str", "boolean"):
        return Ids(size, lambda key: _tag_cells(np.asarray(values, dtype=object).tolist(), key))
    raise _refuse_type(name, words)


def _of_polars(values: Any, name: str) -> Ids:
    import polars

    if not isinstance(values, polars.Series):
        raise InputError(f"{name} must be one column; got a table.")
    dtype, size = values.dtype, len(values)
    words = str(dtype).split("(")[0]
    if dtype.is_integer() and words not in ("Int128", "UInt128"):

        def read(key: bytes) -> Tags:
            return _tag_numbers(values.fill_null(0).to_numpy(), values.is_null().to_numpy(), key)

        return Ids(size, read)
    if words in ("String", "Utf8"):  # whose bytes Polars does not check, and panics later
        spelt = values.cast(polars.String)
        return Ids(size, lambda key: _tag_spelt(spelt.cast(polars.Binary).to_list(), key))
    if words in ("Int128", "UInt128", "Boolean", "Binary", "Date", "Datetime", "Categorical",
                 "Enum", "Object", "Null"):  # fmt: skip
        return Ids(size, lambda key: _tag_cells(values.to_list(), key))
    raise _refuse_type(name, words)


def _of_arrow(values: Any, name: str) -> Ids:
    """Accept a column of Arrow, be it of one piece or of many."""
    if not hasattr(values, "type"):
        raise InputError(f"{name} must be one column; got a table.")
    check_arrow_ids(values.type, name)
    pieces = getattr(values, "chunks", [values])

    def read(key: bytes) -> Tags:
        return np.concatenate([_NO_TAGS, *(_tag_arrow(piece, key) for piece in pieces)])

    return Ids(len(values), read)


def check_arrow_ids(dtype: Any, name: str) -> None:
    """Refuse a type of Arrow that cannot hold ids."""
    types = import_arrow().types
    held = dtype.value_type if types.is_dictionary(dtype) else dtype
    knows = (types.is_integer, types.is_boolean, types.is_date, types.is_timestamp, types.is_null,
             *_spelt_types(types), *_byte_types(types))  # fmt: skip
    if not any(knows_it(held) for knows_it in knows):
        raise _refuse_type(name, name_of_type(held))


def _spelt_types(types: Any) -> tuple[Callable[[Any], bool], ...]:
    return (types.is_string, types.is_large_string, types.is_string_view)


def _byte_types(types: Any) -> tuple[Callable[[Any], bool], ...]:
    return (types.is_binary, types.is_large_binary, types.is_fixed_size_binary,
            types.is_binary_view)  # fmt: skip


def _tag_arrow(array: Any, key: bytes) -> Tags:
    arrow = import_arrow()
    types, dtype = arrow.types, array.type
    if types.is_dictionary(dtype):
        places = array.indices.fill_null(-1) if array.indices.null_count else array.indices
        return _pick(_tag_arrow(array.dictionary, key), places.to_numpy(zero_copy_only=False))
    missing = np.asarray(array.is_null()) if array.null_count else None
    if types.is_integer(dtype):
        filled = array.fill_null(0) if array.null_count else array
        return _tag_numbers(filled.to_numpy(zero_copy_only=False), missing, key)
    if any(is_spelt(dtype) for is_spelt in _spelt_types(types)):
        coded = array.cast(arrow.large_binary()).dictionary_encode()
        places = coded.indices.fill_null(-1) if coded.indices.null_count else coded.indices
        tags = _tag_spelt(coded.dictionary.to_pylist(), key)
        return _pick(tags, places.to_numpy(zero_copy_only=False))
    if types.is_timestamp(dtype):
        # Whole numbers of a unit: Python's own times know no nanoseconds.
        length, mark = NANOSECONDS[dtype.unit], b"n" if dtype.tz is None else b"z"
        counts = array.cast(arrow.int64()).to_pylist()
        return _tag_written((_moment(mark, count, length) for count in counts), key)
    return _tag_cells(array.to_pylist(), key)


_READERS: dict[str, Callable[[Any, str], Ids]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}

_NO_TAGS = np.empty((0, 2), dtype=np.uint64)


def _pick(tags: Tags, places: Any) -> Tags:
    """Return tags at places; what is minus one has no id."""
    return np.vstack([tags, NO_ID])[np.asarray(places, dtype=np.int64)]


def _tag_numbers(numbers: Any, missing: Booleans | None, key: bytes) -> Tags:
    if numbers.dtype.kind == "u" and numbers.dtype.itemsize == 8 and (numbers >> 63).any():
        cells = numbers.astype(object)
        if missing is not None:
            cells[missing] = None
        return _tag_cells(cells.tolist(), key)
    tags = np.zeros((len(numbers), 2), dtype=np.uint64)
    tags[:, 0] = numbers.astype(np.int64).view(np.uint64)
    if missing is not None:
        tags[missing] = NO_ID
    return tags


def _tag_times(times: Any, key: bytes) -> Tags:
    unit, step = np.datetime_data(times.dtype)
    if unit in "YMWD":
        times, unit, step = times.astype("datetime64[D]"), "D", 1
    missing = np.isnat(times).tolist()
    counts = times.view(np.int64).tolist()
    if unit == "D":
        written = (
            None if no else _day(days + FIRST_DAY) for no, days in zip(missing, counts, strict=True)
        )
    else:
        length = NANOSECONDS.get(unit)
        if length is None:  # shorter than a nanosecond
            return np.tile(NO_ID, (len(times), 1))
        written = (
            None if no else _moment(b"n", count, length * step)
            for no, count in zip(missing, counts, strict=True)
        )
    return _tag_written(written, key)


def _tag_spelt(cells: list[bytes | None], key: bytes) -> Tags:
    """Return the tags of text that is given as its UTF-8."""
    return _tag_written((b"s" + cell if cell else None for cell in cells), key)


def _tag_cells(cells: list[Any], key: bytes) -> Tags:
    """Return the tag of each cell, whatever the others are."""
    if set(map(type, cells)) <= {str, type(None)}:
        places: dict[Any, int] = {}
        found = [places.setdefault(cell, len(places)) for cell in cells]
        if len(places) < len(cells):
            return _tag_written(map(_write, places), key)[found]
    tags = _tag_written(map(_write, cells), key)
    for place, cell in enumerate(cells):
        number = _whole_number(cell)
        if number is not None and -(WORD // 2) <= number < WORD // 2:
            tags[place] = number % WORD, 0
    return tags


def _tag_written(written: Iterable[bytes | None], key: bytes) -> Tags:
    """Return the tags of ids that were written down; None is none."""
    blank = blake2b(key=key, digest_size=16, person=PURPOSE)
    listed, missing = [], []
    for place, one in enumerate(written):
        digest = blank.copy()
        digest.update(one or b"")
        listed.append(digest.digest())
        if one is None:
            missing.append(place)
    tags = np.frombuffer(b"".join(listed), dtype="<u8").astype(np.uint64).reshape(-1, 2)
    tags[:, 1] |= np.uint64(1)
    tags[missing] = NO_ID
    return tags


def _write(cell: Any) -> bytes | None:
    """Return an id as bytes that no other id has, None if it is none."""
    # A cell of a foreign class is the caller's code: it may raise anything, and quote the cell.
    with suppress(Exception):
        return _write_own(cell)
    return None


def _write_own(cell: Any) -> bytes | None:
    kind = type(cell)
    if issubclass(kind, str):
        text = str.__str__(cell)
        return b"s" + text.encode("utf-8", "surrogatepass") if text else None
    if issubclass(kind, bytes):
        return b"y" + bytes.__getitem__(cell, slice(None)) if bytes.__len__(cell) else None
    if issubclass(kind, bool | np.bool_):
        return b"b1" if cell else b"b0"
    if (number := _whole_number(cell)) is not None:
        return b"i" + str(number).encode()
    if issubclass(kind, uuid.UUID):
        return b"u" + bytes(cell.bytes)
    if issubclass(kind, datetime.datetime):
        return _write_moment(cell)
    if issubclass(kind, datetime.date):
        return _day(cell.toordinal())
    if issubclass(kind, np.datetime64):
        return _write_time(cell)
    if issubclass(kind, tuple):
        parts = [_write_own(part) for part in tuple.__iter__(cell)]
        if not parts or any(part is None for part in parts):
            return None
        return b"(" + b"".join(
            struct.pack("<q", len(part or b"")) + (part or b"") for part in parts
        )
    return None


def _whole_number(cell: Any) -> int | None:
    kind = type(cell)
    if kind is int:
        return int(cell)
    if issubclass(kind, bool):
        return None
    if issubclass(kind, int):
        return int.__int__(cell)
    is_numpys = issubclass(kind, np.integer) and not issubclass(kind, np.timedelta64)
    return int(cell) if is_numpys else None


def _day(ordinal: int) -> bytes:
    return b"d" + str(ordinal).encode()


def _moment(mark: bytes, count: int | None, length: int) -> bytes | None:
    return None if count is None else mark + str(count * length).encode()


def _write_moment(cell: Any) -> bytes | None:
    """Return a date with a time, in a time zone or without, to the nanosecond."""
    if cell != cell:  # pandas' NaT
        return None
    first = datetime.datetime(1970, 1, 1, tzinfo=None if cell.tzinfo is None else datetime.UTC)
    plain = datetime.datetime(
        *(cell.year, cell.month, cell.day, cell.hour, cell.minute, cell.second, cell.microsecond),
        tzinfo=cell.tzinfo,
        fold=cell.fold,
    )
    count = (plain - first) // datetime.timedelta(microseconds=1) * 1000
    mark = b"n" if cell.tzinfo is None else b"z"
    return _moment(mark, count + getattr(cell, "nanosecond", 0), 1)


def _write_time(cell: Any) -> bytes | None:
    if np.isnat(cell) or np.datetime_data(cell.dtype)[0] == "generic":
        return None
    unit, step = np.datetime_data(cell.dtype)
    if unit in "YMWD":
        return _day(int(cell.astype("datetime64[D]").astype(np.int64)) + FIRST_DAY)
    length = NANOSECONDS.get(unit)
    return None if length is None else _moment(b"n", int(cell.astype(np.int64)), length * step)
