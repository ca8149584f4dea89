r"""The ledger behind an accountant: sums of epsilons and deltas, and a slack for many small ones.

Two filters of :mod:`discreet.ledger.filters` decide, and a request is booked if one of them
admits the whole sequence: the sums of quoted epsilons and deltas, within ``epsilon`` and
``delta - slack``; and a Renyi filter, within ``epsilon`` and ``slack``. Their deltas add up to
``delta``, so everything booked together keeps the ceiling though requests are chosen after seeing
earlier releases.
"""

from __future__ import annotations

import math
from functools import lru_cache

from discreet import _checks
from discreet.compat.diffprivlib.complaints import BudgetError
from discreet.errors import RehearsalRefused, UnitMismatch
from discreet.ledger import Receipt, State
from discreet.ledger.amounts import EXACT, Amounts, amount, amounts, total, within
from discreet.ledger.filters import RENYI_SHARE, RenyiFilter, quoted
from discreet.ledger.in_memory import InMemory
from discreet.privacy import Approximate, Budget, Guarantee, Profile, Pure, Unit


class Books(InMemory):
    """What an accountant has booked; copies and pickles are *the same* books.

    An infinite epsilon sets no ceiling: everything private is booked.

    Examples
    --------
    >>> from discreet.privacy import ReplaceOne
    >>> books = Books(1.0, 0.0, 0.0, ReplaceOne())
    >>> receipt = books.charge(Guarantee(Pure(0.75), ReplaceOne()))
    >>> round(books.remaining(delta=0.0), 6), books.sums()
    (0.25, (0.75, 0.0))
    """

    def __init__(self, epsilon: float, delta: float, slack: float, unit: Unit) -> None:
        self.epsilon, self.delta, self.slack, self.unit = epsilon, delta, slack, unit
        super().__init__()

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        return self._book(guarantee, purpose, State.RESERVED)

    def record(self, epsilon: float, delta: float, purpose: str = "") -> None:
        """Book what was spent elsewhere."""
        self._book(self.request(epsilon, delta), purpose, State.RELEASED)

    def request(self, epsilon: float, delta: float) -> Guarantee:
        """Return the guarantee of something of which no more is known than this."""
        profile: Profile = Approximate(epsilon, delta) if delta else Pure(max(epsilon, 1e-300))
        return Guarantee(profile, self.unit, quoted_delta=delta)

    def _book(self, guarantee: Guarantee, purpose: str, state: State) -> Receipt:
        _checks.instance(Guarantee, guarantee=guarantee)
        if guarantee.unit != self.unit:
            raise UnitMismatch(
                f"this accountant protects the unit {self.unit.name!r}; the release protects "
                f"{guarantee.unit.name!r}. Give both the same unit=."
            )
        if not guarantee.is_private:
            raise RehearsalRefused(
                "an accountant records private releases only; a model with a random_state is a "
                "rehearsal. Leave out random_state, or the accountant."
            )
        self._check_process()
        with self._lock:
            if not self.admits(guarantee):
                epsilon, delta = quoted(guarantee)
                raise BudgetError(
                    f"the ceiling (epsilon = {self.epsilon:g}, delta = {self.delta:g}) cannot pay "
                    f"for (epsilon = {epsilon:.3g}, delta = {delta:.3g}); "
                    f"{self.remaining(delta):.3g} is left there. Nothing was learnt from the rows."
                )
            return self._write(guarantee, purpose, state)

    def admits(self, *requests: Guarantee, slack: float | None = None) -> bool:
        """Say whether these would be booked as well, with another slack if one is given."""
        slack = self.slack if slack is None else slack
        everything = [*self.standing(), *requests]
        ceiling = amount(self.epsilon), EXACT.subtract(amount(self.delta), amount(slack))
        if within(_exact_sums(everything), ceiling):
            return True
        return math.isfinite(self.epsilon) and self._admits_with_slack(everything, slack)

    def _admits_with_slack(self, everything: list[Guarantee], slack: float) -> bool:
        share = min(slack, 0.99 * RENYI_SHARE) / RENYI_SHARE
        if share == 0:
            return False
        rule = _rule(self.epsilon, share)
        costs = [_cost(rule, guarantee) for guarantee in everything]
        return rule.admits(total(costs, start=amounts(0.0, 0.0)))

    def quoted(self) -> list[tuple[float, float]]:
        """Return the epsilon and the delta that each of them was booked at."""
        return [quoted(guarantee) for guarantee in self.standing()]

    def sums(self) -> tuple[float, float]:
        """Return the sums of epsilons and of deltas."""
        return _sums(self.standing())

    def remaining(self, delta: float) -> float:
        _checks.delta(delta=delta)
        return self.affordable(1, delta)

    def affordable(self, times: int, delta: float) -> float:
        """Return an epsilon at ``delta`` that can be spent ``times`` more, none of it if zero."""
        if math.isinf(self.epsilon):
            return math.inf if self.admits(*[self.request(1.0, delta)] * times) else 0.0
        low, high = 0.0, self.epsilon
        for _ in range(50):
            middle = (low + high) / 2
            fits = self.admits(*[self.request(middle, delta)] * times)
            low, high = (middle, high) if fits else (low, middle)
        return low


@lru_cache(maxsize=64)
def _rule(epsilon: float, share: float) -> RenyiFilter:
    return RenyiFilter(Budget(epsilon, share))


@lru_cache(maxsize=4096)  # the same spends are added up again at every check
def _cost(rule: RenyiFilter, guarantee: Guarantee) -> Amounts:
    return rule.cost(guarantee)


def _exact_sums(guarantees: list[Guarantee]) -> Amounts:
    return total((amounts(*quoted(each)) for each in guarantees), start=amounts(0.0, 0.0))


def _sums(guarantees: list[Guarantee]) -> tuple[float, float]:
    epsilon, delta = _exact_sums(guarantees)
    return float(epsilon), float(delta)
