"""Standardise columns privately, then learn in that frame; ``private_standardisation.md``.

Two stages that compose: noisy means and variances for preprocessing, then another mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.mechanisms.base import Learner, Plan, Verdict, grid_tolerances
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.mechanisms.summing.column_sums import ColumnSums, ColumnTotals, NoisySums
from discreet.mechanisms.summing.standard_frame import Framing, StandardFrame
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit, gaussian_multiplier
from discreet.questions import Question
from discreet.questions.bounds import Bounds
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.record import Tolerance

GAUSSIAN_SHARE = 0.03
"""The share of mu squared that goes into the standardisation."""

PURE_SHARE = 0.1
"""The share of a pure epsilon that goes into the standardisation."""

CENTRED_WIDTH = 512
"""Wider rows are not centred: sparse ones would fill up."""


@dataclass(frozen=True, eq=False)
class PrivateStandardisationPlan(Plan):
    """Noisy sums first, then the second mechanism on rows in the frame that they give."""

    moments: ColumnSums
    sums: NoisySums | None  # None with an infinite budget
    second: Plan  # made for the frame's region, if that is known beforehand
    replan: _Replan
    guarantee: Guarantee
    reason: str

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.sums is None:
            return self.second.tolerances
        first = grid_tolerances(self.sums.grid, "the noise on sums of columns")
        if self.sums.is_pure:
            return first  # the second stage is planned anew when its region is known
        return (*first, *self.second.tolerances)

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        frame = self._frame(rows, noise)  # public: made of noisy sums alone
        plan, bounds = self.replan.plan_within(frame.region, self.second)
        return np.asarray(
            plan.run_in_frame(rows, noise, Framing(frame, bounds, self.moments.bounds))
        )

    def _frame(self, rows: OpenRows, noise: Noise) -> StandardFrame:
        sums = self._sums(rows, noise)
        if self.sums is not None and self.sums.is_pure:
            return StandardFrame.of_laplace(sums, self.moments)
        centred = self.moments.bounds.width <= CENTRED_WIDTH
        return StandardFrame.of_gaussian(sums, self.moments, centred=centred)

    def _sums(self, rows: OpenRows, noise: Noise) -> ColumnTotals:
        if self.sums is None:
            return self.moments.exact(rows)
        return self.sums.release(rows, noise)


@dataclass(frozen=True)
class _Replan:
    """How to plan the second stage once the region of its rows is known."""

    mechanism: Learner
    question: Problem | OneVsRest
    budget: Budget
    unit: Unit
    beside: Profile | None

    def bounds(self, region: ConvexSet) -> Bounds:
        stated = self.question.bounds
        return Bounds(
            features=region,
            n_features=stated.width,
            labels=stated.labels,
            max_weight=stated.max_weight,
            max_rows=stated.max_rows,
        )

    def plan(self, region: ConvexSet) -> Plan:
        question = self.question.restate(self.bounds(region))
        return self.mechanism.plan_beside(question, self.budget, self.unit, beside=self.beside)

    def plan_within(self, region: ConvexSet, known: Plan) -> tuple[Plan, Bounds]:
        """Return a plan for the region, and its bounds; the plan at hand serves a Euclidean one."""
        plan = known if isinstance(region, L2Ball) else self.plan(region)
        return plan, self.bounds(region)


@dataclass(frozen=True)
class PrivateStandardisation(Learner):
    """A small part of the budget for means and spreads, the rest for learning with them.

    The ridge of the problem is stated for the standardised frame, where rows have norm at most
    one. Coefficients come back for the columns as they were.

    Parameters
    ----------
    second
        The mechanism that learns in the frame.
    entry_bound
        The declared largest entry of a row; larger ones are clipped where means and spreads are
        estimated. None if nothing is declared but the norm of rows.
    indicators
        Which columns are zero or one, at most a few ones a row; used for a pure budget, where
        their squares need no sum of their own. None for none.

    Examples
    --------
    >>> from discreet.data import LabelSet
    >>> from discreet.losses import MarginLogistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=10**6)
    >>> problem = Problem(MarginLogistic(), bounds, ridge=1.3)
    >>> plan = PrivateStandardisation().plan(problem, Budget(1.0, 1e-9), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-9), 3)
    1.0
    """

    second: Learner = field(default_factory=ObjectivePerturbation)
    entry_bound: float | None = None
    indicators: tuple[bool, ...] | None = None

    @property
    def name(self) -> str:
        return "private_standardisation"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem | OneVsRest):
            return Verdict(False, "private_standardisation is a first stage of learning problems.")
        if question.bounds.intercept is None:
            return Verdict(
                False, "private_standardisation centres columns, so it needs an intercept."
            )
        problem = question if isinstance(question, Problem) else question.problem
        if problem.penalty is not None:
            return Verdict(
                False,
                "a penalty or constraint would be one of standardised coefficients; leave it out, "
                "or leave the standardisation out.",
            )
        return self.second.accepts(question, unit)

    def _plan_beside(
        self,
        question: Problem | OneVsRest,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None,
        times: int,
    ) -> Plan:
        if beside is not None or times > 1:
            raise CalibrationError("private_standardisation is the first stage, and runs once.")
        if self.indicators is not None and len(self.indicators) != question.bounds.n_features:
            raise InputError(
                f"indicators must say of {question.bounds.n_features} columns whether they are "
                f"zero or one; got {len(self.indicators)}."
            )
        moments = self._moments(question.bounds, is_pure=budget.delta == 0 and budget.is_private)
        sums = _plan_sums(moments, budget, unit)
        first = None if sums is None else sums.profile
        replan = _Replan(self.second, question, budget, unit, first)
        region: ConvexSet = L2Ball(1.0)
        if sums is not None and sums.is_pure:
            region = L1L2Ball(math.sqrt(question.bounds.width), 1.0)
        second = replan.plan(region)
        chosen = second.reason
        if not isinstance(region, L2Ball):
            chosen = "noise for whichever norm of the standardised rows needs less"
        reason = f"columns standardised privately first; then {chosen}"
        return PrivateStandardisationPlan(moments, sums, second, replan, second.guarantee, reason)

    def with_second(self, second: Learner) -> PrivateStandardisation:
        """Return the same first stage before another mechanism."""
        return replace(self, second=second)

    def coefficients(self, value: Any) -> Array:
        return self.second.coefficients(value)

    @staticmethod
    def budget_for_second(budget: Budget) -> Budget:
        """Return roughly what the first stage leaves of a budget, for rules of thumb."""
        if budget.delta > 0 or not budget.is_private:
            return budget
        return Budget((1 - PURE_SHARE) * budget.epsilon)

    def _moments(self, bounds: Bounds, *, is_pure: bool) -> ColumnSums:
        unit = 1.0 if is_pure else bounds.row_norm()
        largest = bounds.row_norm(math.inf)
        if self.entry_bound is not None:
            largest = min(largest, max(self.entry_bound, bounds.intercept or 0.0))
        squared = [True] * bounds.n_features
        if is_pure and self.indicators is not None:
            squared = [not is_indicator for is_indicator in self.indicators]
        # The intercept's square is a constant.
        return ColumnSums(bounds, largest / unit, (*squared, False), unit)


def _plan_sums(moments: ColumnSums, budget: Budget, unit: Unit) -> NoisySums | None:
    if not budget.is_private:
        return None
    if budget.delta == 0:
        return NoisySums.laplace(moments, unit, PURE_SHARE * budget.epsilon)
    mu = math.sqrt(GAUSSIAN_SHARE) / gaussian_multiplier(budget)
    return NoisySums.gaussian(moments, unit, mu)
