"""The forms in which rows arrive, their norms, by pairwise summation, and how they are clipped.

A norm too large for its computation comes out as infinity, without a warning. Rows are shrunk as a
whole by a factor, which leaves them untouched, or clamped entry by entry between two limits; then
they are copied only if some entry is outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from discreet._types import Array, Vector
from discreet.errors import InputError, InputTypeError

Csr: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]] | sparse.csr_matrix[np.float64]"
"""A sparse matrix in compressed rows."""

_BLOCK_ENTRIES = 2**15


def pairwise_euclidean_norms(rows: Array) -> Vector:
    """Euclidean norm of each row, to the last bit a function of that row alone."""
    return np.sqrt(_measure_pairwise(rows, np.square))


def pairwise_absolute_sums(rows: Array) -> Vector:
    """Sum of absolute values of each row, to the last bit a function of that row alone."""
    return _measure_pairwise(rows, np.abs)


def _measure_pairwise(rows: Array, measure: Callable[[Array], Array]) -> Vector:
    with np.errstate(over="ignore"):
        return pairwise_sums(measure(rows))


def pairwise_sums(entries: Array) -> Vector:
    """Sum each row by halves, pairwise, overwriting the entries: elementwise additions only.

    NumPy's own sums add in an order that depends on the layout of the array and on how many rows
    it has, so that one record could change how another is rounded. Elementwise operations cannot.
    """
    width = entries.shape[1]
    while width > 1:
        half = (width + 1) // 2
        entries[:, : width - half] += entries[:, half:width]
        width = half
    return entries[:, 0]


def sum_roundings(width: int) -> int:
    """How many additions an entry goes through in :func:`pairwise_sums`."""
    return (width - 1).bit_length()


def euclidean_norms(rows: Array) -> Vector:
    """Euclidean norm of each row."""
    with np.errstate(over="ignore"):
        squares: Vector = np.einsum("ij,ij->i", rows, rows)
    return np.sqrt(squares)


def absolute_sums(rows: Array) -> Vector:
    """Sum of absolute values of each row, a cache-sized block of rows at a time."""
    sums = np.empty(len(rows))
    step = max(1, _BLOCK_ENTRIES // rows.shape[1])
    with np.errstate(over="ignore"):
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            np.abs(rows[block]).sum(axis=1, out=sums[block])
    return sums


def largest_entries(rows: Array) -> Vector:
    """Largest absolute value of each row."""
    peaks: Vector = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    return peaks


def unit_rows(rows: Array) -> Array:
    """Each row divided by its Euclidean norm; a row of zeros stays as it is."""
    peaks = largest_entries(rows)[:, None]
    moderate = rows / np.where(peaks > 0, peaks, 1.0)
    norms = euclidean_norms(moderate)[:, None]
    return moderate / np.where(norms > 0, norms, 1.0)


def sparse_euclidean_norms(matrix: Csr) -> Vector:
    """Euclidean norm of each row of a sparse matrix."""
    with np.errstate(over="ignore"):
        return np.sqrt(_row_sums(np.square(matrix.data[: matrix.nnz]), matrix))


def sparse_absolute_sums(matrix: Csr) -> Vector:
    """Sum of absolute values of each row of a sparse matrix."""
    with np.errstate(over="ignore"):
        return _row_sums(np.abs(matrix.data[: matrix.nnz]), matrix)


def _row_sums(entries: Vector, matrix: Csr) -> Vector:
    # reduceat sums from each start to the next, so rows without entries must not give a start.
    occupied = np.diff(matrix.indptr) > 0
    sums = np.zeros(len(occupied))
    if occupied.any():
        sums[occupied] = np.add.reduceat(entries, matrix.indptr[:-1][occupied])
    return sums


def norm(entries: Vector, order: float) -> float:
    """Norm of one vector, within two roundings of the truth whatever its magnitude."""
    magnitudes = np.abs(entries).tolist()
    if order == 1:
        return math.fsum(magnitudes)
    return math.hypot(*magnitudes) if order == 2 else max(magnitudes)


Rows = TypeVar("Rows", Array, Csr)

# A power of two multiplies without rounding. Rows whose norm overflowed have an entry so large
# that, this much smaller, their squares neither overflow nor vanish.
_MUCH_SMALLER = 2.0**-600


_AT_ONCE = 2**15
_FEW = 0.1
_FEW_ROWS = 8
"""Up to so many are measured at once, which is faster than to look who is surely inside."""

_TINY = np.finfo(np.float64).tiny
_SURELY = 1 - 2.0**-20
"""Norms in any order of summation err by less than this, up to 2**31 columns."""

SURELY_SQUARED = (1 - 2.0**-19) ** 2
"""Of the square of a radius: squares of norms up to it are of rows that are surely inside."""


def shrink_factors(
    rows: Rows,
    radius: float,
    norms: Callable[[Rows], Vector],
    rough: Callable[[Rows], Vector] | None = None,
) -> Vector:
    """Return min(1, radius / norm) for each row, exactly 1 where the norm is within the radius.

    A factor must be a function of its row alone, to the last bit, or one record would change how
    others are rounded. So must ``norms``; ``rough`` norms only tell which rows are surely inside.
    """
    if rough is None or rows.shape[0] <= _FEW_ROWS:
        return _shrink_factors(rows, radius, norms)
    factors = np.ones(rows.shape[0])
    doubtful = np.flatnonzero(~(rough(rows) <= radius * _SURELY))
    step = max(1, _AT_ONCE // rows.shape[1])
    if doubtful.size > _FEW * len(factors):  # to pick rows out takes longer than to measure them
        for start in range(0, len(factors), step):
            near = slice(start, start + step)
            factors[near] = _shrink_factors(rows[near], radius, norms)
        return factors
    for start in range(0, doubtful.size, step):
        some = doubtful[start : start + step]
        factors[some] = _shrink_factors(rows[some], radius, norms)
    return factors


def _shrink_factors(rows: Rows, radius: float, norms: Callable[[Rows], Vector]) -> Vector:
    measured = norms(rows)
    factors = _factors(measured, radius)
    overflowed = np.isinf(measured)
    if overflowed.any():
        smaller = norms(rows[overflowed] * _MUCH_SMALLER)
        factors[overflowed] = _factors(smaller, radius * _MUCH_SMALLER)
    return factors


def _factors(norms: Vector, radius: float) -> Vector:
    factors = np.divide(radius, norms, out=np.ones_like(norms), where=norms > radius)
    # A subnormal factor has few digits and could be rounded up by a lot: such rows become zero.
    factors[factors < _TINY] = 0.0
    return factors


def clamp_rows(rows: Array, lower: float | Vector, upper: float | Vector) -> Array:
    """Clamp each column between its limits."""
    is_above = np.all(rows.min(axis=0, initial=math.inf) >= lower)
    is_below = np.all(rows.max(axis=0, initial=-math.inf) <= upper)
    return rows if is_above and is_below else np.clip(rows, lower, upper)


def clamp_stored(matrix: Csr, lower: float | Vector, upper: float | Vector) -> Csr:
    """Clamp each stored entry between its own limits."""
    stored = matrix.data[: matrix.nnz]
    if np.all(stored >= lower) and np.all(stored <= upper):
        return matrix
    clamped = matrix.copy()
    np.clip(stored, lower, upper, out=clamped.data[: matrix.nnz])
    return clamped


def as_numbers(name: str, values: ArrayLike) -> Array:
    """Return real numbers as float64, sharing memory where possible."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputTypeError(f"{name} must be a regular array of numbers.") from None
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} must hold real numbers; got dtype {array.dtype}.")
    return array.astype(np.float64, copy=False)


def as_rows(name: str, points: ArrayLike) -> Array:
    """Return one point, or many, as the rows of a matrix."""
    array = as_numbers(name, points)
    if array.ndim not in (1, 2) or array.shape[-1] == 0:
        raise InputError(
            f"{name} must be one point, shape (p,), or many, shape (m, p), with p at least 1; "
            f"got shape {array.shape}."
        )
    return array[None] if array.ndim == 1 else array


def check_dense(rows: object) -> None:
    """Refuse anything but a two-dimensional float64 array with at least one column."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float64:
        raise InputTypeError("rows must be a float64 NumPy array.")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(f"rows must have shape (m, p), with p at least 1; got {rows.shape}.")


def check_sparse(matrix: object) -> None:
    """Refuse anything but a canonical float64 CSR matrix with at least one column."""
    if not isinstance(matrix, sparse.csr_array | sparse.csr_matrix) or matrix.dtype != np.float64:
        raise InputTypeError("matrix must be a float64 SciPy sparse matrix in CSR format.")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InputError(f"matrix must have shape (m, p), with p at least 1; got {matrix.shape}.")
    # An entry stored in two pieces would have its norm, and so the sensitivity, understated.
    if not matrix.has_canonical_format:
        raise InputError("matrix must be in canonical format. Call sum_duplicates() on it first.")
