r"""Sums of gradients without rounding: whatever the order, each row adds what it adds alone.

Fixed-point arithmetic for margins, slopes and sums; clipping bounds what a row can add.

A loss with a kink has a slope that jumps, so a margin that is rounded one way in one data set and
the other way in its neighbour could move every row's gradient at once. Here nothing is rounded
that depends on other rows:

- rows are divided by a power of two that makes their norms at most one, and each entry is cut,
  towards zero, to a multiple of 2**-20;
- coefficients, which are public, are cut to multiples of 2**-32 of a power of two above their norm.
  Products are multiples of 2**-52 of it and all partial sums of a margin are below it, by Cauchy
  and Schwarz: 53 bits hold them exactly, in any order;
- the slope of a row is a function of its label and its margin, rounded to a multiple of
  :math:`L/2^k`, k at most 20; sums of 2**13 products with entries fit 53 bits again, and sums of
  such sums are 64-bit integers.

No row adds more than L R in norm, because rows are cut towards zero and slopes clipped to L.

Of a person with several rows each slope is clipped, weighed, and cut towards zero: as integers its
slopes add up to no more than the largest one of a row that had all the weight. Rounded to the
nearest, many small ones could be twice as much.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from discreet._types import Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import L2Ball
from discreet.mechanisms.base import labels_of, weigh
from discreet.questions.bounds import Bounds
from discreet.questions.problem import Problem

ENTRY_BITS = 20
POINT_BITS = 32
MOST_SLOPE_BITS, LEAST_SLOPE_BITS = 20, 8
ROWS_AT_ONCE = 1 << (53 - ENTRY_BITS - MOST_SLOPE_BITS)
INTEGER_BITS = 62

SMALLEST, LARGEST = 2.0**-500, 2.0**500
"""Coefficients outside would under- or overflow; the sum at zero is released in their place."""


class Sloped(Protocol):
    """What a sum needs to know of its problem."""

    @property
    def bounds(self) -> Bounds:
        """What is declared about rows."""
        ...

    @property
    def row_norm(self) -> float:
        """The largest norm of a row, intercept included."""
        ...

    @property
    def lipschitz(self) -> float:
        """The largest slope of whoever is protected, weights included."""
        ...


def bits_of_count(bounds: Bounds) -> int:
    """Return the bits of the largest sum over all rows, over what one unit may add."""
    return (math.ceil(bounds.most_units) - 1).bit_length()


@dataclass(frozen=True)
class ExactSums(ABC):
    """Sums of slopes times rows, as integers."""

    problem: Sloped

    def __post_init__(self) -> None:
        if self.slope_bits < LEAST_SLOPE_BITS:
            raise CalibrationError(
                f"sums over {self.problem.bounds.max_rows:,} rows leave no room for their slopes; "
                "declare a smaller max_rows."
            )

    @cached_property
    def slope_bits(self) -> int:
        """How finely slopes are rounded: so that no sum overflows."""
        count_bits = bits_of_count(self.problem.bounds)
        return min(MOST_SLOPE_BITS, INTEGER_BITS - ENTRY_BITS - count_bits)

    @cached_property
    def _exponent(self) -> int:
        """Rows are at most two to this power long."""
        return math.frexp(self.problem.row_norm)[1]

    def scale_down(self, length: float) -> float:
        """Return how long something of this length is among prepared rows."""
        return math.ldexp(length, -self._exponent)

    @cached_property
    def unit(self) -> float:
        """The gradient that one unit of :meth:`units` stands for."""
        shrunk = math.ldexp(self.problem.lipschitz, -self.slope_bits)
        return math.ldexp(shrunk, self._exponent - ENTRY_BITS)

    @property
    def bounds(self) -> Bounds:
        """Of the rows as :meth:`prepare` leaves them; so wide that none is clipped again."""
        declared = self.problem.bounds
        return replace(declared, features=L2Ball(2.0), n_features=declared.width, intercept=None)

    def prepare(self, rows: OpenRows) -> OpenRows:
        """Return the rows divided by a power of two and cut to the grid, the intercept a column."""
        return rows.transform(self.cut, self.bounds)

    def cut(self, rows: Any) -> Any:
        """Divide clipped rows by a power of two and cut them to the grid, in place."""
        if sparse.issparse(rows):
            stored: Any = rows
            self.cut(stored.data)
            return stored
        rows *= math.ldexp(1.0, ENTRY_BITS - self._exponent)
        np.trunc(rows, out=rows)
        rows *= 2.0**-ENTRY_BITS
        return rows

    @abstractmethod
    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        """Return the sum at public coefficients, in whole units."""

    def cut_point(self, point: Vector) -> Vector:
        """Return coefficients for prepared rows, on a grid of their own."""
        with np.errstate(all="ignore"):
            scaled = point * math.ldexp(1.0, self._exponent)
            size = math.sqrt(scaled @ scaled)
        if not SMALLEST < size < LARGEST:
            return np.zeros(point.size)
        grid = math.ldexp(1.0, math.frexp(size)[1] - POINT_BITS)
        return np.asarray(np.trunc(scaled / grid) * grid)


@dataclass(frozen=True)
class ExactGradient(ExactSums):
    """The sum of the gradients of a problem's losses, as integers."""

    problem: Problem

    def round_slopes(self, slopes: Vector) -> Vector:
        """Clip slopes to their bound and round them to whole fractions of it, in place."""
        np.minimum(slopes, self._steepest, out=slopes)
        np.maximum(slopes, -self._steepest, out=slopes)
        slopes *= self._per_slope
        return np.rint(slopes, out=slopes)

    def _cut_slopes(self, slopes: Vector, weights: Vector | None) -> Vector:
        """Clip slopes to the bound of a row, weigh them, and cut them to whole fractions."""
        steepest = self._steepest / self.problem.bounds.unit_weight
        slopes = np.clip(slopes, -steepest, steepest)
        if weights is not None:
            slopes *= weights
        slopes *= self._per_slope
        return np.trunc(slopes, out=slopes)

    @cached_property
    def _steepest(self) -> float:
        return self.problem.lipschitz

    @cached_property
    def _per_slope(self) -> float:
        return math.ldexp(1.0, self.slope_bits) / self._steepest

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        """Return the sum at public coefficients, in whole units."""
        weights, loss = self.cut_point(point), self.problem.loss

        def kernel(block: Block) -> Integers:
            slopes = loss.slope(labels_of(block), block.margins(weights))
            if self.problem.bounds.has_one_row_each:
                slopes = self.round_slopes(weigh(block, slopes))
            else:
                slopes = self._cut_slopes(slopes, block.weights)
            total = block.weighted_sum(slopes)
            total *= 2.0**ENTRY_BITS
            return total.astype(np.int64)

        units: Integers = prepared.sum(kernel, block_rows=ROWS_AT_ONCE)
        return units
