"""A ledger that outlives its process, and that many processes share."""

from __future__ import annotations

import getpass
import hashlib
import importlib.metadata
import json
import os
import platform
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from discreet import _checks
from discreet.errors import InputError, LedgerError, ReceiptError
from discreet.ledger import tables
from discreet.ledger.abstract import (
    ANOTHER,
    FOREIGN,
    AbstractLedger,
    Entry,
    State,
    check_end,
    check_move,
)
from discreet.ledger.account import (
    Balance,
    balance_from_json,
    balance_to_json,
    costs_from_json,
    costs_to_json,
)
from discreet.ledger.chain import BEGINNING, Line, next_line, parsed
from discreet.ledger.dataset import DataSet, check_text
from discreet.ledger.receipt import Receipt
from discreet.ledger.store import Store
from discreet.ledger.tables import DATASETS, EVENTS
from discreet.ledger.verification import (
    DECLARED,
    LINES,
    SUMMARY,
    UNREADABLE,
    Verification,
    read_lines,
    verify_books,
    verify_ledger,
)
from discreet.privacy import Budget, Guarantee, Unit, unit_named

LINES_OF_CHARGE = LINES.where(EVENTS.c.charge == sql.bindparam("number"))
KEEP = (
    DATASETS.update()
    .where(DATASETS.c.id == sql.bindparam("which"))
    .values({name: sql.bindparam(name) for name in ("lines", "charges", "head", "balance")})
)


MOST_CHARGES = 2**31 - 1


class Ledger(AbstractLedger):
    """The books of one data set, in an SQLite file or on a PostgreSQL server.

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
    >>> round(Ledger(path).remaining(delta=0.0), 6)
    0.25
    >>> [entry.state.value for entry in ledger.history()], ledger.verify().is_sound
    (['reserved'], True)
    >>> folder.cleanup()
    """

    def __init__(
        self, where: str | Path, dataset: str | None = None, *, part: str | None = None
    ) -> None:
        self._store = Store(where)
        self._store.open()
        with self._store.reading() as connection:
            self._id, self._facts = _find(connection, dataset, self._store.identity)
        self.declared = DataSet.from_json(parsed(self._facts))
        self._account = self.declared.account
        if part is not None:
            _checks.instance(str, part=part)
        self._account.check_part(part)
        self.part = part

    @classmethod
    def create(
        cls,
        where: str | Path,
        budget: Budget,
        *,
        dataset: str = "data",
        unit: str | Unit = "add_remove",
        protects: str = "one record",
        parts: Iterable[str] = (),
        notes: str = "",
    ) -> Ledger:
        """Open the books of a new data set; what is declared here never changes.

        Parameters
        ----------
        where
            The path of a file, or an address such as ``postgresql://user@host/name``. A ledger
            that is there already gets one more data set.
        budget
            What all releases about one record together may spend.
        dataset
            A name for the data.
        unit
            Who is protected.
        protects
            What one record is, in plain words: one patient, one visit.
        parts
            Names of disjoint parts: each record belongs to one, by a public rule about it alone.
        notes
            Anything else to remember.
        """
        _checks.instance(Budget, budget=budget)
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
        )
        store = Store(where)
        store.prepare()
        with store.making() as connection:
            _open_books(connection, declared, store.identity)
        return cls(where, dataset)

    @staticmethod
    def datasets(where: str | Path) -> tuple[DataSet, ...]:
        """Return what was declared about each data set of a ledger."""
        store = Store(where)
        store.open()
        with store.reading() as connection:
            found = connection.execute(sql.select(DATASETS.c.facts).order_by(DATASETS.c.id))
            return tuple(DataSet.from_json(parsed(facts)) for facts in found.scalars())

    @staticmethod
    def verify_all(where: str | Path, known: str | None = None) -> tuple[Verification, ...]:
        """Go through all books of a ledger again, readable or not.

        ``known`` is a digest that one of them must contain.
        """
        store = Store(where)
        store.open()
        with store.reading() as connection:
            return verify_ledger(connection, known)

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
    def place(self) -> str:
        """Where the books are, without user names and passwords."""
        return self._store.identity

    @property
    def identity(self) -> str:
        return f"{self.declared.name} in {self.place}, {self.declared.key[:8]}"

    def for_part(self, part: str) -> Ledger:
        """Return the same books, charging one declared part of the data alone."""
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
            "token": _hidden(token),
            "version": _version(),
            "actor": _actor(),
        }
        with _before_rows(), self._store.writing() as connection:
            summary = self._store.locked(connection, self._id, self._facts)
            balance = _balance_of(summary)
            if self._account.admits(balance, guarantee, costs, self.part):
                after = self._account.add(balance, costs, self.part)
                number = summary.charges + 1
                line = self._append(connection, summary, number, State.RESERVED, facts, after)
                return Receipt(number, guarantee, self, token, line.digest)
        raise self._account.refusal(balance, guarantee, self.part)

    def redeem(self, receipt: Receipt) -> None:
        with _before_rows():
            self._move(_receipt(receipt), State.RESERVED, State.OPENED)

    def settle(self, receipt: Receipt, state: State) -> None:
        check_end(state)
        self._move(_receipt(receipt), State.OPENED, state)

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

    def _move(self, receipt: Receipt | int, before: State, after: State) -> None:
        number = receipt.number if isinstance(receipt, Receipt) else receipt
        with self._store.writing() as connection:
            summary = self._store.locked(connection, self._id, self._facts)
            lines = read_lines(connection, LINES_OF_CHARGE, id=self._id, number=number)
            if not lines:
                raise ReceiptError(f"there is no charge {number} in these books.")
            if isinstance(receipt, Receipt):
                _recognise(receipt, self, lines[0].document)
            check_move(_state(lines[-1]), before, after)
            self._append(connection, summary, number, after, {"actor": _actor()})
            if after is State.REFUNDED:
                balance = self._standing_balance(connection)
                connection.execute(
                    DATASETS.update()
                    .where(DATASETS.c.id == self._id)
                    .values(balance=_dump(balance))
                )

    def _append(
        self,
        connection: sql.Connection,
        summary: Any,
        charge: int,
        state: State,
        facts: dict[str, Any],
        balance: Balance | None = None,
    ) -> Line:
        facts = {**facts, "time": _now()}
        line = next_line(summary.lines + 1, charge, state.value, summary.head, facts)
        _write(connection, self._id, line)
        connection.execute(
            KEEP,
            {
                "which": self._id,
                "lines": line.number,
                "charges": max(summary.charges, charge),
                "head": line.digest,
                "balance": summary.balance if balance is None else _dump(balance),
            },
        )
        return line

    def _standing_balance(self, connection: sql.Connection) -> Balance:
        """Add up what stands; afresh, because infinite costs cannot be subtracted."""
        charges: dict[int, Any] = {}
        for line in read_lines(connection, LINES, id=self._id):
            if line.what == State.RESERVED.value:
                charges[line.charge] = line.document
            elif line.what == State.REFUNDED.value:
                del charges[line.charge]
        balance = self._account.nothing()
        for document in charges.values():
            costs = costs_from_json(document["costs"])
            balance = self._account.add(balance, costs, document["part"])
        return balance

    def history(self) -> tuple[Entry, ...]:
        with self._store.reading() as connection:
            lines = read_lines(connection, LINES, id=self._id)
        states = {line.charge: _state(line) for line in lines if line.charge}
        return tuple(
            _entry(line, states[line.charge]) for line in lines if line.what == State.RESERVED.value
        )

    def remaining(self, delta: float) -> float:
        return self._account.remaining(self._balance(), delta, self.part)

    def used(self) -> float:
        """Return which share of the budget is used up, in the part where most is."""
        return self._account.used(self._balance(), self.part)

    def use(self) -> dict[str, list[float]]:
        """Return the share of the budget that was used after each charge, for each part.

        As if charges that were refunded had never been made. A data set without declared parts is
        one part, named "".
        """
        balance = self._account.nothing()
        shares: dict[str, list[float]] = {name: [] for name in balance}
        for entry in self.history():
            if entry.state is not State.REFUNDED:
                costs = self._account.costs(entry.guarantee)
                balance = self._account.add(balance, costs, entry.part)
            for name, standing in balance.items():
                shares[name].append(self._account.share(standing))
        return shares

    def _balance(self) -> Balance:
        with self._store.reading() as connection:
            return _balance_of(connection.execute(SUMMARY, {"id": self._id}).one())

    def total(self, part: str | None = None) -> Guarantee | None:
        """Return the guarantee of everything charged, as if its parameters were fixed in advance.

        It is tighter than what the ledger enforces: the filters also cover analysts who choose
        later requests after seeing earlier releases. Of a part: what was charged to it and to the
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
        return max(0.0 if total is None else total.epsilon(delta) for total in totals)

    def verify(self, known: str | None = None) -> Verification:
        """Go through the books again and say what is wrong with them.

        ``known`` is a digest kept elsewhere, of an entry or of an earlier verification: it shows
        whether the history was rewritten as a whole, or cut off.
        """
        with self._store.reading() as connection:
            return verify_books(connection, self._id, known)

    def __repr__(self) -> str:
        part = "" if self.part is None else f", part={self.part!r}"
        return f"Ledger({self._store.identity!r}, {self.declared.name!r}{part})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._store.address, self.declared.name, self.part)


def _reopened(where: str, dataset: str, part: str | None) -> Ledger:
    return Ledger(where, dataset, part=part)


def _open_books(connection: sql.Connection, declared: DataSet, place: str) -> None:
    if tables.is_made(connection):
        tables.migrate(connection)
    else:
        tables.make(connection)
    names = connection.execute(sql.select(DATASETS.c.name)).scalars().all()
    if declared.name in names:
        raise InputError(
            f"{place!r} has books of a data set {declared.name!r} already; open them, or choose "
            "another name. Budgets are never reset."
        )
    line = next_line(1, 0, DECLARED, BEGINNING, {"dataset": declared.to_json()})
    connection.execute(
        DATASETS.insert(),
        {
            "id": len(names) + 1,
            "name": declared.name,
            "facts": json.dumps(declared.to_json()),
            "lines": 1,
            "charges": 0,
            "head": line.digest,
            "balance": _dump(declared.account.nothing()),
        },
    )
    _write(connection, len(names) + 1, line)


def _find(connection: sql.Connection, name: str | None, place: str) -> tuple[int, str]:
    found = connection.execute(
        sql.select(DATASETS.c.id, DATASETS.c.name, DATASETS.c.facts).order_by(DATASETS.c.id)
    ).all()
    names = ", ".join(repr(each.name) for each in found)
    if name is None and len(found) != 1:
        raise InputError(f"{place!r} has books of several data sets: {names}. Say which.")
    for each in found:
        if name in (None, each.name):
            return each.id, each.facts
    raise InputError(f"{place!r} has no books of a data set {name!r}; it has {names or 'none'}.")


@contextmanager
def _before_rows() -> Iterator[None]:
    try:
        yield
    except LedgerError as error:
        raise LedgerError(f"{error} No row was read.") from None


def _receipt(receipt: object) -> Receipt:
    if not isinstance(receipt, Receipt):
        raise ReceiptError(FOREIGN)
    return receipt


def _state(line: Line) -> State:
    try:
        return State(line.what)
    except ValueError:
        raise _unreadable(line) from None


def _unreadable(line: Line) -> LedgerError:
    return LedgerError(f"line {line.number} of the history cannot be read; run verify.")


def _balance_of(summary: Any) -> Balance:
    try:
        return balance_from_json(parsed(summary.balance))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise LedgerError("the balance of these books cannot be read.") from None


def _recognise(receipt: Receipt, ledger: Ledger, document: Any) -> None:
    issuer = receipt.issuer
    is_here = isinstance(issuer, Ledger) and issuer.declared.key == ledger.declared.key
    if not is_here or document["token"] != _hidden(receipt.token):
        raise ReceiptError(FOREIGN)
    if document["guarantee"] != json.loads(receipt.guarantee.to_json()):
        raise ReceiptError(ANOTHER)


def _entry(line: Line, state: State) -> Entry:
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
        )
    except UNREADABLE:
        raise _unreadable(line) from None


def _write(connection: sql.Connection, dataset: int, line: Line) -> None:
    connection.execute(
        EVENTS.insert(),
        {
            "dataset": dataset,
            "line": line.number,
            "charge": line.charge,
            "what": line.what,
            "text": line.text,
            "digest": line.digest,
        },
    )


def _dump(balance: Balance) -> str:
    return json.dumps(balance_to_json(balance))


def _hidden(token: str) -> str:
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
