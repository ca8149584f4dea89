"""Mechanisms that go on: records arrive one after another, and every answer is public.

What an interaction promises, and what each mechanism owes to that promise, is in
``interaction.md`` of the package ``interaction``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._private_part import Sealed
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.mechanisms.base import Mechanism, Plan, public_facts
from discreet.mechanisms.streaming.prefix_factor import ONCE, Participation
from discreet.noise import Noise
from discreet.privacy import Budget, Unit
from discreet.questions import DeclaredStream, Question

Packed = dict[str, Any]
"""What a session is made of: arrays of numbers, and numbers, by name."""

SEEN = "n_seen"
"""Under which name the number of records is packed."""


def stream_facts(
    question: DeclaredStream, unit: Unit, participation: Participation = ONCE
) -> tuple[str, ...]:
    """Return what a guarantee about a stream takes as public, and how often a record comes."""
    return (*public_facts(question.bounds, unit), *question.assumed, participation.sentence)


class Session(Sealed, ABC):
    """The secret state of one run of an interactive mechanism.

    Only the gate and plans hold one. A mechanism implements ``_learn``, ``_skip``, ``answer`` and
    ``_pack``; counting and the horizon are seen to here.

    Parameters
    ----------
    question
        The stream that it was started for.
    """

    _sealed = "the state of an interaction is secret; ask for an answer, freeze it or save it."

    def __init__(self, question: DeclaredStream) -> None:
        self._horizon, self._seen = question.horizon, 0

    @property
    def n_seen(self) -> int:
        """How many rounds have passed, which is public."""
        return self._seen

    @property
    def is_over(self) -> bool:
        """Whether there were as many records as were declared."""
        return self._seen >= self._horizon

    def learn(self, X: Array, y: Vector | None = None) -> None:
        """Learn from records, in order, each already clipped to the bounds by itself.

        A stream may be cut into blocks anywhere: the answers are the same to the last bit.

        Parameters
        ----------
        X
            A row for each record, the intercept's column last if there is one; not overwritten.
        y
            A label for each record; None if the stream has none.
        """
        self._check_room(len(X))
        self._learn(X, y)
        self._seen += len(X)

    def skip(self) -> None:
        """Let one round pass without a record: what is left of a record that is zeroed out."""
        self._check_room(1)
        self._skip()
        self._seen += 1

    def _check_room(self, rounds: int) -> None:
        if self._seen + rounds > self._horizon:
            raise PrivacyError("more records than the horizon were given to a session.")

    @abstractmethod
    def _learn(self, X: Array, y: Vector | None) -> None:
        """Learn from records; before it, ``n_seen`` others were learnt from."""

    @abstractmethod
    def _skip(self) -> None:
        """Let a round pass to which no record adds anything; an answer is due as ever."""

    @abstractmethod
    def answer(self) -> Any:
        """Return what is public now: it changes only after every ``batch`` records."""

    @abstractmethod
    def _pack(self) -> Packed:
        """Return all that another session needs to go on, but for the number of records."""

    def pack(self) -> Packed:
        """Return all that another session needs to go on; as secret as the session itself."""
        return {SEEN: self._seen, **self._pack()}

    def __repr__(self) -> str:
        return f"<secret session: {self._seen} of {self._horizon} records>"


class InteractivePlan(Plan):
    """A plan for a stream: it starts a session, or runs one over rows in stream order."""

    question: DeclaredStream
    packed_format: ClassVar[int] = 1
    """To be raised when what a session packs changes its meaning."""

    @abstractmethod
    def start(self, noise: Noise) -> Session:
        """Begin a session; noise that is needed later may be drawn now."""

    @abstractmethod
    def _unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        """Return a session that goes on where the packed one stopped."""

    def unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        """Return a session that goes on where the packed one stopped."""
        _checks.whole(n_seen=packed[SEEN], at_least=0, at_most=self.question.horizon)
        session = self._unpack(packed, noise)
        session._seen = int(packed[SEEN])
        return session

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        """Return the transcript: every answer to rows in stream order, one for each batch."""
        session = self.start(noise)
        shape = np.shape(session.answer())
        answers = []
        for X, y in rows.stretches(self.question.batch):
            session.learn(X, y)
            if len(X) == self.question.batch:
                answers.append(session.answer())
        return np.array(answers).reshape(len(answers), *shape)


class InteractiveMechanism(Mechanism):
    """Turns a declared stream and a budget into a plan for all that will ever be answered."""

    units = ("replace", "zero_out")
    refuses_persons = "it is about rounds of a stream, one record each."

    @property
    def records_come_once(self) -> bool:
        """Whether the promise is about a record that is in one round only."""
        return True

    @abstractmethod
    def _plan(self, question: Any, budget: Budget, unit: Unit) -> InteractivePlan:
        """Plan for an accepted stream."""

    def plan(self, question: Question, budget: Budget, unit: Unit) -> InteractivePlan:
        self.check(question, budget, unit)
        return self._plan(question, budget, unit)

    def coefficients(self, value: Any) -> Array:
        """Return the last coefficients of a transcript, or those that were frozen."""
        value = np.asarray(value)
        return np.asarray(value[-1]) if value.ndim == 2 else value
