"""How rows are clipped: shrunk as a whole by a factor, or entry by entry between two limits.

Factors leave the rows themselves untouched; clamped rows are copied only if some entry is outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry.shapes import Csr

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
