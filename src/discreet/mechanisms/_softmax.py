r"""Several classes at once: the softmax loss, and exact sums of its gradients.

For classes with vectors :math:`w_k`, margins :math:`z_k = \langle x, w_k\rangle` and chances
:math:`q_k = e^{z_k}/\sum_j e^{z_j}`, the loss of a row of class y is :math:`-\ln q_y`, and its
gradient in :math:`w_k` is :math:`s_k x` with :math:`s_k = q_k - [k = y]`. Since
:math:`\sum_{k \ne y} q_k^2 \le (1 - q_y)^2`, the slopes s have norm at most :math:`\sqrt 2`, and
the whole gradient :math:`\sqrt 2 \|x\|`.

Margins are exact, and slopes a function of one row's margins and class, as in
``_exact_gradient.py``: class by class, in a fixed order. Slopes are shortened by more than they are
rounded, and cut towards zero, so their norm is still at most :math:`\sqrt 2`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.declared import Bounds
from discreet.errors import PrivacyError
from discreet.mechanisms._exact_gradient import ENTRY_BITS, ROWS_AT_ONCE, ExactSums
from discreet.one_vs_rest import OneVsRest

_UP = 1 + 1e-15
SHORTENED = 1 - 2.0**-36
"""Exponentials of up to 10,000 classes and their sum are right to 2**-37."""


@dataclass(frozen=True)
class Softmax:
    """The softmax problem of several classes, with the constants that noise is made for."""

    several: OneVsRest

    @property
    def bounds(self) -> Bounds:
        return self.several.bounds

    @property
    def ridge(self) -> float:
        return self.several.problem.ridge

    @property
    def penalty(self) -> None:
        """There is none: coefficients of several classes have no domain."""
        return None

    @property
    def assumed(self) -> tuple[str, ...]:
        return self.several.assumed

    @property
    def shape(self) -> tuple[int, int]:
        """Classes, and coefficients of each."""
        return self.several.classes, self.bounds.width

    @property
    def width(self) -> int:
        """How many coefficients there are."""
        return self.several.classes * self.bounds.width

    @property
    def row_norm(self) -> float:
        return self.bounds.row_norm()

    @property
    def lipschitz(self) -> float:
        """The largest slope along one class, times the largest weight."""
        return self.bounds.largest_weight

    @property
    def row_lipschitz(self) -> float:
        """The largest norm of one row's gradient, all classes together."""
        return math.sqrt(2) * self.lipschitz * self.row_norm * _UP

    @property
    def largest_slope(self) -> float:
        """The largest entry of one row's gradient."""
        return self.lipschitz * self.bounds.row_norm(math.inf)

    @property
    def domain_radius(self) -> float:
        return math.inf


@dataclass(frozen=True)
class ExactSoftmax(ExactSums):
    """The sum of the gradients of the softmax loss, as integers, one class after the other."""

    problem: Softmax

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        """Return the sum at public coefficients, in whole units."""
        weights = self._cut_point(point).reshape(self.problem.shape)
        per_slope = math.ldexp(SHORTENED, self.slope_bits) / self.problem.lipschitz

        def kernel(block: Block) -> Integers:
            if block.labels is None:
                raise PrivacyError("a learning problem was run on rows without labels.")
            slopes = _slopes(np.array([block.margins(each) for each in weights]), block.labels)
            if block.weights is not None:
                slopes *= block.weights
            slopes *= per_slope
            np.trunc(slopes, out=slopes)
            total = np.array([block.weighted_sum(each) for each in slopes])
            total *= 2.0**ENTRY_BITS
            return total.astype(np.int64).ravel()

        units: Integers = prepared.sum(kernel, block_rows=ROWS_AT_ONCE)
        return units


def _slopes(margins: Array, labels: Vector) -> Array:
    """Return chances less the indicator of the class: classes x rows, row by row the same."""
    margins -= margins.max(axis=0)
    with np.errstate(under="ignore"):
        chances: Array = np.exp(margins, out=margins)
    total = np.zeros(margins.shape[1])
    for each in chances:  # in this order whatever the number of rows
        total += each
    chances /= total
    for number, each in enumerate(chances):
        each -= labels == number
    return chances
