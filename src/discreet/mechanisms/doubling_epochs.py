"""A stream of unknown length: epochs that double, each a run of its own.

Every record enters one epoch, so that all epochs together cost what the dearest does; the lemma is
in ``interaction.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import CalibrationError, InputError
from discreet.mechanisms.base import Verdict
from discreet.mechanisms.interactive import (
    InteractiveMechanism,
    InteractivePlan,
    Packed,
    Session,
)
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Unit, worst_of
from discreet.questions import DeclaredStream, Question
from discreet.record import Tolerance

ROOM = 1 - 2.0**-20
"""The share of delta that each epoch is planned for; the rest is for the distances of others."""

INNER = "inner_"
"""How names begin under which the state of the open epoch is packed."""


@dataclass(frozen=True)
class DoublingEpochs(InteractiveMechanism):
    """Run a mechanism in epochs of doubling length, where nobody knows how long a stream will be.

    The horizon of the stream is then no more than a far limit: noise is made for the length of an
    epoch, which is at most twice the number of records seen, once the first is over.

    Notes
    -----
    Privacy: no more than one epoch costs, because a record enters one epoch only. Accuracy: every
    answer rests on at least a third of the records seen so far, since an epoch is asked once it
    has seen as many as the one before it had.
    """

    inner: InteractiveMechanism
    first: int = 1024

    def __post_init__(self) -> None:
        _checks.instance(InteractiveMechanism, inner=self.inner)
        _checks.whole(first=self.first, at_least=1, at_most=2**40)
        if isinstance(self.inner, DoublingEpochs):
            raise InputError("DoublingEpochs must not be nested; wrap a mechanism once.")

    @property
    def name(self) -> str:
        return self.inner.name

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, DeclaredStream):
            return Verdict(False, "epochs are of a declared stream; use a Stream.")
        if not self.inner.records_come_once:
            return Verdict(
                False,
                "a record that comes several times may be in several epochs, which one epoch's "
                "promise does not cover; use a declared horizon, or participations=1.",
            )
        if self.first % question.batch:
            return Verdict(
                False,
                f"an epoch of {self.first} records is cut in the midst of a batch of "
                f"{question.batch}; use a multiple of it.",
            )
        return self.inner.accepts(_epoch(question, self.first), unit)

    def lengths(self, horizon: int) -> list[int]:
        """Return the lengths of as many epochs as a horizon takes."""
        found = [self.first]
        while sum(found) < horizon:
            found.append(2 * found[-1])
        return found

    def _plan(self, question: DeclaredStream, budget: Budget, unit: Unit) -> InteractivePlan:
        share = budget
        if budget.is_private and budget.delta > 0:
            share = Budget(budget.epsilon, budget.delta * ROOM)
        lengths = self.lengths(question.horizon)
        plans = tuple(self.inner.plan(_epoch(question, one), share, unit) for one in lengths)
        guarantee = replace(
            plans[0].guarantee,
            profile=worst_of(plan.guarantee.profile for plan in plans),
            quoted_delta=budget.delta if budget.is_private else plans[0].guarantee.quoted_delta,
        )
        if budget.is_private and guarantee.delta(budget.epsilon) > budget.delta:
            raise CalibrationError(
                f"{len(plans)} epochs are together too far from their ideals for this delta; use a "
                "larger one, or a shorter horizon."
            )
        return DoublingEpochsPlan(question, plans, guarantee)


def _epoch(question: Any, length: int) -> Any:
    """Return the stream of one epoch."""
    return replace(question, horizon=length)


@dataclass(frozen=True, eq=False)
class DoublingEpochsPlan(InteractivePlan):
    """A plan for each epoch; one of them is run at a time."""

    question: DeclaredStream
    epochs: tuple[InteractivePlan, ...]
    guarantee: Guarantee

    @property
    def reason(self) -> str:  # type: ignore[override]
        first = self.epochs[0]
        said = (
            f"{len(self.epochs)} epochs of {first.question.horizon:,} records and twice as many "
            "each time, because the length of the stream is not known: one record enters one "
            "epoch, and every answer rests on at least a third of the records so far"
        )
        return "; ".join(part for part in (said, first.reason) if part)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.epochs[-1].tolerances

    def start(self, noise: Noise) -> Session:
        return DoublingEpochsSession(self, noise, 0, self.epochs[0].start(noise), None)

    def _unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        epoch = packed["epoch"]
        _checks.whole(epoch=epoch, at_least=0, at_most=len(self.epochs) - 1)
        inner = {
            name.removeprefix(INNER): each
            for name, each in packed.items()
            if name.startswith(INNER)
        }
        session = self.epochs[epoch].unpack(inner, noise)
        return DoublingEpochsSession(self, noise, epoch, session, packed["last"])


class DoublingEpochsSession(Session):
    """The session of the open epoch, and the last answer of the one before, which is public."""

    def __init__(
        self, plan: DoublingEpochsPlan, noise: Noise, epoch: int, inner: Session, last: Any
    ) -> None:
        super().__init__(plan.question)
        self._plan, self._noise, self._epoch = plan, noise, epoch
        self._inner, self._last = inner, last

    def _learn(self, X: Array, y: Vector | None) -> None:
        start = 0
        while start < len(X):
            if self._inner.is_over:
                self._turn()
            left = self._plan.epochs[self._epoch].question.horizon - self._inner.n_seen
            stop = min(len(X), start + left)
            self._inner.learn(X[start:stop], None if y is None else y[start:stop])
            start = stop

    def _skip(self) -> None:
        if self._inner.is_over:
            self._turn()
        self._inner.skip()

    def _turn(self) -> None:
        """Begin the next epoch, from nothing."""
        self._last = self._inner.answer()
        self._epoch += 1
        self._inner = self._plan.epochs[self._epoch].start(self._noise)

    def answer(self) -> Any:
        length = self._plan.epochs[self._epoch].question.horizon
        is_young = self._epoch > 0 and 2 * self._inner.n_seen < length
        return self._last if is_young else self._inner.answer()

    def _pack(self) -> Packed:
        inner = {f"{INNER}{name}": each for name, each in self._inner.pack().items()}
        return {"epoch": self._epoch, "last": self._last, **inner}
