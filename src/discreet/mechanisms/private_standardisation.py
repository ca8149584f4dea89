"""Standardise columns privately, then learn in that frame; ``private_standardisation.md``.

Two stages that compose: noisy means and variances for preprocessing, then another mechanism, whose
objective they may settle. If asked to, a third: counts of the rows' scores, for the calibration of
probabilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.mechanisms.base import Learner, Plan, Verdict, grid_tolerances
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.mechanisms.one_vs_rest import EachAgainstTheRest
from discreet.mechanisms.signal_rules import Settings, SignalRules, WideRules
from discreet.mechanisms.sufficient_statistics import SufficientStatistics
from discreet.mechanisms.summing.row_count import RowTotal
from discreet.mechanisms.summing.score_counts import COUNTED_SHARE, ScoreCounts
from discreet.mechanisms.summing.standard_frame import (
    ColumnSums,
    ColumnTotals,
    Framing,
    NoisySums,
    StandardFrame,
)
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit, compose, gaussian_multiplier
from discreet.questions import LabelSet, Question
from discreet.questions.bounds import Bounds
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.record import Tolerance

GAUSSIAN_SHARE = 0.03
"""The share of mu squared that goes into the standardisation, unless another is asked for."""

PURE_SHARE = 0.1
"""The share of a pure epsilon that goes into the standardisation."""

CENTRED_WIDTH = 512
"""Wider rows are not centred, unless that is asked for: sparse ones would fill up."""


@dataclass(frozen=True, eq=False)
class PrivateStandardisationPlan(Plan):
    """Noisy sums first, then the second mechanism on rows in the frame that they give.

    What is released is the coefficients; followed by counts of the rows' scores, if those are asked
    for, and by what the noisy sums settled, if they settle anything.
    """

    moments: ColumnSums | RowTotal
    sums: NoisySums | None  # None with an infinite budget, or if a number alone is public anyway
    is_pure: bool  # which frame: that of a pure budget, infinite or not
    second: Plan  # made for the frame's region, if that is known beforehand
    replan: _Replan
    guarantee: Guarantee
    reason: str
    counts: ScoreCounts | None = None  # None if they are not asked for
    rules: SignalRules | None = None  # None if the objective is the one that was planned
    centred_width: int = CENTRED_WIDTH

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        first = tuple[Tolerance, ...]()
        if self.sums is not None:
            first += grid_tolerances(self.sums.grid, f"the noise on {self.moments.words}")
        if self.counts is not None:
            first += grid_tolerances(self.counts.grid, "the noise on counts of scores")
        if self.sums is not None and self.sums.is_pure:
            return first  # the second stage is planned anew when its region is known
        return (*first, *self.second.tolerances)

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        frame = self._frame(rows, noise)  # public: made of noisy sums alone
        plan, bounds = self.replan.plan_within(frame.region, self.second)
        settings = self._settle(frame)
        if self.rules is not None and settings is not None:
            frame = replace(frame, length=settings.length)
            plan = plan.settle(self.rules.loss(settings, self.replan.problem.loss), settings.ridge)
        framing = Framing(frame, bounds, self.moments.bounds)
        value = np.asarray(plan.run_in_frame(rows, noise, framing))
        if self.counts is not None:
            value = np.concatenate([value, self.counts.release(rows, value, noise)])
        return value if settings is None else settings.append_to(value)

    def _settle(self, frame: StandardFrame) -> Settings | None:
        """Return what the rules make of the frame and of public numbers."""
        if self.rules is None:
            return None
        problem, noise = self.replan.problem, self.second.objective_noise
        # Which rules go with which sums was checked when the mechanism was made.
        moments: Any = self.moments
        return self.rules.settle(frame, moments, problem.loss, problem.ridge, noise)

    def _frame(self, rows: OpenRows, noise: Noise) -> StandardFrame:
        sums = self._sums(rows, noise)
        if isinstance(self.moments, RowTotal):
            return StandardFrame.of_count(sums, self.moments.bounds)
        if self.is_pure:
            return StandardFrame.of_laplace(sums, self.moments)
        centred = self.moments.bounds.width <= self.centred_width
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

    @property
    def problem(self) -> Problem:
        """The problem, or that of one class (one-vs-rest)."""
        return self.question if isinstance(self.question, Problem) else self.question.problem

    def bounds(self, region: ConvexSet) -> Bounds:
        stated = self.question.bounds
        return Bounds(
            features=region,
            n_features=stated.width,
            labels=stated.labels,
            max_weight=stated.max_weight,
            max_rows=stated.max_rows,
            person=stated.person,
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
    counts_scores
        Whether rows are counted too, by class and by the score that the released coefficients give
        them; for two classes. The noisy counts are released after the coefficients
        (``summing/score_counts.py``), and make probabilities of scores.
    share
        The share of mu squared that goes into means and spreads, if delta is not zero; a tenth of
        a pure epsilon does.
    rules
        What of the objective is settled by the noisy sums; ``second`` then is
        ``ObjectivePerturbation(settles_later=True)``, for two classes or one-vs-rest,
        and delta is not zero. What was settled is released after all else
        (``signal_rules.py``). None for the objective that the problem states.
    centred_width
        Up to how many columns, the intercept one of them, are centred; those of wider rows are
        scaled alone, so that sparse rows stay sparse. For a budget with ``delta > 0``.
    scales
        Whether columns are centred and scaled at all. If not, rows are divided by the bound on
        their norm, and what is released first is how many there are, which rules ask for; nothing
        if their number is public. For a budget with ``delta > 0``.

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

    name: ClassVar[str] = "private_standardisation"
    solves_problems: ClassVar[bool] = True

    second: Learner = field(default_factory=ObjectivePerturbation)
    entry_bound: float | None = None
    indicators: tuple[bool, ...] | None = None
    counts_scores: bool = False
    share: float = GAUSSIAN_SHARE
    rules: SignalRules | None = None
    centred_width: int = CENTRED_WIDTH
    scales: bool = True

    def __post_init__(self) -> None:
        _checks.positive(share=self.share)
        _checks.fraction(share=self.share)
        _checks.whole(centred_width=self.centred_width, at_least=1)
        if self.rules is not None and isinstance(self.rules, WideRules) == self.scales:
            raise InputError(
                "rules are WideRules where columns are left as they are (scales=False), and "
                f"SignalRules where they are scaled; got {type(self.rules).__name__}."
            )

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem | OneVsRest):
            return Verdict(False, "private_standardisation is a first stage of learning problems.")
        if question.bounds.intercept is None:
            return Verdict(
                False, "private_standardisation centres columns, so it needs an intercept."
            )
        problem = question if isinstance(question, Problem) else question.problem
        if self.rules is not None and not _settles_later(self.second):
            return Verdict(
                False, "rules settle the objective of ObjectivePerturbation(settles_later=True)."
            )
        if problem.penalty is not None:
            return Verdict(
                False,
                "a penalty or constraint would be one of standardised coefficients; leave it out, "
                "or leave the standardisation out.",
            )
        if self.counts_scores and not (isinstance(question, Problem) and _is_of_two(question)):
            return Verdict(
                False, "scores are counted of two classes; use counts_scores=False for others."
            )
        learner = getattr(self.second, "learner", None)
        if isinstance(learner, SufficientStatistics):
            return Verdict(
                False, "statistics of least squares are released in the declared frame alone."
            )
        if self.counts_scores and learner is not None:
            return Verdict(
                False, "scores are counted of coefficients alone; use counts_scores=False."
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
        if times > 1:
            raise CalibrationError("private_standardisation is a first stage, and runs once.")
        if self.indicators is not None and len(self.indicators) != question.bounds.n_features:
            raise InputError(
                f"indicators must say of {question.bounds.n_features} columns whether they are "
                f"zero or one; got {len(self.indicators)}."
            )
        is_pure = budget.delta == 0
        if is_pure and (self.rules is not None or not self.scales):
            raise CalibrationError("rules are for Gaussian sums, which need delta > 0.")
        moments = self._moments(question.bounds, is_pure=is_pure)
        sums, counts = self._plan_sums(moments, budget, unit), None
        if self.counts_scores:
            counts = ScoreCounts.within_budget(budget, unit, question.bounds)
        known = _compose_known(beside, sums, counts) if budget.is_private else None
        replan = _Replan(self.second, question, budget, unit, known)
        region: ConvexSet = L2Ball(1.0)
        if is_pure:
            region = L1L2Ball(math.sqrt(question.bounds.width), 1.0)
        second = replan.plan(region)
        chosen = second.reason
        if not isinstance(region, L2Ball):
            chosen = "noise for whichever norm of the standardised rows needs less"
        before = "columns standardised privately" if self.scales else "rows counted"
        reason = f"{before} first; then {chosen}"
        if counts is not None:
            reason += f"; scores counted for {COUNTED_SHARE:.0%} of the budget"
        if self.rules is not None:
            reason += f"; {self.rules.sentence}"
        return PrivateStandardisationPlan(
            moments,
            sums,
            is_pure,
            second,
            replan,
            second.guarantee,
            reason,
            counts,
            self.rules,
            centred_width=self.centred_width,
        )

    def with_second(self, second: Learner) -> PrivateStandardisation:
        """Return the same first stage before another mechanism."""
        return replace(self, second=second)

    def coefficients(self, value: Any) -> Array:
        return self.second.coefficients(value)

    @property
    def share_beside(self) -> float:
        """The share of mu squared that sums and counts have of a budget whose delta is not zero."""
        return self.share + (COUNTED_SHARE if self.counts_scores else 0.0)

    def budget_for_second(self, budget: Budget) -> Budget:
        """Return roughly what the other stages leave of a budget, for rules of thumb."""
        if budget.delta > 0 or not budget.is_private:
            return budget
        share = 1 - PURE_SHARE - (COUNTED_SHARE if self.counts_scores else 0.0)
        return Budget(share * budget.epsilon)

    def _moments(self, bounds: Bounds, *, is_pure: bool) -> ColumnSums | RowTotal:
        if not self.scales:
            return RowTotal(bounds)
        unit = 1.0 if is_pure else bounds.row_norm()
        largest = bounds.row_norm(math.inf)
        if self.entry_bound is not None:
            largest = min(largest, max(self.entry_bound, bounds.intercept or 0.0))
        squared = [True] * bounds.n_features
        if is_pure and self.indicators is not None:
            squared = [not is_indicator for is_indicator in self.indicators]
        # The intercept's square is a constant.
        return ColumnSums(bounds, largest / unit, (*squared, False), unit)

    def _plan_sums(
        self, moments: ColumnSums | RowTotal, budget: Budget, unit: Unit
    ) -> NoisySums | None:
        if not budget.is_private or (unit.rows_are_public and not self.scales):
            return None
        if budget.delta == 0:
            return NoisySums.laplace(moments, unit, PURE_SHARE * budget.epsilon)
        mu = math.sqrt(self.share) / gaussian_multiplier(budget)
        return NoisySums.gaussian(moments, unit, mu)


def _compose_known(
    beside: Profile | None, sums: NoisySums | None, counts: ScoreCounts | None
) -> Profile | None:
    """Return the profile of all that is released beside the second stage, None if nothing is."""
    released = [one.profile for one in (sums, counts) if one is not None]
    parts = [part for part in (beside, *released) if part is not None]
    return compose(parts) if parts else None


def _settles_later(mechanism: Learner) -> bool:
    if isinstance(mechanism, EachAgainstTheRest):
        return _settles_later(mechanism.one)
    return isinstance(mechanism, ObjectivePerturbation) and mechanism.settles_later


def _is_of_two(problem: Problem) -> bool:
    """Say whether labels are the two classes of a margin."""
    labels = problem.bounds.labels
    return isinstance(labels, LabelSet) and tuple(labels.values) == (-1, 1)
