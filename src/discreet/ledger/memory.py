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

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import (
    BudgetExceeded,
    InputError,
    PrivacyError,
    ReceiptError,
    RehearsalRefused,
    UnitMismatch,
)
from discreet.ledger.filters import ROUNDING, Filter, filters_for
from discreet.ledger.ledger import Entry, Ledger, State
from discreet.ledger.receipt import Receipt
from discreet.privacy import (
    Approximate,
    Budget,
    Guarantee,
    Profile,
    Pure,
    Unit,
    unit_named,
)

ELSEWHERE = "this in-memory ledger lives in another process, or is gone; share a durable ledger."

_alive: WeakValueDictionary[str, MemoryLedger] = WeakValueDictionary()


class MemoryLedger(Ledger):
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
        _checks.instance(Budget, budget=budget)
        if not budget.is_private:
            raise InputError("a ledger needs a finite epsilon; use ledger=None to keep no books.")
        self.budget = budget
        self.unit = unit_named(unit)
        self._filters: tuple[Filter, ...] = filters_for(budget)
        self._entries: list[Entry] = []
        self._costs: list[tuple[Vector, ...]] = []
        self._spent = self._sums()
        self._tokens: dict[int, str] = {}
        self._lock = threading.RLock()
        self._name = uuid.uuid4().hex
        self._process = os.getpid()
        _alive[self._name] = self

    @property
    def identity(self) -> str:
        return f"memory:{self._name}"

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        _checks.instance(Guarantee, guarantee=guarantee)
        if guarantee.unit != self.unit:
            raise UnitMismatch(
                f"this ledger protects the unit {self.unit.name!r}; the release protects "
                f"{guarantee.unit.name!r}. Plan it for the ledger's unit."
            )
        if not guarantee.is_private:
            raise RehearsalRefused(
                "a ledger records private releases only; rehearsals and infinite budgets are not. "
                "Leave the ledger out to rehearse."
            )
        self._check_process()
        with self._lock:
            costs = tuple(rule.cost(guarantee) for rule in self._filters)
            if not self._admits(guarantee, costs):
                raise BudgetExceeded(
                    f"the budget (epsilon = {self.budget.epsilon:g}, "
                    f"delta = {self.budget.delta:g}) cannot pay for this release "
                    f"(epsilon = {guarantee.epsilon():.3g} at delta = "
                    f"{guarantee.quoted_delta:.3g}); {self.remaining(guarantee.quoted_delta):.3g} "
                    "is left there. No row was read."
                )
            number = len(self._entries) + 1
            entry = Entry(number, guarantee, purpose, datetime.now(UTC), State.RESERVED)
            self._entries.append(entry)
            self._costs.append(costs)
            self._spent = tuple(
                spent + cost for spent, cost in zip(self._spent, costs, strict=True)
            )
            self._tokens[number] = uuid.uuid4().hex
            return Receipt(number, guarantee, self, self._tokens[number])

    def _admits(self, guarantee: Guarantee, costs: tuple[Vector, ...]) -> bool:
        if (
            not self._standing()
            and guarantee.delta(self.budget.epsilon * ROUNDING) <= self.budget.delta
        ):
            return True
        return any(
            rule.admits(spent + cost)
            for rule, spent, cost in zip(self._filters, self._spent, costs, strict=True)
        )

    def _sums(self) -> tuple[Vector, ...]:
        """Add up what stands; afresh, because infinite costs cannot be subtracted."""
        standing = self._standing()
        return tuple(
            np.sum([self._costs[i][j] for i in standing], axis=0) + np.zeros_like(rule.limit)
            for j, rule in enumerate(self._filters)
        )

    def _standing(self) -> list[int]:
        """Return the positions of the charges that were not refunded."""
        return [i for i, entry in enumerate(self._entries) if entry.state is not State.REFUNDED]

    def redeem(self, receipt: Receipt) -> None:
        self._move(receipt, State.RESERVED, State.OPENED)

    def settle(self, receipt: Receipt, state: State) -> None:
        if state not in (State.RELEASED, State.FAILED):
            raise InputError("a receipt ends as released or failed.")
        self._move(receipt, State.OPENED, state)

    def refund(self, receipt: Receipt) -> None:
        with self._lock:
            self._move(receipt, State.RESERVED, State.REFUNDED)
            self._spent = self._sums()

    def _check_process(self) -> None:
        """Refuse in a forked process: there the books are a copy, and would be spent twice."""
        if os.getpid() != self._process:
            raise PrivacyError(ELSEWHERE)

    def _move(self, receipt: Receipt, before: State, after: State) -> None:
        self._check_process()
        with self._lock:
            if receipt.issuer is not self or self._tokens.get(receipt.number) != receipt.token:
                raise ReceiptError("this receipt was not written by this ledger.")
            entry = self._entries[receipt.number - 1]
            if receipt.guarantee != entry.guarantee:
                raise ReceiptError("this receipt was written for another guarantee.")
            if entry.state is not before:
                raise ReceiptError(
                    f"this receipt is {entry.state.value}; only one that is {before.value} can "
                    f"become {after.value}. Charge again for another release."
                )
            self._entries[receipt.number - 1] = replace(entry, state=after)

    def history(self) -> tuple[Entry, ...]:
        with self._lock:
            return tuple(self._entries)

    def remaining(self, delta: float) -> float:
        _checks.delta(delta=delta)
        with self._lock:
            low, high = 0.0, self.budget.epsilon
            if self._would_admit(high, delta):
                return high
            for _ in range(50):
                middle = (low + high) / 2
                low, high = (middle, high) if self._would_admit(middle, delta) else (low, middle)
            return low

    def _would_admit(self, epsilon: float, delta: float) -> bool:
        profile: Profile = Approximate(epsilon, delta) if delta else Pure(epsilon)
        request = Guarantee(profile, self.unit, quoted_delta=delta)
        return self._admits(request, tuple(rule.cost(request) for rule in self._filters))

    def total(self) -> Guarantee | None:
        """Return the guarantee of everything charged, as if its parameters were fixed in advance.

        It is tighter than what the ledger enforces: the filters also cover analysts who choose
        later requests after seeing earlier releases.
        """
        with self._lock:
            charged = [self._entries[i].guarantee for i in self._standing()]
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


def _find(name: str) -> Ledger:
    """Return the ledger of that name; one that refuses everything if it is not in this process."""
    return _alive.get(name) or LostLedger()


class LostLedger(Ledger):
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


class NoLedger(Ledger):
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
