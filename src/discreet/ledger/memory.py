"""A ledger that lives as long as its process."""

from __future__ import annotations

import math
import threading
import uuid

from discreet import _checks
from discreet.errors import ReceiptError
from discreet.ledger.abstract import AbstractLedger, Entry, State
from discreet.ledger.account import Account
from discreet.ledger.in_memory import InMemory
from discreet.ledger.receipt import Receipt
from discreet.privacy import Budget, Guarantee, Unit


class MemoryLedger(InMemory):
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
        super().__init__()

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        self._account.check(guarantee)
        self._check_process()
        costs = self._account.costs(guarantee)
        with self._turn():
            self._balance = self._account.pay(self._balance, guarantee, costs)
            return self._write(guarantee, purpose, State.RESERVED)

    def refund(self, receipt: Receipt) -> None:
        self._check_process()
        with self._turn():
            self._exchange(receipt, State.RESERVED, State.REFUNDED)
            balance = self._account.nothing()  # afresh: infinite costs cannot be subtracted
            for guarantee in self.standing():
                balance = self._account.add(balance, self._account.costs(guarantee), None)
            self._balance = balance

    def remaining(self, delta: float) -> float:
        return self._account.remaining(self._balance, delta)

    def __repr__(self) -> str:
        return f"MemoryLedger(Budget({self.budget.epsilon:g}, {self.budget.delta:g}))"


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
