"""A noise proposed, tested and then used; proof in ``propose_test_release.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError
from discreet.geometry import Box
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, public_facts
from discreet.mechanisms.sampling.choice import column_of, nearest_step
from discreet.mechanisms.stability_release import STABLE, UNSTABLE, StabilityTest
from discreet.noise import LARGEST_RATE, UNIT_RATE, Noise
from discreet.privacy import Approximate, Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import ProposedMedian, Question
from discreet.record import Tolerance

TEST_SHARE = 0.5
"""The share of epsilon that pays for the test; the rest is for the noise of the answer."""


@dataclass(frozen=True, eq=False)
class ProposedNoise:
    """The test of a column, and the rate of the noise that it allows, in units of 2**-40."""

    test: StabilityTest
    rate: int
    move: int

    @classmethod
    def of(cls, budget: Budget, move: int, share: float) -> ProposedNoise:
        """Split the budget of one column between its test and its noise."""
        # One record changes the distance by one; where the median may move too far, it is zero.
        test = StabilityTest.of(Budget(share * budget.epsilon, budget.delta), move=1, level=0)
        left = Fraction(budget.epsilon) - Fraction(test.rate, UNIT_RATE)
        rate = min(math.floor(left * UNIT_RATE / move), LARGEST_RATE)
        if rate < 1:
            raise CalibrationError(
                "epsilon is too small for so fine a grid; use fewer steps, or a larger epsilon."
            )
        return cls(test, rate, move)

    @property
    def epsilon(self) -> Fraction:
        """What test and noise cost together."""
        return Fraction(self.test.rate + self.rate * self.move, UNIT_RATE)


@dataclass(frozen=True, eq=False)
class ProposedMedianPlan(Plan):
    """A test for each column, and an answer for each that passes.

    What is released is whether each column passed, and then its median, or zero.
    """

    holds_rows = True

    question: ProposedMedian
    noises: tuple[ProposedNoise, ...] | None  # None with an infinite budget
    guarantee: Guarantee
    reason: str = "an answer, or that it is not stable, costs the same"

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.noises is None:
            return ()
        first, width = self.noises[0], self._limits(0)[1] - self._limits(0)[0]
        scale = UNIT_RATE / first.rate / self.question.steps * width
        return (
            Tolerance(
                "distance to instability that the test asks for, in records",
                float(first.test.margin),
            ),
            Tolerance("scale of the noise in the first column", scale),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        said: Vector = self.run_many(rows, noise, 1)[0]
        return said

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        table, _ = rows.gather()
        columns = range(self.question.bounds.n_features)
        said = [self._answers(j, column_of(table, j), noise, draws) for j in columns]
        return np.concatenate([np.array(part).T for part in zip(*said, strict=True)], axis=1)

    def _answers(self, j: int, column: Vector, noise: Noise, draws: int) -> tuple[Vector, Vector]:
        """Return whether each draw passed the test, and the answer, zero if it did not."""
        unit = self.guarantee.unit.of_records  # of a person there is one record
        steps, are_rows_public = self.question.steps, unit.rows_are_public
        places = nearest_step(self._limits(j), column, steps)
        median = lower_median(places, steps)
        if self.noises is None:
            return np.full(draws, STABLE), self._value(j, np.full(draws, median))
        proposed = self.noises[j]
        distance = records_to_instability(places, steps, proposed.move, are_rows_public)
        passes = proposed.test.passes_each(distance, noise, draws)
        answers = self._value(j, median + noise.discrete_laplace(draws, proposed.rate))
        return np.where(passes, STABLE, UNSTABLE), np.where(passes, answers, 0.0)

    def _value(self, j: int, places: Integers) -> Vector:
        low, high = self._limits(j)
        return np.clip(low + places / self.question.steps * (high - low), low, high)

    def _limits(self, j: int) -> tuple[float, float]:
        box = cast(Box, self.question.bounds.features)
        return box.lower[j], box.upper[j]


@dataclass(frozen=True)
class ProposeTestRelease(Mechanism):
    """Propose-test-release: noise for a proposed sensitivity, if no few records could exceed it.

    Parameters
    ----------
    share
        Of epsilon, for the test; strictly between zero and one.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.privacy import AddRemoveOne
    >>> ages = Bounds(Box([0], [120]), n_features=1)
    >>> question = ProposedMedian(ages, proposal=0.5)
    >>> plan = ProposeTestRelease().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> [(tolerance.what, round(tolerance.value, 3)) for tolerance in plan.tolerances]
    [('distance to instability that the test asks for, in records', 27.0), ...]
    """

    name: ClassVar[str] = "propose_test_release"

    share: float = TEST_SHARE

    def __post_init__(self) -> None:
        _checks.finite(share=self.share)
        if not 0 < self.share < 1:
            raise InputError(f"share must lie strictly between 0 and 1; got {self.share}.")

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, ProposedMedian):
            return YES
        return Verdict(
            False,
            "propose_test_release answers medians with a proposed sensitivity; use "
            "exponential_sampling for other quantiles.",
        )

    def _plan(self, question: ProposedMedian, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return ProposedMedianPlan(question, None, Guarantee(NoPrivacy(), unit))
        columns, down = question.bounds.n_features, 1 - 2.0**-50
        each = budget
        if columns > 1:
            each = Budget(budget.epsilon / columns * down, budget.delta / columns * down)
        noises = tuple(ProposedNoise.of(each, move, self.share) for move in question.moves)
        total = math.nextafter(float(sum((one.epsilon for one in noises), Fraction(0))), math.inf)
        profile = Approximate(min(total, budget.epsilon), budget.delta)
        guarantee = Guarantee(
            profile, unit, public_facts(question.bounds, unit), quoted_delta=budget.delta
        )
        return ProposedMedianPlan(question, noises, guarantee)


def lower_median(places: Integers, steps: int) -> int:
    """Return the lower median of places from 0 to ``steps``; 0 if there are none.

    Examples
    --------
    >>> lower_median(np.array([7, 1, 3, 9]), steps=10)
    3
    """
    if places.size == 0:
        return 0
    rank = (places.size - 1) // 2
    return int(np.partition(places, rank)[rank])


def records_to_instability(places: Integers, steps: int, move: int, are_rows_public: bool) -> int:
    r"""Return how many records have to change until one more can move the median beyond ``move``.

    Changes are those of the unit: records added and removed, or records replaced if their number
    is public. The distance is exact. With sorted places :math:`x_1, \dots, x_n`, and the ends of
    the grid as :math:`x_0` and :math:`x_{n+1}`, it is the least cost over pairs with
    :math:`x_j - x_i` above ``move``: what lies between is taken away, and what is added at the ends
    brings the gap to the middle.

    Examples
    --------
    >>> records_to_instability(np.array([4, 5, 5, 5, 6]), 10, move=1, are_rows_public=False)
    3
    """
    n = places.size
    ends = np.concatenate([[0], np.sort(places), [steps]])
    # Of all that lie far enough to the right of a place the first costs least.
    right = np.searchsorted(ends, ends + move, side="right")
    left = np.flatnonzero(right <= n + 1)
    right = right[left]
    between, below, above = right - left - 1, left, n + 1 - right
    if are_rows_public:
        return int((between + _count_crossing(below, above, n)).min())
    # Of the others, as many below as above, or one more above: the rest is added.
    lacking = above - below
    return int((between + np.where(lacking > 0, lacking - 1, -lacking)).min())


def _count_crossing(below: Integers, above: Integers, n: int) -> Integers:
    """Return how many have to cross the gap, beside what lies in it, to bring it to the middle.

    The lower median of n has the rank r: the gap lies above or below it, with r or r - 1 below.
    """
    rank = (n + 1) // 2
    crossing = [
        np.maximum(np.maximum(below - wanted, above - (n - wanted)), 0)
        for wanted in (rank, rank - 1)
        if wanted >= 0
    ]
    return np.asarray(np.min(crossing, axis=0))
