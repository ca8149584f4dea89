r"""How strongly rows go together: a Schatten norm of their second moment, in records.

With z the rows, of norm at most R, v their weights, at most W, and :math:`G = \sum v z z'`, the
number is :math:`\|G\|_{32} / (W R^2)`, where :math:`\|G\|_q = (\mathrm{tr}\, G^q)^{1/q}`. It lies
between the largest eigenvalue, in the same unit, and :math:`p^{1/32}` times that for p columns,
which is 1.24 times for a thousand.

One record moves it by at most one, whether it is there or is another: it is a norm, that of
:math:`v z z'` is :math:`v \|z\|^2`, and it grows with G. There is nothing to converge. (The length
of :math:`G^k b` for a fixed b is no substitute: a record that turns b towards a strong direction
moves it by as much as there are records.) The trace of :math:`G^{32}` is the squared Frobenius norm
of :math:`G^{16}`: four squarings of a p x p matrix. Wider rows have the first Schatten norm, which
is the trace of G: the sum of squared norms, and no matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Array
from discreet.data import Block, OpenRows, summation_error
from discreet.geometry.limits import UNIT
from discreet.mechanisms.summing.exact_gradient import ROWS_AT_ONCE
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax

SQUARINGS = 4
"""The norm is of order 2**(SQUARINGS + 1)."""

MOST_COLUMNS = 2048
"""Up to so many there is a matrix of second moments."""


@dataclass(frozen=True)
class SchattenNorm:
    """The norm of the second moment of rows that are prepared for exact sums of gradients."""

    sums: ExactSoftmax

    @property
    def is_trace(self) -> bool:
        """Whether rows are so wide that the trace stands for the norm."""
        return self.sums.problem.bounds.width > MOST_COLUMNS

    @property
    def record(self) -> float:
        """What one record adds at most, which is the unit, in terms of rows as they are."""
        problem = self.sums.problem
        return problem.lipschitz * problem.row_norm**2

    @cached_property
    def _prepared_record(self) -> float:
        """The same of prepared rows."""
        problem = self.sums.problem
        return problem.lipschitz * self.sums.scale_down(problem.row_norm) ** 2

    @property
    def error(self) -> float:
        r"""Bound how far, in records, the computed number can be from that of exact arithmetic.

        With u the unit of roundings and n rows: sums over rows, and products within them, err by
        their bound; squarings by :math:`2 p u n`; squared norms of wide rows by :math:`2 p u n`; a
        Frobenius norm and its roots by :math:`p^2 u n / 16`. The proof note derives them.
        """
        bounds = self.sums.problem.bounds
        width, rows = bounds.width, bounds.max_rows
        inside = 2.0 * width + 64
        if not self.is_trace:
            inside += width**2 / 16
        return summation_error(bounds, 1.0, block_rows=ROWS_AT_ONCE) + inside * UNIT * rows

    def of(self, prepared: OpenRows) -> float:
        """Return the number: private."""
        if self.is_trace:
            total = float(prepared.sum(_weigh_norms, block_rows=ROWS_AT_ONCE))
        else:
            moment = prepared.sum(lambda block: block.gram(block.weights), block_rows=ROWS_AT_ONCE)
            total = _take_norm(moment)
        return total / self._prepared_record


def _weigh_norms(block: Block) -> float:
    norms = block.squared_norms()
    return float(norms.sum() if block.weights is None else norms @ block.weights)


def _take_norm(moment: Array) -> float:
    """Return the Schatten norm of a matrix that is positive semidefinite, but for rounding."""
    trace = float(np.trace(moment))
    if not trace > 0:
        return 0.0
    power = moment / trace  # so that nothing overflows; and no eigenvalue is below 1/p
    for _ in range(SQUARINGS):
        power = power @ power.T  # symmetric, and half the work
    largest = float(np.linalg.norm(power))
    return trace * math.exp2(math.log2(largest) / 2**SQUARINGS) if largest > 0 else 0.0
