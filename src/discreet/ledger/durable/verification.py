"""Verifying a ledger, line by line.

Replay of the events: hash chain, states and balance are worked out afresh, and compared with the
summary, with anchors and with the high-water mark.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from discreet.errors import DiscreetError
from discreet.ledger.abstract import State
from discreet.ledger.account import Balance, Costs, costs_from_json
from discreet.ledger.decimal_amounts import Amounts
from discreet.ledger.durable import sql_tables
from discreet.ledger.durable.anchor import Anchor
from discreet.ledger.durable.dataset import DataSet
from discreet.ledger.durable.hash_chain import BEGINNING, Line, digest_of
from discreet.ledger.durable.high_water_mark import NOTHING, last_seen
from discreet.ledger.durable.sql_tables import DATASETS, EVENTS
from discreet.ledger.durable.summary import SEAL, dump_balance, dump_declaration, seal
from discreet.privacy import Guarantee
from discreet.storage.transaction import Transaction

DECLARED = "declared"
"""What the first line of a history says."""

ANSWERS = "answers"
"""The field of a line with the number of answers that an oracle has given."""

HEAD = "head"
"""And the one with their digest, which is salted: it tells nothing of them."""

MIGRATED = "migrated"
"""What the line says with which a ledger was brought up to date."""

STEPS = {
    State.RESERVED.value: (None,),
    State.OPENED.value: (State.RESERVED.value, State.HANDED_OVER.value),
    State.HANDED_OVER.value: (State.OPENED.value,),
    State.RELEASED.value: (State.OPENED.value,),
    State.FAILED.value: (State.OPENED.value,),
    State.REFUNDED.value: (State.RESERVED.value,),
    State.ANSWERING.value: (
        State.OPENED.value,  # it was not written how the fit ended
        State.RELEASED.value,
        State.FAILED.value,  # after the oracle was stored
        State.ANSWERING.value,
    ),
}
"""What can happen to a charge, and what may have happened last."""

SAME = 1e-6
"""Relative difference of a recorded cost and one computed again by another version."""


UNREADABLE = (
    DiscreetError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a damaged line can raise."""


@dataclass(frozen=True)
class Verification:
    """Whether the ledger of a data set is sound, and what is wrong with it if not.

    Parameters
    ----------
    dataset
        The name of the data set.
    problems
        What is wrong, one sentence each.
    lines, charges
        How many lines the history has, and how many charges they are about.
    head
        The digest of the last line, which stands for the whole history; keep it elsewhere.

    Examples
    --------
    >>> Verification("patients", ("line 3 was changed",), 7, 2, "c0ffee").is_sound
    False
    """

    dataset: str
    problems: tuple[str, ...]
    lines: int
    charges: int
    head: str

    @property
    def is_sound(self) -> bool:
        return not self.problems

    def sentence(self) -> str:
        """Say it in a sentence."""
        if self.is_sound:
            return (
                f"The ledger of {self.dataset!r} is sound: {self.lines} lines, {self.charges} "
                f"charges, last digest {self.head}."
            )
        return f"The ledger of {self.dataset!r} is NOT sound: " + "; ".join(self.problems) + "."


STORED = sql.select(DATASETS).where(DATASETS.c.id == sql.bindparam("id"))
LINES = sql.select(EVENTS).where(EVENTS.c.dataset == sql.bindparam("id")).order_by(EVENTS.c.line)


def line_of(row: Any) -> Line:
    """Return a line as it was stored."""
    return Line(row.line, row.charge, row.what, row.text, row.digest)


@dataclass(frozen=True)
class StoredBooks:
    """All that is stored about one data set; no summary if it is gone."""

    number: int
    summary: Any
    lines: list[Line]

    @property
    def name(self) -> str:
        return f"data set {self.number}" if self.summary is None else str(self.summary.name)


def read_books(transaction: Transaction, number: int) -> StoredBooks:
    """Read everything at once; what takes time comes after the transaction."""
    summaries, lines = transaction.ask((STORED, {"id": number}), (LINES, {"id": number}))
    return StoredBooks(number, next(iter(summaries), None), [line_of(each) for each in lines])


@dataclass(frozen=True)
class StoredLedger:
    """All data sets of a ledger, and whether the triggers are there that guard them."""

    books: tuple[StoredBooks, ...]
    is_guarded: bool


def read_ledger(transaction: Transaction) -> StoredLedger:
    """Read the history of every data set, also of those of which something is missing."""
    found = transaction.fetch(
        sql.union(sql.select(DATASETS.c.id), sql.select(EVENTS.c.dataset.label("id")))
    )
    numbers = {each.id for each in found}
    everyone = numbers | set(range(1, max(numbers, default=0) + 1))
    books = tuple(read_books(transaction, number) for number in sorted(everyone))
    return StoredLedger(books, sql_tables.is_guarded(transaction))


def verify_ledger(
    stored: StoredLedger, known: str | None, anchors: Sequence[Anchor] = ()
) -> tuple[Verification, ...]:
    """Verify the history of every data set, by their numbers, and that none is missing."""
    replays = [Replay() for _ in stored.books]
    found = [
        _verify_by_replay(books, replay, None, ())
        for books, replay in zip(stored.books, replays, strict=True)
    ]
    problems = []
    if not stored.is_guarded:
        problems.append("the triggers that guard the history are gone")
    if known is not None and not any(known in replay.digests for replay in replays):
        problems.append("no history contains the digest that was kept")
    problems += [
        f"no history contains line {anchor.lines} of {anchor.dataset!r} as it was anchored"
        for anchor in anchors
        if not any(replay.contains(anchor) for replay in replays)
    ]
    if problems:
        found.append(Verification("the whole ledger", tuple(problems), 0, 0, ""))
    return tuple(found)


def verify_books(
    books: StoredBooks, known: str | None, anchors: Sequence[Anchor] = ()
) -> Verification:
    """Compare the summary of a data set with its history, and the history with itself.

    ``known`` is a digest that the history must contain. Of ``anchors`` those count that have the
    key or the name of the data set; there must be one.
    """
    return _verify_by_replay(books, Replay(), known, anchors)


def _verify_by_replay(
    books: StoredBooks, replay: Replay, known: str | None, anchors: Sequence[Anchor]
) -> Verification:
    problems = list(replay.problems(books.lines))
    if known is not None and known not in replay.digests:
        problems.append("the history does not contain the digest that was kept")
    problems += _anchor_problems(books, replay, anchors)
    seen = last_seen(replay.key)
    if seen != NOTHING and replay.digests.get(seen.digest) != seen.line:
        problems.append(f"the history lacks line {seen.line} as this process has seen it")
    problems += (
        ["the summary is gone"] if books.summary is None else replay.differences(books.summary)
    )
    return Verification(books.name, tuple(problems), replay.lines, len(replay.states), replay.head)


def _anchor_problems(books: StoredBooks, replay: Replay, anchors: Sequence[Anchor]) -> list[str]:
    meant = [each for each in anchors if each.key == replay.key or each.dataset == books.name]
    if anchors and not meant:
        return ["none of the anchors is of this data set"]
    return [
        f"the history does not contain line {anchor.lines} as it was anchored on {anchor.time[:10]}"
        for anchor in meant
        if not replay.contains(anchor)
    ]


class Replay:
    """Does everything again that the history says was done.

    Lines of format 1 have no seal of the summary, and were admitted by rules of their own; what
    they spent is worked out by the rules of today. Such lines can only come before the one that
    says that the ledger was brought up to date.
    """

    def __init__(self) -> None:
        self.dataset: DataSet | None = None
        self.digests: dict[str, int] = {}  # and the lines that have them
        self.head, self.lines = BEGINNING, 0
        self.states: dict[int, str] = {}
        self._answers: dict[int, int] = {}
        self.is_sealed = False
        self._standing: dict[int, tuple[Costs, str | None]] = {}
        self._balance: Balance = {}

    @property
    def key(self) -> str:
        """What tells this ledger from all others; empty if it never said."""
        return "" if self.dataset is None else self.dataset.key

    def contains(self, anchor: Anchor) -> bool:
        """Say whether a line that was kept elsewhere is in the history."""
        return anchor.key == self.key and self.digests.get(anchor.digest) == anchor.lines

    def balance(self) -> Balance:
        """Return what stands against each part, added up afresh."""
        if self.dataset is None:
            return {}
        balance = self.dataset.account.empty_balance()
        for number, (costs, part) in self._standing.items():
            if self.states[number] != State.REFUNDED.value:
                balance = self.dataset.account.add(balance, costs, part)
        return balance

    def differences(self, summary: Any) -> Iterator[str]:
        """Yield what a summary says otherwise than the history."""
        declared = self.dataset
        if declared is None:
            yield "the data set was never declared"
            return
        worked_out = {
            "name": (summary.name, declared.name),
            "number of lines": (summary.lines, self.lines),
            "number of charges": (summary.charges, len(self.states)),
            "last digest": (summary.head, self.head),
            "declaration": (summary.facts, dump_declaration(declared)),
        }
        if self.is_sealed:  # before, the rules of another version worked it out
            worked_out["balance"] = (summary.balance, dump_balance(self.balance()))
        for what, (kept, true) in worked_out.items():
            if kept != true:
                yield f"the summary's {what} is not what the history says"

    def problems(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield what is wrong with each line."""
        for line in lines:
            self.lines += 1
            where = f"line {self.lines}"
            if line.digest != digest_of(self.head, line.text):
                yield f"{where} or one before it was changed, removed or put in another place"
            self.head = line.digest
            self.digests[line.digest] = self.lines
            try:
                for problem in self._read(line):
                    yield f"{where} {problem}"
            except UNREADABLE:
                yield f"{where} cannot be read"

    def _read(self, line: Line) -> Iterator[str]:
        document = line.document
        kept = tuple(document.get(name) for name in ("line", "charge", "what"))
        if kept != (line.number, line.charge, line.what) or line.number != self.lines:
            yield "is not where it says it is"
        was_sealed, self.is_sealed = self.is_sealed, self.is_sealed or SEAL in document
        if line.what == DECLARED:
            if self.lines != 1:
                yield "declares the data set a second time"
            self.dataset = DataSet.from_json(document["dataset"])
            self._balance = self.dataset.account.empty_balance()
        elif line.what == MIGRATED:
            if was_sealed or not self.is_sealed:
                yield "brings a ledger up to date that is so, or does not"
        elif problem := self._step(line) or self._replay_charge(line, document):
            yield problem
        if line.what not in (DECLARED, MIGRATED) and self.is_sealed != was_sealed:
            yield "is sealed though the lines before it are not"
        if self.is_sealed and document.get(SEAL) != self._seal():
            yield "was written with another summary than the lines before it give"

    def _seal(self) -> str:
        facts = "" if self.dataset is None else dump_declaration(self.dataset)
        return seal(facts, len(self.states), dump_balance(self._balance))

    def _step(self, line: Line) -> str:
        if self.dataset is None:
            return "comes before the data set was declared"
        if line.what not in STEPS or self.states.get(line.charge) not in STEPS[line.what]:
            return f"says {line.what!r} of a charge that cannot become so"
        if line.what == State.RESERVED.value and line.charge != len(self.states) + 1:
            return "skips a number"
        if line.what == State.ANSWERING.value:
            if line.document[ANSWERS] <= self._answers.get(line.charge, 0):
                return "counts no more answers than were counted before"
            self._answers[line.charge] = line.document[ANSWERS]
        self.states[line.charge] = line.what
        return ""

    def _replay_charge(self, line: Line, document: Any) -> str:
        """Add a charge or take one back, and say what is wrong with it."""
        if self.dataset is None or line.what not in (State.RESERVED.value, State.REFUNDED.value):
            return ""
        if line.what == State.REFUNDED.value:
            self._balance = self.balance()
            return ""
        account, part = self.dataset.account, document["part"]
        guarantee = Guarantee.from_json(json.dumps(document["guarantee"]))
        account.check(guarantee)
        account.check_part(part)
        computed = account.costs(guarantee)
        costs = costs_from_json(document["costs"]) if self.is_sealed else computed
        before = self._balance
        self._standing[line.charge] = costs, part
        self._balance = account.add(before, costs, part)
        if len(costs) != len(computed) or not all(map(_are_alike, costs, computed)):
            return "records other costs than its guarantee has"
        if self.is_sealed and not account.admits(before, guarantee, costs, part):
            return "was charged though the budget was spent"
        return ""


def _are_alike(first: Amounts, second: Amounts) -> bool:
    """Say whether costs are the same, up to what versions of NumPy differ by."""
    return len(first) == len(second) and all(
        one == other or math.isclose(one, other, rel_tol=SAME)
        for one, other in zip(first, second, strict=True)
    )
