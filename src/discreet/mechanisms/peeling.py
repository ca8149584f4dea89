"""Several candidates drawn one after another, without replacement; proof in ``peeling.md``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.mechanisms.ballot import Ballot, Workers, accepts_blocks, check_votes, votes_of
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    public_facts,
)
from discreet.mechanisms.sampling.sampled_model import span_of_columns, span_of_share
from discreet.mechanisms.summing.column_scores import ColumnScores
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Profile, Unit
from discreet.questions import ColumnVotes, Question, StrongestColumns
from discreet.record import Tolerance

AT_ONCE = 64
"""Candidates drawn together at most; the first of each kind counts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PeelingPlan(Plan):
    """How fast chances fall with the score; there is no rate if nothing is to be hidden."""

    size: int
    rate: Fraction | None
    guarantee: Guarantee
    reason: str = ""

    @abstractmethod
    def scores(self, rows: OpenRows, noise: Noise) -> Integers:
        """Return the score of each candidate, a whole number; the best has the largest."""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.rate is None:
            return ()
        return (
            Tolerance("temperature: the score by which a chance falls by e", float(1 / self.rate)),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._pick(self.scores(rows, noise), noise)

    def _pick(self, scores: Integers, noise: Noise) -> Vector:
        picked = peel(scores, self.size, self.rate, noise)
        return picked.astype(np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class StrongestColumnsPlan(PeelingPlan):
    """Releases the numbers of columns, in the order in which they were drawn."""

    question: StrongestColumns

    def scores(self, rows: OpenRows, noise: Noise) -> Integers:
        return ColumnScores(self.question).of(rows)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        scores = self.scores(rows, noise)
        if self.size == 1 and self.rate is not None:
            behind = scores.max() - scores
            which, _ = noise.candidates(np.ones_like(behind), behind, self.rate, draws)
            return which.astype(np.float64)[:, None]
        return np.array([self._pick(scores, noise) for _ in range(draws)])


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnVotesPlan(PeelingPlan):
    """Releases columns by how many blocks chose them; blocks are drawn anew in every release."""

    holds_rows = True

    question: ColumnVotes
    workers: Workers

    def scores(self, rows: OpenRows, noise: Noise) -> Integers:
        ballot = Ballot.of(self.question.vote, rows)
        return votes_of(ballot.answers(noise, self.workers), self.question.vote.columns)


def peel(scores: Integers, size: int, rate: Fraction | None, noise: Noise) -> Integers:
    """Draw candidates with chance proportional to exp(score * rate), each of those that are left.

    Draws with replacement, of which the first of each kind counts, have the same law; so several
    are made at once.
    """
    if rate is None:
        return np.argsort(-scores, kind="stable")[:size]
    left = np.arange(scores.size)
    picked = np.empty(0, dtype=np.int64)
    while picked.size < size:
        behind = scores[left].max() - scores[left]
        draws = min(size - picked.size, AT_ONCE)
        which, _ = noise.candidates(np.ones_like(behind), behind, rate, draws)
        _, first = np.unique(which, return_index=True)
        fresh = which[np.sort(first)]
        picked = np.concatenate([picked, left[fresh]])
        left = np.delete(left, fresh)
    return picked


@dataclass(frozen=True)
class Peeling(Mechanism):
    """Top-k selection: the best candidates, one after another, by the exponential mechanism.

    Parameters
    ----------
    workers
        Who runs a procedure on blocks of rows, where columns are chosen by votes of blocks.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, Interval
    >>> bounds = Bounds(LinfBall(1.0), n_features=1000, labels=Interval(-1, 1))
    >>> question = StrongestColumns(bounds, size=5)
    >>> plan = Peeling().plan(question, Budget(1.0), AddRemoveOne())
    >>> plan.guarantee.epsilon(0.0), plan.reason
    (1.0, '5 draws share a pure epsilon')
    """

    name: ClassVar[str] = "peeling"
    units = TABLE_UNITS

    workers: Workers = field(default_factory=Workers)

    def __post_init__(self) -> None:
        _checks.instance(Workers, workers=self.workers)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, ColumnVotes):
            return accepts_blocks(question)
        if isinstance(question, StrongestColumns):
            return YES
        return Verdict(False, "peeling draws several of many columns; use exponential_sampling.")

    def _plan(
        self, question: StrongestColumns | ColumnVotes, budget: Budget, unit: Unit
    ) -> PeelingPlan:
        if not budget.is_private:
            return self._plan_draws(question, budget, unit, None)
        return self._plan_draws(question, budget, unit, span_of_columns(budget, question.size))

    def plan_share(
        self, question: StrongestColumns | ColumnVotes, share: float, budget: Budget, unit: Unit
    ) -> PeelingPlan:
        """Plan draws for a share of mu squared, or of a pure epsilon, beside another release.

        Parameters
        ----------
        question
            What is asked.
        share
            Of the budget, for all draws together.
        budget
            What everything together may spend.
        unit
            Who is protected.
        """
        _checks.fraction(share=share)
        self.check(question, budget, unit)
        if not budget.is_private:
            return self._plan_draws(question, budget, unit, None)
        return self._plan_draws(question, budget, unit, span_of_share(budget, question.size, share))

    def _plan_draws(
        self,
        question: StrongestColumns | ColumnVotes,
        budget: Budget,
        unit: Unit,
        draws: tuple[float, Profile, str] | None,
    ) -> PeelingPlan:
        size, rate, reason = question.size, None, ""
        guarantee = Guarantee(NoPrivacy(), unit)
        if draws is not None:
            span, profile, reason = draws
            rate = Fraction(span) / (2 * _sensitivity(question, unit))
            facts = (*public_facts(question.bounds, unit), *question.assumed)
            guarantee = Guarantee(profile, unit, facts, budget.delta or 1e-9)
        if isinstance(question, ColumnVotes):
            check_votes(question.vote, self.workers)
            return ColumnVotesPlan(
                size=size, rate=rate, guarantee=guarantee, reason=reason, question=question,
                workers=self.workers,
            )  # fmt: skip
        return StrongestColumnsPlan(
            size=size, rate=rate, guarantee=guarantee, reason=reason, question=question
        )


def _sensitivity(question: StrongestColumns | ColumnVotes, unit: Unit) -> int:
    """Bound how far whoever is protected moves the score of a column."""
    return 1 if isinstance(question, ColumnVotes) else ColumnScores(question).sensitivity(unit)
