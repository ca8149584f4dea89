r"""A budget and what stands against it, in every part of the data.

Privacy accounting without storage: privacy filters for adaptive composition, and parallel
composition over disjoint parts. A data set may be declared to consist of **disjoint parts**: every
record belongs to exactly one, by a rule that is public and does not look at other records. A
release is charged to one part, if it reads that part alone, or to the whole.

Adding or removing one record changes one part, k say. Given what was released before, the releases
from other parts have the same law on both data sets, so they cost nothing, however they were
chosen. What is left is the sequence of releases from part k and from the whole, each chosen after
seeing everything before it: what a filter for the budget may be shown. So the whole is private if,
for every part, a filter admits the charges to that part and to the whole. A *replaced* record could
leave one part and enter another, and change the number of records in both, which the guarantees of
that unit do not cover; so parts need the unit ``add_remove``.

**Persons.** If the unit is a person, releases with any number of records of each, capped or shared,
add up: all of them are about the same two tables, with and without all that one person contributed.
What is promised of one record says nothing of these, and is refused.

If the unit is a record and somebody has up to k of them, all of them change together, and what
stands against the budget is what a release promises a group of k (:mod:`discreet.privacy.group`).
In either case a person's records may lie in several parts, so parts need persons of one record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache

from discreet import _checks
from discreet._types import Json
from discreet.errors import BudgetExceeded, InputError, RehearsalRefused, UnitMismatch
from discreet.ledger.allowance import ANY, GAUSSIAN, NOTHING, PURE, Allowance, usual_delta
from discreet.ledger.decimal_amounts import EXACT, Amounts, add, amounts
from discreet.ledger.filters import Filter, filters_for
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Profile,
    Pure,
    Unit,
    gaussian_multiplier,
    group_profile,
    unit_named,
)
from discreet.privacy.group import MOST_RECORDS
from discreet.privacy.guarantee import in_three_digits as up

Costs = tuple[Amounts, ...]
"""What one charge, or several, use up of each filter."""

WHOLE = ""
"""The name of the only part of a data set without declared parts."""

HALVINGS, FEW = 50, 20
"""How closely what is left is looked for: to the last digit, or to say it in some."""

DIGITS = 6
"""Of what is left, rounded down: a number that somebody can type."""


@dataclass(frozen=True)
class Standing:
    """How many charges stand against one part, and what they cost together."""

    count: int
    costs: Costs

    def with_charge(self, costs: Costs) -> Standing:
        """Return what stands after one more charge."""
        added = tuple(add(spent, cost) for spent, cost in zip(self.costs, costs, strict=True))
        return Standing(self.count + 1, added)


Balance = Mapping[str, Standing]
"""What stands against each part."""


class Account:
    """Decides what a budget can pay for; stores nothing itself.

    Examples
    --------
    >>> account = Account(Budget(1.0), parts=["north", "south"])
    >>> release = Guarantee(Pure(0.75), AddRemoveOne())
    >>> costs = account.costs(release)
    >>> balance = account.pay(account.empty_balance(), release, costs, part="north")
    >>> [round(account.remaining(balance, 0.0, part), 6) for part in ("north", "south", None)]
    [0.25, 1.0, 0.25]
    """

    def __init__(
        self,
        budget: Budget,
        unit: str | Unit = "add_remove",
        parts: Iterable[str] = (),
        rows_per_person: int = 1,
    ) -> None:
        _checks.instance(Budget, budget=budget)
        if not budget.is_private:
            raise InputError("a ledger needs a finite epsilon; use ledger=None to charge none.")
        self.budget, self.unit, self.parts = budget, unit_named(unit), _names(parts)
        _checks.whole(rows_per_person=rows_per_person, at_least=1, at_most=MOST_RECORDS)
        self.rows_per_person = int(rows_per_person)
        is_of_persons = self.unit.protects_persons
        if is_of_persons and self.rows_per_person > 1:
            raise InputError(
                f"the unit {self.unit.name!r} protects all records of a person, however many; "
                "leave rows_per_person out. How many of them are used, each fit says."
            )
        if self.parts and (is_of_persons or self.rows_per_person > 1):
            instead = "the unit 'add_remove'" if is_of_persons else "rows_per_person=1"
            raise InputError(
                f"parts need {instead}: the records of one person may lie in several parts."
            )
        if self.parts and self.unit != AddRemoveOne():
            raise InputError(
                "parts need the unit 'add_remove': a replaced record may change two of them."
            )
        self._filters: tuple[Filter, ...] = filters_for(budget)

    def check(self, guarantee: Guarantee) -> None:
        """Refuse what no ledger with this unit can record."""
        _checks.instance(Guarantee, guarantee=guarantee)
        if guarantee.unit != self.unit:
            raise UnitMismatch(
                f"this ledger protects the unit {self.unit.name!r}; the release protects "
                f"{guarantee.unit.name!r}. {_why_not(guarantee.unit, self.unit)}"
            )
        if not guarantee.is_private:
            raise RehearsalRefused(
                "a ledger records private releases only; seeded noise (a rehearsal) and an "
                "infinite epsilon are not private. Leave the ledger out to simulate."
            )

    def check_part(self, part: str | None) -> None:
        """Refuse a part that was not declared."""
        if part is None or part in self.parts:
            return
        declared = ", ".join(map(repr, self.parts)) or "none"
        raise InputError(f"there is no part {part!r} of this data set; declared: {declared}.")

    def affected_parts(self, part: str | None) -> tuple[str, ...]:
        """Return the parts that a charge counts against."""
        if part is None:
            return self.parts or (WHOLE,)
        return (part,)

    def empty_balance(self) -> Balance:
        """Return the balance before any charge."""
        zero = tuple(amounts(*(0.0 for _ in rule.limit)) for rule in self._filters)
        return {part: Standing(0, zero) for part in self.affected_parts(None)}

    def costs(self, guarantee: Guarantee) -> Costs:
        """Return what a release uses up of each filter."""
        return _costs(self._filters, self.group_guarantee(guarantee))

    def group_guarantee(self, guarantee: Guarantee) -> Guarantee:
        """Return what a release promises somebody with as many records as one may have.

        Examples
        --------
        >>> account = Account(Budget(3.0), rows_per_person=3)
        >>> account.group_guarantee(Guarantee(Pure(0.1), AddRemoveOne())).epsilon()
        0.3
        """
        if self.rows_per_person == 1:
            return guarantee
        profile, delta = guarantee.profile, guarantee.quoted_delta
        together = group_profile(profile, self.rows_per_person, delta)
        delta = together.exception if isinstance(together, Approximate) else delta
        return replace(guarantee, profile=together, quoted_delta=delta)

    def pay(
        self, balance: Balance, guarantee: Guarantee, costs: Costs, part: str | None = None
    ) -> Balance:
        """Return the balance after a charge; raise if the budget cannot pay for it."""
        if not self.admits(balance, guarantee, costs, part):
            raise self.refusal(balance, guarantee, part)
        return self.add(balance, costs, part)

    def refusal(self, balance: Balance, guarantee: Guarantee, part: str | None) -> BudgetExceeded:
        """Say what a release would have cost, and what is left."""
        delta, left = guarantee.quoted_delta, self.allowance(balance, part)
        asked = f"epsilon = {up(guarantee.epsilon())} at delta = {delta:.3g}"
        if self.rows_per_person > 1:
            together = self.group_guarantee(guarantee).epsilon()
            asked += f", {up(together)} for {self.rows_per_person} records of one person"
        why = ""
        if delta > self.budget.delta == 0:
            why = " It pays for pure releases only: pass delta=0 (--delta 0)."
        elif delta > left.delta and left.epsilon >= guarantee.epsilon():
            why = f" Ask for delta = {left.delta:g}, where that epsilon fits."
        return BudgetExceeded(
            f"the budget (epsilon = {up(self.budget.epsilon)}, delta = {self.budget.delta:g}) "
            f"cannot pay for this release ({asked}). {left.sentence()}{why} No row was read."
        )

    def add(self, balance: Balance, costs: Costs, part: str | None) -> Balance:
        """Return the balance with a charge that was admitted before."""
        return {
            **balance,
            **{name: balance[name].with_charge(costs) for name in self.affected_parts(part)},
        }

    def admits(
        self, balance: Balance, guarantee: Guarantee, costs: Costs, part: str | None
    ) -> bool:
        """Say whether the budget can pay for a charge."""
        standing = [balance[name] for name in self.affected_parts(part)]
        alone = any(there.count == 0 for there in standing) and self._fits_alone(guarantee)
        return all(
            (alone and there.count == 0) or self._passes_a_filter(there.with_charge(costs))
            for there in standing
        )

    def _fits_alone(self, guarantee: Guarantee) -> bool:
        """Say whether a first release is within the budget; its profile decides, not a filter."""
        return self.group_guarantee(guarantee).delta(self.budget.epsilon) <= self.budget.delta

    def _passes_a_filter(self, standing: Standing) -> bool:
        return any(
            rule.admits(cost) for rule, cost in zip(self._filters, standing.costs, strict=True)
        )

    def used_share(self, balance: Balance, part: str | None = None) -> float:
        """Return which share of the budget is used up, in the part where most is.

        Examples
        --------
        >>> account = Account(Budget(1.0))
        >>> release = Guarantee(Pure(0.75), AddRemoveOne())
        >>> costs = account.costs(release)
        >>> account.used_share(account.pay(account.empty_balance(), release, costs))
        0.75
        """
        return max(self.share(balance[name]) for name in self.affected_parts(part))

    def share(self, standing: Standing) -> float:
        """Return which share of the budget is used up by what stands against one part."""
        if any(not any(costs) for costs in standing.costs):
            return 0.0  # limits take a calibration
        shares = [1.0]
        for rule, costs in zip(self._filters, standing.costs, strict=True):
            needed = [pair for pair in zip(costs, rule.limit, strict=True) if pair[0] > 0]
            if all(limit > 0 for _, limit in needed):
                shares.append(max(float(cost) / float(limit) for cost, limit in needed))
        return round(min(shares), 6)

    def allowance(self, balance: Balance, part: str | None = None) -> Allowance:
        """Return what may still be released: the one number that everything quotes.

        It is said of any release at the usual delta; if there is no room for that, of pure
        releases; and if there is none for those either, of Gaussian ones. It is zero only if
        none of them would be admitted.
        """
        delta = usual_delta(self.budget)
        found = self.remaining(balance, delta, part)
        if found or not delta:
            return Allowance(found, delta, ANY, self.budget)
        found = self.remaining(balance, 0.0, part)
        if found:
            return Allowance(found, 0.0, PURE, self.budget)
        return Allowance(self.remaining_gaussian(balance, part), delta, GAUSSIAN, self.budget)

    def remaining(self, balance: Balance, delta: float, part: str | None = None) -> float:
        """Return an epsilon such that any release of that epsilon at ``delta`` is admitted.

        For several records of one person: any that is pure, Gaussian, or no more than that point.
        What a group is promised at ``delta`` depends on the rest of the profile.
        """
        _checks.delta(delta=delta)

        def profile(epsilon: float) -> Profile:
            return Approximate(epsilon, delta) if delta else Pure(epsilon)

        found = self._largest_admitted(balance, profile, delta, part, HALVINGS)
        if delta and found and self.rows_per_person > 1:
            gaussian = self._largest_admitted(balance, _gaussian_at(delta), delta, part, FEW)
            return min(found, gaussian)
        return found

    def remaining_gaussian(self, balance: Balance, part: str | None = None) -> float:
        """Return an epsilon such that a Gaussian release of it, at the usual delta, is admitted."""
        delta = usual_delta(self.budget)
        if not delta:
            return 0.0
        return self._largest_admitted(balance, _gaussian_at(delta), delta, part, FEW)

    def _largest_admitted(
        self,
        balance: Balance,
        profile: Callable[[float], Profile],
        delta: float,
        part: str | None,
        halvings: int,
    ) -> float:
        """Return the largest epsilon whose profile would be admitted, zero if none would."""

        def is_admitted(epsilon: float) -> bool:
            request = Guarantee(profile(epsilon), self.unit, quoted_delta=delta)
            return self.admits(balance, request, self.costs(request), part)

        low, high = 0.0, self.budget.epsilon
        if is_admitted(high):
            return high
        if not is_admitted(NOTHING * high):
            return low
        for _ in range(halvings):
            middle = (low + high) / 2
            low, high = (middle, high) if is_admitted(middle) else (low, middle)
        short = float(f"{low:.12g}")  # what is meant: 0.9 after 0.1 of 1
        found = _round_down(short if short > low and is_admitted(short) else low)
        return found if is_admitted(found) else low


def _why_not(released: Unit, kept: Unit) -> str:
    """Say why a release about one unit is not charged to a ledger of another, and what to do."""
    if released.protects_persons == kept.protects_persons:
        return "Plan it for the ledger's unit."
    if kept.protects_persons:
        return (
            "What is promised of one record is not promised of a person with several: fit with "
            f"unit={kept.name!r} and groups=, the ids of the persons."
        )
    return (
        "Persons and single records do not add up: fit with the ledger's unit, or create a ledger "
        f"with the unit {released.name!r}."
    )


def _gaussian_at(delta: float) -> Callable[[float], Profile]:
    """Return what makes the Gaussian profile of an epsilon at a delta."""
    return lambda epsilon: Gaussian(1 / gaussian_multiplier(Budget(epsilon, delta)))


def _round_down(value: float) -> float:
    """Return the largest number of a few digits that is no larger.

    Examples
    --------
    >>> _round_down(0.5000000000006031), _round_down(0.123456789), _round_down(1.0)
    (0.5, 0.123456, 1.0)
    """
    exact = Decimal(repr(value))
    unit = Decimal(1).scaleb(exact.adjusted() - DIGITS + 1)
    return float(exact.quantize(unit, ROUND_FLOOR))


@lru_cache(maxsize=1024)  # the same plan is often charged many times, as in a grid search
def _costs(filters: tuple[Filter, ...], guarantee: Guarantee) -> Costs:
    return tuple(rule.cost(guarantee) for rule in filters)


def _names(parts: Iterable[str]) -> tuple[str, ...]:
    listed = () if isinstance(parts, str) else tuple(parts)
    for part in listed:
        _checks.instance(str, part=part)
    if isinstance(parts, str) or len(set(listed)) != len(listed) or WHOLE in listed:
        raise InputError("parts must be a list of different names, none of them empty.")
    return listed


def costs_to_json(costs: Costs) -> list[list[str]]:
    """Write costs as texts, which keep every digit, and infinity.

    Examples
    --------
    >>> costs_to_json((amounts(0.1, float("inf")),))
    [['0.1', 'Infinity']]
    """
    return [[EXACT.to_sci_string(cost) for cost in rule] for rule in costs]


def costs_from_json(document: list[list[str]]) -> Costs:
    """Read costs back.

    Examples
    --------
    >>> costs_from_json([["0.1", "Infinity"]])
    ((Decimal('0.1'), Decimal('Infinity')),)
    """
    return tuple(tuple(map(_amount_from, rule)) for rule in document)


def _amount_from(text: str) -> Decimal:
    read = Decimal(text)
    if EXACT.to_sci_string(read) != text or not read >= 0:
        raise ValueError("an amount is a decimal as it was written, and never negative")
    return read


def balance_to_json(balance: Balance) -> Json:
    """Write what stands against each part."""
    return {
        part: {"count": there.count, "costs": costs_to_json(there.costs)}
        for part, there in balance.items()
    }


def balance_from_json(document: Json) -> Balance:
    """Read what stands against each part."""
    return {
        part: Standing(there["count"], costs_from_json(there["costs"]))
        for part, there in document.items()
    }
