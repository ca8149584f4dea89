"""The average of what blocks of rows compute, with noise; proof in ``noisy_aggregate.md``."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import Box
from discreet.mechanisms.ballot import Workers, accepts_blocks
from discreet.mechanisms.base import TABLE_UNITS, Mechanism, Plan, Verdict, public_facts
from discreet.mechanisms.block_estimates import check_estimates, estimates_on_blocks
from discreet.mechanisms.exponential_sampling import ExponentialSamplingPlan
from discreet.mechanisms.gaussian_sum import GaussianSum, plan_total
from discreet.mechanisms.laplace_sum import LaplaceSum
from discreet.mechanisms.summing.totals import Totals
from discreet.noise import Noise, distance_of_gaussian
from discreet.privacy import (
    BoundedRange,
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Profile,
    Pure,
    ReplaceOne,
    Unit,
    ZeroConcentrated,
    calibrate,
    compose,
    within,
)
from discreet.questions import BlockAverage, Bounds, ColumnQuantiles, Question, VectorMean
from discreet.record import Tolerance

ONE_BLOCK = ReplaceOne()
"""What one record changes: the numbers of one block, of a public number of blocks."""

LEVELS = (0.25, 0.75)
"""The quartiles between which, and somewhat beyond, the numbers of blocks are averaged."""

QUARTILES_SHARE = 0.5
"""The share of a pure epsilon, or of zCDP, that goes into the quartiles."""

STEPS = 2**20
"""Steps of the grid between the limits of a number; the least width of what is averaged is one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AggregatePlan(Plan):
    """Numbers of blocks, and how they become one release."""

    holds_rows = True

    question: BlockAverage
    workers: Workers
    guarantee: Guarantee
    reason: str

    @abstractmethod
    def aggregate(self, answers: OpenRows, noise: Noise) -> Vector:
        """Release the average of the numbers of blocks, one row each."""

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.aggregate(estimates_on_blocks(self.question, rows, noise, self.workers), noise)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanPlan(AggregatePlan):
    """The mean of all blocks, with noise for the whole region."""

    mean: Plan

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.mean.tolerances

    def aggregate(self, answers: OpenRows, noise: Noise) -> Vector:
        return np.asarray(self.mean.run(answers, noise))


@dataclass(frozen=True, eq=False, kw_only=True)
class WinsorisedPlan(AggregatePlan):
    """Two quartiles of each number, then the mean of what is clipped near to them.

    What is released is the means, followed by the lower and by the upper quartiles.
    """

    quartiles: tuple[ExponentialSamplingPlan, ExponentialSamplingPlan]
    mean: Plan

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.mean.tolerances

    def aggregate(self, answers: OpenRows, noise: Noise) -> Vector:
        drawn = np.array([plan.run(answers, noise) for plan in self.quartiles])
        low, high = drawn.min(axis=0), drawn.max(axis=0)  # draws may have crossed
        middle, half = widen(low, high, self.question)  # public: made of the draws alone

        def narrow(rows: Array) -> Array:
            return np.clip((rows - middle) / half, -1.0, 1.0)

        inside = np.asarray(self.mean.run(answers.transform(narrow, cube(self.question)), noise))
        return np.concatenate([middle + half * inside, low, high])


def widen(low: Vector, high: Vector, question: BlockAverage) -> tuple[Vector, Vector]:
    r"""Return the middle and half the width of what is averaged, for each number.

    The quartiles' own distance, a step of the grid at least, is added :math:`k^{1/3}` times at
    each end; nothing goes beyond the limits.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> rows = Bounds(LinfBall(1.0), 1)
    >>> asked = BlockAverage(rows, max, 8, Box([-100], [100]))
    >>> widen(np.array([1.0]), np.array([2.0]), asked)
    (array([1.5]), array([2.5]))
    """
    box = cast(Box, question.region)
    lower, upper = np.array(box.lower), np.array(box.upper)
    least = (upper - lower) / STEPS
    beyond = question.blocks ** (1 / 3) * np.maximum(high - low, least)
    start, stop = np.maximum(low - beyond, lower), np.minimum(high + beyond, upper)
    return start + (stop - start) / 2, np.maximum(stop - start, least) / 2


def cube(question: BlockAverage) -> Bounds:
    """Return the bounds of numbers that are written by their place in what is averaged."""
    ones = [1.0] * question.outputs
    return Bounds(Box([-1.0] * question.outputs, ones), question.outputs, max_rows=question.blocks)


@dataclass(frozen=True)
class NoisyAggregate(Mechanism):
    """Sample and aggregate: numbers computed on blocks of rows, averaged with noise.

    Parameters
    ----------
    workers
        Who runs the procedure on blocks of rows.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.privacy import AddRemoveOne
    >>> def middle(X, y):
    ...     return X.mean()
    >>> question = BlockAverage(Bounds(LinfBall(1.0), 8), middle, 100, Box([-1], [1]))
    >>> plan = NoisyAggregate().plan(question, Budget(0.5), AddRemoveOne())
    >>> round(plan.mean.grid.scale / 100, 3), plan.guarantee.epsilon(0.0) <= 0.5  # of the mean
    (0.04, True)
    """

    name: ClassVar[str] = "noisy_aggregate"
    units = TABLE_UNITS

    workers: Workers = field(default_factory=Workers)

    def __post_init__(self) -> None:
        _checks.instance(Workers, workers=self.workers)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, BlockAverage):
            return accepts_blocks(question)
        return Verdict(
            False,
            "noisy_aggregate averages numbers that are computed on blocks of rows; use laplace_sum "
            "or gaussian_sum for means of rows.",
        )

    def _plan(self, question: BlockAverage, budget: Budget, unit: Unit) -> Plan:
        check_estimates(question, self.workers)
        make = _plan_winsorised if question.aggregate == "winsorised" else _plan_mean
        stages, profile, reason = make(question, budget)
        guarantee = Guarantee(NoPrivacy(), unit)
        if budget.is_private:
            facts = (*public_facts(question.bounds, unit), *question.assumed)
            guarantee = Guarantee(profile, unit, facts, budget.delta or 1e-9)
        common: dict[str, Any] = {
            "question": question, "workers": self.workers, "guarantee": guarantee, "reason": reason,
        }  # fmt: skip
        if len(stages) == 1:
            return MeanPlan(mean=stages[0], **common)
        return WinsorisedPlan(quartiles=stages[:2], mean=stages[2], **common)


Stages = tuple[tuple[Any, ...], Profile, str]
"""The plans of an aggregate in order, the profile of all of them, and why so."""


def _plan_mean(question: BlockAverage, budget: Budget) -> Stages:
    asked = VectorMean(question.answers)

    def with_noise(mechanism: Mechanism) -> Stages:
        plan = mechanism.plan(asked, budget, ONE_BLOCK)
        return (plan,), plan.guarantee.profile, ""

    return _quieter(lambda: with_noise(LaplaceSum()), lambda: with_noise(GaussianSum()), budget)


def _plan_winsorised(question: BlockAverage, budget: Budget) -> Stages:
    if not budget.is_private:
        mean = LaplaceSum().plan(VectorMean(cube(question)), budget, ONE_BLOCK)
        return (*_quartiles(question, None), mean), NoPrivacy(), ""
    return _quieter(
        lambda: _pure_stages(question, budget), lambda: _gaussian_stages(question, budget), budget
    )


def _quieter(pure: Callable[[], Stages], gaussian: Callable[[], Stages], budget: Budget) -> Stages:
    """Return the stages whose mean has the smaller noise; pure ones without a delta."""
    if budget.delta == 0 or not budget.is_private:
        return pure()
    plans: list[tuple[float, str, Stages]] = []
    refusal = CalibrationError("no noise meets this budget; use a larger one.")
    for law, make, deviation in (("Laplace", pure, math.sqrt(2)), ("Gaussian", gaussian, 1.0)):
        try:
            stages = make()
        except CalibrationError as error:
            refusal = error
        else:
            plans.append((stages[0][-1].grid.scale * deviation, law, stages))
    if not plans:
        raise refusal
    _, law, (plan, profile, _) = min(plans, key=lambda one: one[0])
    return plan, profile, f"{law} noise, the smaller of two"


def _pure_stages(question: BlockAverage, budget: Budget) -> Stages:
    """Split a pure epsilon between the draws and the mean."""
    draws = len(LEVELS) * question.outputs
    span = QUARTILES_SHARE * budget.epsilon / draws * (1 - 2.0**-50)
    rest = budget.epsilon - draws * span * (1 + 2.0**-50)
    mean = LaplaceSum().plan(VectorMean(cube(question)), Budget(rest), ONE_BLOCK)
    return (*_quartiles(question, span), mean), Pure(budget.epsilon), ""


def _gaussian_stages(question: BlockAverage, budget: Budget) -> Stages:
    """Split zCDP between the draws and the mean."""
    draws = len(LEVELS) * question.outputs
    totals = Totals.of(VectorMean(cube(question)), ONE_BLOCK, order=2)
    distance = distance_of_gaussian(totals.dimension)

    def parts(noise: float) -> tuple[float, float]:
        """Return the range of one draw, and mu of the mean, that share 1/(2 noise^2)-zCDP."""
        rho = 1 / (2 * noise**2)
        span = math.sqrt(8 * QUARTILES_SHARE * rho / draws)
        return span, math.sqrt(2 * (1 - QUARTILES_SHARE) * rho)

    def profile_of(noise: float) -> Profile:
        span, mu = parts(noise)
        drawn = ZeroConcentrated(draws * BoundedRange(span).rho)
        return within(compose([drawn, Gaussian(mu)]), distance)

    noise = calibrate(profile_of, budget)
    span, mu = parts(noise)
    mean = plan_total(totals, 1 / mu, budget.delta)
    return (*_quartiles(question, span), mean), profile_of(noise), ""


def _quartiles(question: BlockAverage, span: float | None) -> tuple[ExponentialSamplingPlan, ...]:
    """Plan draws of two quartiles, of so large a range each; None for exact ones."""
    # Of k numbers one is another: each score moves by a rank at most, up or down.
    rate = None if span is None else Fraction(span) / 2
    profile: Profile = NoPrivacy() if span is None else BoundedRange(span)
    return tuple(
        ExponentialSamplingPlan(
            ColumnQuantiles(question.answers, q, STEPS), rate, Guarantee(profile, ONE_BLOCK)
        )
        for q in LEVELS
    )
