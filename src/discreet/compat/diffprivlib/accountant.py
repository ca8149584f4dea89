"""diffprivlib's accountant, whose totals hold when requests depend on earlier answers.

Basic composition, or with a slack a Renyi filter: both hold for adaptive requests.
"""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any, ClassVar, Self

from discreet import _checks
from discreet.compat.diffprivlib.accountant_ledger import (
    AccountantLedger,
    AskedLedger,
    Spend,
    sums_of,
)
from discreet.compat.diffprivlib.default_accountant import DefaultAccountant
from discreet.compat.diffprivlib.exceptions import BudgetError
from discreet.compat.diffprivlib.spent import Spent
from discreet.errors import InputError, InputTypeError, PrivacyError
from discreet.ledger import AbstractLedger
from discreet.ledger.decimal_amounts import split
from discreet.ledger.memory import ELSEWHERE
from discreet.privacy import Unit, unit_named
from discreet.privacy.guarantee import in_three_digits as up

SHOWN = 5
"""How many spends a repr lists."""


class BudgetAccountant:
    """Adds up what models spend, and refuses what goes beyond a ceiling.

    Epsilons and deltas are added, which holds for any sequence of requests. A ``slack`` sets a part
    of delta aside for a filter on Renyi divergences, under which many small requests cost less.

    Parameters
    ----------
    epsilon, delta
        The ceiling. An infinite epsilon sets none. The default delta of one is no ceiling that
        could be kept, so with a finite epsilon it stands for ``slack``: deltas cannot be spent
        until one is declared.
    slack
        The part of delta for many small requests.
    spent_budget
        Pairs of epsilon and delta that were spent before.
    unit
        Whom the models protect: ``"replace"`` one record, as the models' default is, or
        ``"add_remove"`` one. Not in diffprivlib.

    Examples
    --------
    >>> accountant = BudgetAccountant(epsilon=1.5, delta=0)
    >>> accountant.spend(1.0, 0).total()
    Spent(epsilon=1.0, delta=0.0)
    >>> accountant.check(1.0, 0)
    Traceback (most recent call last):
        ...
    discreet.compat.diffprivlib.exceptions.BudgetError: the ceiling (epsilon = 1.5, delta = 0) ...
    >>> round(accountant.remaining(k=2).epsilon, 6), len(accountant)
    (0.25, 1)
    """

    _default: ClassVar[DefaultAccountant] = DefaultAccountant()
    _automatic: ClassVar[dict[Unit, BudgetAccountant]] = {}

    def __init__(
        self,
        epsilon: float = math.inf,
        delta: float = 1.0,
        slack: float = 0.0,
        spent_budget: list[tuple[float, float]] | None = None,
        *,
        unit: str | Unit = "replace",
    ) -> None:
        _checks.fraction(delta=delta, slack=slack)
        if delta == 0 or epsilon != 0:
            _checks.epsilon(epsilon=epsilon)
        _check_slack(slack, delta)
        usable = delta
        if delta == 1:
            usable = math.inf if math.isinf(epsilon) else float(slack)
        self._epsilon, self._delta = float(epsilon), float(delta)
        self._books: AbstractLedger = AccountantLedger(
            float(epsilon), float(usable), float(slack), unit_named(unit)
        )
        for spend in _list_spends(spent_budget):
            self.spend(*spend)

    @property
    def ledger(self) -> AbstractLedger:
        """The ledger behind it, for ``ledger=`` of any estimator of this library."""
        return self._books

    @property
    def epsilon(self) -> float:
        """The ceiling of epsilon."""
        return self._epsilon

    @property
    def delta(self) -> float:
        """The ceiling of delta."""
        return self._delta

    @property
    def slack(self) -> float:
        """The part of delta for many small requests; fixed once something is charged."""
        return self._own.slack

    @slack.setter
    def slack(self, slack: float) -> None:
        _checks.fraction(slack=slack)
        _check_slack(slack, self._delta)
        books = self._own
        if books.standing():
            raise BudgetError(
                "slack must be chosen before anything is spent: a rule chosen after seeing "
                "releases proves nothing. Make another accountant."
            )
        books.slack = float(slack)
        if self._delta == 1 and math.isfinite(self._epsilon):
            books.delta = float(slack)

    @property
    def spent_budget(self) -> list[tuple[float, float]]:
        """The epsilon and delta of each spend."""
        return self._own.quoted_pairs()

    @property
    def _own(self) -> AccountantLedger:
        if not isinstance(self._books, AccountantLedger):
            raise PrivacyError(ELSEWHERE)
        return self._books

    def total(
        self, spent_budget: list[tuple[float, float]] | None = None, slack: float | None = None
    ) -> Spent:
        """Return what was spent, or what the listed spends come to.

        With a slack, the exact composition at that delta, as if parameters were fixed in advance;
        never more than the sum of epsilons.
        """
        books = self._own
        slack = books.slack if slack is None else slack
        _checks.fraction(slack=slack)
        _check_slack(slack, self._delta)
        spends = books.spends()
        if spent_budget is not None:
            spends = [books.request(*_pair(*spend)) for spend in _list_spends(spent_budget)]
        epsilon, delta = sums_of(spends)
        if slack == 0 or not spends or math.isinf(epsilon):
            return Spent(epsilon, min(delta, 1.0))
        return Spent(
            min(epsilon, _composed_epsilon(spends, delta + slack)), min(delta + slack, 1.0)
        )

    def check(self, epsilon: float, delta: float) -> bool:
        """Return True if this can be spent; raises :class:`BudgetError` if not."""
        books = self._own
        request = books.request(*_pair(epsilon, delta))
        if books.admits(request):
            return True
        hint = ""
        if delta > 0 and self._delta == 1:
            hint = " Declare delta= to spend a delta."
        raise BudgetError(
            f"the ceiling (epsilon = {up(self._epsilon)}, delta = {books.delta:g}) cannot pay for "
            f"(epsilon = {up(epsilon)}, delta = {delta:g}).{hint} See remaining()."
        )

    def remaining(self, k: int = 1, *, delta: float | None = None) -> Spent:
        """Return an epsilon and a delta that can be spent together ``k`` times.

        Parameters
        ----------
        k
            How often.
        delta
            The delta of each; by default an equal share of what is left outside the slack. The
            slack helps requests without a delta only, so with a slack more epsilon may be left at
            ``delta=0``. Not in diffprivlib.
        """
        _checks.whole(k=k, at_least=1)
        books = self._own
        if delta is not None:
            _checks.delta(delta=delta)
            return Spent(books.affordable_epsilon(int(k), float(delta)), float(delta))
        if math.isinf(books.delta):
            return Spent(math.inf, 1.0)
        each = split(books.delta_left(), int(k))
        if not books.admits(*[books.request(0.0, each)] * k):
            each = 0.0  # the sum of epsilons is used up, and only the slack pays
        return Spent(books.affordable_epsilon(int(k), each), each)

    def spend(self, epsilon: float, delta: float) -> Self:
        """Charge something that was released elsewhere."""
        self.check(epsilon, delta)
        self._own.record(*_pair(epsilon, delta), purpose="spend")
        return self

    def set_default(self) -> Self:
        """Let models without an accountant be paid for here; in a block, until it ends."""
        self._default.replace(self)
        return self

    @staticmethod
    def pop_default() -> BudgetAccountant | None:
        """Return the default accountant, or what counted without one, and let there be none."""
        counted = BudgetAccountant._automatic.pop(unit_named("replace"), None)
        return BudgetAccountant._default.replace(None) or counted

    @staticmethod
    def load_default(accountant: BudgetAccountant | None = None) -> BudgetAccountant:
        """Return this accountant, or the default one; one without a ceiling if there is none."""
        if accountant is None:
            return BudgetAccountant._default.payer() or _accountant_without_ceiling()
        if not isinstance(accountant, BudgetAccountant):
            raise InputTypeError(
                "accountant must be a BudgetAccountant; got a value of type "
                f"{type(accountant).__name__}."
            )
        return accountant

    def __enter__(self) -> Self:
        self._default.enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._default.leave(self)

    def __len__(self) -> int:
        return len(self._own.standing())

    def __bool__(self) -> bool:
        return True

    def __repr__(self, shown: int = SHOWN) -> str:
        if not isinstance(self._books, AccountantLedger):
            return "BudgetAccountant(elsewhere)"
        parts = [] if math.isinf(self._epsilon) else [f"epsilon={self._epsilon:g}"]
        parts += [] if self._delta == 1 else [f"delta={self._delta:g}"]
        parts += [] if self.slack == 0 else [f"slack={self.slack:g}"]
        spends = [f"({epsilon:g}, {delta:g})" for epsilon, delta in self.spent_budget]
        if spends:
            more = ["..."] if len(spends) > shown else []
            parts.append(f"spent_budget=[{', '.join(spends[:shown] + more)}]")
        return f"BudgetAccountant({', '.join(parts)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def books_for(
    accountant: BudgetAccountant | AbstractLedger | None, unit: str | Unit, epsilon: float
) -> AbstractLedger:
    """Return the ledger that a model is paid from; an accountant's writes down what was asked."""
    if isinstance(accountant, AbstractLedger):
        return accountant
    if accountant is None and BudgetAccountant._default.payer() is None:
        payer = _accountant_without_ceiling(unit)
    else:
        payer = BudgetAccountant.load_default(accountant)
    books = payer.ledger
    return AskedLedger(books, epsilon) if isinstance(books, AccountantLedger) else books


def _accountant_without_ceiling(unit: str | Unit = "replace") -> BudgetAccountant:
    """Return the accountant that counts what nobody asked to count, one for each unit."""
    known = BudgetAccountant._automatic
    return known.setdefault(unit_named(unit), BudgetAccountant(unit=unit))


def _composed_epsilon(spends: list[Spend], delta: float) -> float:
    first, *others = (spend.guarantee for spend in spends)
    return first.compose(*others).epsilon(min(delta, 1 - 1e-9))


def _check_slack(slack: float, delta: float) -> None:
    if slack > delta:
        raise InputError(f"slack must be at most delta, {delta:g}; got {slack:g}.")


def _list_spends(spends: Any) -> list[Any]:
    if spends is None:
        return []
    if not isinstance(spends, list):
        raise InputTypeError("spent_budget must be a list of pairs, epsilon and delta.")
    if not all(isinstance(spend, tuple | list) and len(spend) == 2 for spend in spends):
        raise InputError("spent_budget must be a list of pairs, epsilon and delta.")
    return spends


def _pair(epsilon: float, delta: float) -> tuple[float, float]:
    pair = Spent(epsilon, delta)
    if pair == (0, 0):
        raise InputError("epsilon and delta must not both be zero: nothing is spent then.")
    return float(pair.epsilon), float(pair.delta)
