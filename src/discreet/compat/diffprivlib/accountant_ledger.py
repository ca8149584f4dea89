r"""The ledger behind an accountant: sums of epsilons and deltas, and a slack for many small ones.

Two filters of :mod:`discreet.ledger.filters` decide, and a request is charged if one of them
admits the whole sequence: the sums of quoted epsilons and deltas, within ``epsilon`` and
``delta - slack``; and a Renyi filter, within ``epsilon`` and ``slack``. Their deltas add up to
``delta``, so everything charged together keeps the ceiling though requests are chosen after seeing
earlier releases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from discreet import _checks
from discreet.compat.diffprivlib.exceptions import BudgetError
from discreet.errors import RehearsalRefused, UnitMismatch
from discreet.ledger import AbstractLedger, Receipt, State
from discreet.ledger.abstract import Entry
from discreet.ledger.allowance import USUAL_DELTA
from discreet.ledger.decimal_amounts import EXACT, Amounts, add_up, amount, amounts, is_within
from discreet.ledger.filters import RENYI_SHARE, RenyiFilter, quoted_pair
from discreet.ledger.memory import InMemory
from discreet.privacy import Approximate, Budget, Guarantee, NoPrivacy, Profile, Pure, Unit
from discreet.privacy.guarantee import down_to_three_digits as down
from discreet.privacy.guarantee import in_three_digits as up

HAIR = 1e-9
"""By how much a release may fall short of the epsilon asked and still be charged at that."""


@dataclass(frozen=True)
class Spend:
    """A charge: what is promised, and the epsilon and delta it is charged at."""

    guarantee: Guarantee
    epsilon: float
    delta: float


class AccountantLedger(InMemory):
    """The charges of an accountant; copies and pickles are *the same* ledger.

    An infinite epsilon sets no ceiling: everything private is charged.

    Examples
    --------
    >>> from discreet.privacy import ReplaceOne
    >>> books = AccountantLedger(1.0, 0.0, 0.0, ReplaceOne())
    >>> receipt = books.charge(Guarantee(Pure(0.75), ReplaceOne()))
    >>> round(books.remaining(delta=0.0), 6), books.sums()
    (0.25, (0.75, 0.0))
    """

    def __init__(self, epsilon: float, delta: float, slack: float, unit: Unit) -> None:
        self.epsilon, self.delta, self.slack, self.unit = epsilon, delta, slack, unit
        self._asked: dict[int, Spend] = {}
        super().__init__()

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        _checks.instance(Guarantee, guarantee=guarantee)
        if not guarantee.is_private:
            raise RehearsalRefused(
                "an accountant records private releases only; this one promises nothing, because "
                "its epsilon is infinite or its noise is seeded."
            )
        return self.book(_spend_as_quoted(guarantee), purpose)

    def record(self, epsilon: float, delta: float, purpose: str = "") -> None:
        """Charge what was spent elsewhere."""
        self.book(self.request(epsilon, delta), purpose, State.RELEASED)

    def request(self, epsilon: float, delta: float) -> Spend:
        """Return a spend of which no more is known than this."""
        if math.isinf(epsilon) or delta == 1:
            return Spend(Guarantee(NoPrivacy(), self.unit), epsilon, delta)
        profile: Profile = Approximate(epsilon, delta) if delta else Pure(max(epsilon, 1e-300))
        return _spend_as_quoted(Guarantee(profile, self.unit, quoted_delta=delta))

    def book(self, spend: Spend, purpose: str, state: State = State.RESERVED) -> Receipt:
        """Charge this, or refuse it."""
        guarantee = spend.guarantee
        if guarantee.unit != self.unit:
            raise UnitMismatch(
                f"this accountant protects the unit {self.unit.name!r}; the release protects "
                f"{guarantee.unit.name!r}. Give both the same unit=."
            )
        self._check_process()
        with self._take_turn():
            if not self.admits(spend):
                left = self.remaining(min(spend.delta, 1 - 1e-9))
                raise BudgetError(
                    f"the ceiling (epsilon = {up(self.epsilon)}, delta = {self.delta:g}) cannot "
                    f"pay for (epsilon = {up(spend.epsilon)}, delta = {spend.delta:.3g}); "
                    f"{down(left)} is left there. Nothing was learnt from the rows."
                )
            self._asked[len(self._entries) + 1] = spend  # first: others may read at any time
            return self._write(guarantee, purpose, state)

    def spends(self) -> list[Spend]:
        """Return what was charged and not refunded."""
        kept = [entry for entry in self.history() if entry.state is not State.REFUNDED]
        return [self._asked[entry.number] for entry in kept]

    def admits(self, *requests: Spend, slack: float | None = None) -> bool:
        """Say whether these would be admitted as well, with another slack if one is given."""
        slack = self.slack if slack is None else slack
        everything = [*self.spends(), *requests]
        if is_within(_exact_sums(everything), self._ceiling(slack)):
            return True
        return 0 < self.epsilon < math.inf and self._admits_with_slack(everything, slack)

    def _admits_with_slack(self, everything: list[Spend], slack: float) -> bool:
        share = min(slack, 0.99 * RENYI_SHARE) / RENYI_SHARE
        if share == 0 or not all(spend.guarantee.is_private for spend in everything):
            return False
        rule = _rule(self.epsilon, share)
        costs = [_cost(rule, spend.guarantee) for spend in everything]
        return rule.admits(add_up(costs, start=amounts(0.0, 0.0)))

    def quoted_pairs(self) -> list[tuple[float, float]]:
        """Return the epsilon and the delta that each of them was charged at."""
        return [(spend.epsilon, spend.delta) for spend in self.spends()]

    def sums(self) -> tuple[float, float]:
        """Return the sums of epsilons and of deltas."""
        return sums_of(self.spends())

    def delta_left(self) -> Decimal:
        """Return what is left of delta for sums, negative if they are above it."""
        return EXACT.subtract(self._ceiling(self.slack)[1], _exact_sums(self.spends())[1])

    def _ceiling(self, slack: float) -> tuple[Decimal, Decimal]:
        return amount(self.epsilon), EXACT.subtract(amount(self.delta), amount(slack))

    def remaining(self, delta: float | None = None) -> float:
        if delta is None:
            return self.remaining(min(USUAL_DELTA, self.delta)) or self.remaining(0.0)
        _checks.delta(delta=delta)
        return self.affordable_epsilon(1, delta)

    def affordable_epsilon(self, times: int, delta: float) -> float:
        """Return an epsilon at ``delta`` that can be spent ``times`` more, none of it if zero."""
        if math.isinf(self.epsilon):
            return math.inf if self.admits(*[self.request(1.0, delta)] * times) else 0.0
        low, high = 0.0, self.epsilon
        for _ in range(50):
            middle = (low + high) / 2
            fits = self.admits(*[self.request(middle, delta)] * times)
            low, high = (middle, high) if fits else (low, middle)
        return low


class AskedLedger(AbstractLedger):
    """A ledger as one model sees it: it writes down the epsilon that the model was asked for.

    A mechanism costs a hair less than it was asked for, because noise is rounded up. What costs
    less by more than that is charged at its cost. An infinite epsilon is charged as such.

    Examples
    --------
    >>> from discreet.privacy import ReplaceOne
    >>> books = AccountantLedger(2.0, 0.0, 0.0, ReplaceOne())
    >>> receipt = AskedLedger(books, 1.0).charge(Guarantee(Pure(1 - 1e-12), ReplaceOne()))
    >>> books.quoted_pairs()
    [(1.0, 0.0)]
    """

    def __init__(self, books: AccountantLedger, epsilon: float) -> None:
        self.books, self.epsilon = books, float(epsilon)

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        if not guarantee.is_private and math.isinf(self.epsilon):
            return self.books.book(Spend(guarantee, math.inf, 0.0), purpose)
        if guarantee.is_private:
            spend = _spend_as_quoted(guarantee)
            if spend.epsilon <= self.epsilon <= spend.epsilon * (1 + HAIR):
                return self.books.book(Spend(guarantee, self.epsilon, spend.delta), purpose)
        return self.books.charge(guarantee, purpose=purpose)

    @property
    def identity(self) -> str:
        return self.books.identity

    def redeem(self, receipt: Receipt) -> None:
        self.books.redeem(receipt)

    def settle(self, receipt: Receipt, state: State) -> None:
        self.books.settle(receipt, state)

    def refund(self, receipt: Receipt) -> None:
        self.books.refund(receipt)

    def history(self) -> tuple[Entry, ...]:
        return self.books.history()

    def remaining(self, delta: float | None = None) -> float:
        return self.books.remaining(delta)

    def spent(self, delta: float) -> float:
        return self.books.spent(delta)


@lru_cache(maxsize=64)
def _rule(epsilon: float, share: float) -> RenyiFilter:
    return RenyiFilter(Budget(epsilon, share))


@lru_cache(maxsize=4096)  # the same spends are added up again at every check
def _cost(rule: RenyiFilter, guarantee: Guarantee) -> Amounts:
    return rule.cost(guarantee)


def _spend_as_quoted(guarantee: Guarantee) -> Spend:
    return Spend(guarantee, *quoted_pair(guarantee))


def _exact_sums(spends: list[Spend]) -> Amounts:
    booked = (amounts(spend.epsilon, spend.delta) for spend in spends)
    return add_up(booked, start=amounts(0.0, 0.0))


def sums_of(spends: list[Spend]) -> tuple[float, float]:
    """Return the sums of epsilons and of deltas, as decimals add up."""
    epsilon, delta = _exact_sums(spends)
    return float(epsilon), float(delta)
