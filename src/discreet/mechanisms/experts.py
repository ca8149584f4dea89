"""Which of several experts to follow, drawn anew as losses arrive; proof in ``experts.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.mechanisms.base import YES, Verdict
from discreet.mechanisms.interactive import (
    InteractiveMechanism,
    InteractivePlan,
    Packed,
    Session,
    stream_facts,
)
from discreet.mechanisms.sampling.choice import LOSS_STEPS, nearest_step
from discreet.mechanisms.sampling.sampled_model import span_of_columns
from discreet.noise import Noise
from discreet.privacy import (
    BoundedRange,
    Budget,
    Guarantee,
    Minimum,
    NoPrivacy,
    Profile,
    Pure,
    Unit,
    ZeroConcentrated,
)
from discreet.questions import ExpertStream, Question
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class ExpertsPlan(InteractivePlan):
    """How fast chances fall with a step of loss; there is no rate if nothing is to be hidden."""

    question: ExpertStream
    rate: Fraction | None
    guarantee: Guarantee
    reason: str = ""

    @property
    def temperature(self) -> float:
        """Lambda: by how much loss one expert is behind another that is e times as likely."""
        if self.rate is None:
            return 0.0
        low, high = self.question.limits
        return (high - low) / float(self.rate * LOSS_STEPS)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        low, high = self.question.limits
        return (Tolerance("step that losses are rounded to", (high - low) / LOSS_STEPS),)

    def start(self, noise: Noise) -> Session:
        scores = np.zeros(self.question.bounds.n_features, dtype=np.int64)
        return ExpertsSession(self, noise, scores, self.choose(scores, noise))

    def _unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        scores = np.array(packed["scores"], dtype=np.int64)
        return ExpertsSession(self, noise, scores, int(packed["chosen"]))

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        """Draw the experts of each round for all runs together: records do not answer draws."""
        if self.rate is None:
            return super().run_many(rows, noise, draws)
        scores = np.zeros(self.question.bounds.n_features, dtype=np.int64)
        rounds = []
        for X, _ in rows.stretches(self.question.batch):
            scores = scores + self.score(X).sum(axis=0)
            if len(X) == self.question.batch:
                ahead = scores - scores.min()
                rounds.append(noise.candidates(np.ones_like(scores), ahead, self.rate, draws)[0])
        return np.array(rounds, dtype=np.int64).reshape(len(rounds), draws).T

    def score(self, X: Array) -> Integers:
        """Return the losses of records in whole steps, each by itself."""
        return nearest_step(self.question.limits, X, LOSS_STEPS)

    def choose(self, scores: Integers, noise: Noise) -> int:
        """Draw an expert; the best one, if nothing is to be hidden."""
        if self.rate is None:
            return int(scores.argmin())
        which, _ = noise.candidates(np.ones_like(scores), scores - scores.min(), self.rate)
        return int(which[0])


class ExpertsSession(Session):
    """The sums of losses, which are secret, and who is followed, which is not."""

    def __init__(self, plan: ExpertsPlan, noise: Noise, scores: Integers, chosen: int) -> None:
        super().__init__(plan.question)
        self._plan, self._noise = plan, noise
        self._scores, self._chosen = scores, chosen

    def _learn(self, X: Array, y: Vector | None) -> None:
        batch, start, seen = self._plan.question.batch, 0, self._seen
        while start < len(X):
            stop = min(len(X), start + batch - (seen + start) % batch)
            self._scores = self._scores + self._plan.score(X[start:stop]).sum(axis=0)
            start = stop
            self._choose_if_due(seen + start)

    def _skip(self) -> None:
        self._choose_if_due(self._seen + 1)

    def _choose_if_due(self, seen: int) -> None:
        """Draw an expert anew after so many rounds, if they end a batch."""
        if seen % self._plan.question.batch == 0:
            self._chosen = self._plan.choose(self._scores, self._noise)

    def answer(self) -> int:
        return self._chosen

    def _pack(self) -> Packed:
        return {"scores": self._scores, "chosen": self._chosen}


@dataclass(frozen=True)
class Experts(InteractiveMechanism):
    """Entropic follow the regularised leader: experts with small losses so far are likely.

    Only the expert drawn is released, never the chances.

    Examples
    --------
    >>> from discreet.geometry import Box
    >>> from discreet.privacy import ReplaceOne
    >>> from discreet.questions import Bounds
    >>> losses = ExpertStream(Bounds(Box([0.0] * 50, [1.0] * 50), n_features=50), horizon=10_000)
    >>> plan = Experts().plan(losses, Budget(1.0, 1e-6), ReplaceOne())
    >>> round(plan.temperature, 1), plan.guarantee.epsilon(1e-6) <= 1.0
    (453.1, True)
    """

    name: ClassVar[str] = "experts"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, ExpertStream):
            return Verdict(False, "experts follows one column of an ExpertStream; use it.")
        return YES

    def _plan(self, question: ExpertStream, budget: Budget, unit: Unit) -> InteractivePlan:
        if not budget.is_private:
            return ExpertsPlan(question, None, Guarantee(NoPrivacy(), unit))
        span, profile, reason = span_of_columns(budget, question.updates)
        useful = _widest_useful(question, unit)
        if useful < span:
            span, profile = useful, _profile(useful, question.updates)
            reason = "the temperature of least regret; less than the budget is spent"
        guarantee = Guarantee(profile, unit, stream_facts(question, unit), budget.delta or 1e-9)
        rate = Fraction(span) / score_range(unit)
        return ExpertsPlan(question, rate, guarantee, reason)


def score_range(unit: Unit) -> int:
    """Return how much more one record may change the score of one expert than of another.

    A record adds from 0 to ``LOSS_STEPS`` to each score, and no record adds the same to all.
    """
    return int(unit.spread(LOSS_STEPS))


def _widest_useful(question: ExpertStream, unit: Unit) -> float:
    """Return the range of log ratios at which the bound on regret is least without privacy."""
    low, high = question.limits
    size, experts = (high - low) / 2, question.bounds.n_features
    rounds = question.horizon * question.batch
    temperature = size * math.sqrt(rounds / (2 * math.log(experts)))
    return (high - low) / temperature * score_range(unit) / LOSS_STEPS


def _profile(span: float, draws: int) -> Profile:
    """Return the profile of draws that may each depend on the others."""
    if draws == 1:
        return BoundedRange(span)
    pure = math.nextafter(draws * span, math.inf)
    return Minimum([Pure(pure), ZeroConcentrated(draws * BoundedRange(span).rho)])
