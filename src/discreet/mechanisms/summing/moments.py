r"""X'X and X'y as one vector of bounded contributions, and back.

The sufficient statistics of least squares, scaled so that their sensitivity is known.

With R the row norm, :math:`R_1` the l1 norm of a row, Y the largest label, W the largest weight of
whoever is protected (one if there are none, and left out below) and p the width, the vector of a
data set is

- order 2: the diagonal of :math:`X'X/R^2`, the entries above it times :math:`\sqrt2`, and
  :math:`X'y/(R Y)`. Its l2 norm is the Frobenius norm of the matrix beside the norm of the vector.
- order 1: the diagonal and the entries above it of :math:`X'X/G`,
  :math:`G = (R_1^2 + R^2)/2`, and :math:`X'y/(R_1 Y)`.

Either way each of the two parts of one record has norm at most one. The sensitivities are proved
in ``sufficient_statistics.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows, summation_error
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import labels_of, weigh
from discreet.privacy import Unit
from discreet.questions.problem import Problem

BLOCK_ROWS = 2048
"""Rows a block: rounding grows with it, and so does speed."""

ROUNDINGS_A_TERM = 16
"""More than the roundings of one term: clipping factors, products, and scaling at the end."""

LEAST_LABEL = 1e-100
"""Labels are measured against no less than this, so that nothing underflows."""

_UP = 1 + 1e-15


@dataclass(frozen=True)
class Moments:
    """The sufficient statistics of least squares, measured in l2 (order 2) or l1 (order 1)."""

    problem: Problem
    unit: Unit
    order: int

    @property
    def width(self) -> int:
        return self.problem.bounds.width

    @property
    def dimension(self) -> int:
        return self.width * (self.width + 3) // 2

    @property
    def gram_size(self) -> float:
        """The largest norm of one record's part of X'X, before scaling."""
        longest = self.problem.row_norm**2
        most = longest if self.order == 2 else (self._row_l1**2 + longest) / 2
        return most * self._weight * _UP

    @property
    def product_size(self) -> float:
        """The largest norm of one record's part of X'y, before scaling."""
        row = self.problem.row_norm if self.order == 2 else self._row_l1
        return row * self.largest_label * self._weight * _UP

    @property
    def contribution(self) -> float:
        """The largest norm of one record's part of the vector."""
        return math.sqrt(2) * _UP if self.order == 2 else 2.0

    @property
    def rounding(self) -> float:
        """How far the vector as computed can be from the true one, in norm: a public number."""
        bounds = self.problem.bounds
        within_terms = ROUNDINGS_A_TERM * UNIT * bounds.max_rows * self.contribution
        return summation_error(bounds, self.contribution, block_rows=BLOCK_ROWS) + within_terms

    @property
    def sensitivity(self) -> float:
        """How far apart, in norm, the vectors of neighbours can be as computed."""
        return self.unit.spread(self.contribution, diameter=self.diameter) + 2 * self.rounding

    @property
    def bound(self) -> float:
        """The largest magnitude of an entry."""
        return self.problem.bounds.max_rows * (1 + 2.0**-20)

    @property
    def diameter(self) -> float:
        """How far apart, in norm, the parts of two records can be."""
        apart = math.sqrt(4.5) * _UP
        if self.order == 2:
            return apart
        matrix, vector = self._l1_per_l2
        alone = min(2.0, math.sqrt(2) * matrix) + 2.0
        return min(alone, apart * math.hypot(matrix, vector)) * _UP

    @property
    def _l1_per_l2(self) -> tuple[float, float]:
        """The most l1 norm in this scaling for each unit of l2 norm in the other, part by part."""
        longest, width = self.problem.row_norm, self.width
        matrix = math.sqrt(width * (width + 3)) / 2 * longest**2 * self._weight / self.gram_size
        vector = math.sqrt(width) * longest * self.largest_label * self._weight / self.product_size
        return matrix * _UP, vector * _UP

    @property
    def _row_l1(self) -> float:
        bounds = self.problem.bounds
        return min(bounds.row_norm(1), math.sqrt(bounds.width) * bounds.row_norm(2) * _UP)

    @property
    def largest_label(self) -> float:
        """The largest magnitude of a label, against which labels are measured."""
        labels = self.problem.bounds.labels
        return max(0.0 if labels is None else labels.magnitude, LEAST_LABEL)

    @property
    def _weight(self) -> float:
        return self.problem.bounds.unit_weight

    @property
    def upper(self) -> tuple[Integers, Integers]:
        """The places of the diagonal and of what is above it."""
        return np.triu_indices(self.width)

    @property
    def entry_weights(self) -> Vector:
        """The factors of the entries of the upper triangle."""
        above = math.sqrt(2) if self.order == 2 else 1.0
        rows, columns = self.upper
        return np.where(rows == columns, 1.0, above)

    def vector(self, rows: OpenRows) -> Vector:
        """Return the vector of opened rows: private."""
        gram, product = rows.sum(_kernel, block_rows=BLOCK_ROWS)
        triangle = gram[self.upper] * self.entry_weights
        return np.concatenate([triangle / self.gram_size, product / self.product_size])

    def matrices(self, vector: Vector) -> tuple[Array, Vector]:
        """Return X'X and X'y over their sizes from the vector."""
        triangle, product = vector[: -self.width], vector[-self.width :]
        gram = np.zeros((self.width, self.width))
        gram[self.upper] = triangle / self.entry_weights
        return gram + np.triu(gram, 1).T, product

    def coefficients(self, solution: Vector) -> Vector:
        """Return coefficients from a solution of the scaled equations."""
        return solution * (self.product_size / self.gram_size)

    @property
    def ridge(self) -> float:
        """The problem's ridge in the scaled equations."""
        return self.problem.ridge / self.gram_size

    @property
    def radius(self) -> float:
        """The problem's radius in the scaled equations."""
        return self.problem.radius * (self.gram_size / self.product_size)


def _kernel(block: Block) -> tuple[Array, Vector]:
    return block.gram(block.weights), block.weighted_sum(weigh(block, labels_of(block)))
