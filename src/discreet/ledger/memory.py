"""A ledger that lives as long as its process."""

from __future__ import annotations

import math
import os
import threading
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from discreet import _checks
from discreet.errors import PrivacyError, ReceiptError
from discreet.ledger.abstract import (
    ANOTHER,
    FOREIGN,
    AbstractLedger,
    Entry,
    State,
    check_end,
    check_move,
)
from discreet.ledger.account import Account
from discreet.ledger.receipt import Receipt
from discreet.privacy import Budget, Guarantee, Unit

ELSEWHERE = "this in-memory ledger lives in another process, or is gone; share a durable ledger."

_alive: WeakValueDictionary[str, MemoryLedger] = WeakValueDictionary()


class MemoryLedger(AbstractLedger):
    """Holds a budget in memory; copies, clones and pickles are *the same* ledger.

    A first request is checked against its exact profile. After that, requests may depend on what
    earlier releases showed, and the filters of :mod:`discreet.ledger.filters` decide.

    Parameters
    ----------
    budget
        What all releases together may spend; it must be finite.
    unit
        Who is protected: every release must protect the same.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> receipt = ledger.charge(Guarantee(Pure(0.75), AddRemoveOne()), purpose="a mean")
    >>> round(ledger.remaining(delta=0.0), 6)
    0.25
    >>> ledger.charge(Guarantee(Pure(0.5), AddRemoveOne()))
    Traceback (most recent call last):
        ...
    discreet.errors.BudgetExceeded: the budget (epsilon = 1, delta = 0) cannot pay for this ...
    """

    def __init__(self, budget: Budget, unit: str | Unit = "add_remove") -> None:
        self._account = Account(budget, unit)
        self.budget, self.unit = self._account.budget, self._account.unit
        self._balance = self._account.nothing()
        self._entries: list[Entry] = []
        self._tokens: dict[int, str] = {}
        self._lock = threading.RLock()
        self._name = uuid.uuid4().hex
        self._process = os.getpid()
        _alive[self._name] = self

    @property
    def identity(self) -> str:
        return f"memory:{self._name}"

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        self._account.check(guarantee)
        self._check_process()
        costs = self._account.costs(guarantee)
        with self._lock:
            self._balance = self._account.pay(self._balance, guarantee, costs)
            number = len(self._entries) + 1
            entry = Entry(number, guarantee, purpose, datetime.now(UTC), State.RESERVED)
            self._entries.append(entry)
            self._tokens[number] = uuid.uuid4().hex
            return Receipt(number, guarantee, self, self._tokens[number])

    def redeem(self, receipt: Receipt) -> None:
        self._move(receipt, State.RESERVED, State.OPENED)

    def settle(self, receipt: Receipt, state: State) -> None:
        check_end(state)
        self._move(receipt, State.OPENED, state)

    def refund(self, receipt: Receipt) -> None:
        with self._lock:
            self._move(receipt, State.RESERVED, State.REFUNDED)
            balance = self._account.nothing()  # afresh: infinite costs cannot be subtracted
            for guarantee in self._standing():
                balance = self._account.add(balance, self._account.costs(guarantee), None)
            self._balance = balance

    def _standing(self) -> list[Guarantee]:
        return [entry.guarantee for entry in self._entries if entry.state is not State.REFUNDED]

    def _check_process(self) -> None:
        """Refuse in a forked process: there the books are a copy, and would be spent twice."""
        if os.getpid() != self._process:
            raise PrivacyError(ELSEWHERE)

    def _move(self, receipt: Receipt, before: State, after: State) -> None:
        self._check_process()
        with self._lock:
            if receipt.issuer is not self or self._tokens.get(receipt.number) != receipt.token:
                raise ReceiptError(FOREIGN)
            entry = self._entries[receipt.number - 1]
            if receipt.guarantee != entry.guarantee:
                raise ReceiptError(ANOTHER)
            check_move(entry.state, before, after)
            self._entries[receipt.number - 1] = replace(entry, state=after)

    def history(self) -> tuple[Entry, ...]:
        with self._lock:
            return tuple(self._entries)

    def remaining(self, delta: float) -> float:
        with self._lock:
            return self._account.remaining(self._balance, delta)

    def total(self) -> Guarantee | None:
        """Return the guarantee of everything charged, as if its parameters were fixed in advance.

        It is tighter than what the ledger enforces: the filters also cover analysts who choose
        later requests after seeing earlier releases.
        """
        with self._lock:
            charged = self._standing()
        return charged[0].compose(*charged[1:]) if charged else None

    def spent(self, delta: float) -> float:
        total = self.total()
        return 0.0 if total is None else total.epsilon(delta)

    def __repr__(self) -> str:
        return f"MemoryLedger(Budget({self.budget.epsilon:g}, {self.budget.delta:g}))"

    def __copy__(self) -> MemoryLedger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryLedger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _find, (self._name,)


def _find(name: str) -> AbstractLedger:
    """Return the ledger of that name; one that refuses everything if it is not in this process."""
    return _alive.get(name) or LostLedger()


class LostLedger(AbstractLedger):
    """What a pickled ledger becomes in a process that does not have it.

    Examples
    --------
    >>> LostLedger().remaining(1e-6)
    Traceback (most recent call last):
        ...
    discreet.errors.PrivacyError: this in-memory ledger lives in another process, or is gone; ...
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise PrivacyError(ELSEWHERE)

    charge = redeem = settle = refund = history = remaining = spent = _refuse

    @property
    def identity(self) -> str:
        return "a ledger that is not here"


class NoLedger(AbstractLedger):
    """Keeps no books: every charge is accepted, receipts still open rows only once.

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

    def remaining(self, delta: float) -> float:
        return math.inf

    def spent(self, delta: float) -> float:
        return 0.0
