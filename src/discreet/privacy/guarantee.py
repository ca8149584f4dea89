"""What is promised about a release, to whom, and under which public facts; or that nothing is."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Json, Vector
from discreet.errors import InputError, InputTypeError, UnitMismatch
from discreet.privacy import accountant
from discreet.privacy.combined import compose
from discreet.privacy.profile import Profile, orders_above_one, profile_from_json
from discreet.privacy.unit import Unit, unit_named

FORMAT = 1

AS_GIVEN = (
    "It is about the rows as they were given; what was learnt from them before, and scores "
    "computed from them, are not covered."
)
"""What no release can see, and no guarantee of one speaks of."""
HAIR = Decimal("1e-9")
"""The share of a number that is not shown: a thousand times what an epsilon is looked for to."""


@lru_cache(maxsize=256)  # sentences, cards and ledgers ask the same again and again
def _epsilon(profile: Profile, delta: float) -> float:
    return profile.epsilon(delta)


@dataclass(frozen=True)
class Guarantee:
    """A privacy profile, the unit it protects, and the facts it takes as public.

    Parameters
    ----------
    profile
        Delta at every epsilon.
    unit
        Who is protected, as a :class:`~discreet.privacy.Unit` or by its name.
    public_facts
        What the promise takes as public, in words.
    quoted_delta
        The delta at which sentences and basic composition quote the epsilon. A pure guarantee is
        always quoted at delta zero.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Gaussian
    >>> promise = Guarantee(Gaussian(0.2), AddRemoveOne(), quoted_delta=1e-6)
    >>> round(promise.epsilon(1e-6), 3)
    0.834
    >>> round(promise.compose(promise).epsilon(1e-6), 3)
    1.212
    >>> Guarantee.from_json(promise.to_json()) == promise
    True
    """

    profile: Profile
    unit: Unit
    public_facts: tuple[str, ...] = ()
    quoted_delta: float = 1e-9

    def __post_init__(self) -> None:
        _checks.instance(Profile, profile=self.profile)
        object.__setattr__(self, "unit", unit_named(self.unit))
        if not isinstance(self.public_facts, tuple | list):
            raise InputTypeError("public_facts must be a list of texts.")
        object.__setattr__(self, "public_facts", tuple(self.public_facts))
        for fact in self.public_facts:
            _checks.instance(str, public_fact=fact)
        _checks.delta(quoted_delta=self.quoted_delta)
        if not self.profile.units <= {self.unit.name}:
            raise UnitMismatch(
                f"the profile speaks of {', '.join(sorted(self.profile.units))}; the guarantee is "
                f"for {self.unit.name!r}. Calibrate for the unit that is meant."
            )
        if math.isfinite(self.profile.pure_epsilon):
            object.__setattr__(self, "quoted_delta", 0.0)

    @property
    def is_private(self) -> bool:
        """Whether anything is promised at all."""
        return self.profile.is_private

    def epsilon(self, delta: float | None = None) -> float:
        """Return the epsilon at ``delta`` (the quoted one if not given), rounded up."""
        return _epsilon(self.profile, self.quoted_delta if delta is None else delta)

    def delta(self, epsilon: float) -> float:
        """Return the delta at ``epsilon``, rounded up."""
        return self.profile.delta(epsilon)

    def rdp(self, orders: ArrayLike) -> Vector:
        """Return the Renyi curve of the ideal mechanism."""
        return self.profile.rdp(orders)

    def pld(self, interval: float | None = None) -> accountant.PrivacyLoss:
        """Return dp-accounting's privacy loss distribution of the ideal mechanism."""
        if interval is None:
            interval = accountant.natural_interval(self.profile.ideal.reach)
        _checks.positive(interval=interval)
        return self.profile.loss(interval)

    def compose(self, *others: Guarantee) -> Guarantee:
        """Return the guarantee of releasing all of these about the same data."""
        for other in others:
            _checks.instance(Guarantee, other=other)
            if other.unit != self.unit:
                raise UnitMismatch(
                    "guarantees compose only for one privacy unit; got "
                    f"{self.unit.name!r} and {other.unit.name!r}. Redo one of them."
                )
        everyone = (self, *others)
        facts = dict.fromkeys(fact for guarantee in everyone for fact in guarantee.public_facts)
        return Guarantee(
            profile=compose(guarantee.profile for guarantee in everyone),
            unit=self.unit,
            public_facts=tuple(facts),
            quoted_delta=max(guarantee.quoted_delta for guarantee in everyone),
        )

    def sentence(self) -> str:
        """Say what is promised, for somebody who has never heard of epsilon."""
        if not self.is_private:
            return "No privacy is promised: this result may reveal anything about the records."
        epsilon, delta = self.epsilon(), self.quoted_delta
        if not math.isfinite(epsilon):
            quoted = in_three_digits(delta)
            return f"At delta = {quoted} no privacy is promised; ask for a larger delta."
        promise = (
            f"Whatever anyone already knows or will learn, {self.unit.change} changes the chance "
            f"of any conclusion drawn from this result by at most {_factor(epsilon)}"
        )
        if delta > 0:
            promise += f", apart from an additional chance of at most {in_three_digits(delta)}"
        promise += f" (epsilon = {in_three_digits(epsilon)}, delta = {in_three_digits(delta)})."
        if self.public_facts:
            promise += " Taken as public: " + "; ".join(self.public_facts) + "."
        return f"{promise} {AS_GIVEN}"

    def __str__(self) -> str:
        return self.sentence()

    def _repr_html_(self) -> str:
        rows = [("what must not show", self.unit.change)]
        if self.is_private:
            rows.append(("epsilon", in_three_digits(self.epsilon())))
            rows.append(("delta", in_three_digits(self.quoted_delta)))
        shown = table_html("", ("what", "value"), rows)
        return notebook_html("Guarantee", sentence_html(self.sentence()), shown)

    def to_json(self) -> str:
        """Return a JSON text from which :meth:`from_json` makes an equal guarantee."""
        document: Json = {
            "format": FORMAT,
            "profile": self.profile.to_json(),
            "unit": self.unit.name,
            "public_facts": list(self.public_facts),
            "quoted_delta": self.quoted_delta,
        }
        return json.dumps(document, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Guarantee:
        """Read a guarantee back; unknown fields and formats are refused."""
        try:
            document = json.loads(text)
        except (TypeError, ValueError):
            raise InputError("a guarantee must be a JSON text as written by to_json().") from None
        known = {"format", "profile", "unit", "public_facts", "quoted_delta"}
        if not isinstance(document, dict) or set(document) != known:
            raise InputTypeError(f"a guarantee must be a JSON object with fields {sorted(known)}.")
        if document["format"] != FORMAT:
            raise InputError(
                f"this guarantee has format {document['format']!r}; this version reads {FORMAT}."
            )
        return cls(
            profile=profile_from_json(document["profile"]),
            unit=unit_named(document["unit"]),
            public_facts=document["public_facts"],
            quoted_delta=document["quoted_delta"],
        )


def _factor(epsilon: float) -> str:
    if epsilon > 100:
        return f"a factor of e to the power {in_three_digits(epsilon)}"
    return f"a factor of {in_three_digits(math.nextafter(math.exp(epsilon), math.inf))}"


def in_three_digits(value: float) -> str:
    """Write a number with three digits, rounded up: how what is promised, or spent, is shown.

    Every epsilon is written by this function, or by :func:`down_to_three_digits` if it is left. An
    epsilon is looked for to a dozen digits, and what was asked as 0.5 may be found as 0.5 and a
    hair; so what is less than a billionth of itself above three digits is written by these.

    Examples
    --------
    >>> in_three_digits(0.5000000000006), in_three_digits(0.50001), in_three_digits(2)
    ('0.5', '0.501', '2')
    """
    return _three_digits(Decimal(repr(float(value))), ROUND_CEILING)


def down_to_three_digits(value: float) -> str:
    """Write a number with three digits, rounded down: what is shown to be left can be spent.

    Examples
    --------
    >>> down_to_three_digits(0.1299), down_to_three_digits(2)
    ('0.129', '2')
    """
    return _three_digits(Decimal(repr(float(value))), ROUND_FLOOR)


def _three_digits(exact: Decimal, way: str) -> str:
    if exact == 0:
        return "0"
    if not exact.is_finite():
        return "infinite"
    unit = Decimal(1).scaleb(exact.adjusted() - 2)
    context = Context(prec=50, Emin=MIN_EMIN)
    nearest = exact.quantize(unit, ROUND_HALF_EVEN, context)
    if way == ROUND_CEILING and exact > nearest and exact - nearest < HAIR * exact:
        return f"{float(nearest):g}"
    return f"{float(exact.quantize(unit, way, context)):g}"


@dataclass(frozen=True)
class NoPrivacy(Profile):
    """No guarantee: an infinite epsilon was asked for, or the noise was seeded.

    Examples
    --------
    >>> NoPrivacy().epsilon(1e-6), NoPrivacy().delta(10.0)
    (inf, 1.0)
    """

    is_private: ClassVar[bool] = False

    kind: ClassVar[str] = "no_privacy"

    def __post_init__(self) -> None:
        """There is nothing to check."""

    def bound(self, epsilons: Vector) -> Vector:
        return np.ones(epsilons.shape)

    def rdp(self, orders: ArrayLike) -> Vector:
        return np.full(orders_above_one(orders).shape, math.inf)
