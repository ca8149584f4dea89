"""A quantile drawn by the exponential mechanism; proof in ``exponential_sampling.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.geometry import Box
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, public_facts
from discreet.noise import Noise
from discreet.privacy import (
    BoundedRange,
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Unit,
    ZeroConcentrated,
    calibrate,
    compose,
)
from discreet.question import ColumnQuantiles, Question

SHARES = 2**32
"""A rank is worth so many units of score, and the quantile is a multiple of one part of them."""

MOST_ROWS = 2**29
"""With more rows than this a score may not fit 64 bits."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Grid points in runs of equal score, from left to right.

    With l records below a point, g above it and n in all, its score is the number of ranks, in
    units of one part of ``SHARES``, by which q n lies outside of [l, n - g].
    """

    starts: Integers
    counts: Integers
    scores: Integers

    @classmethod
    def of(cls, places: Integers, steps: int, share: int) -> Runs:
        """Cut the grid points 0, ..., ``steps`` where a record lies."""
        taken, tally = np.unique(places, return_counts=True)
        upto = np.cumsum(tally)
        before = np.concatenate([[0], upto])
        # A gap, a record's own place, the next gap, ..., the last gap.
        starts, counts, below, level = (np.zeros(2 * taken.size + 1, np.int64) for _ in range(4))
        starts[0::2], starts[1::2] = np.concatenate([[0], taken + 1]), taken
        counts[0::2] = np.concatenate([taken, [steps + 1]]) - starts[0::2]
        counts[1::2] = 1
        below[0::2], below[1::2] = before, before[:-1]
        level[1::2] = tally
        n = places.size
        lowest = (SHARES - share) * below - share * (n - below)
        too_low = -(lowest + SHARES * level)
        scores = np.maximum(np.maximum(lowest, too_low), 0)
        filled = counts > 0
        return cls(starts[filled], counts[filled], scores[filled])

    def draw(self, rate: Fraction, noise: Noise, draws: int) -> Integers:
        """Draw grid points with chance proportional to exp(-score * rate)."""
        run, member = noise.candidates(self.counts, self.scores, rate, draws)
        return self.starts[run] + member

    def best(self) -> float:
        """Return the middle of the points with the least score; they lie side by side."""
        least = np.flatnonzero(self.scores == self.scores.min())
        last = self.starts[least[-1]] + self.counts[least[-1]] - 1
        return float((self.starts[least[0]] + last) / 2)


@dataclass(frozen=True, eq=False)
class ExponentialSamplingPlan(Plan):
    """A grid for each column and a rate, or none if nothing is to be hidden."""

    question: ColumnQuantiles
    rate: Fraction | None
    guarantee: Guarantee
    reason: str = ""

    @property
    def share(self) -> int:
        """The quantile, in parts of ``SHARES``."""
        return share_of(self.question.q)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        answers: Vector = self.run_many(rows, noise, 1)[0]
        return answers

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        table, _ = rows.gather()
        return np.column_stack(
            [self._answers(j, _dense(table[:, [j]]), noise, draws) for j in range(table.shape[1])]
        )

    def _answers(self, j: int, column: Vector, noise: Noise, draws: int) -> Vector:
        runs = Runs.of(self.places(j, column), self.question.steps, self.share)
        if self.rate is None:
            return np.full(draws, self._value(j, np.array(runs.best())))
        return self._value(j, runs.draw(self.rate, noise, draws).astype(np.float64))

    def places(self, j: int, values: Vector) -> Integers:
        """Return the nearest grid point of each value, seen by itself."""
        low, high = self._limits(j)
        steps = self.question.steps
        nearest = np.rint((values - low) / (high - low) * steps)
        return np.clip(nearest, 0, steps).astype(np.int64)

    def _value(self, j: int, places: Vector) -> Vector:
        low, high = self._limits(j)
        return np.clip(low + places / self.question.steps * (high - low), low, high)

    def _limits(self, j: int) -> tuple[float, float]:
        box = cast(Box, self.question.bounds.features)
        return box.lower[j], box.upper[j]


class ExponentialSampling(Mechanism):
    """A quantile of each column, drawn exactly; pure epsilon for one column.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.privacy import AddRemoveOne
    >>> median = ColumnQuantiles(Bounds(Box([0], [120]), n_features=1))
    >>> plan = ExponentialSampling().plan(median, Budget(0.5), AddRemoveOne())
    >>> plan.guarantee.epsilon(0.0), float(plan.rate * SHARES)  # a factor of exp(0.5) for each rank
    (0.5, 0.5)
    """

    @property
    def name(self) -> str:
        return "exponential_sampling"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, ColumnQuantiles):
            return Verdict(
                False,
                "exponential_sampling answers quantiles; use objective_perturbation to learn.",
            )
        if question.bounds.max_rows > MOST_ROWS:
            return Verdict(False, f"scores of more than {MOST_ROWS:,} rows do not fit 64 bits.")
        return YES

    def _plan(self, question: ColumnQuantiles, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return ExponentialSamplingPlan(question, None, Guarantee(NoPrivacy(), unit))
        span, profile, reason = _span(budget, question.bounds.n_features)
        rate = Fraction(span) / score_range(share_of(question.q), unit)
        guarantee = Guarantee(
            profile, unit, public_facts(question.bounds, unit), budget.delta or 1e-9
        )
        return ExponentialSamplingPlan(question, rate, guarantee, reason)


def _dense(column: Any) -> Vector:
    """Return one column, dense or sparse, as a vector."""
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]


def share_of(q: float) -> int:
    """Return the quantile as a number of parts of ``SHARES``."""
    return min(max(round(q * SHARES), 1), SHARES - 1)


def score_range(share: int, unit: Unit) -> int:
    """Bound how much more the score may change at one grid point than at another."""
    return 2 * SHARES if unit.count_is_public else 2 * max(share, SHARES - share)


def _span(budget: Budget, columns: int) -> tuple[float, Profile, str]:
    """Return the range of log ratios of each column, and the profile of all of them."""
    if columns == 1:
        return budget.epsilon, BoundedRange(budget.epsilon), "one draw is pure; delta is not used"
    span = math.nextafter(budget.epsilon / columns, 0.0) * (1 - 2.0**-50)
    if budget.delta > 0:
        wide = 1 / calibrate(lambda noise: _concentrated(1 / noise, columns), budget)
        if wide > span:
            reason = f"{columns} draws cost less as zCDP than as pure epsilon"
            return wide, _concentrated(wide, columns), reason
    return span, compose([BoundedRange(span)] * columns), f"{columns} draws share a pure epsilon"


def _concentrated(span: float, columns: int) -> Profile:
    return ZeroConcentrated(columns * BoundedRange(span).rho)
