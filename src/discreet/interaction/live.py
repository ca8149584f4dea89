"""An interaction as its owner holds it: messages go in, public answers come out.

The state is touched in other threads only (``_resident_thread.py``), one message after another.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from discreet import _checks
from discreet._resident_thread import call_privately
from discreet._sealed import Sealed
from discreet.data.arrays import accept_rows
from discreet.data.source import Source
from discreet.errors import (
    DiscreetError,
    EntropyError,
    InputError,
    InteractionEnded,
    LedgerError,
    SourceChanged,
)
from discreet.ledger import Receipt, State
from discreet.mechanisms import InteractivePlan, Session
from discreet.noise import Noise
from discreet.privacy import Guarantee
from discreet.questions import DeclaredStream
from discreet.questions.bounds import Bounds
from discreet.record import Release

FAILED = (
    "the private part stopped, which ends the interaction; the charge stands, and the last answer "
    "too. Rehearse with RehearsalNoise on synthetic records to see why."
)

ELSEWHERE = (
    "this interaction belongs to the process that began it; a forked one must not go on with it. "
    "Save it there, and resume it here."
)

AT_ONCE = 1024
"""Records that are learnt from before it is looked whether somebody wants to stop."""


@dataclass
class _Held(Sealed):
    """What only private calls touch, one at a time."""

    session: Session | None
    receipt: Receipt
    bounds: Bounds
    is_opened: bool = False
    ended: str = ""  # why nothing more can be learnt
    is_stopping: bool = False

    def __post_init__(self) -> None:
        self.turn = threading.Lock()

    def __repr__(self) -> str:
        return "<secret state>"


@dataclass(frozen=True)
class _Outcome:
    """What comes out of a private call: something public, or what to raise instead."""

    value: Any = None
    stopped: BaseException | None = None


class Interaction(Sealed):
    """A learner that was paid for once and answers after every record; its state is secret.

    :func:`discreet.interact` makes one; nothing else does. Records are clipped to the declared
    bounds, each by itself. What is answered is public.

    Parameters
    ----------
    plan
        What was planned and charged.
    receipt
        Which pays for it, once.
    noise
        The source of randomness.
    said
        What a release of it will say, but for the value.

    Attributes
    ----------
    guarantee
        What is promised about everything that it will ever answer.
    receipt
        The charge that pays for it.
    question
        The stream that was declared.
    """

    __slots__ = ("__held", "__weakref__", "_frozen", "_is_private", "_process", "_said", "question",
                 "receipt")  # fmt: skip
    _sealed = "the state of an interaction is secret; ask for an answer, freeze it or save it."

    def __init__(
        self, plan: InteractivePlan, receipt: Receipt, noise: Noise, said: Release
    ) -> None:
        _checks.instance(InteractivePlan, plan=plan)
        _checks.instance(Receipt, receipt=receipt)
        self.question: DeclaredStream = plan.question
        self.receipt, self._said, self._is_private = receipt, said, noise.is_private
        self._process, self._frozen = os.getpid(), False
        held = _Held(None, receipt, self.question.bounds)
        self.__held = held
        self._ask(partial(_begin, held, plan, noise))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about everything that it will ever answer."""
        return self._said.guarantee

    @property
    def n_seen(self) -> int:
        """How many records were learnt from, which is public."""
        return int(self._ask(partial(_count, self.__held)))

    @property
    def is_over(self) -> bool:
        """Whether it will not learn any more: there were enough records, or it was ended."""
        return self.n_seen >= self.question.horizon or bool(self.__held.ended)

    def learn(self, X: Any, y: Any = None) -> None:
        """Learn from one record or several, in their order.

        Cells that are no numbers, labels that are not declared and whatever is out of bounds are
        read as they are everywhere (``docs/odd_cells.md``): each record by itself, without a word.

        Parameters
        ----------
        X
            A row for each record: an array, a sparse matrix, a list of rows, a data frame.
        y
            A label for each record, if the stream declares labels.
        """
        source = accept_rows(X, y, None, self.question.bounds)
        self._ask(partial(_learn, self.__held, source))

    def answer(self) -> Any:
        """Return what is public now; it changes after every ``batch`` records."""
        return self._ask(partial(_answer, self.__held))

    def freeze(self) -> Release:
        """End the interaction, and return its last answer as an ordinary release."""
        value = self.answer()
        self._ask(partial(_settle, self.__held))
        self._frozen = True
        return replace(self._said, value=value)

    def _ask(self, work: Callable[[], _Outcome]) -> Any:
        """Do private work, and raise what it says; nothing of it is attached."""
        if os.getpid() != self._process:
            raise InteractionEnded(ELSEWHERE)
        outcome = call_privately(work) if self._is_private else work()
        if outcome is None:
            raise InteractionEnded(FAILED)
        if outcome.stopped is not None:
            raise outcome.stopped
        return outcome.value

    def __repr__(self) -> str:
        return f"<interaction: {self._said.mechanism}, at most {self.question.horizon} records>"


def _begin(held: _Held, plan: InteractivePlan, noise: Noise) -> _Outcome:
    with held.turn:
        held.session = plan.start(noise)
    return _Outcome()


def _count(held: _Held) -> _Outcome:
    with held.turn:
        return _Outcome(0 if held.session is None else held.session.n_seen)


def _answer(held: _Held) -> _Outcome:
    with held.turn:
        return _Outcome(None if held.session is None else np.copy(held.session.answer()))


def _learn(held: _Held, source: Source) -> _Outcome:
    with held.turn:
        session = held.session
        if session is None or held.ended:
            return _Outcome(stopped=InteractionEnded(held.ended or FAILED))
        if session.n_seen + source.count > held.bounds.max_rows:
            return _Outcome(stopped=InputError(beyond(held.bounds.max_rows)))
        try:
            if not held.is_opened:
                held.receipt.redeem()
                held.is_opened = True
        except DiscreetError as error:
            return _Outcome(stopped=type(error)(*error.args))
        try:
            prepared = source.prepare(held.bounds)
            for start in range(0, source.count, AT_ONCE):
                block = prepared.block(start, start + AT_ONCE)
                session.learn(block.rows(), block.labels)
        except (EntropyError, SourceChanged) as error:
            held.ended = FAILED
            return _Outcome(stopped=type(error)(*error.args))
        except BaseException:
            held.ended = FAILED
            return _Outcome(stopped=InteractionEnded(FAILED))
        return _Outcome()


def _settle(held: _Held) -> _Outcome:
    with held.turn:
        if held.is_opened:
            try:
                held.receipt.issuer.settle(held.receipt, State.RELEASED)
            except LedgerError as error:
                return _Outcome(stopped=LedgerError(*error.args))
        held.ended = "this interaction is frozen; it answers, and learns no more."
    return _Outcome()


def beyond(horizon: int) -> str:
    """Say that there would be more records than were declared."""
    return (
        f"the stream was declared with a horizon of {horizon:,} records; more cannot be learnt "
        "from. It still answers."
    )
