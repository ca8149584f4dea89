r"""Several classes at once, in few long steps; proof in ``accelerated_gradient.md``.

Nesterov's accelerated gradient on noisy sums, with steps made for the noisy norm of the rows'
second moment: DP-SGD with momentum over all rows.

How strongly rows go together is a Schatten norm of their second moment, in records.
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
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import Block, OpenRows, summation_error
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import (
    TABLE_UNITS,
    Learner,
    Plan,
    Verdict,
    grid_tolerances,
)
from discreet.mechanisms.noisy_gradient import NoisyGradient, NoisyGradientPlan
from discreet.mechanisms.summing.exact_gradient import ROWS_AT_ONCE
from discreet.mechanisms.summing.second_moments import GaussianEvent
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax
from discreet.mechanisms.summing.step_policy import FREE_STEPS, MOST_STEPS
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit, compose, gaussian_multiplier
from discreet.questions import OneVsRest, Question, Softmax
from discreet.record import Tolerance
from discreet.solvers import Constant, descend

STEPS = 60
"""Steps if nobody says."""

MOMENTUM = 0.8

NORM_SHARE = 0.003
"""The share of mu squared that goes into the norm that steps are made for."""

LEAST_BEND = 0.1
"""Curvature of the loss over that of the rows, for many classes."""

FARTHEST = 0.8
"""How far noise may carry the score of a row, as if each step had its own and nothing drew back."""


@dataclass(frozen=True, eq=False)
class AcceleratedGradientPlan(Plan):
    """One noisy number, then noisy sums of gradients in steps that it decides."""

    norm: SchattenNorm
    event: GaussianEvent | None  # None if there is no noise, and no privacy
    second: NoisyGradientPlan
    guarantee: Guarantee
    reason: str

    @property
    def problem(self) -> Softmax:
        return self.norm.sums.problem

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.event is None:
            return self.second.tolerances
        first = grid_tolerances(self.event.grid, "the noise on the norm of second moments")
        return (*first, *self.second.tolerances)

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        prepared = self.norm.sums.prepare(rows)
        norm = self.noisy_norm(prepared, noise)  # public from here on
        return self._walk(norm, self.second.noisy_gradients(prepared, noise))

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        prepared = self.norm.sums.prepare(rows)
        norms = self._noisy_norms(prepared, noise, draws)
        release = self.second.noisy_gradients(prepared, noise, walks=draws)
        return np.array([self._walk(float(norm), release) for norm in norms])

    def noisy_norm(self, prepared: OpenRows, noise: Noise) -> float:
        """Release the norm of the second moment of prepared rows, in records."""
        return float(self._noisy_norms(prepared, noise, 1)[0])

    def _noisy_norms(self, prepared: OpenRows, noise: Noise, draws: int) -> Vector:
        norms = np.full(draws, self.norm.of(prepared))
        return norms if self.event is None else self.event.release(norms, noise)

    def _walk(self, norm: float, release: Callable[[Vector], Vector]) -> Array:
        problem, stiffness = self.problem, self.stiffness(norm)

        def gradient(point: Vector) -> Vector:
            released = release(point).reshape(problem.shape)
            # The slopes of a row add up to zero: what all classes have in common is noise.
            return np.ravel(released - released.mean(axis=0))

        return descend(
            gradient,
            np.zeros(problem.width),
            steps=self.second.steps,
            rule=Constant(stiffness),
            average=self.second.average,
            ridge=problem.ridge,
            momentum=MOMENTUM,
        ).reshape(problem.shape)

    def stiffness(self, norm: float) -> float:
        """Return the stiffness of steps, from a noisy number of records: public.

        What the noise alone may be is the least it is taken to be, lest steps be far too long; nor
        may the noise of all steps together carry scores too far.
        """
        problem, grid = self.problem, self.second.grid
        bend = max(LEAST_BEND, 1 / problem.several.classes)
        least = 1.0 if self.event is None else max(1.0, self.event.grid.scale)
        carried = 0.0 if grid is None else grid.scale * math.sqrt(self.second.steps)
        by_curvature = bend * max(norm, least) * self.norm.record
        return max(by_curvature, carried * problem.row_norm / FARTHEST)


@dataclass(frozen=True)
class AcceleratedGradient(Learner):
    """Softmax by noisy gradients with momentum, for many coefficients.

    Parameters
    ----------
    steps
        How many sums of gradients are released, up to 10**6; None for 60, or 1000 without privacy.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import MarginLogistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Problem
    >>> bounds = Bounds(L2Ball(1.0), 500, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> question = OneVsRest(Problem(MarginLogistic(), bounds, ridge=1.25), classes=10)
    >>> plan = AcceleratedGradient().plan(question, Budget(1.0, 1e-9), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-9), 3), plan.reason
    (1.0, '60 steps over all rows with momentum, all classes at once')
    """

    name: ClassVar[str] = "accelerated_gradient"
    units = TABLE_UNITS

    steps: int | None = None

    def __post_init__(self) -> None:
        if self.steps is not None:
            _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, OneVsRest | Softmax):
            return Verdict(
                False, "accelerated_gradient learns three or more classes; use noisy_gradient."
            )
        return NoisyGradient().accepts(question, unit)

    def _plan_beside(
        self,
        question: OneVsRest | Softmax,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None,
        times: int,
    ) -> Plan:
        problem = Softmax(question) if isinstance(question, OneVsRest) else question
        norm = SchattenNorm(ExactSoftmax(problem))
        if not budget.is_private:
            second = self._sums(self.steps or FREE_STEPS).plan(problem, budget, unit)
            return self._assemble(norm, None, second)
        if budget.delta == 0:
            raise CalibrationError(
                "accelerated_gradient adds Gaussian noise, which needs delta > 0; allow a small "
                "delta, or learn one-vs-rest."
            )
        event = GaussianEvent.plan(
            mu=math.sqrt(NORM_SHARE / times) / gaussian_multiplier(budget),
            sensitivity=1 + 2 * norm.error,  # in both units
            dimension=1,
            bound=2.0 * problem.bounds.max_rows,
        )
        released = [*([] if beside is None else [beside]), *[event.profile] * times]
        second = self._sums(self.steps or STEPS).plan_beside(
            problem, budget, unit, beside=compose(released), times=times
        )
        return self._assemble(norm, event, second)

    @staticmethod
    def _sums(steps: int) -> NoisyGradient:
        return NoisyGradient(steps, rate=1.0, average="suffix")

    @staticmethod
    def _assemble(norm: SchattenNorm, event: GaussianEvent | None, second: Plan) -> Plan:
        if not isinstance(second, NoisyGradientPlan):
            raise CalibrationError("noisy_gradient has another plan than expected.")
        reason = second.reason.replace(" over all rows", " over all rows with momentum")
        return AcceleratedGradientPlan(norm, event, second, second.guarantee, reason)


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
