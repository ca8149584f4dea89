"""Arrays of a secret state as bytes, with a public list of their names, types and shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.errors import InputError, PrivacyError

TYPES = ("<f8", "<i8", "<u8", "|b1", "<f4", "<i4", "|u1")
"""Types of arrays that a state may hold."""


def pack_arrays(arrays: Mapping[str, Any]) -> tuple[list[list[Any]], bytes]:
    """Return names, types and shapes of arrays, and their numbers one after another.

    Examples
    --------
    >>> listed, numbers = pack_arrays({"scores": np.array([1.0, 2.0])})
    >>> listed, len(numbers), unpack_arrays(listed, numbers)
    ([['scores', '<f8', [2]]], 16, {'scores': array([1., 2.])})
    """
    listed = [[name, _type_of(each), list(each.shape)] for name, each in arrays.items()]
    numbers = [np.ascontiguousarray(each, _type_of(each)).tobytes() for each in arrays.values()]
    return listed, b"".join(numbers)


def _type_of(array: Any) -> str:
    kind = str(array.dtype.newbyteorder("<").str)
    if kind not in TYPES:
        raise PrivacyError("a session packed an array that cannot be stored.")
    return kind


def unpack_arrays(listed: Any, rest: bytes) -> dict[str, Any]:
    """Return the arrays that were packed; nothing is believed of what was listed."""
    found: dict[str, Any] = {}
    start = 0
    for name, kind, shape in listed:
        if not isinstance(name, str) or kind not in TYPES or name in found:
            raise InputError("an array is of no known type")
        if not all(type(length) is int and length >= 0 for length in shape):
            raise InputError("an array has no shape")
        count = math.prod(shape)
        size = count * np.dtype(kind).itemsize
        if start + size > len(rest):
            raise InputError("an array is cut off")
        array = np.frombuffer(rest, kind, count, start).reshape(shape)
        found[name] = array.astype(array.dtype.newbyteorder("="))
        start += size
    if start != len(rest):
        raise InputError("there is more than was announced")
    return found
