"""Answers drawn by the exponential mechanism; proof in ``exponential_sampling.md``.

Locations of columns are M-estimators (medians, Huber's), one drawn coefficient each, composed over
columns within one budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import Box
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Learner,
    Plan,
    Verdict,
    public_facts,
)
from discreet.mechanisms.sampling.choice import column_of, nearest_step, plan_choice
from discreet.mechanisms.sampling.ranks import Runs, level_of, rank_range
from discreet.mechanisms.sampling.sampled_model import (
    accepts_model,
    plan_draw,
    plan_model,
    plan_without_noise,
    span_of_columns,
)
from discreet.mechanisms.sampling.subset_choice import plan_subset
from discreet.mechanisms.sampling.whole_weights import WholeWeights
from discreet.mechanisms.share import BudgetShare as Share
from discreet.noise import Noise
from discreet.privacy import (
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Unit,
)
from discreet.questions import BestSubset, BestThreshold, ColumnQuantiles, LeastLoss, Question
from discreet.questions.choices import ColumnLocations
from discreet.questions.problem import Problem

MOST_ROWS = 2**29
"""With more rows than this a score may not fit 64 bits."""


@dataclass(frozen=True, eq=False)
class ExponentialSamplingPlan(Plan):
    """A grid for each column, and how fast chances fall with each rank.

    There is no rate if nothing is to be hidden.
    """

    holds_rows = True

    question: ColumnQuantiles
    rate: Fraction | None
    guarantee: Guarantee
    reason: str = ""

    @property
    def level(self) -> Fraction:
        """The quantile, as a fraction."""
        return level_of(self.question.q)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        answers: Vector = self.run_many(rows, noise, 1)[0]
        return answers

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        table, _ = rows.gather()
        counted = self.weights.of_rows(rows)
        return np.column_stack(
            [self._answers(j, column_of(table, j), counted, noise, draws)
             for j in range(table.shape[1])]
        )  # fmt: skip

    def _answers(
        self, j: int, column: Vector, counted: Integers | None, noise: Noise, draws: int
    ) -> Vector:
        runs = Runs.of(self.places(j, column), self.question.steps, self.level, counted)
        if self.rate is None:
            return np.full(draws, self._value(j, np.array(runs.best())))
        rate = self.rate / (self.level.denominator * self.weights.one)
        return self._value(j, runs.draw(rate, noise, draws).astype(np.float64))

    @cached_property
    def weights(self) -> WholeWeights:
        """What rows count in whole numbers."""
        return rank_weights(self.question)

    def places(self, j: int, values: Vector) -> Integers:
        """Return the nearest grid point of each value, seen by itself."""
        return nearest_step(self._limits(j), values, self.question.steps)

    def _value(self, j: int, places: Vector) -> Vector:
        low, high = self._limits(j)
        return np.clip(low + places / self.question.steps * (high - low), low, high)

    def _limits(self, j: int) -> tuple[float, float]:
        box = cast(Box, self.question.bounds.features)
        return box.lower[j], box.upper[j]


class ExponentialSampling(Learner):
    """The exponential mechanism: chances of answers fall exponentially with their loss; pure.

    A quantile of each column, or another location; the best threshold, candidate or subset; or the
    coefficients of a convex problem of up to six of them within a box or a ball, whether its loss
    has kinks or not.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.privacy import AddRemoveOne
    >>> median = ColumnQuantiles(Bounds(Box([0], [120]), n_features=1))
    >>> plan = ExponentialSampling().plan(median, Budget(0.5), AddRemoveOne())
    >>> plan.guarantee.epsilon(0.0), float(plan.rate)  # a factor of exp(0.5) for each rank
    (0.5, 0.5)

    >>> models = LeastLoss(Bounds(Box([0, 0, 0], [1, 1, 1]), n_features=3))  # right or wrong
    >>> float(ExponentialSampling().plan(models, Budget(0.5), AddRemoveOne()).rate * 2**20)
    0.5

    >>> from discreet.data import LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.penalties import Indicator
    >>> bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Hinge(), bounds, ridge=1.0, penalty=Indicator(L2Ball(5.0)))
    >>> plan = ExponentialSampling().plan(problem, Budget(1.0), AddRemoveOne())
    >>> plan.guarantee.epsilon(0.0), round(1 / plan.rate, 2)  # of a loss between 0 and 6
    (1.0, 6.0)
    """

    name: ClassVar[str] = "exponential_sampling"
    units = TABLE_UNITS
    solves_problems: ClassVar[bool] = True

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, Problem):
            return accepts_model(question, unit)
        if isinstance(question, BestSubset) and question.bounds.has_weights:
            return Verdict(
                False,
                "sums of squares of all subsets are of rows that count once; use "
                "contributions='cap', by which at most so many rows of a person are used.",
            )
        if isinstance(question, ColumnLocations | BestSubset):
            return YES
        if not isinstance(question, ColumnQuantiles | BestThreshold | LeastLoss):
            return Verdict(
                False,
                "exponential_sampling answers quantiles, locations and thresholds, chooses among "
                "candidates and learns models of few coefficients; use laplace_sum for sums and "
                "private_count for counts.",
            )
        if question.bounds.max_rows > MOST_ROWS:
            return Verdict(False, f"scores of more than {MOST_ROWS:,} rows do not fit 64 bits.")
        return YES

    def _plan_beside(
        self,
        question: Question,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None,
        times: int,
    ) -> Plan:
        if isinstance(question, Problem):
            if not budget.is_private:
                return plan_without_noise(question, unit)
            return plan_model(Share(question, budget, unit, beside, times))
        if beside is not None or times > 1:
            raise CalibrationError("this question shares no budget; give it one of its own.")
        if isinstance(question, ColumnLocations):
            return plan_locations(question, budget, unit)
        if isinstance(question, BestSubset):
            return plan_subset(question, budget, unit)
        if isinstance(question, BestThreshold | LeastLoss):
            return plan_choice(question, budget, unit)
        return self._plan_quantiles(cast(ColumnQuantiles, question), budget, unit)

    def _plan_quantiles(self, question: ColumnQuantiles, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return ExponentialSamplingPlan(question, None, Guarantee(NoPrivacy(), unit))
        span, profile, reason = span_of_columns(budget, question.bounds.n_features)
        weights = rank_weights(question)
        moved = rank_range(level_of(question.q), unit) * Fraction(weights.largest, weights.one)
        rate = Fraction(span) / moved
        guarantee = Guarantee(
            profile, unit, public_facts(question.bounds, unit), budget.delta or 1e-9
        )
        return ExponentialSamplingPlan(question, rate, guarantee, reason)


def rank_weights(question: ColumnQuantiles) -> WholeWeights:
    """Return what rows count in whole numbers, where each adds to ranks."""
    return WholeWeights.of(question.bounds, level_of(question.q).denominator)


@dataclass(frozen=True, eq=False)
class LocationsPlan(Plan):
    """The plan of each column; each has the guarantee of all together."""

    question: ColumnLocations
    columns: tuple[Plan, ...]
    guarantee: Guarantee
    reason: str

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        answers: Vector = self.run_many(rows, noise, 1)[0]
        return answers

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        answers = [
            self._middle(j) + plan.run_many(self.relabel(rows, j), noise, draws)[:, 0]
            for j, plan in enumerate(self.columns)
        ]
        box = self.question.bounds.features
        return np.asarray(box.project(np.column_stack(answers)))

    def relabel(self, rows: OpenRows, j: int) -> OpenRows:
        """Return ones that carry the entries of a column, less its middle, as labels."""
        middle = self._middle(j)
        return rows.entries(j, lambda values: values - middle, self.question.problem(j).bounds)

    def _middle(self, j: int) -> float:
        return self.question.middle(j)


def plan_locations(question: ColumnLocations, budget: Budget, unit: Unit) -> LocationsPlan:
    """Plan one draw for each column, all of the same range."""
    count = question.bounds.n_features
    problems = [question.problem(j) for j in range(count)]
    if not budget.is_private:
        silent = tuple(plan_without_noise(problem, unit) for problem in problems)
        return LocationsPlan(question, silent, silent[0].guarantee, silent[0].reason)
    span, profile, reason = span_of_columns(budget, count)
    facts = public_facts(question.bounds, unit)
    guarantee = Guarantee(profile, unit, facts, budget.delta or 1e-9)
    plans = tuple(plan_draw(problem, unit, span, guarantee, reason) for problem in problems)
    return LocationsPlan(question, plans, guarantee, reason)
