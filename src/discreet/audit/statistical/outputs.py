"""Released objects of any kind, as rows of numbers.

Flattening, and checks that outputs can be compared.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np

from discreet._types import Vector
from discreet.audit.scores.base import Matrix
from discreet.errors import AuditError
from discreet.record import Release

_TELLING = 8
"""Two parts that have so many different values in the same order are no coincidence."""


def numbers_of(released: Any) -> Vector:
    """Return every number in a released object, in a fixed order.

    Numbers, arrays, tables, sparse matrices, releases, sequences and mappings are taken apart; a
    fitted estimator gives its attributes that end in an underscore, as far as they are made of
    numbers; a text or None becomes a number of its own.

    Examples
    --------
    >>> numbers_of({"b": [1, 2.5], "a": True}).tolist()
    [1.0, 1.0, 2.5]
    """
    if isinstance(released, Release):
        released = released.value
    for method in ("toarray", "to_numpy"):  # sparse matrices; tables
        if hasattr(released, method):
            released = getattr(released, method)()
    if isinstance(released, Real | np.bool_):
        return np.array([float(released)])
    if isinstance(released, str | bytes) or released is None:
        return np.array([float(zlib.crc32(repr(released).encode()))])
    if isinstance(released, np.ndarray):
        return _numbers_of_array(released)
    if isinstance(released, Mapping):
        return _numbers_of_parts(released[key] for key in sorted(released, key=repr))
    if isinstance(released, list | tuple):
        return _numbers_of_parts(released)
    return _numbers_of_estimator(released)


def _numbers_of_array(array: np.ndarray[Any, Any]) -> Vector:
    if array.dtype.kind in "biuf":
        return array.astype(np.float64).ravel()
    return _numbers_of_parts(array.ravel().tolist())


def _numbers_of_parts(parts: Iterable[Any]) -> Vector:
    arrays = [numbers_of(part) for part in parts]
    return np.concatenate(arrays) if arrays else np.empty(0)


def _numbers_of_estimator(fitted: Any) -> Vector:
    attributes = getattr(fitted, "__dict__", {})
    kept = []
    for name in sorted(attributes):
        if name.endswith("_") and not name.startswith("_"):
            with suppress(AuditError):  # what is not made of numbers
                kept.append(numbers_of(attributes[name]))
    if not kept:
        raise AuditError(
            "run must return a number, an array, a text, a collection of these or a fitted "
            f"estimator; got a {type(fitted).__name__} without numbers. Return what is released."
        )
    return np.concatenate(kept)


def rows_of(released: list[Vector]) -> Matrix:
    """Stack released values, one a row."""
    sizes = {values.size for values in released}
    if len(sizes) > 1:
        raise AuditError(_unequal_sizes_message(sizes))
    return np.array(released, dtype=np.float64).reshape(len(released), -1)


def check_fresh(parts: list[Matrix]) -> None:
    """Refuse parts that repeat each other: a generator that was copied begins again in each."""
    shortest = min(len(part) for part in parts)
    starts = [part[:shortest] for part in parts]
    telling = [start.tobytes() for start in starts if len(np.unique(start, axis=0)) >= _TELLING]
    if max(Counter(telling).values(), default=0) > 1:
        raise AuditError(
            "run repeats its random numbers, so that trials are not independent: its generator was "
            "copied to several workers. Give run an argument seed and use it, or set n_jobs=1."
        )


def matrix_of(parts: list[Matrix], which: str) -> Matrix:
    """Put parts together after checking that their values can be compared."""
    sizes = {part.shape[1] for part in parts}
    if len(sizes) > 1:
        raise AuditError(_unequal_sizes_message(sizes))
    matrix = np.concatenate(parts)
    if not np.isfinite(matrix).all():
        raise AuditError(
            f"run returned values that are not finite on the {which} data set in "
            f"{np.count_nonzero(~np.isfinite(matrix).all(axis=1))} of {len(matrix)} trials. "
            "Map them to numbers of your choice, so that they can be compared."
        )
    return matrix


def _unequal_sizes_message(sizes: set[int]) -> str:
    told = ", ".join(map(str, sorted(sizes)))
    return f"run returned values of different sizes: {told} numbers. Return a fixed shape."


def check_comparable(first: Matrix, second: Matrix) -> None:
    """Refuse outputs from which nothing can be learned."""
    if first.shape[1] != second.shape[1]:
        raise AuditError(
            f"run returned {first.shape[1]} numbers on the first data set and {second.shape[1]} on "
            "the second; the shape alone tells them apart. Return a fixed shape."
        )
    if first.shape[1] == 0:
        raise AuditError("run returned no numbers at all; return what is released.")
    if (first == first[0]).all() and (second == first[0]).all():
        raise AuditError(
            "run returned the same value in every trial on both data sets, so an audit can say "
            "nothing. Is the noise switched off, or the output rounded away?"
        )
