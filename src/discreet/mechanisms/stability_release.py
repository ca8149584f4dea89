"""An answer if it is stable, and otherwise that it is not; proof in ``stability_release.md``."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, PrivacyError
from discreet.foreign.calls import NO_COLUMN
from discreet.mechanisms.ballot import (
    Answer,
    Ballot,
    Workers,
    accepts_blocks,
    check_votes,
    leader_of,
)
from discreet.mechanisms.base import TABLE_UNITS, YES, Mechanism, Plan, Verdict, public_facts
from discreet.mechanisms.minimising.lasso_margins import LassoMargins
from discreet.noise import LARGEST_RATE, UNIT_RATE, Noise
from discreet.privacy import Approximate, Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import BlockVote, LassoSupport, Question
from discreet.record import Tolerance

STABLE, UNSTABLE = 1.0, 0.0
"""What a released value begins with: whether an answer follows."""


@dataclass(frozen=True)
class StabilityTest:
    """Whether a number, with noise, is far enough above the level where answers may change."""

    move: int
    level: int
    rate: int
    margin: int

    @classmethod
    def of(cls, budget: Budget, move: int, level: int) -> StabilityTest:
        """Return the test that a budget pays for."""
        if budget.delta == 0:
            raise CalibrationError(
                "that an answer is stable cannot be said without a chance of error; use a positive "
                "delta."
            )
        rate = min(math.floor(Fraction(budget.epsilon) * UNIT_RATE / move), LARGEST_RATE)
        if rate < 1:
            raise CalibrationError("epsilon is too small for a test; use a larger one.")
        return cls(move, level, rate, _least_margin(rate / UNIT_RATE, budget.delta))

    @property
    def epsilon(self) -> float:
        """What the noise costs."""
        return self.move * self.rate / UNIT_RATE

    def passes(self, number: int, noise: Noise) -> bool:
        """Draw the noise, and say whether the number passes: public."""
        return bool(self.passes_each(number, noise, 1)[0])

    def passes_each(self, number: int, noise: Noise, draws: int) -> Booleans:
        """Draw the noise several times over, and say each time whether the number passes."""
        drawn = noise.discrete_laplace(draws, self.rate)
        return np.asarray(number + drawn >= self.level + self.margin)


def _least_margin(rate: float, delta: float) -> int:
    r"""Return the least t at which noise of this rate exceeds it with a chance of delta at most.

    .. math:: P(Z \ge t) = e^{-r t} / (1 + e^{-r}), \quad t \ge 1
    """
    exact = (-math.log(delta) - math.log1p(math.exp(-rate))) / rate
    return max(1, math.ceil(exact * (1 + 1e-12) + 1e-9))


@dataclass(frozen=True, eq=False, kw_only=True)
class StabilityPlan(Plan):
    """A test of how stable an answer is; there is none if nothing is to be hidden."""

    test: StabilityTest | None
    guarantee: Guarantee
    columns: int
    reason: str = "an answer, or that there is no stable one, costs the same"

    @abstractmethod
    def examine(self, rows: OpenRows) -> Callable[[Noise], tuple[Answer, int]]:
        """Return what finds an answer, and how stable it is; it may need randomness of its own."""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.test is None:
            return ()
        threshold = float(self.test.level + self.test.margin)
        return (
            Tolerance("scale of the noise", UNIT_RATE / self.test.rate),
            Tolerance("threshold of the test", threshold),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._say(*self.examine(rows)(noise), noise)

    def _say(self, answer: Answer, number: int, noise: Noise) -> Vector:
        if self.test is not None and not self.test.passes(number, noise):
            return np.array([UNSTABLE])
        return np.array([STABLE, *answer])

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        """Run several times over; a line says whether, and then 1 for each column chosen."""
        lines, find = np.zeros((draws, 1 + self.columns)), self.examine(rows)
        for line in lines:
            said = self._say(*find(noise), noise)
            line[0] = said[0]
            line[1 + said[1:].astype(np.int64)] = 1.0
        return lines


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockVotePlan(StabilityPlan):
    """The choice of most blocks, if it is far enough ahead of the next."""

    holds_rows = True

    question: BlockVote
    workers: Workers = field(default_factory=Workers)

    def examine(self, rows: OpenRows) -> Callable[[Noise], tuple[Answer, int]]:
        ballot = Ballot.of(self.question, rows)
        return lambda noise: leader_of(ballot.answers(noise, self.workers))


@dataclass(frozen=True, eq=False, kw_only=True)
class LassoPlan(StabilityPlan):
    """The support of a LASSO, if it withstands enough records."""

    holds_rows = True

    question: LassoSupport
    margins: LassoMargins

    @property
    def most(self) -> int:
        """Levels beyond this one make no difference: the test passes but for a chance of e**-10."""
        if self.test is None:
            return 0
        return self.test.level + self.test.margin + math.ceil(10 * UNIT_RATE / self.test.rate)

    def examine(self, rows: OpenRows) -> Callable[[Noise], tuple[Answer, int]]:
        answer, number = self.measure(rows)
        return lambda noise: (answer, number)

    def measure(self, rows: OpenRows) -> tuple[Answer, int]:
        """Return the support, and how many records it withstands: private."""
        table, labels = rows.gather()
        if labels is None:
            raise PrivacyError("a LASSO was run on rows without labels.")
        problem = self.margins.problem(table, labels)
        if self.test is None:
            return self.margins.measure(problem).strongest(), 0
        if not self.margins.allows(problem):
            return NO_COLUMN, 0
        measured = self.margins.measure_unless_ruled_out(problem)
        if measured is None:
            return NO_COLUMN, 0
        # A record that is replaced is one that goes and one that comes.
        steps = 2 if self.guarantee.unit.is_replace else 1
        return measured.answer(), measured.level(steps * self.most) // steps


@dataclass(frozen=True)
class StabilityRelease(Mechanism):
    """A stability test: an answer that no few records could change, or that there is none.

    Parameters
    ----------
    workers
        Who runs a procedure on blocks of rows.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds
    >>> def widest(X, y):
    ...     return [abs(X).sum(axis=0).argmax()]
    >>> question = BlockVote(Bounds(LinfBall(1.0), n_features=8), widest, blocks=80)
    >>> plan = StabilityRelease().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> plan.test.level + plan.test.margin  # votes that the first must be ahead of the second
    29
    """

    name: ClassVar[str] = "stability_release"
    units = TABLE_UNITS

    workers: Workers = field(default_factory=Workers)

    def __post_init__(self) -> None:
        _checks.instance(Workers, workers=self.workers)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, LassoSupport) and not question.bounds.has_one_row_each:
            return Verdict(
                False,
                "how stable a LASSO is was proved of one record and not of several that belong "
                "together; use one: contributions='cap', rows_per_person=1.",
            )
        if isinstance(question, BlockVote):
            return accepts_blocks(question)
        if isinstance(question, LassoSupport):
            return YES
        return Verdict(
            False,
            "stability_release answers what blocks of rows vote for, or which columns a LASSO "
            "uses; use exponential_sampling to choose by losses, and peeling to choose many "
            "columns.",
        )

    def _plan(self, question: BlockVote | LassoSupport, budget: Budget, unit: Unit) -> Plan:
        if isinstance(question, LassoSupport):
            test, guarantee = _test(question, budget, unit, move=1, level=0)
            return LassoPlan(
                test=test, guarantee=guarantee, columns=question.bounds.n_features,
                question=question, margins=LassoMargins(question),
            )  # fmt: skip
        check_votes(question, self.workers)
        # One record changes one vote, so the lead by two; if another leads, it was two at most.
        test, guarantee = _test(question, budget, unit, move=2, level=2)
        return BlockVotePlan(
            test=test, guarantee=guarantee, columns=question.columns, question=question,
            workers=self.workers,
        )  # fmt: skip


def records_needed(budget: Budget, unit: Unit) -> int:
    """Return how many records an answer must withstand to be released, nineteen times in twenty.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> records_needed(Budget(1.0, 1e-6), AddRemoveOne())
    17
    """
    if not budget.is_private:
        return 1
    test = StabilityTest.of(budget, 1, 0)
    likely = test.margin + math.ceil(3 * UNIT_RATE / test.rate)
    return likely * (2 if unit.is_replace else 1)


def _test(
    question: BlockVote | LassoSupport, budget: Budget, unit: Unit, *, move: int, level: int
) -> tuple[StabilityTest | None, Guarantee]:
    if not budget.is_private:
        return None, Guarantee(NoPrivacy(), unit)
    test = StabilityTest.of(budget, move, level)
    facts = (*public_facts(question.bounds, unit), *question.assumed)
    profile = Approximate(test.epsilon, budget.delta)
    return test, Guarantee(profile, unit, facts, budget.delta)
