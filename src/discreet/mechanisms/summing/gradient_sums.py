r"""Which exact sum goes with which problem: of gradients, of directions, or of softmax gradients.

Sums of directions have no rounding that depends on other rows.
The gradient of the distance from a row is the unit vector away from it, or zero at the row itself.
Each is computed by elementwise operations, so that it is, to the last bit, a function of its row
and of the public point: differences are divided by their length, and before that by the largest if
squares could under- or overflow. Up to 2**20 columns the length of a direction so computed exceeds
one by less than :math:`2^{-40}`; it is shortened by twice that, and cut, towards zero, to whole
multiples of 2**-32. So no row adds more than one in norm, and the sum of integers is exact. Of a
person with several rows each is weighed before it is cut, and all of them add no more than their
weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError
from discreet.geometry.norms import largest_entries, pairwise_sums
from discreet.mechanisms.summing.exact_gradient import ExactGradient, bits_of_count
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax
from discreet.questions import Problem, Softmax, SpatialMedian

BITS = 32
INTEGER_BITS = 62
ENTRIES_AT_ONCE = 2**15
SHORTENED = 1 - 2.0**-39
MOST_COLUMNS = 2**20
TINY, HUGE = 1e-250, 1e250


@dataclass(frozen=True)
class ExactDirections:
    """The sum of the unit vectors from the rows to a point, as integers."""

    problem: SpatialMedian

    def __post_init__(self) -> None:
        if self.problem.width > MOST_COLUMNS:
            raise CalibrationError(f"directions have at most {MOST_COLUMNS:,} coordinates.")

    @property
    def _bits(self) -> int:
        return min(BITS, INTEGER_BITS - bits_of_count(self.problem.bounds))

    @property
    def unit(self) -> float:
        """The gradient that one unit of :meth:`units` stands for."""
        return math.ldexp(self.problem.bounds.unit_weight, -self._bits)

    def prepare(self, rows: OpenRows) -> OpenRows:
        """Return the rows as they are."""
        return rows

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        """Return the sum at a public point, in whole units."""
        at_once = max(1, ENTRIES_AT_ONCE // self.problem.width)

        def kernel(block: Block) -> Integers:
            directions = _directions(point - block.rows())
            if block.weights is not None:
                directions *= block.weights[:, None]
            directions *= math.ldexp(SHORTENED, self._bits) / self.problem.bounds.unit_weight
            total: Integers = np.trunc(directions).astype(np.int64).sum(axis=0)
            return total

        units: Integers = prepared.sum(kernel, block_rows=at_once)
        return units


@np.errstate(over="ignore")
def _directions(away: Array) -> Array:
    """Divide each row by its length; rows of zeros stay."""
    squares = pairwise_sums(np.square(away))
    is_odd = ~((squares > TINY) & (squares < HUGE))
    if is_odd.any():  # squares that rounding may have spoilt
        odd = away[is_odd]
        largest = largest_entries(odd)
        odd /= np.where(largest > 0, largest, 1.0)[:, None]
        away[is_odd] = odd
        squares[is_odd] = pairwise_sums(np.square(odd))
    away /= np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
    return away


GradientProblem = Problem | SpatialMedian | Softmax
"""Problems whose gradients have exact sums, so that noisy ones can be followed."""

GradientSums = ExactGradient | ExactDirections | ExactSoftmax


def sums_of(problem: GradientProblem) -> GradientSums:
    """Return how the gradients of a problem are summed."""
    if isinstance(problem, Softmax):
        return ExactSoftmax(problem)
    if isinstance(problem, SpatialMedian):
        return ExactDirections(problem)
    return ExactGradient(problem)
