"""The factors that bring rows into a norm ball, leaving the rows themselves untouched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry.shapes import Csr

Rows = TypeVar("Rows", Array, Csr)

# A power of two multiplies without rounding. Rows whose norm overflowed have an entry so large
# that, this much smaller, their squares neither overflow nor vanish.
_MUCH_SMALLER = 2.0**-600


def shrink_factors(rows: Rows, radius: float, norms: Callable[[Rows], Vector]) -> Vector:
    """Return min(1, radius / norm) for each row, exactly 1 where the norm is within the radius."""
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
    factors[factors < np.finfo(np.float64).tiny] = 0.0
    return factors
