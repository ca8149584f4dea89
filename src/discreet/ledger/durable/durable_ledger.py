"""A ledger that outlives its process, and that many processes share.

Check and charge are one transaction on an append-only, hash-chained history of events.
"""

from __future__ import annotations

import getpass
import hashlib
import importlib.metadata
import json
import os
import platform
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sql

from discreet import _checks
from discreet.errors import InputError, LedgerError, PrivacyError, ReceiptError, UnitMismatch
from discreet.foreign.fork_server import runs_foreign_code
from discreet.ledger.abstract import (
    ANOTHER,
    FOREIGN,
    AbstractLedger,
    Entry,
    State,
    check_end,
    check_move,
    check_rows_per_person,
    total_epsilon,
)
from discreet.ledger.account import Balance, Costs, costs_from_json, costs_to_json
from discreet.ledger.allowance import Allowance
from discreet.ledger.durable import sql_tables
from discreet.ledger.durable.anchor import Anchor
from discreet.ledger.durable.dataset import DataSet, check_text
from discreet.ledger.durable.dataset_name import are_same, find_look_alike, tidy_name
from discreet.ledger.durable.hash_chain import BEGINNING, Line, next_line, parse_or_none
from discreet.ledger.durable.high_water_mark import NOTHING, Mark, last_seen, remember
from discreet.ledger.durable.ledger_store import LedgerStore
from discreet.ledger.durable.migration import migrate
from discreet.ledger.durable.sql_tables import DATASETS, EVENTS
from discreet.ledger.durable.summary import (
    SEAL,
    SUMMARY,
    balance_of,
    check_summary,
    dump_balance,
    dump_declaration,
    rollback_message,
    seal,
)
from discreet.ledger.durable.verification import (
    ANSWERS,
    DECLARED,
    HEAD,
    LINES,
    STEPS,
    UNREADABLE,
    Verification,
    line_of,
    read_books,
    read_ledger,
    verify_books,
    verify_ledger,
)
from discreet.ledger.receipt import Receipt
from discreet.privacy import ONE_RECORD, Budget, Guarantee, Unit, unit_named
from discreet.storage.transaction import Asked, Transaction

UNPAID = (
    "foreign code in a private part pays nothing: how often it was run is not to be read off a "
    "ledger."
)

_again = EVENTS.alias("again")
LINES_OF_CHARGE = LINES.where(EVENTS.c.charge == sql.bindparam("number"))
LAST_OF_CHARGE = LINES_OF_CHARGE.where(
    EVENTS.c.line
    == sql.select(sql.func.max(_again.c.line))
    .where(_again.c.dataset == sql.bindparam("id"), _again.c.charge == sql.bindparam("number"))
    .scalar_subquery()
)
APPEND = EVENTS.insert()
KEEP = (
    DATASETS.update()
    .where(DATASETS.c.id == sql.bindparam("which"))
    .values({name: sql.bindparam(name) for name in ("lines", "charges", "head", "balance")})
)


MOST_CHARGES = 2**31 - 1

HANDED = "handed"
"""The field of a line with the hash of what a state is handed over with."""

TAKEN_UP = "what this receipt paid for was handed over and taken up; the receipt is void."


@dataclass
class Books:
    """The summary of a data set and some lines of its history, and what is to be written next.

    What is written is one event of the hash chain, with the snapshot that is sealed by it.
    """

    summary: Any
    lines: list[Line]
    line: Line | None = None
    after: Any = None

    def add(
        self,
        charge: int,
        state: State,
        facts: Mapping[str, Any],
        balance: str | None = None,
        time: str | None = None,
    ) -> None:
        """Say which line is to be written; the balance stays as it is unless it is given.

        The end of a release repeats the time of its opening: how long private work took may tell
        something about the rows, and ledgers are kept for ever.
        """
        before = self.summary
        balance, charges = balance or before.balance, max(before.charges, charge)
        sealed = {SEAL: seal(before.facts, charges, balance), "time": time or _now()}
        document = {"actor": _actor(), **facts, **sealed}
        self.line = next_line(before.lines + 1, charge, state.value, before.head, document)
        self.after = SimpleNamespace(
            facts=before.facts,
            lines=self.line.number,
            charges=charges,
            head=self.line.digest,
            balance=balance,
        )


class Ledger(AbstractLedger):
    """The ledger of one data set, in an SQLite file or on a PostgreSQL server.

    Every charge is on disk before rows are read. Any number of processes may charge at once;
    together they never spend more than the budget. Copies, clones and pickles are the same ledger.
    Make one with :meth:`create`.

    Parameters
    ----------
    where
        The path of a file, or an address such as ``postgresql://user@host/name``.
    dataset
        Which data set, if the ledger holds several.
    part
        Charge this declared part of the data alone: releases must read nothing else.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "patients.db"
    >>> _ = Ledger.create(path, Budget(1.0), dataset="patients", protects="one patient")
    >>> ledger = Ledger(path)
    >>> receipt = ledger.charge(Guarantee(Pure(0.75), AddRemoveOne()), purpose="a mean")
    >>> Ledger(path).remaining()
    0.25
    >>> [entry.state.value for entry in ledger.history()], ledger.verify().is_sound
    (['reserved'], True)
    >>> folder.cleanup()
    """

    is_durable = True

    def __init__(
        self, where: str | Path, dataset: str | None = None, *, part: str | None = None
    ) -> None:
        self._store = LedgerStore(where)
        self._store.open()
        with self._store.read() as transaction:
            self._id, self._facts = _find_dataset(transaction, dataset, self._store.identity)
        self.declared = DataSet.from_json(parse_or_none(self._facts))
        self._account = self.declared.account
        if part is not None:
            _checks.instance(str, part=part)
        self._account.check_part(part)
        self.part = part
        self._latest: Any = None  # the summary as this object wrote it last
        self._is_alone = False  # nobody else seems to charge at the same time

    @property
    def key(self) -> str:
        return self.declared.key

    @classmethod
    def create(
        cls,
        where: str | Path,
        budget: Budget,
        *,
        dataset: str = "data",
        unit: str | Unit = "add_remove",
        protects: str = ONE_RECORD,
        parts: Iterable[str] = (),
        rows_per_person: int = 1,
        person: str = "",
        notes: str = "",
    ) -> Ledger:
        """Create the ledger of a new data set; what is declared here never changes.

        Parameters
        ----------
        where
            The path of a file, or an address such as ``postgresql://user@host/name``. A ledger
            that is there already gets one more data set.
        budget
            What all releases about one record, or one person, together may spend.
        dataset
            A name for the data; case and white space do not tell names apart, and one that looks
            like another is refused.
        unit
            Who is protected: one record, or with ``"add_remove_person"`` and ``"replace_person"``
            all records of one person. A release that protects the other is refused.
        protects
            Who is to be protected, in plain words: one patient, one visit.
        parts
            Names of disjoint parts: each record belongs to one, by a public rule about it alone.
        rows_per_person
            How many records one of those that are protected has at most. Every release is charged
            as it protects so many together, and what states another number is refused. A unit of
            persons needs no such number.
        person
            The column whose values say whose record each is, under a unit of persons: schemas that
            name another column are refused, since patients are one unit and households another.
        notes
            Anything else to remember.
        """
        _checks.instance(Budget, budget=budget)
        check_text(dataset=dataset)
        dataset = tidy_name(dataset)
        declared = DataSet(
            dataset,
            unit_named(unit).name,
            protects,
            budget.epsilon,
            budget.delta,
            parts,  # type: ignore[arg-type]  # becomes a tuple once it is checked
            notes,
            opened_by=_actor(),
            opened_at=_now(),
            key=uuid.uuid4().hex,
            rows_per_person=rows_per_person,
            person=person,
        )
        store = LedgerStore(where)
        store.prepare()
        with store.change_tables() as transaction:
            _declare(transaction, declared, store.identity)
        return cls(where, dataset)

    @staticmethod
    def datasets(where: str | Path) -> tuple[DataSet, ...]:
        """Return what was declared about each data set of a ledger."""
        store = LedgerStore(where)
        store.open()
        with store.read() as transaction:
            found = transaction.fetch(sql.select(DATASETS.c.facts).order_by(DATASETS.c.id))
        return tuple(DataSet.from_json(parse_or_none(each.facts)) for each in found)

    @staticmethod
    def verify_all(
        where: str | Path, known: str | None = None, *, anchors: Iterable[Anchor] = ()
    ) -> tuple[Verification, ...]:
        """Verify all data sets of a ledger, readable or not.

        Parameters
        ----------
        where
            The path of a file, or the address of a server.
        known
            A digest that the history of one data set must contain; None if none is known.
        anchors
            Lines kept elsewhere, each of which must be in the history of one data set.

        Returns
        -------
        tuple of Verification
            One for each data set.
        """
        store = LedgerStore(where)
        store.open()
        with store.read() as transaction:
            stored = read_ledger(transaction)
        return verify_ledger(stored, known, tuple(anchors))

    @property
    def budget(self) -> Budget:
        return self.declared.budget

    @property
    def unit(self) -> Unit:
        return self._account.unit

    @property
    def dataset(self) -> str:
        return self.declared.name

    @property
    def protects(self) -> str:
        return self.declared.protects

    @property
    def rows_per_person(self) -> int:
        return self.declared.rows_per_person

    def check_declaration(
        self,
        source: str,
        unit: str,
        protects: str,
        rows_per_person: int | None,
        person: str = "",
    ) -> None:
        """Refuse a table whose schema counts other records, or persons, than this ledger does.

        Parameters
        ----------
        source
            Who says so, for the message.
        unit, protects, rows_per_person
            What is said of the table; None for a number that was not said.
        person
            The column of ids, if one is named.
        """
        if self.unit != unit_named(unit):
            raise UnitMismatch(
                f"the ledger protects the unit {self.unit.name!r}, {source} declares {unit!r}. Use "
                "the ledger's."
            )
        if self.protects != protects:
            raise InputError(
                f"the ledger protects {self.protects!r}, {source} says {protects!r}: is one "
                f"{'person' if self.unit.protects_persons else 'record'} "
                "of this table what the ledger counts? Write the same words under [data] protects, "
                "or create another ledger with --protects."
            )
        if not self.unit.protects_persons:
            check_rows_per_person(self, source, rows_per_person)
        elif self.declared.person not in ("", person):
            raise UnitMismatch(
                f"for the ledger a person is whoever shares a value of {self.declared.person!r}, "
                f"{source} names {person!r}. Name the same column under [data] person, or create "
                "another ledger: these are different units."
            )

    @property
    def place(self) -> str:
        """Where the ledger is, without user names and passwords."""
        return self._store.identity

    @property
    def identity(self) -> str:
        return f"{self.declared.name} in {self.place}, {self.declared.key[:8]}"

    def for_part(self, part: str) -> Ledger:
        """Return the same ledger, charging one declared part of the data alone."""
        return Ledger(self._store.address, self.declared.name, part=part)

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        self._account.check(guarantee)
        check_text(purpose=purpose)
        costs, token = self._account.costs(guarantee), uuid.uuid4().hex
        facts = {
            "guarantee": json.loads(guarantee.to_json()),
            "purpose": purpose,
            "part": self.part,
            "costs": costs_to_json(costs),
            "token": _hash_token(token),
            "version": _version(),
        }

        def decide(books: Books) -> None:
            balance = balance_of(books.summary)
            if self._account.admits(balance, guarantee, costs, self.part):
                after = dump_balance(self._account.add(balance, costs, self.part))
                books.add(books.summary.charges + 1, State.RESERVED, facts, after)

        with _say_no_row_was_read():
            books = self._attempt(decide)
            if books is None:
                with self._open_books() as books:
                    decide(books)
        if books.line is None:
            raise self._account.refusal(balance_of(books.summary), guarantee, self.part)
        return Receipt(books.line.charge, guarantee, self, token, books.line.digest)

    def redeem(self, receipt: Receipt) -> None:
        with _say_no_row_was_read():
            self._move(_check_receipt(receipt), State.RESERVED, State.OPENED)

    def settle(self, receipt: Receipt, state: State) -> None:
        check_end(state)
        self._move(_check_receipt(receipt), State.OPENED, state)

    def hand_over(self, receipt: Receipt, token: str) -> None:
        self._move(
            _check_receipt(receipt), State.OPENED, State.HANDED_OVER, {HANDED: _hash_token(token)}
        )

    def reclaim(self, receipt: Receipt) -> None:
        number = _check_receipt(receipt).number
        with self._open_books(LINES_OF_CHARGE, number=number) as books:
            own = _lines_of(number, books.lines)
            _recognise(receipt, self, own)
            state = _read_state(own[-1])
            if state is not State.OPENED:
                check_move(state, State.HANDED_OVER, State.OPENED)
                books.add(number, State.OPENED, {})

    def take_up(self, number: int, token: str, guarantee: Guarantee) -> Receipt:
        _checks.whole(number=number, at_least=1, at_most=MOST_CHARGES)
        fresh = uuid.uuid4().hex
        with self._open_books(LINES_OF_CHARGE, number=number) as books:
            own = _lines_of(number, books.lines)
            if own[0].document["guarantee"] != json.loads(guarantee.to_json()):
                raise ReceiptError(ANOTHER)
            _check_handed(own, token)
            books.add(number, State.OPENED, {"token": _hash_token(fresh)})
        return Receipt(number, guarantee, self, fresh, own[0].digest)

    def record_answers(
        self, number: int, count: int, head: str, *, after: str = ""
    ) -> tuple[int, str]:
        _checks.whole(number=number, at_least=1, at_most=MOST_CHARGES)
        _checks.whole(count=count, at_least=0)
        check_text(head=head, after=after)
        with self._open_books(LAST_OF_CHARGE, number=number) as books:
            (last,) = _lines_of(number, books.lines)
            there = _answers_of(last)
            if count > there[0] and after == there[1]:
                state = _read_state(last)
                if state.value not in STEPS[State.ANSWERING.value]:
                    raise ReceiptError(f"charge {number} is {state.value}; it pays for no answers.")
                there = count, head
                time = last.document["time"]  # when it was worked out is nobody's business
                books.add(number, State.ANSWERING, {ANSWERS: count, HEAD: head}, time=time)
        return there

    def refund(self, receipt: Receipt | int) -> None:
        """Give a charge back whose rows were never opened.

        By its number, if the process that held the receipt is gone: a receipt that turns up later
        opens nothing any more.
        """
        if not isinstance(receipt, Receipt):
            _checks.whole(number=receipt, at_least=1, at_most=MOST_CHARGES)
        self._move(receipt, State.RESERVED, State.REFUNDED)

    def refundable(self) -> tuple[Entry, ...]:
        """Return the charges whose rows were not opened.

        Their processes may still be about to open them, or may have died.
        """
        return tuple(entry for entry in self.history() if entry.is_refundable)

    def _move(
        self,
        receipt: Receipt | int,
        before: State,
        after: State,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        number = receipt.number if isinstance(receipt, Receipt) else receipt
        refunds, ends = after is State.REFUNDED, after in (State.RELEASED, State.FAILED)
        asked = {} if refunds else {"number": number}
        with self._open_books(LINES if refunds else LINES_OF_CHARGE, **asked) as books:
            own = _lines_of(number, books.lines)
            if isinstance(receipt, Receipt):
                _recognise(receipt, self, own)
            check_move(_read_state(own[-1]), before, after)
            balance = None
            if refunds:  # costs may be infinite and cannot be subtracted
                balance = dump_balance(self._standing_balance(books.lines, without=number))
            time = own[-1].document["time"] if ends else None
            books.add(number, after, facts or {}, balance, time)

    @contextmanager
    def _open_books(self, query: sql.Select[Any] | None = None, **which: int) -> Iterator[Books]:
        """Lend the summary, and lines that are asked for, to be added to.

        All of it is one transaction, which is on disk when this ends.
        """
        if runs_foreign_code():
            raise PrivacyError(UNPAID)
        seen = last_seen(self.key)
        asked: list[Asked] = [(SUMMARY, {"id": self._id, "seen": seen.line})]
        if query is not None:
            asked.append((query, {"id": self._id, **which}))
        with self._store.change(self._id) as transaction:
            found, *rows = transaction.ask(*asked)
            summary = check_summary(found, self._facts, seen, self.place)
            books = Books(summary, [line_of(row) for some in rows for row in some])
            yield books
            if books.line is not None:
                transaction.write(APPEND, books.line.row(self._id))
                transaction.write(KEEP, {"which": self._id, **vars(books.after)})
        latest, is_server = self._latest, not self._store.is_file
        self._is_alone = is_server and latest is not None and latest.head == summary.head
        self._remember_written(books)

    def _attempt(self, decide: Callable[[Books], None]) -> Books | None:
        """Decide on the summary as it was written last, and write if it still stands.

        For who seems to be alone on a server: one exchange of messages in place of two. Nothing is
        decided here that the ledger does not confirm: what is written is written only after the
        very lines that it was decided on. Refusals are not believed: something may have been
        refunded.
        """
        if not self._is_alone or runs_foreign_code():
            return None
        books, seen = Books(self._latest, []), last_seen(self.key)
        decide(books)
        if books.line is None or seen.digest != books.summary.head:
            return None
        facts = {"which": self._id, **vars(books.after), **books.line.row(self._id)}
        if not self._store.attempt(books.summary, facts):
            self._is_alone = False
            return None
        self._remember_written(books)
        return books

    def _remember_written(self, books: Books) -> None:
        """Remember what is on disk now."""
        if books.line is not None:
            remember(self.key, Mark(books.line.number, books.line.digest))
            self._latest = books.after

    def _standing_balance(self, lines: list[Line], *, without: int) -> Balance:
        """Add up what stands, afresh."""
        charges = {line.charge: line for line in lines if line.what == State.RESERVED.value}
        gone = {line.charge for line in lines if line.what == State.REFUNDED.value} | {without}
        balance = self._account.empty_balance()
        for number, line in charges.items():
            if number not in gone:
                costs = self._costs_of(line.document)
                balance = self._account.add(balance, costs, line.document["part"])
        return balance

    def _costs_of(self, document: Any) -> Costs:
        """Return what a charge costs; by the rules of today if it is of an older format."""
        if SEAL in document:
            return costs_from_json(document["costs"])
        return self._account.costs(Guarantee.from_json(json.dumps(document["guarantee"])))

    def history(self) -> tuple[Entry, ...]:
        with self._store.read() as transaction:
            lines = [line_of(each) for each in transaction.fetch(LINES, id=self._id)]
        seen = last_seen(self.key)
        if seen != NOTHING and seen not in {Mark(line.number, line.digest) for line in lines}:
            raise LedgerError(rollback_message(self.place, seen))
        last = {line.charge: (line, _read_state(line)) for line in lines if line.charge}
        return tuple(
            _read_entry(line, *last[line.charge], self.rows_per_person)
            for line in lines
            if line.what == State.RESERVED.value
        )

    def remaining(self, delta: float | None = None) -> float:
        if delta is None:
            return self.allowance().epsilon
        return self._account.remaining(self._balance(), delta, self.part)

    def allowance(self) -> Allowance:
        return self._account.allowance(self._balance(), self.part)

    def remaining_gaussian(self) -> float:
        """Return the epsilon that one more release with Gaussian noise may have: mostly more."""
        return self._account.remaining_gaussian(self._balance(), self.part)

    def used(self) -> float:
        """Return which share of the budget is used up, in the part where most is."""
        return self._account.used_share(self._balance(), self.part)

    def allowances(self) -> dict[str, list[float]]:
        """Return what could still be released after each charge, for each part.

        As if charges that were refunded had never been made. A data set without declared parts is
        one part, named "". The last numbers are those of :meth:`remaining` today.
        """
        balance = self._account.empty_balance()
        found: dict[str, list[float]] = {name: [] for name in balance}
        left = dict.fromkeys(balance, self.budget.epsilon)
        for entry in self.history():
            if entry.state is not State.REFUNDED:
                costs = self._account.costs(entry.guarantee)
                balance = self._account.add(balance, costs, entry.part)
                for name in self._account.affected_parts(entry.part):
                    left[name] = self._account.allowance(balance, name or None).epsilon
            for name, epsilon in left.items():
                found[name].append(epsilon)
        return found

    def _balance(self) -> Balance:
        return balance_of(self._summary())

    def _summary(self) -> Any:
        seen = last_seen(self.key)
        with self._store.read() as transaction:
            found = transaction.fetch(SUMMARY, id=self._id, seen=seen.line)
        return check_summary(found, self._facts, seen, self.place)

    def total(self, part: str | None = None) -> Guarantee | None:
        """Return the guarantee of everything charged, as if its parameters were fixed in advance.

        It is about one record; :meth:`spent` is about all that one person has. Mostly tighter than
        what the ledger enforces: the filters also cover analysts who choose later requests after
        seeing earlier releases. Of a part: what was charged to it and to the
        whole.
        """
        part = self.part if part is None else part
        self._account.check_part(part)
        charged = [
            entry.guarantee
            for entry in self.history()
            if entry.state is not State.REFUNDED and (part is None or entry.part in (None, part))
        ]
        return charged[0].compose(*charged[1:]) if charged else None

    def spent(self, delta: float) -> float:
        """Return the epsilon at ``delta`` of everything charged, as if fixed in advance.

        With declared parts it is that of the part which was charged most.
        """
        _checks.delta(delta=delta)
        parts = (self.part,) if self.part else self._account.parts or (None,)
        totals = [self.total(part) for part in parts]
        rows = self.rows_per_person
        return max(0.0 if each is None else total_epsilon(each, rows, delta) for each in totals)

    def anchor(self) -> Anchor:
        """Return the last line of the history, to be kept outside of the ledger.

        ``verify(anchors=...)`` says later whether the history still contains it. Text for a file
        is ``anchor().to_text()``.
        """
        found = self._summary()
        self._store.flush()  # what was read may be younger than the disk
        remember(self.key, Mark(found.lines, found.head))
        return Anchor(self.declared.name, self.key, found.lines, found.head, _now())

    def verify(self, known: str | None = None, *, anchors: Iterable[Anchor] = ()) -> Verification:
        """Check the ledger line by line and say what is wrong with it.

        ``known`` is a digest kept elsewhere, of an entry or of an earlier verification, and
        ``anchors`` are lines kept elsewhere: they show whether the history was rewritten as a
        whole, cut off, or an older copy put in its place.
        """
        with self._store.read() as transaction:
            books = read_books(transaction, self._id)
        return verify_books(books, known, tuple(anchors))

    def __repr__(self) -> str:
        part = "" if self.part is None else f", part={self.part!r}"
        return f"Ledger({self._store.identity!r}, {self.declared.name!r}{part})"

    def __reduce__(self) -> tuple[Any, ...]:
        seen = last_seen(self.key)
        mark = (self.key, seen.line, seen.digest)
        return _reopen, (self._store.address, self.declared.name, self.part, mark)


def _reopen(
    where: str, dataset: str, part: str | None, mark: tuple[str, int, str] = ("", 0, "")
) -> Ledger:
    """Open a ledger elsewhere, where what was seen of it is known as well."""
    key, line, digest = mark
    remember(key, Mark(line, digest))
    return Ledger(where, dataset, part=part)


def _declare(transaction: Transaction, declared: DataSet, place: str) -> None:
    if transaction.has(sql_tables.BOOKS):
        migrate(transaction)
    else:
        sql_tables.make(transaction)
    names = [each.name for each in transaction.fetch(sql.select(DATASETS.c.name))]
    there = next((name for name in names if are_same(name, declared.name)), None)
    if there is not None:
        raise InputError(
            f"{place!r} has a data set {there!r} already; open that ledger, or choose another "
            "name. Budgets are never reset."
        )
    if alike := find_look_alike(declared.name, names):
        raise InputError(
            f"{declared.name!r} looks like {alike!r}, which is a data set in {place!r}; choose a "
            "name that nobody takes for it."
        )
    facts, balance = dump_declaration(declared), dump_balance(declared.account.empty_balance())
    sealed = {"dataset": declared.to_json(), SEAL: seal(facts, 0, balance)}
    line = next_line(1, 0, DECLARED, BEGINNING, sealed)
    transaction.write(
        DATASETS.insert(),
        {
            "id": len(names) + 1,
            "name": declared.name,
            "facts": facts,
            "lines": 1,
            "charges": 0,
            "head": line.digest,
            "balance": balance,
        },
    )
    transaction.write(APPEND, line.row(len(names) + 1))


def _find_dataset(transaction: Transaction, name: str | None, place: str) -> tuple[int, str]:
    found = transaction.fetch(
        sql.select(DATASETS.c.id, DATASETS.c.name, DATASETS.c.facts).order_by(DATASETS.c.id)
    )
    names = ", ".join(repr(each.name) for each in found)
    if name is None and len(found) != 1:
        raise InputError(f"{place!r} has several data sets: {names}. Say which.")
    exact = [each for each in found if name in (None, each.name)]
    for each in exact or [each for each in found if are_same(str(name), each.name)]:
        return each.id, each.facts
    raise InputError(f"{place!r} has no data set {name!r}; it has {names or 'none'}.")


@contextmanager
def _say_no_row_was_read() -> Iterator[None]:
    try:
        yield
    except LedgerError as error:
        raise LedgerError(f"{error} No row was read.") from None


def _check_receipt(receipt: object) -> Receipt:
    if not isinstance(receipt, Receipt):
        raise ReceiptError(FOREIGN)
    return receipt


def _read_state(line: Line) -> State:
    try:
        return State(line.what)
    except ValueError:
        raise _reading_error(line) from None


def _reading_error(line: Line) -> LedgerError:
    return LedgerError(f"line {line.number} of the history cannot be read; run verify.")


def _lines_of(number: int, lines: list[Line]) -> list[Line]:
    """Return what happened to a charge, in order."""
    own = [line for line in lines if line.charge == number]
    if not own:
        raise ReceiptError(f"there is no charge {number} in this ledger.")
    return own


def _check_handed(own: list[Line], token: str) -> None:
    """Refuse a state that was taken up, is not the last one, or was never handed over."""
    state, handed = _read_state(own[-1]), [line.document.get(HANDED) for line in own]
    if _hash_token(token) not in handed:
        raise ReceiptError("this state was never handed over to this ledger; it cannot be resumed.")
    if state is State.HANDED_OVER and handed[-1] == _hash_token(token):
        return
    if state is State.HANDED_OVER:
        raise ReceiptError("a newer state of this interaction was handed over; resume that one.")
    raise ReceiptError(
        f"this state was taken up already, and its charge is {state.value}; a state is resumed "
        "once."
    )


def _recognise(receipt: Receipt, ledger: Ledger, own: list[Line]) -> None:
    """Refuse a receipt that is not the last one of its charge."""
    issuer, document = receipt.issuer, own[0].document
    is_here = isinstance(issuer, Ledger) and issuer.declared.key == ledger.declared.key
    tokens = [line.document["token"] for line in own if "token" in line.document]
    token = _hash_token(receipt.token)
    if not is_here or not tokens:
        raise ReceiptError(FOREIGN)
    if tokens[-1] != token:
        raise ReceiptError(TAKEN_UP if token in tokens else FOREIGN)
    if document["guarantee"] != json.loads(receipt.guarantee.to_json()):
        raise ReceiptError(ANOTHER)


def _answers_of(line: Line) -> tuple[int, str]:
    """Return how many answers there were, and their digest, by the last line of a charge."""
    return int(line.document.get(ANSWERS, 0)), str(line.document.get(HEAD, ""))


def _read_entry(line: Line, last: Line, state: State, rows_per_person: int) -> Entry:
    document = line.document
    try:
        return Entry(
            number=line.charge,
            guarantee=Guarantee.from_json(json.dumps(document["guarantee"])),
            purpose=document["purpose"],
            time=datetime.fromisoformat(document["time"]),
            state=state,
            part=document["part"],
            version=document["version"],
            actor=document["actor"],
            digest=line.digest,
            rows_per_person=rows_per_person,
            answers=_answers_of(last)[0],
        )
    except UNREADABLE:
        raise _reading_error(line) from None


def _hash_token(token: str) -> str:
    """Return what is stored of a token: enough to recognise it, not to make one."""
    return hashlib.sha256(token.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat()


@cache
def _actor() -> str:
    """Say who this is, as far as the machine knows."""
    try:
        user = getpass.getuser()
    except (KeyError, ImportError, OSError):  # a user without a name
        user = f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
    return f"{user}@{platform.node()}"


@cache
def _version() -> str:
    return importlib.metadata.version("discreet")
