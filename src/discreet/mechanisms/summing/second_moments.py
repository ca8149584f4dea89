r"""Sums of weighted outer products of rows at public coefficients, without rounding of sums.

Second moments of a fitted model: with the curvatures of losses as weights they are the Hessian,
with the squares of slopes the covariance of scores (the bread and the meat of a sandwich).

Margins are exact, as in ``exact_gradient.py``, so the weight of a row is a function of that row. A
row times its weight is rounded to multiples of 2**-k of the largest weight, k at most 20; its
products with the row's own entries are whole, and so are sums of them. What a row adds is so, to
the last bit, a function of the row. In units of the largest weight times the squared row norm its
Frobenius norm is at most one, but for the rounding, which moves it by no more than
:math:`e = \sqrt{2 p}\, 2^{-k}`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.mechanisms.base import labels_of, weigh
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS, ROWS_AT_ONCE, ExactSums
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, release_gaussian
from discreet.privacy import Gaussian, Profile, Unit, within
from discreet.questions.problem import Problem


@dataclass(frozen=True)
class RowWeight(ABC):
    """What the outer product of a row is multiplied by: a function of its label and margin."""

    problem: Problem

    @property
    @abstractmethod
    def most(self) -> float:
        """The largest weight, times what the row itself may count."""

    @abstractmethod
    def of(self, block: Block, margins: Vector) -> Vector:
        """Return the weight of each row, from zero on."""


@dataclass(frozen=True)
class CurvatureWeight(RowWeight):
    """The curvature of the loss: sums are the Hessian."""

    @property
    def most(self) -> float:
        return self.problem.smoothness

    def of(self, block: Block, margins: Vector) -> Vector:
        return weigh(block, self.problem.loss.curvature(labels_of(block), margins))


@dataclass(frozen=True)
class SlopeWeight(RowWeight):
    """The squared slope of the loss: sums are the second moment of gradients."""

    @property
    def most(self) -> float:
        return self.problem.lipschitz**2

    def of(self, block: Block, margins: Vector) -> Vector:
        return np.square(weigh(block, self.problem.loss.slope(labels_of(block), margins)))


@dataclass(frozen=True)
class ResidualWeight(RowWeight):
    """The squared residual, clipped to the largest label: its slope has no bound of its own."""

    @property
    def most(self) -> float:
        return (self._label * self.problem.bounds.largest_weight) ** 2

    def of(self, block: Block, margins: Vector) -> Vector:
        residuals = np.clip(labels_of(block) - margins, -self._label, self._label)
        return np.square(weigh(block, residuals))

    @property
    def _label(self) -> float:
        labels = self.problem.bounds.labels
        return max(0.0 if labels is None else labels.magnitude, 1e-100)


@dataclass(frozen=True)
class SecondMoments(ExactSums):
    """Sums of outer products, one matrix for each weight, each in units of its largest record."""

    problem: Problem
    weights: tuple[RowWeight, ...]

    @property
    def width(self) -> int:
        return self.problem.bounds.width

    @property
    def dimension(self) -> int:
        """How many numbers a matrix has: its diagonal and what is above it."""
        return self.width * (self.width + 1) // 2

    def size(self, weight: RowWeight) -> float:
        """Return the Frobenius norm that one record may have, which is the unit of its matrix."""
        return weight.most * self.problem.row_norm**2

    @property
    def slack(self) -> float:
        """How far, in units, rounding can move what one record adds."""
        return math.sqrt(2 * self.width) * math.ldexp(1 + 2.0**-20, -self.slope_bits)

    @property
    def rounding(self) -> float:
        """How far, in units, whole totals and the floats made of them can be apart, in norm."""
        return math.sqrt(self.dimension) * self.problem.bounds.max_rows * 2.0**-50

    def sensitivity(self, unit: Unit) -> float:
        r"""Bound how far apart, in units, matrices of neighbours can be.

        Matrices :math:`w x x'` are positive semidefinite, so that of two records the squared
        distance is at most the sum of their squared norms: :math:`\sqrt 2`, and not 2.
        """
        apart = math.sqrt(2) * (1 + 1e-15) + 2 * self.slack
        return unit.spread(1 + self.slack, diameter=apart) + 2 * self.rounding

    @property
    def bound(self) -> float:
        """The largest magnitude of a number of a matrix."""
        return 1.5 * self.problem.bounds.max_rows

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        """Return the sums at public coefficients, in whole units: a matrix for each weight."""
        coefficients = self.cut_point(point)
        scale = math.ldexp(1.0, self.slope_bits)

        def kernel(block: Block) -> Integers:
            rows = block.rows()
            margins = block.margins(coefficients)
            totals = np.empty((len(self.weights), self.width, self.width), dtype=np.int64)
            for place, weight in enumerate(self.weights):
                share = np.nan_to_num(weight.of(block, margins) / weight.most)
                np.clip(share, 0.0, 1.0, out=share)
                left = np.rint(rows * (share * scale)[:, None])
                totals[place] = (left.T @ rows) * 2.0**ENTRY_BITS
            return totals

        units: Integers = prepared.sum(kernel, block_rows=ROWS_AT_ONCE)
        return units

    def vectors(self, rows: OpenRows, point: Vector) -> tuple[Vector, ...]:
        """Return each matrix as a vector whose norm is that of Frobenius, in units: private."""
        whole = self.units(self.prepare(rows), point).astype(np.float64)
        shrink = math.ldexp(1.0, 2 * self._exponent - ENTRY_BITS - self.slope_bits)
        whole *= shrink / self.problem.row_norm**2
        return tuple(matrix[self._upper] * self._factors for matrix in whole)

    def plain_vectors(self, rows: OpenRows, point: Vector) -> tuple[Vector, ...]:
        """Return the same without rounding, for an infinite budget: nothing is promised of it."""

        def kernel(block: Block) -> Array:
            entries, margins = block.rows(), block.margins(point)
            shares = [weight.of(block, margins) / weight.most for weight in self.weights]
            return np.array([(entries * share[:, None]).T @ entries for share in shares])

        sums = rows.sum(kernel, block_rows=ROWS_AT_ONCE) / self.problem.row_norm**2
        return tuple(matrix[self._upper] * self._factors for matrix in sums)

    def matrix(self, vector: Vector, weight: RowWeight) -> Array:
        """Return the matrix that a vector stands for."""
        upper = np.zeros((self.width, self.width))
        upper[self._upper] = vector / self._factors * self.size(weight)
        return np.asarray(upper + np.triu(upper, 1).T)

    @cached_property
    def _upper(self) -> tuple[Integers, Integers]:
        return np.triu_indices(self.width)

    @cached_property
    def _factors(self) -> Vector:
        """Numbers beside the diagonal stand for two."""
        rows, columns = self._upper
        return np.where(rows == columns, 1.0, math.sqrt(2))


@dataclass(frozen=True, eq=False)
class GaussianEvent:
    """Numbers that are released with Gaussian noise on a grid, and their profile."""

    grid: Grid
    profile: Profile

    @classmethod
    def plan(cls, *, mu: float, sensitivity: float, dimension: int, bound: float) -> GaussianEvent:
        """Plan a release that is mu-Gaussian private."""
        grid = gaussian_grid(
            multiplier=1 / mu, sensitivity=sensitivity, dimension=dimension, bound=bound
        )
        reached = (sensitivity + grid.spread_l2(dimension)) / grid.scale * (1 + 1e-15)
        return cls(grid, within(Gaussian(reached), distance_of_gaussian(dimension)))

    def release(self, values: Vector, noise: Noise) -> Vector:
        """Return values with noise: public."""
        return release_gaussian(values, self.grid, noise)
