"""One of finitely many public candidates, by the number of errors or the sum of losses.

The exponential mechanism with integer scores: decision stumps, and selection of a column.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.geometry import Box
from discreet.mechanisms.base import Plan, public_facts
from discreet.mechanisms.sampling.whole_weights import WholeWeights, sum_by_place
from discreet.noise import Noise
from discreet.privacy import BoundedRange, Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import BestThreshold, LeastLoss

LOSS_STEPS = 2**20
"""A loss is rounded to this many steps of its range."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ChoicePlan(Plan):
    """How fast chances fall with the score; there is no rate if nothing is to be hidden."""

    holds_rows = True

    rate: Fraction | None
    guarantee: Guarantee
    reason: str = "drawn exactly; delta is not used"

    @abstractmethod
    def groups(self, rows: OpenRows) -> tuple[Integers, Integers, Integers]:
        """Return groups of candidates of equal score: what they are, how many, and the score."""

    @abstractmethod
    def value(self, group: Integers, member: Vector) -> Vector:
        """Return what is released of a member of a group."""

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        answer: Vector = self.run_many(rows, noise, 1)[0]
        return answer

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        names, counts, scores = self.groups(rows)
        if self.rate is None:
            best = np.full(draws, scores.argmin())
            return self.value(names[best], (counts[best] - 1) / 2)
        which, member = noise.candidates(counts, scores, self.rate, draws)
        return self.value(names[which], member.astype(np.float64))


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdPlan(ChoicePlan):
    """Releases a column, a threshold, and 1 if labels above it are 1, or -1."""

    question: BestThreshold

    def groups(self, rows: OpenRows) -> tuple[Integers, Integers, Integers]:
        table, labels = rows.gather()
        if labels is None:
            raise PrivacyError("thresholds were sought on rows without labels.")
        weights = _weights_of(self.question).of_rows(rows)
        everything = labels.size if weights is None else weights.sum()
        names, counts, scores = [], [], []
        for j in range(self.question.bounds.n_features):
            places = self.places(j, column_of(table, j))
            starts, sizes, errors = cuts(places, labels, self.steps, weights)
            for sign, score in ((1, errors), (-1, everything - errors)):
                names.append(np.column_stack([np.full_like(starts, j), starts,
                                              np.full_like(starts, sign)]))  # fmt: skip
                counts.append(sizes)
                scores.append(score)
        return np.concatenate(names), np.concatenate(counts), np.concatenate(scores)

    def value(self, group: Integers, member: Vector) -> Vector:
        box = cast(Box, self.question.bounds.features)
        column, cut = group[:, 0], group[:, 1] + member + 0.5
        low, high = np.asarray(box.lower)[column], np.asarray(box.upper)[column]
        return np.column_stack([column, low + cut / self.steps * (high - low), group[:, 2]])

    @property
    def steps(self) -> int:
        return self.question.steps

    def places(self, j: int, values: Vector) -> Integers:
        box = cast(Box, self.question.bounds.features)
        return nearest_step((box.lower[j], box.upper[j]), values, self.steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class LeastLossPlan(ChoicePlan):
    """Releases the number of a column."""

    question: LeastLoss

    def groups(self, rows: OpenRows) -> tuple[Integers, Integers, Integers]:
        box = cast(Box, self.question.bounds.features)
        limits = min(box.lower), max(box.upper)
        table, _ = rows.gather()
        count = self.question.bounds.n_features
        columns = np.arange(count, dtype=np.int64)
        weights = _weights_of(self.question).of_rows(rows)
        scores = [
            _total(nearest_step(limits, column_of(table, j), LOSS_STEPS), weights)
            for j in range(count)
        ]
        return columns, np.ones_like(columns), np.array(scores, dtype=np.int64)

    def value(self, group: Integers, member: Vector) -> Vector:
        return np.asarray(group, dtype=np.float64)


def plan_choice(question: BestThreshold | LeastLoss, budget: Budget, unit: Unit) -> ChoicePlan:
    """Plan so that log chances move by epsilon at most if one record is added, or replaced."""
    rate, guarantee = None, Guarantee(NoPrivacy(), unit)
    if budget.is_private:
        rate = Fraction(budget.epsilon) / score_range(_largest_score(question), unit)
        assumed = question.assumed if isinstance(question, BestThreshold) else ()
        facts = (*public_facts(question.bounds, unit), *assumed)
        guarantee = Guarantee(BoundedRange(budget.epsilon), unit, facts, budget.delta or 1e-9)
    if isinstance(question, BestThreshold):
        return ThresholdPlan(rate=rate, guarantee=guarantee, question=question)
    return LeastLossPlan(rate=rate, guarantee=guarantee, question=question)


def _total(scores: Integers, weights: Integers | None) -> int:
    return int(scores.sum() if weights is None else scores @ weights)


def _largest_score(question: BestThreshold | LeastLoss) -> int:
    """Return what whoever is protected adds to a score at most."""
    return _steps_of(question) * _weights_of(question).largest


def _steps_of(question: BestThreshold | LeastLoss) -> int:
    return 1 if isinstance(question, BestThreshold) else LOSS_STEPS


def _weights_of(question: BestThreshold | LeastLoss) -> WholeWeights:
    return WholeWeights.of(question.bounds, _steps_of(question))


def score_range(most: int, unit: Unit) -> int:
    """Bound the range of the change of scores to which each record adds from 0 to ``most``."""
    return 2 * most if unit.is_replace else most


def cuts(
    places: Integers, labels: Vector, steps: int, weights: Integers | None = None
) -> tuple[Integers, Integers, Integers]:
    """Return runs of cuts with equal errors, if labels above are called 1: start, size, errors.

    Errors are counted in whole weights.

    A cut k lies between the grid points k and k + 1, for k = -1, ..., ``steps``.
    """
    taken, which = np.unique(places, return_inverse=True)
    is_one = labels > 0
    ones = sum_by_place(which[is_one], None if weights is None else weights[is_one], taken.size)
    others = sum_by_place(which, weights, taken.size) - ones
    starts = np.concatenate([[-1], taken]).astype(np.int64)
    sizes = np.diff(np.concatenate([starts, [steps + 1]]))
    errors = np.concatenate([[0], np.cumsum(ones - others)]) + others.sum()
    return starts, sizes, errors.astype(np.int64)


def nearest_step(limits: tuple[float, float], values: Vector, steps: int) -> Integers:
    """Return the nearest grid point of each value, seen by itself."""
    low, high = limits
    nearest = np.rint((values - low) / (high - low) * steps)
    return np.clip(nearest, 0, steps).astype(np.int64)


def column_of(table: Array, j: int) -> Vector:
    """Return one column of a table, dense or sparse, as a vector."""
    column = table[:, [j]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]
