"""Norms of many rows at once, with no temporary of the size of the rows; pairwise summation.

A norm too large for its computation comes out as infinity, without a warning.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry.shapes import Csr

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
