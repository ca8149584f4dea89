"""An oracle as its owner holds it: points go in, public answers come out.

The private model and what must stay secret of its noise are touched in other threads only
(``_private_part.py``), one call after another. With a store nothing is told before it is on
disk, and several processes are one oracle.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from discreet import _checks
from discreet._private_part import Outcome, Sealed, call_privately, without_frames
from discreet._types import Array
from discreet.data import OpenRows
from discreet.errors import (
    EntropyError,
    InputError,
    InputTypeError,
    InteractionEnded,
    PrivacyError,
    StoreError,
)
from discreet.interaction.answer_record import AnswerRecord, Seen
from discreet.interaction.declaration import OracleDeclaration
from discreet.interaction.live import unwrap
from discreet.ledger import Receipt
from discreet.mechanisms import Plan
from discreet.mechanisms.query_answering import OracleAnswer, Transcript, TranscriptEntry
from discreet.noise import Noise
from discreet.privacy import Guarantee
from discreet.questions import KernelQueries
from discreet.record import Release

if TYPE_CHECKING:
    from discreet.interaction.oracle_store import NewOracle, OracleStore
    from discreet.mechanisms.private_predictor import PrivatePredictor

FAILED = (
    "the private part stopped; this oracle answers no more here, and the charge stands. If it has "
    "a store, take it up again. Simulate with RehearsalNoise on synthetic rows to see why."
)

ELSEWHERE = (
    "this oracle belongs to the process that began it, and a fork of it must not go on. Take its "
    "store up here."
)


OPEN, FROZEN = "open", "frozen"
"""What a store says of its oracle: whether the private model may still be asked."""

Answering = Callable[[list[TranscriptEntry], str], tuple[list[TranscriptEntry], str]]
"""Gets entries that are not known yet and the status, returns entries to add and the status."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Where an oracle is kept: the place, the model's identity, how far its transcript is known.

    And, if a durable ledger paid for it, where its answers are on record.
    """

    store: OracleStore
    identity: str
    seen: Seen
    record: AnswerRecord | None = None


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class _Held(Sealed):
    """What only private calls touch, one at a time."""

    declared: OracleDeclaration
    said: Release
    noise: Noise
    model: PrivatePredictor | None
    transcript: Transcript
    store: OracleStore | None = None
    identity: str = ""
    record: AnswerRecord | None = None
    seen: Seen = field(default_factory=Seen)
    is_frozen: bool = False
    ended: str = ""
    is_doubtful: bool = False  # a write must show first that the store keeps what it has
    turn: threading.Lock = field(default_factory=threading.Lock)
    told: tuple[int, str] = (0, OPEN)  # number of answers and status, once they are kept

    def tell(self) -> None:
        """Let anybody know how many answers there are; only after all of them were kept."""
        closed = FROZEN if self.is_frozen else self.declared.plan.closed_status
        is_open = self.transcript.is_open and not self.is_frozen
        self.told = self.transcript.count, OPEN if is_open else closed

    def advance(self, seen: Seen) -> None:
        """Go on from what the store has, once the ledger knows of it.

        Other processes may have answered, and told the ledger, since it was read: then the store
        has these answers, too, by now.
        """
        if self.record is not None and self.store is not None:
            self.record.keep(seen, partial(self.store.digest_at, self.identity))
        self.seen = seen

    def __repr__(self) -> str:
        return "<secret state>"


_alive: WeakValueDictionary[int, _Held] = WeakValueDictionary()


def _doubt() -> None:
    """Before a fork, which closes the stores: what the next opening finds must be on disk."""
    for held in list(_alive.values()):
        held.is_doubtful = True


def _forget() -> None:
    """Drop every model in a forked process: it would be a second copy."""
    for held in list(_alive.values()):
        held.model = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_doubt, after_in_child=_forget)


class Oracle(Sealed):
    """A fitted kernel model that answers questions with noise, paid for once; it is secret.

    :func:`discreet.gate.consult` and :func:`discreet.gate.reopen` make one; nothing else does. A
    point that was answered before gets the same answer again. All that is answered is public.

    Parameters
    ----------
    declared
        What was declared and planned.
    said
        What a release of it says, but for the value.
    model
        The private model; nobody else holds it.
    noise
        The source of randomness.
    receipt
        The charge that pays for it; None for one that was taken up from its store.
    kept
        Where it is kept; None for memory alone.
    note
        What is kept beside it, public.
    shows_errors
        Whether a failure inside may be seen: in simulations with seeded noise.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.data import Rows
    >>> from discreet.gate import consult
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import GaussianProcess
    >>> from discreet.privacy import Budget
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> kernel = BoundedKernel(RBF(gamma=1.0), radius=1.0)
    >>> queries = KernelQueries(Logistic(), bounds, ridge=20.0, kernel=kernel, max_answers=2)
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> rows = Rows(X, np.sign(X[:, 0]), bounds=bounds)
    >>> oracle = consult(GaussianProcess(), queries, rows, budget=Budget(1.0, 1e-6))
    >>> first, again = oracle.ask([[0.5], [0.5]])
    >>> first == again, oracle
    (True, <oracle: gaussian_process, 1 of 2 answers, open>)
    """

    __slots__ = ("__held", "_note", "_process", "_receipt", "_shows_errors")
    _sealed = "an oracle cannot be looked at, copied or stored; ask it, or give it a store."

    def __init__(
        self,
        declared: OracleDeclaration,
        said: Release,
        model: PrivatePredictor,
        noise: Noise,
        *,
        receipt: Receipt | None = None,
        kept: Kept | None = None,
        note: str = "",
        shows_errors: bool = False,
    ) -> None:
        _checks.instance(OracleDeclaration, declared=declared)
        _checks.instance(Release, said=said)
        self._process, self._shows_errors = os.getpid(), shows_errors
        self._receipt, self._note = receipt, note
        held = _Held(declared, said, noise, model, declared.plan.start())
        if kept is not None:
            held.store, held.identity, held.seen = kept.store, kept.identity, kept.seen
            held.record = kept.record
            held.is_doubtful = True  # what a killed process left may not be on disk yet
        held.tell()
        self.__held = held
        _alive[id(held)] = held

    @property
    def question(self) -> KernelQueries:
        """What was declared: bounds, kernel, loss and the number of answers."""
        return self.__held.declared.question

    @property
    def declared(self) -> OracleDeclaration:
        """What was declared and planned, all of it public."""
        return self.__held.declared

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about everything that it will ever answer."""
        return self.__held.said.guarantee

    @property
    def receipt(self) -> Receipt | None:
        """The charge that pays for it; None if it was taken up, see :meth:`look`."""
        return self._receipt

    @property
    def note(self) -> str:
        """What was kept beside it."""
        return self._note

    @property
    def identity(self) -> str:
        """What tells the model from others; empty without a store."""
        return self.__held.identity

    @property
    def max_answers(self) -> int:
        """How many different points are answered with new noise, at most."""
        return self.question.max_answers

    @property
    def n_answers(self) -> int:
        """How many different points were answered, as far as this process knows: public."""
        return self.__held.told[0]

    @property
    def status(self) -> str:
        """``"open"``; or, if the private model is not asked any more, ``"frozen"`` (as many answers
        as declared, or by its owner) or ``"exhausted"`` (as many updates as declared)."""
        return self.__held.told[1]

    def ask(self, points: Any) -> list[OracleAnswer]:
        """Answer points, one after another; with a store, all of them or none.

        Parameters
        ----------
        points
            One a row, of as many numbers as declared; clipped to the declared set.

        Returns
        -------
        list of OracleAnswer
            One for each point. A point that was answered before gets the same answer.

        Raises
        ------
        InputError
            Points are not of the declared shape, not finite, or the kernel is not defined there;
            nothing was answered.
        StoreError
            The store cannot be used, or it is not known whether it kept the answers; ask again.
        InteractionEnded
            The private part failed, or this is a fork of the process.
        """
        try:
            given = np.asarray(points, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError("points must be rows of numbers.") from None
        accepted = self.question.accept(given)
        answers: list[OracleAnswer] = self._call(partial(_ask, self.__held, accepted))
        return answers

    def refresh(self) -> None:
        """Read from the store what other processes have answered, and whether it is frozen."""
        if self.__held.store is not None:
            self._call(partial(_refresh, self.__held))

    def look(self) -> Release:
        """Return all answers so far as a release: a row for each, the point and then the answer.

        It carries the guarantee of everything that is ever answered.
        """
        table: Array = self._call(partial(_tabulate, self.__held))
        return replace(self.__held.said, value=table)

    def freeze(self) -> Release:
        """Ask the private model no more, in all processes; later points follow from answers."""
        self._call(partial(_freeze, self.__held))
        return self.look()

    def _call(self, work: Callable[[], Outcome]) -> Any:
        """Do private work, and raise what it says; nothing of it is attached."""
        if os.getpid() != self._process:
            raise InteractionEnded(ELSEWHERE)
        outcome = call_privately(partial(_guard, self.__held, work, self._shows_errors))
        return unwrap(outcome or Outcome(stopped=InteractionEnded(FAILED)))

    def __repr__(self) -> str:
        held = self.__held
        return (
            f"<oracle: {held.said.mechanism}, {self.n_answers:,} of {self.max_answers:,} answers, "
            f"{self.status}>"
        )


def _guard(held: _Held, work: Callable[[], Outcome], shows_errors: bool) -> Outcome:
    """Do private work in its turn; a failure ends the oracle here and becomes one sentence.

    What was not told is forgotten: the transcript is what it was, and the store says what became of
    the rest.
    """
    with held.turn:
        if held.ended:
            return Outcome(stopped=InteractionEnded(held.ended))
        before = held.transcript.count if held.store is None else held.seen.count
        try:
            outcome = work()
            held.tell()
            return outcome
        except BaseException as error:
            held.transcript.cut(before)
            held.is_doubtful = held.is_doubtful or isinstance(error, StoreError)
            if isinstance(error, StoreError | EntropyError | _Refused):
                return Outcome(stopped=without_frames(error))
            held.model, held.ended = None, FAILED
            stopped = error if shows_errors else InteractionEnded(FAILED)
            return Outcome(stopped=stopped)


class _Refused(InputError):
    """A point that cannot be answered, which depends on points alone."""


def _ask(held: _Held, points: Array) -> Outcome:
    known = [held.transcript.find(point) for point in points]
    found = [entry.answer for entry in known if entry is not None]
    if len(found) == len(points):
        _look(held)  # a state that is lost, replaced or put back answers nothing
        return Outcome(found)
    answers: list[OracleAnswer] = []

    def answer(fresh: list[TranscriptEntry], status: str) -> tuple[list[TranscriptEntry], str]:
        _learn(held, fresh, status)
        before = held.transcript.count
        answers.extend(_answer(held, point) for point in points)
        return held.transcript.since(before), status

    _exchange(held, answer)
    return Outcome(answers)


def _answer(held: _Held, point: Any) -> OracleAnswer:
    """Answer one point; a new answer is added to the transcript."""
    plan, transcript = held.declared.plan, held.transcript
    known = transcript.find(point)
    if known is not None:
        return known.answer
    if held.is_frozen or not transcript.is_open:
        return plan.answer_in_public(transcript, point)
    if held.model is None:
        raise PrivacyError("there is no model to ask.")
    try:
        prepared = plan.prepare(transcript, point)
    except InputError as refusal:
        raise _Refused(*refusal.args) from None
    entry = plan.answer(held.model, transcript, point, prepared, held.noise)
    transcript.append(entry)
    return entry.answer


def _exchange(held: _Held, answer: Answering) -> None:
    """Let something be answered, in the store if there is one: nothing is told before this ends."""
    if held.store is None:
        _, status = answer([], FROZEN if held.is_frozen else OPEN)
        held.is_frozen = status == FROZEN
        return
    kept = held.store.add_entries(held.identity, held.seen, answer, confirm=held.is_doubtful)
    held.advance(kept)
    held.is_doubtful = False


def _learn(held: _Held, fresh: list[TranscriptEntry], status: str) -> None:
    """Take over what other processes have answered."""
    for entry in fresh:
        held.transcript.append(entry)
    held.is_frozen = status == FROZEN


def _look(held: _Held) -> None:
    """Read what other processes have answered; at first, and after a failure, by way of a write.

    A process that was killed may leave answers in the log of a file that were not flushed, and
    that its successor finds: a write that waits for the disk takes them along. And a store that
    cannot keep anything would still give answers that it has; whether there is one would tell what
    was asked before.
    """

    def answer(fresh: list[TranscriptEntry], status: str) -> tuple[list[TranscriptEntry], str]:
        _learn(held, fresh, status)
        return [], status

    if held.is_doubtful:
        _exchange(held, answer)
    elif held.store is not None:
        held.advance(held.store.read_entries(held.identity, held.seen, partial(_learn, held)))


def _refresh(held: _Held) -> Outcome:
    _look(held)
    return Outcome()


def _freeze(held: _Held) -> Outcome:
    def answer(fresh: list[TranscriptEntry], status: str) -> tuple[list[TranscriptEntry], str]:
        _learn(held, fresh, status)
        return [], FROZEN

    _exchange(held, answer)
    held.is_frozen = True
    return Outcome()


def _tabulate(held: _Held) -> Outcome:
    width = held.declared.question.bounds.n_features
    rows = [[*entry.point, entry.value] for entry in held.transcript.since(0)]
    return Outcome(np.array(rows).reshape(len(rows), width + 1))


@contextlib.contextmanager
def claim_place(store: str | Path | None) -> Iterator[NewOracle | None]:
    """Claim the place of a new oracle while it is paid for and made; nothing without a store."""
    if store is None:
        yield None
        return
    from discreet.interaction.oracle_store import OracleStore  # slow to import

    with contextlib.closing(OracleStore(store).make()) as place:
        yield place


@dataclass(frozen=True, eq=False)
class OraclePlan(Plan):
    """Fits a model in private and hands it to an oracle, whose answers are public."""

    declared: OracleDeclaration
    said: Release
    receipt: Receipt
    place: NewOracle | None
    note: str

    def run(self, rows: OpenRows, noise: Noise) -> Oracle:
        declared, said = self.declared, self.said
        model, kept = declared.plan.fit(rows), None
        if self.place is not None:
            paid_by = self.receipt.issuer.key
            kept = self.place.finish(declared, said, paid_by, self.note, model.pack())
            if paid_by:
                kept = replace(kept, record=AnswerRecord(self.receipt.issuer, self.receipt.number))
        return Oracle(
            declared, said, model, noise, receipt=self.receipt, kept=kept, note=self.note,
            shows_errors=not noise.is_private,
        )  # fmt: skip
