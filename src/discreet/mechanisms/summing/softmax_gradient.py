r"""Several classes at once: exact sums of the gradients of the softmax loss.

For a row x of class y the gradient in the coefficients of class k is :math:`s_k x`, s being the
slopes of :class:`~discreet.losses.logistic.MarginSoftmax`: in norm at most :math:`\sqrt 2 \|x\|`.

Margins are exact, and slopes a function of one row's margins and class, as in
``exact_gradient.py``. Slopes are cut to 2**-20, so exponentials of single precision will do, and
take a third of the time. Of exponentials as computed nothing is needed but that none is negative
and the largest is one: with u the unit of roundings, chances are at most one and add up to
:math:`1 + (K + 1) u` at most, so slopes exceed their bound by a share of less than
:math:`(K + 6) u`, the weight included. They are shortened by more than that and cut towards zero,
so that as integers their norm is at most :math:`\sqrt 2 \cdot 2^k`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Integers, Vector
from discreet.data import Block, OpenRows
from discreet.mechanisms.base import labels_of
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS, ROWS_AT_ONCE, ExactSums
from discreet.questions import Softmax

SHORTENED = 1 - 2.0**-36
"""By more than 10,000 classes need, the most there can be: 10,006 u is below 2**-39."""


@dataclass(frozen=True)
class ExactSoftmax(ExactSums):
    """The sum of the gradients of the softmax loss, as integers, one class after the other."""

    problem: Softmax

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        """Return the sum at public coefficients, in whole units."""
        vectors = self.cut_point(point).reshape(self.problem.shape)
        loss = self.problem.loss
        per_slope = math.ldexp(SHORTENED, self.slope_bits) / self.problem.lipschitz

        def kernel(block: Block) -> Integers:
            slopes = loss.slopes(
                block.several_margins(vectors), labels_of(block), exponentials=np.float32
            )
            if block.weights is not None:
                slopes *= block.weights
            slopes *= per_slope
            np.trunc(slopes, out=slopes)
            total = block.several_sums(slopes)
            total *= 2.0**ENTRY_BITS
            return total.astype(np.int64).ravel()

        units: Integers = prepared.sum(kernel, block_rows=ROWS_AT_ONCE)
        return units
