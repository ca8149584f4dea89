"""Ledgers that live as long as their process: entries and receipts in memory, one identity.

:class:`MemoryLedger` enforces a budget by privacy filters, :class:`NoLedger` limits nothing, and
:class:`LostLedger` stands where a pickle arrives in a process that does not hold the ledger.
"""

from __future__ import annotations

import math
import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from discreet import _checks
from discreet._page import notebook_html, sentence_html
from discreet.errors import LedgerError, PrivacyError, ReceiptError
from discreet.ledger.abstract import (
    ANOTHER,
    FOREIGN,
    AbstractLedger,
    Entry,
    State,
    check_end,
    check_move,
    total_epsilon,
)
from discreet.ledger.account import Account
from discreet.ledger.allowance import Allowance
from discreet.ledger.receipt import Receipt
from discreet.privacy import Budget, Guarantee, Unit
from discreet.privacy.guarantee import in_three_digits as up

ELSEWHERE = (
    "this in-memory ledger lives in another process, or is gone; processes share a ledger on disk, "
    'Ledger.create("patients.db", budget). Use that, or n_jobs=1.'
)

INTERRUPTED = (
    "this thread was interrupted in the midst of a charge to this ledger; nothing was charged. Do "
    "not fit in a signal handler, or give it a ledger of its own."
)

_alive: WeakValueDictionary[str, InMemory] = WeakValueDictionary()


class InMemory(AbstractLedger):
    """Keeps entries and receipts; what may be charged is for a subclass to decide.

    The state machine of charges, behind a lock.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._tokens: dict[int, str] = {}
        self._lock, self._is_busy = threading.RLock(), False
        self._name = uuid.uuid4().hex
        self._process = os.getpid()
        _alive[self._name] = self

    @property
    def identity(self) -> str:
        return f"memory:{self._name}"

    @contextmanager
    def _take_turn(self) -> Iterator[None]:
        """Let one caller at a time decide and write, and refuse who interrupts it in its thread.

        A signal handler runs in the midst of the main thread. To let it in would decide two charges
        on one balance; to let it wait would be for ever. No call stands between taking the lock and
        saying so, since handlers run at calls.
        """
        with self._lock:
            if self._is_busy:
                raise LedgerError(INTERRUPTED)
            self._is_busy = True
            try:
                yield
            finally:
                self._is_busy = False

    def _write(self, guarantee: Guarantee, purpose: str, state: State) -> Receipt:
        """Add an entry; the caller has checked it, and it is its turn."""
        number = len(self._entries) + 1
        rows = self.rows_per_person or 1
        now = datetime.now(UTC)
        self._entries.append(Entry(number, guarantee, purpose, now, state, rows_per_person=rows))
        self._tokens[number] = uuid.uuid4().hex
        return Receipt(number, guarantee, self, self._tokens[number])

    def redeem(self, receipt: Receipt) -> None:
        self._move(receipt, State.RESERVED, State.OPENED)

    def settle(self, receipt: Receipt, state: State) -> None:
        check_end(state)
        self._move(receipt, State.OPENED, state)

    def refund(self, receipt: Receipt) -> None:
        self._move(receipt, State.RESERVED, State.REFUNDED)

    def _check_process(self) -> None:
        """Refuse in a forked process: there the ledger is a copy, and would be spent twice."""
        if os.getpid() != self._process:
            raise PrivacyError(ELSEWHERE)

    def _move(self, receipt: Receipt, before: State, after: State) -> None:
        self._check_process()
        with self._take_turn():
            self._exchange(receipt, before, after)

    def _exchange(self, receipt: Receipt, before: State, after: State) -> None:
        """Write another state; it is the caller's turn."""
        if receipt.issuer is not self or self._tokens.get(receipt.number) != receipt.token:
            raise ReceiptError(FOREIGN)
        entry = self._entries[receipt.number - 1]
        if receipt.guarantee != entry.guarantee:
            raise ReceiptError(ANOTHER)
        check_move(entry.state, before, after)
        self._entries[receipt.number - 1] = replace(entry, state=after)

    def history(self) -> tuple[Entry, ...]:
        return tuple(self._entries)

    def standing(self) -> list[Guarantee]:
        """Return what was charged and not refunded."""
        return [entry.guarantee for entry in self.history() if entry.state is not State.REFUNDED]

    def total(self) -> Guarantee | None:
        """Return the guarantee of everything charged, as if its parameters were fixed in advance.

        It is about one record; :meth:`spent` is about all that one person has. Mostly tighter than
        what the ledger enforces: the filters also cover analysts who choose later requests after
        seeing earlier releases.
        """
        charged = self.standing()
        return charged[0].compose(*charged[1:]) if charged else None

    def spent(self, delta: float) -> float:
        total = self.total()
        return 0.0 if total is None else total_epsilon(total, self.rows_per_person or 1, delta)

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_alive, (self._name,)


def _find_alive(name: str) -> AbstractLedger:
    """Return the ledger of that name; one that refuses everything if it is not in this process."""
    return _alive.get(name) or LostLedger()


class MemoryLedger(InMemory):
    """Holds a budget in memory; copies, clones and pickles are *the same* ledger.

    A first request is checked against its exact profile. After that, requests may depend on what
    earlier releases showed, and the filters of ``ledger/filters.py`` decide.

    Parameters
    ----------
    budget
        What all releases together may spend; it must be finite.
    unit
        Who is protected: every release must protect the same.
    rows_per_person
        How many records one person has at most: a release is charged as it protects so many. A
        unit of persons needs no such number.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> receipt = ledger.charge(Guarantee(Pure(0.75), AddRemoveOne()), purpose="a mean")
    >>> ledger.remaining()
    0.25
    >>> print(ledger.allowance().sentence())
    You may still release epsilon 0.25; the budget guarantees 1 in all.
    >>> ledger.charge(Guarantee(Pure(0.5), AddRemoveOne()))
    Traceback (most recent call last):
        ...
    discreet.errors.BudgetExceeded: the budget (epsilon = 1, delta = 0) cannot pay for this ...
    """

    def __init__(
        self, budget: Budget, unit: str | Unit = "add_remove", *, rows_per_person: int = 1
    ) -> None:
        self._account = Account(budget, unit, rows_per_person=rows_per_person)
        self.budget, self.unit = self._account.budget, self._account.unit
        self._balance = self._account.empty_balance()
        super().__init__()

    @property
    def rows_per_person(self) -> int:
        return self._account.rows_per_person

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        self._account.check(guarantee)
        self._check_process()
        costs = self._account.costs(guarantee)
        with self._take_turn():
            self._balance = self._account.pay(self._balance, guarantee, costs)
            return self._write(guarantee, purpose, State.RESERVED)

    def refund(self, receipt: Receipt) -> None:
        self._check_process()
        with self._take_turn():
            self._exchange(receipt, State.RESERVED, State.REFUNDED)
            balance = self._account.empty_balance()  # afresh: infinite costs cannot be subtracted
            for guarantee in self.standing():
                balance = self._account.add(balance, self._account.costs(guarantee), None)
            self._balance = balance

    def remaining(self, delta: float | None = None) -> float:
        if delta is None:
            return self.allowance().epsilon
        return self._account.remaining(self._balance, delta)

    def allowance(self) -> Allowance:
        return self._account.allowance(self._balance)

    def __repr__(self) -> str:
        return f"MemoryLedger(Budget({up(self.budget.epsilon)}, {self.budget.delta:g}))"


class NoLedger(AbstractLedger):
    """No ledger: every charge is accepted, receipts still open rows only once.

    Examples
    --------
    >>> NoLedger().remaining(delta=0.0)
    inf
    """

    def __init__(self) -> None:
        self._states: dict[str, State] = {}
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        return ""

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        _checks.instance(Guarantee, guarantee=guarantee)
        token = uuid.uuid4().hex
        with self._lock:
            self._states[token] = State.RESERVED
        return Receipt(0, guarantee, self, token)

    def redeem(self, receipt: Receipt) -> None:
        with self._lock:
            if self._states.pop(receipt.token, None) is not State.RESERVED:
                raise ReceiptError("this receipt has been used, or was not written here.")

    def settle(self, receipt: Receipt, state: State) -> None:
        """Nothing is kept."""

    def refund(self, receipt: Receipt) -> None:
        self.redeem(receipt)

    def history(self) -> tuple[Entry, ...]:
        return ()

    def remaining(self, delta: float | None = None) -> float:
        return math.inf

    def spent(self, delta: float) -> float:
        return 0.0


@dataclass(eq=False, repr=False)
class LostLedger(AbstractLedger):
    """What a ledger becomes where it cannot be found: it refuses everything, with the reason.

    Examples
    --------
    >>> LostLedger().remaining(1e-6)
    Traceback (most recent call last):
        ...
    discreet.errors.PrivacyError: this in-memory ledger lives in another process, or is gone; ...
    """

    reason: str = ELSEWHERE

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise PrivacyError(self.reason)

    charge = redeem = settle = refund = hand_over = take_up = reclaim = history = remaining = (
        spent
    ) = allowance = record_answers = _refuse

    @property
    def identity(self) -> str:
        return "a ledger that is not here"

    def _repr_html_(self) -> str:
        return notebook_html("A ledger that is not here", sentence_html(self.reason))

    def __repr__(self) -> str:
        return "LostLedger()"
