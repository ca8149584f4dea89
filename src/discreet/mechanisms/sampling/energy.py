r"""The energy of coefficients, and what rounding can do to it.

The penalised empirical risk, times the rate at which the exponential mechanism punishes it.

With a public rate c, the energy is :math:`U(w) = c \sum_i f(\langle x_i, w\rangle; y_i) + c
\frac\Lambda2 \|w\|^2`. Write u = 2**-53, N for ``max_rows``, R for the row norm, L and V for the
largest slope and value of a row's loss, its weight included, at coefficients of norm at most B.

*Values.* A computed margin errs by :math:`\delta = u ((p + 6) R B + 2 Y)` at most, so a value by
:math:`L \delta + 32 u (V + L (R B + Y))`; sums in blocks of m rows err by ``summation_error``. All
of it, times c, and a few roundings of the ridge, is ``error``: for each data set the computed
energy is within ``error`` of U at every point.

*Tangents.* The computed slope s of a row is, up to 16 u L, a subgradient at the *computed* margin
z, so that :math:`f(v) \ge f(z) + s (v - z)` for every v, and z is within :math:`\delta` of the true
margin. Hence for points w and t

.. math:: \tilde U(w) \ge \tilde U(t) + \langle \tilde g(t), w - t \rangle - 3 \, \text{error}
          - c \gamma \|w - t\|,

with :math:`\gamma` the rounding of the sum of slopes times rows: no smoothness is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Vector
from discreet.data import Block, OpenRows, margin_roundings, summation_error
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import labels_of
from discreet.questions.bounds import Interval
from discreet.questions.problem import Problem

BLOCK_ROWS = 1024
POINTS_AT_ONCE = 64
_UP = 1 + 2.0**-20


@dataclass(frozen=True)
class Scale:
    """How large losses and their rounding errors are at coefficients of bounded norm; public."""

    problem: Problem
    radius: float
    diameter: float

    @property
    def reach(self) -> float:
        """The largest margin."""
        return self.problem.row_norm * self.radius * _UP

    @property
    def slope(self) -> float:
        """The largest slope of a row's loss, its weight included."""
        return self.problem.loss.lipschitz(self.reach) * self.problem.bounds.row_weight

    @property
    def _label_ends(self) -> Vector:
        labels = self.problem.bounds.labels
        return np.array([labels.low, labels.high] if isinstance(labels, Interval) else [-1.0, 1.0])

    @property
    def _highest(self) -> float:
        """The largest value: losses are convex in margins and in labels."""
        ends = self.problem.loss.value(
            self._label_ends[:, None], np.array([-self.reach, self.reach])
        )
        return float(np.max(ends)) * self.problem.bounds.row_weight * _UP

    @property
    def value(self) -> float:
        """The largest magnitude of a row's loss."""
        middle = np.abs(self.problem.loss.value(self._label_ends, np.zeros(2))).max()
        least = float(middle) * self.problem.bounds.row_weight + self.slope * self.reach
        return max(abs(self._highest), least) * _UP

    @property
    def span(self) -> float:
        """How much more the loss of whoever is protected can be at some coefficients."""
        bounds = self.problem.bounds
        return self._row_span * (bounds.unit_weight / bounds.row_weight)

    @property
    def _row_span(self) -> float:
        """How much more a row's loss can be at some coefficients than at others."""
        loss, weight = self.problem.loss, self.problem.bounds.row_weight
        spans = [self.slope * self.problem.row_norm * self.diameter]
        if loss.is_classifier and loss.is_one_signed:
            far = loss.value(np.ones(2), np.array([-self.reach, self.reach]))
            rounded = 64 * UNIT * self.value  # the difference may cancel
            spans.append(weight * float(abs(far[0] - far[1])) + rounded)
        if loss.is_nonnegative:
            spans.append(self._highest)
        return min(spans) * _UP

    @property
    def error(self) -> float:
        """How far a computed sum of losses can be from the true one."""
        bounds = self.problem.bounds
        labels = 0.0 if bounds.labels is None else bounds.labels.magnitude
        margin = UNIT * ((margin_roundings(bounds.width) + 6) * self.reach + 2 * labels)
        value = 32 * UNIT * (self.value + self.slope * (self.reach + labels))
        one = self.slope * margin + value
        total = summation_error(bounds, self.value, block_rows=BLOCK_ROWS)
        return (bounds.max_rows * one + total + 8 * UNIT * self.ridge_size) * _UP

    @property
    def ridge_size(self) -> float:
        return self.problem.ridge * self.radius * (self.radius + self.diameter)

    @property
    def tangent_error(self) -> float:
        """How far a tangent, computed at one point, can be above the computed sum elsewhere."""
        steepest = self.slope * self.problem.row_norm
        bounds = self.problem.bounds
        slopes = 16 * UNIT * bounds.max_rows * steepest
        slopes += summation_error(bounds, steepest, block_rows=BLOCK_ROWS)
        return (3 * self.error + slopes * self.diameter) * _UP

    @property
    def size(self) -> float:
        """The largest magnitude of anything that is added up."""
        steepest = self.slope * self.problem.row_norm
        rows = self.problem.bounds.max_rows
        return (rows * (self.value + steepest * self.diameter) + self.ridge_size) * _UP


@dataclass(frozen=True, eq=False)
class Energy:
    """The energy of opened rows, at many points at once."""

    problem: Problem
    rate: float
    rows: OpenRows

    def values(self, points: Array) -> Vector:
        """Return the energy of each point."""
        loss = self.problem.loss

        def kernel(block: Block) -> Vector:
            rows, labels, weights = _parts(block)
            losses = loss.value(labels, rows @ points.T)
            total: Vector = (losses * weights).sum(axis=0)
            return total

        total: Vector = self.rows.sum(kernel, block_rows=BLOCK_ROWS)
        return np.asarray(
            self.rate * (total + self.problem.ridge / 2 * np.square(points).sum(axis=1))
        )

    def tangents(self, points: Array) -> tuple[Vector, Array]:
        """Return the energy of each point and a subgradient there."""
        loss = self.problem.loss

        def kernel(block: Block) -> tuple[Vector, Array]:
            rows, labels, weights = _parts(block)
            margins = rows @ points.T
            losses = loss.value(labels, margins) * weights
            slopes = loss.slope(labels, margins) * weights
            return losses.sum(axis=0), slopes.T @ rows

        value, slope = self.rows.sum(kernel, block_rows=BLOCK_ROWS)
        ridge = self.problem.ridge
        value = value + ridge / 2 * np.square(points).sum(axis=1)
        return self.rate * value, self.rate * (slope + ridge * points)

    def second_order(self, point: Vector, blur: float) -> tuple[float, Vector, Array]:
        """Return value, gradient and Hessian after margins are blurred: to find a way, no more."""
        loss = self.problem.loss

        def kernel(block: Block) -> tuple[Array, Vector, Array]:
            rows, labels, weights = _parts(block)
            margins = (rows @ point)[:, None]
            if blur == 0:
                value, slope = loss.value(labels, margins), loss.slope(labels, margins)
                curvature = loss.curvature(labels, margins)
            else:
                above, below = margins + blur, margins - blur
                value = (loss.value(labels, above) + loss.value(labels, below)) / 2
                slope = (loss.slope(labels, above) + loss.slope(labels, below)) / 2
                curvature = (loss.slope(labels, above) - loss.slope(labels, below)) / (2 * blur)
            curved = (curvature * weights) * rows
            return (value * weights).sum(), (slope * weights)[:, 0] @ rows, rows.T @ curved

        value, slope, curvature = self.rows.sum(kernel)
        ridge = self.problem.ridge
        return (
            self.rate * (float(value) + ridge / 2 * float(point @ point)),
            self.rate * (slope + ridge * point),
            self.rate * (curvature + ridge * np.eye(point.size)),
        )


def _parts(block: Block) -> tuple[Array, Array, Array | float]:
    """Return rows, and labels and weights as columns."""
    weights = 1.0 if block.weights is None else block.weights[:, None]
    return block.rows(), labels_of(block)[:, None], weights
