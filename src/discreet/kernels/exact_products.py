"""Products of rows with a public matrix, each row by itself to the last bit, at the speed of BLAS.

A product of floats is rounded in an order that depends on how many rows there are and where a row
stands, so that one record would change the last bits of others. Here numbers are cut into whole
numbers of few bits (a fixed-point splitting, as in Ozaki's scheme): every sum that BLAS can form of
them is a whole number below 2**53, which is exact in any order. What is left, a few additions and
shifts of entries, is done entry by entry.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet._types import Array, Booleans

MANTISSA = 52
"""Sums of products stay below two to this power, half of what a float holds exactly."""

AT_ONCE = 2**12
"""Rows that are multiplied at a time; what is computed does not depend on it."""


def multiply_alone(rows: Any, matrix: Array, largest: float) -> Array:
    r"""Return rows times a matrix; each line is a function of its row and of the matrix alone.

    Entries count as whole multiples of :math:`2^{-2b}` of the least power of two above their bound,
    with :math:`2^b` the square root of :math:`2^{52}` over the number of columns: forty bits and
    more up to 4096 columns.

    Examples
    --------
    >>> rows = np.array([[0.5, 0.25], [1.0, -1.0]])
    >>> multiply_alone(rows, np.array([[1.0], [2.0]]), 1.0)
    array([[ 1.],
           [-1.]])
    """
    count, inner = rows.shape
    bits = (MANTISSA - math.ceil(math.log2(max(inner, 2)))) // 2
    scale = _power_above(np.array(largest))
    heights = _power_above(np.abs(matrix).max(axis=0, initial=0.0))
    high, low = _split(matrix / heights, bits)
    product = np.empty((count, matrix.shape[1]))
    for start in range(0, count, AT_ONCE):
        part = np.asarray(rows[start : start + AT_ONCE], dtype=np.float64)
        odd: Booleans = np.logical_or.reduce(~np.isfinite(part), axis=1)
        if odd.any():
            part = np.where(odd[:, None], 0.0, part)
        first, second = _split(np.clip(part / scale, -1.0, 1.0), bits)
        total = first @ low + second @ high  # whole numbers: exact in any order
        total *= 2.0**-bits
        total += first @ high
        total *= 2.0 ** (-2 * bits)
        total *= heights
        total *= scale
        total[odd] = np.nan
        product[start : start + AT_ONCE] = total
    return product


def _power_above(sizes: Array) -> Array:
    """Return the least power of two above each number, one for zero."""
    return np.ldexp(1.0, np.frexp(sizes)[1])


def _split(numbers: Array, bits: int) -> tuple[Array, Array]:
    """Return the whole multiples of 2**-bits in numbers up to one, and those of the rest."""
    scaled = numbers * 2.0**bits
    high = np.rint(scaled)
    return high, np.rint((scaled - high) * 2.0**bits)
