"""An interaction as its owner holds it: messages go in, public answers come out.

The state is touched in other threads only (``_private_part.py``), one message after another.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from discreet import _checks
from discreet._private_part import Outcome, Sealed, call_privately, without_frames
from discreet._types import Array, Vector
from discreet.data.records import (
    Given,
    accept_records,
    clip_records,
    count_records,
    prepare_records,
)
from discreet.data.source import Prepared
from discreet.errors import (
    DiscreetError,
    EntropyError,
    InputError,
    InteractionEnded,
    LedgerError,
    PrivacyError,
    ReceiptError,
    SourceChanged,
)
from discreet.interaction.declaration import Declaration
from discreet.interaction.state_file import remove_state, write_state
from discreet.interaction.waiting_records import Empty, Record, WaitingRecords, keep_record
from discreet.ledger import NOT_DURABLE, Receipt, State
from discreet.mechanisms import Session
from discreet.privacy import Guarantee, Unit
from discreet.questions import DeclaredStream
from discreet.record import Release

FAILED = (
    "the private part stopped, which ends the interaction; the charge stands. Simulate with "
    "RehearsalNoise on synthetic records to see why."
)

FROZEN = "this interaction is frozen: it answers, and learns no more."

SAVED = "this interaction was saved and goes on where it is resumed; here it has ended."

UNPACKED = "the state could not be packed, and was not saved; the interaction goes on."

CHANGED = (
    "the records changed or could not be read; n_seen says how many were learnt from, and the "
    "interaction goes on."
)

GONE = "this interaction was saved and taken up elsewhere; here it has ended."

ELSEWHERE = (
    "this interaction belongs to the process that began it, and a fork of it must not go on. Save "
    "it there, and resume it here."
)

NOT_EMPTY = (
    "no round may be left empty under the unit 'replace': it promises that a record may be another "
    "one, not that there is none. Declare unit='zero_out'."
)

AT_ONCE = 1024
"""Records that are learnt from before it is looked whether somebody wants to stop."""


@dataclass(frozen=True)
class _Public:
    """What anybody may know of an interaction at a time."""

    n_seen: int = 0
    answer: Any = None
    has_answer: bool = False
    ended: str = ""


_DONE = Outcome()


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class _Held(Sealed):
    """What only private calls touch, one at a time."""

    session: Session | None
    receipt: Receipt
    declared: Declaration
    said: Release
    line: WaitingRecords
    public: _Public = _Public()
    is_opened: bool = False
    saved_at: Path | None = None  # where a state lies of which it is not known whether it counts
    turn: threading.Lock = field(default_factory=threading.Lock)

    def end(self, why: str) -> None:
        """Learn no more; the last answer stays if it is known."""
        self.session = None
        self.public = replace(self.public, ended=why)

    def show(self, *, with_answer: bool) -> None:
        """Publish how many rounds have passed, and the answer if somebody is waiting for it.

        An answer that is known stays until a batch is full.
        """
        if self.session is None:
            return
        seen, before = self.session.n_seen, self.public
        batch = self.declared.question.batch
        if before.has_answer and seen // batch == before.n_seen // batch:
            self.public = _Public(seen, before.answer, has_answer=True)
            return
        answer = _copy(self.session.answer()) if with_answer else None
        self.public = _Public(seen, answer, with_answer)

    def drain(self) -> None:
        """Learn from the records that wait, if this copy of the state may and they are in time."""
        count, session = self.line.count, self.session
        if not count or session is None or self.saved_at is not None or count > self.left:
            return
        bounds, learnt = self.declared.question.bounds, 0
        for rounds, records in self.line.blocks():
            learnt += rounds
            if records is None:
                for _ in range(rounds):
                    session.skip()
                continue
            for block in clip_records(records, bounds, AT_ONCE):
                session.learn(*block)
        self.show(with_answer=False)
        self.line.forget(learnt)

    @property
    def left(self) -> int:
        """How many rounds there are before the horizon."""
        seen = self.public.n_seen if self.session is None else self.session.n_seen
        return self.declared.question.horizon - seen

    def reopen(self) -> None:
        """Let records wait again, if they can be learnt from without asking anybody."""
        if self.session is not None and self.is_opened and self.saved_at is None:
            self.line.open_unless_near(self.left)

    def __repr__(self) -> str:
        return "<secret state>"


_alive: WeakValueDictionary[int, _Held] = WeakValueDictionary()


def _forget() -> None:
    """Drop every state in a forked process: it would be a second copy."""
    for held in list(_alive.values()):
        held.session = None
        held.line.close()
        held.line.forget(held.line.count)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Interaction(Sealed):
    """A learner that was paid for once and answers after every record; its state is secret.

    :func:`discreet.interact` and :func:`discreet.gate.resume` make one; nothing else does. Records
    are clipped to the declared bounds, each by itself, and no cell is an error. What is answered is
    public. After the last declared record it answers for ever and refuses to learn.

    Parameters
    ----------
    begin
        Returns the state, of which there is no other copy; called once, in private.
    receipt
        The charge that pays for it; used up by the first record.
    declared
        What was declared and planned.
    said
        What a release of it says, but for the value.
    is_opened
        Whether the receipt was used up already.
    shows_errors
        Whether a failure inside may be seen: in simulations with seeded noise.

    Examples
    --------
    >>> from discreet.gate import interact
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import Experts
    >>> from discreet.privacy import Budget
    >>> from discreet.questions import Bounds, ExpertStream
    >>> bounds = Bounds(Box([0, 0], [1, 1]), n_features=2)
    >>> stream = ExpertStream(bounds, horizon=4000, batch=1000)
    >>> live = interact(Experts(), stream, budget=Budget(1.0, 1e-6))
    >>> live.learn([[0.9, 0.1]] * 3000)  # the second expert is better
    >>> live, int(live.answer()) in (0, 1)  # the second, nearly always
    (<interaction: experts, 3,000 of 4,000 records>, True)
    >>> live.learn([[0.9, 0.1]] * 2000)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: the stream was declared with a horizon of 4,000 records; no ...
    """

    __slots__ = ("__held", "_is_asked", "_process", "_release", "_shows_errors")
    _sealed = "the state of an interaction is secret; ask for an answer, freeze it or save it."

    def __init__(
        self,
        begin: Callable[[], Session],
        receipt: Receipt,
        declared: Declaration,
        said: Release,
        *,
        is_opened: bool = False,
        shows_errors: bool = False,
    ) -> None:
        _checks.instance(Receipt, receipt=receipt)
        _checks.instance(Declaration, declared=declared)
        _checks.instance(Release, said=said)
        self._process, self._shows_errors = os.getpid(), shows_errors
        self._is_asked = True
        self._release: Release | None = None
        line = WaitingRecords(declared.question.bounds.n_features)
        self.__held = _Held(None, receipt, declared, said, line, is_opened=is_opened)
        _alive[id(self.__held)] = self.__held
        self._ask(partial(_begin, self.__held, begin))

    @property
    def question(self) -> DeclaredStream:
        """The stream that was declared."""
        return self.__held.declared.question

    @property
    def receipt(self) -> Receipt:
        """The charge that pays for it."""
        return self.__held.receipt

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about everything that it will ever answer."""
        return self.__held.said.guarantee

    @property
    def n_seen(self) -> int:
        """How many rounds have passed, with a record or without, which is public."""
        held = self.__held
        if held.line.count and not held.public.ended and os.getpid() == self._process:
            call_privately(partial(_guard, held, lambda: _DONE, self._shows_errors))
        return held.public.n_seen

    @property
    def n_answers(self) -> int:
        """How many batches were full when the present answer was worked out, at least."""
        held = self.__held
        return held.public.n_seen // held.declared.question.batch

    @property
    def n_due(self) -> int:
        """How many batches are full, with records that wait; there is an answer after each."""
        held = self.__held
        waiting, public = held.line.count, held.public  # in this order: none is overlooked
        return (public.n_seen + waiting) // held.declared.question.batch

    @property
    def is_over(self) -> bool:
        """Whether it learns no more: there were enough records, or it was ended."""
        public = self.__held.public
        return bool(public.ended) or public.n_seen >= self.question.horizon

    def learn(self, X: Any, y: Any = None) -> None:
        """Learn from one record or several, in their order.

        Cells that are no numbers, labels that are not declared and whatever is out of bounds are
        read as they are everywhere (``docs/missing_values.md``): each record by itself, without an
        error or a warning. Whoever interrupts this finds in ``n_seen`` how many records were learnt
        from; those are not to be given again. Single records may wait until there are several, or
        until something is asked, which changes no answer.

        Parameters
        ----------
        X
            A row for each record: an array, a sparse matrix, a list of rows, a data frame.
        y
            A label for each record, if the stream declares labels.

        Raises
        ------
        InputError
            The shape is not as declared, or there would be more records than the horizon; none was
            learnt from.
        InteractionEnded
            It was frozen, saved, or failed.
        """
        given = accept_records(X, y, self.__held.declared.question.bounds)
        record = keep_record(given)
        if record is not None and self._let_wait(record):
            return
        is_asked, self._is_asked = self._is_asked, False
        stopped: list[bool] = []
        work = partial(_learn, self.__held, given, is_asked, stopped)
        self._ask(work, partial(stopped.append, True))

    def skip(self) -> None:
        """Let a round pass without a record, in the place of one that is missing.

        Afterwards nothing tells an empty round from one whose record was zeroed out, which is what
        the unit ``zero_out`` promises. It counts as a round: ``n_seen`` grows.

        Raises
        ------
        PrivacyError
            The unit is ``replace``, which knows no empty rounds; nothing has changed.
        InputError
            There would be more rounds than the horizon; nothing has changed.
        InteractionEnded
            It was frozen, saved, or failed.
        """
        refuse_empty_rounds(self.__held.declared.unit)
        if self._let_wait(Empty()):
            return
        is_asked, self._is_asked = self._is_asked, False
        self._ask(partial(_skip, self.__held, is_asked))

    def _let_wait(self, record: Record | Empty) -> bool:
        """Put a record in line, if there is one; whoever ends the interaction meanwhile tells."""
        held = self.__held
        if os.getpid() != self._process or not held.line.join(record):
            return False
        if not held.line.is_open:  # a private call has begun since
            self._ask(partial(_settle, held, record))
        return True

    def answer(self) -> Any:
        """Return what is public now; it changes after every ``batch`` records."""
        self._is_asked = True
        held = self.__held
        due, public = self.n_due, held.public
        is_old = not public.ended and due != public.n_seen // held.declared.question.batch
        if is_old or not public.has_answer:
            public = self._ask(partial(_answer, held))  # others may learn from more by now
        if not public.has_answer:
            raise InteractionEnded(public.ended or FAILED)
        return _copy(public.answer)

    @property
    def declared(self) -> Declaration:
        """What was declared and planned, all of it public."""
        return self.__held.declared

    def look(self) -> Release:
        """Return what is public now as a release, without ending the interaction.

        It carries the guarantee of everything that is ever answered.
        """
        return self._release or replace(self.__held.said, value=self.answer())

    def freeze(self) -> Release:
        """End the interaction, and return its last answer as an ordinary release."""
        if self._release is None:
            self._release, unrecorded = self._ask(partial(_freeze, self.__held))
            if unrecorded:  # what was paid for is not lost; the charge stands as opened
                with contextlib.suppress(Warning):  # where warnings are errors
                    warnings.warn(
                        f"how the interaction ended was not recorded: {unrecorded}", stacklevel=2
                    )
        return self._release

    def save(self, path: str | os.PathLike[str], *, note: str = "") -> None:
        """Hand the state over to a new file, for the owner alone, and end this object.

        The file holds what noise hides: it must not be copied, mailed or backed up. The ledger lets
        it be resumed once, by :func:`discreet.gate.resume`, which removes it.

        If the file cannot be written, nothing has happened and the interaction goes on. If the
        ledger cannot be reached, it is first asked again, by the next call of ``learn``, ``freeze``
        or ``save``, whether the state counts as handed over.

        Parameters
        ----------
        path
            Where; there must be no file of that name.
        note
            Anything public to keep beside the state, for :func:`discreet.interaction.read_note`.

        Raises
        ------
        PrivacyError
            The ledger does not outlive this process; the interaction goes on.
        InputError
            There is a file already; the interaction goes on.
        OSError
            The file cannot be written; the interaction goes on.
        LedgerError
            The ledger could not record it.
        """
        target = Path(path)
        _checks.instance(str, note=note)
        if not self.receipt.issuer.is_durable:
            raise PrivacyError(NOT_DURABLE)
        self._ask(partial(_save, self.__held, target, note))

    def _ask(self, work: Callable[[], Outcome], interrupt: Callable[[], Any] | None = None) -> Any:
        """Do private work, and raise what it says; nothing of it is attached."""
        if os.getpid() != self._process:
            raise InteractionEnded(ELSEWHERE)
        guarded = partial(_guard, self.__held, work, self._shows_errors)
        return unwrap(call_privately(guarded, interrupt))

    def __repr__(self) -> str:
        held = self.__held
        passed = held.line.count + held.public.n_seen
        return (
            f"<interaction: {held.said.mechanism}, {passed:,} of {self.question.horizon:,} records>"
        )


def refuse_empty_rounds(unit: Unit) -> None:
    """Raise unless a unit lets rounds be empty.

    Examples
    --------
    >>> from discreet.privacy import ReplaceOne, ZeroOutOne
    >>> refuse_empty_rounds(ZeroOutOne())
    >>> refuse_empty_rounds(ReplaceOne())
    Traceback (most recent call last):
        ...
    discreet.errors.PrivacyError: no round may be left empty under the unit 'replace': it ...
    """
    if not unit.has_empty_rounds:
        raise PrivacyError(NOT_EMPTY)


def unwrap(outcome: Outcome | None) -> Any:
    """Return what came out of a private call, or raise it."""
    if outcome is None:
        raise InteractionEnded(FAILED)
    return outcome.take()


def _guard(held: _Held, work: Callable[[], Outcome], shows_errors: bool) -> Outcome:
    """Do private work in its turn; a failure ends the interaction and becomes one sentence.

    What waits comes first.
    """
    with held.turn:
        held.line.close()
        try:
            held.drain()
            outcome = work()
            held.reopen()
            return outcome
        except BaseException as error:
            _end_as_failed(held)
            if shows_errors:
                return Outcome(stopped=error)
            if isinstance(error, EntropyError | SourceChanged):  # say nothing about records
                return Outcome(stopped=without_frames(error))
            return Outcome(stopped=InteractionEnded(FAILED))


def _end_as_failed(held: _Held) -> None:
    held.end(FAILED)
    held.line.forget(held.line.count)
    if held.is_opened:
        with contextlib.suppress(Exception):  # the charge stands as opened
            held.receipt.issuer.settle(held.receipt, State.FAILED)


def _begin(held: _Held, begin: Callable[[], Session]) -> Outcome:
    held.session = begin()
    held.show(with_answer=True)
    return _DONE


def _learn(held: _Held, given: Given, with_answer: bool, stopped: list[bool]) -> Outcome:
    bounds = held.declared.question.bounds
    if refusal := _refuse_rounds(held, count_records(given) or 0) or _open(held):
        return Outcome(stopped=refusal)
    session = held.session
    if session is None:
        return Outcome(stopped=InteractionEnded(FAILED))
    left = held.left
    try:
        ready = prepare_records(given, bounds)
    except SourceChanged:
        return Outcome(stopped=SourceChanged(CHANGED))
    with contextlib.closing(ready) if isinstance(ready, Prepared) else contextlib.nullcontext():
        if isinstance(ready, Prepared) and ready.count > left:
            return Outcome(stopped=InputError(beyond(bounds.max_rows)))
        return _learn_in_turn(held, session, clip_records(ready, bounds, AT_ONCE), stopped) or (
            _answer(held) if with_answer else _DONE
        )


def _skip(held: _Held, with_answer: bool) -> Outcome:
    if refusal := _refuse_rounds(held, 1) or _open(held):
        return Outcome(stopped=refusal)
    if held.session is not None:
        held.session.skip()
        held.show(with_answer=with_answer)
    return _DONE


def _settle(held: _Held, record: Record | Empty) -> Outcome:
    """See to a record that joined the line when a private call had closed it."""
    refusal = _refuse_rounds(held, held.line.count)
    if refusal is None:
        held.drain()
        return _DONE
    was_not_learnt_from = held.line.withdraw(record) or held.public.ended == FAILED
    return Outcome(stopped=refusal) if was_not_learnt_from else _DONE


def _learn_in_turn(
    held: _Held,
    session: Session,
    blocks: Iterator[tuple[Array, Vector | None]],
    stopped: list[bool],
) -> Outcome | None:
    """Learn from blocks of records until somebody stops it; return what to say, if anything."""
    while not stopped:  # whoever gave the records does not wait for the rest
        try:
            block = next(blocks, None)
        except SourceChanged:
            return Outcome(stopped=SourceChanged(CHANGED))
        if block is None:
            break
        session.learn(*block)
        held.show(with_answer=False)
    return None


def _answer(held: _Held) -> Outcome:
    held.show(with_answer=True)
    return Outcome(held.public)


def _freeze(held: _Held) -> Outcome:
    if refusal := _refuse_unless_live(held) or _open(held):
        return Outcome(stopped=refusal)
    held.show(with_answer=True)
    release = replace(held.said, value=_copy(held.public.answer))
    held.end(FROZEN)
    unrecorded = ""
    try:
        held.receipt.issuer.settle(held.receipt, State.RELEASED)
    except DiscreetError as error:
        unrecorded = str(error)
    return Outcome((release, unrecorded))


def _save(held: _Held, target: Path, note: str) -> Outcome:
    if refusal := _refuse_unless_live(held) or _open(held):
        return Outcome(stopped=refusal)
    if held.session is None:
        return Outcome(stopped=InteractionEnded(FAILED))
    held.show(with_answer=True)
    try:
        token = write_state(
            target, held.declared, held.said, held.receipt, held.session.pack(), note
        )
    except (OSError, DiscreetError) as error:  # nothing has happened
        return Outcome(stopped=without_frames(error))
    except Exception:  # nor here: to pack a state does not change it
        return Outcome(stopped=PrivacyError(UNPACKED))
    held.saved_at = target
    try:
        held.receipt.issuer.hand_over(held.receipt, token)
    except DiscreetError as error:
        refusal = _refuse_unless_live(held)
        return Outcome(stopped=refusal or without_frames(error))
    held.saved_at = None
    held.end(SAVED)
    return _DONE


def _refuse_rounds(held: _Held, count: int) -> BaseException | None:
    """Return why so many rounds more cannot be learnt from; None if they can."""
    if refusal := _refuse_unless_live(held):
        return refusal
    if held.session is None:
        return InteractionEnded(FAILED)
    return InputError(beyond(held.declared.question.horizon)) if count > held.left else None


def _refuse_unless_live(held: _Held) -> BaseException | None:
    """Return why nothing more can be learnt; None if it can.

    If it is not known whether a state was handed over, the ledger is asked first: this copy goes on
    only if the other one cannot be resumed any more.
    """
    if held.public.ended:
        return InteractionEnded(held.public.ended)
    if held.saved_at is None:
        return None
    try:
        held.receipt.issuer.reclaim(held.receipt)
    except ReceiptError:
        held.end(GONE)
        return InteractionEnded(GONE)
    except LedgerError as error:
        return without_frames(error)
    remove_state(held.saved_at)
    held.saved_at = None
    return None


def _open(held: _Held) -> BaseException | None:
    """Use the receipt up, once; return why that is not possible."""
    if held.is_opened:
        return None
    try:
        held.receipt.redeem()
    except DiscreetError as error:
        return without_frames(error)
    held.is_opened = True
    return None


def _copy(answer: Any) -> Any:
    return answer.copy() if isinstance(answer, np.ndarray) else answer


def beyond(horizon: int) -> str:
    """Say that there would be more records than were declared."""
    return (
        f"the stream was declared with a horizon of {horizon:,} records; no more can be learnt "
        "from. It still answers."
    )
