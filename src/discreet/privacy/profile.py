r"""Privacy profiles: delta as a function of epsilon, rounded so that it is never optimistic.

A profile bounds, for every pair of neighbours in both orders, the hockey-stick divergence

.. math:: \delta(\epsilon) = \sup_S P(S) - e^\epsilon Q(S).

It is the currency of the library: every mechanism states one, and everything else (an epsilon at
a delta, a Renyi curve, a privacy loss distribution) is read off it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Json, Vector
from discreet.errors import InputError, InputTypeError
from discreet.privacy import accountant
from discreet.privacy.bisection import least_enough, least_of

SAFETY = 1 + 1e-9
"""A computed delta is multiplied by this: far above the rounding error of its formula."""

SMALLEST = 5e-324
"""What a positive delta that underflows is rounded up to."""

LARGEST_EPSILON = 1e6
"""An epsilon beyond this is reported as infinite."""

LEAST_GUESS = 1e-12
"""No search starts nearer to zero."""

_FINE = 1e-13

_REACHES = [1e-6 * 1.25**k for k in range(125)]
"""Up to the largest epsilon."""

_KINDS: dict[str, type[Profile]] = {}


class Profile(ABC):
    """A bound on delta for every epsilon, for one release or several.

    Three numbers travel with it. ``distance`` is the total variation between the computed and the
    ideal mechanism; it costs (1 + e**epsilon) times itself in delta, once, at the end of a
    composition. ``failure`` is a probability with which the Renyi curve of ``core`` may be
    disregarded; it adds to delta. Both are zero unless a class says otherwise.

    Examples
    --------
    >>> from discreet.privacy import Gaussian, Pure
    >>> def cost(profile: Profile) -> float:
    ...     return round(profile.epsilon(1e-6), 3)
    >>> cost(Gaussian(0.2)), cost(Pure(0.5))
    (0.834, 0.5)
    """

    kind: ClassVar[str]
    safety: ClassVar[float] = SAFETY
    is_closed_form: ClassVar[bool] = True
    later: ClassVar[frozenset[str]] = frozenset()
    """Fields that came later: left out of JSON while they say what was always meant."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    @abstractmethod
    def bound(self, epsilons: Vector) -> Vector:
        """Bound delta at finite epsilons >= 0, up to floating-point error."""

    @abstractmethod
    def rdp(self, orders: ArrayLike) -> Vector:
        """Bound the Renyi divergence of each order above one (infinite where there is no bound).

        It speaks of the ideal mechanism: ``distance`` comes on top.
        """

    @property
    def distance(self) -> float:
        return 0.0

    @property
    def failure(self) -> float:
        return 0.0

    @property
    def ideal(self) -> Profile:
        """This profile without its distance."""
        return self

    @property
    def core(self) -> Profile:
        """This profile without its distance and failure."""
        return self

    @property
    def is_private(self) -> bool:
        return True

    @property
    def releases(self) -> int:
        """How many steps are inside; rounding in composition grows with them."""
        return 1

    @property
    def units(self) -> frozenset[str]:
        """The names of the units this profile speaks of; none if it holds for any."""
        return frozenset()

    def of_one_each(self) -> Self:
        """Return the same about persons of whom one record each is used, so that one is a record.

        Whoever calls it answers for that; a profile knows no rows.
        """
        if not self.units:
            return self
        parts = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        changed = {name: _of_one_each(part) for name, part in parts.items()}
        return self._make(changed | {"of_persons": True} if "of_persons" in parts else changed)

    @property
    def pure_epsilon(self) -> float:
        """The epsilon that holds with delta zero; infinite if there is none."""
        return math.inf

    def deltas(self, epsilons: ArrayLike) -> Vector:
        """Return delta at each epsilon, never below the truth.

        A negative epsilon is answered from the reversed pair: the bound holds in both orders, so
        delta(-e) <= 1 - exp(-e) (1 - delta(e)).
        """
        epsilons = np.asarray(epsilons, dtype=np.float64)
        if np.isnan(epsilons).any():
            raise InputError("epsilon must be a number; got NaN.")
        size = np.minimum(np.abs(epsilons), LARGEST_EPSILON).ravel()
        bound = self._bound_or_one(size) * self.safety
        bound = np.where(bound < 1.0, bound + 0.0, 1.0).reshape(epsilons.shape)  # NaN becomes one
        mirrored = -np.expm1(-np.abs(epsilons)) + np.exp(-np.abs(epsilons)) * bound
        return np.where(epsilons >= 0, bound, np.minimum(1.0, mirrored * (1 + 1e-15)))

    def _bound_or_one(self, epsilons: Vector) -> Vector:
        """Bound delta; by one where parameters are so large that numbers end."""
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self.bound(epsilons))
        except ArithmeticError:
            return np.ones(epsilons.shape)

    def delta(self, epsilon: float) -> float:
        """Return delta at one epsilon, never below the truth."""
        return float(self.deltas(np.array([epsilon], dtype=np.float64))[0])

    def epsilon(self, delta: float) -> float:
        """Return an epsilon at least as large as the smallest one for ``delta``."""
        _checks.delta(delta=delta)
        if delta == 0:
            return self.pure_epsilon
        if self.delta(0.0) <= delta:
            return 0.0
        if self.precision > _FINE:
            return min(self._roughly(delta), self.pure_epsilon)
        guess = self._first_guess(delta)
        return min(least_of(self.delta, delta, guess, _bisect), self.pure_epsilon)

    def _roughly(self, delta: float) -> float:
        """Return an epsilon for ``delta`` after few looks at the profile."""

        def excess(epsilon: float) -> float:
            return math.log(max(self.delta(epsilon), SMALLEST) / delta)

        guess = self._first_guess(delta)
        found = least_enough(excess, guess, self.precision)
        return found if found <= LARGEST_EPSILON else math.inf

    def _first_guess(self, delta: float) -> float:
        """Return where a search starts, a positive number whatever the parameters are."""
        try:
            guess = self.guess(delta)
        except ArithmeticError:
            return LARGEST_EPSILON
        return min(max(guess, LEAST_GUESS), LARGEST_EPSILON) if guess == guess else 1.0

    def guess(self, delta: float) -> float:
        """Return roughly the epsilon for ``delta``, for a search to start from."""
        return 1.0

    @property
    def precision(self) -> float:
        """How closely an epsilon is looked for; less where a delta takes long."""
        return _FINE

    @cached_property
    def reach(self) -> float:
        """An epsilon beyond which delta is negligible, or stays where it is."""
        floor = max(accountant.TAIL, self.delta(LARGEST_EPSILON) * (1 + 1e-6))
        tried = bisect_left(
            _REACHES, True, key=lambda epsilon: self.delta(epsilon) <= floor, hi=len(_REACHES) - 1
        )
        return _REACHES[tried]

    def loss(self, interval: float) -> accountant.PrivacyLoss:
        """Return a privacy loss distribution that dominates the ideal, on a grid."""
        return accountant.loss_of_deltas(self.ideal.deltas, self.ideal.reach, interval)

    def to_json(self) -> Json:
        """Return a JSON object that :func:`profile_from_json` turns back into this profile."""
        return {"kind": self.kind} | {
            field.name: _to_json(getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.name not in self.later or getattr(self, field.name) != field.default
        }

    @classmethod
    def _from_json(cls, parts: Json) -> Self:
        known = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
        if not set(known) - cls.later <= set(parts) <= set(known):
            raise InputError(
                f"a {cls.kind} profile has the fields {sorted(known)}; got {sorted(parts)}."
            )
        usual = {name: known[name] for name in cls.later}
        return cls._make(usual | {name: _from_json_value(part) for name, part in parts.items()})

    @classmethod
    def _make(cls, parts: Json) -> Self:
        profile = cls.__new__(cls)
        for name, value in parts.items():
            object.__setattr__(profile, name, value)
        profile.__post_init__()
        return profile

    def __getstate__(self) -> Json:
        """Leave out what was worked out on the way, which may take a hundred times the room."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def __post_init__(self) -> None:
        """Check the fields."""


def _bisect(is_enough: Callable[[float], bool]) -> tuple[float, float]:
    """Search for the least epsilon that is enough."""
    low, high = 0.0, 1e-6
    while not is_enough(high):
        low, high = high, 4 * high
        if high > LARGEST_EPSILON:
            return low, math.inf
    while high - low > _FINE * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low, high


def profile_from_json(document: Json) -> Profile:
    """Read a profile back.

    Examples
    --------
    >>> from discreet.privacy import Gaussian
    >>> profile_from_json({"kind": "gaussian", "mu": 0.5}) == Gaussian(0.5)
    True
    """
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise InputTypeError("a profile must be a JSON object with a field 'kind'.")
    parts = dict(document)
    kind = parts.pop("kind")
    if kind not in _KINDS:
        raise InputError(f"unknown kind of profile {kind!r}; known: {', '.join(sorted(_KINDS))}.")
    return _KINDS[kind]._from_json(parts)


def orders_above_one(orders: ArrayLike) -> Vector:
    """Check Renyi orders."""
    orders = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if orders.size == 0 or not (np.isfinite(orders).all() and (orders > 1).all()):
        raise InputError("Renyi orders must be finite numbers above one.")
    return orders


def _of_one_each(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_of_one_each(part) for part in value)
    return value.of_one_each() if isinstance(value, Profile) else value


def _to_json(value: object) -> object:
    if isinstance(value, Profile):
        return value.to_json()
    if isinstance(value, tuple):
        return [_to_json(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _from_json_value(value: object) -> object:
    if isinstance(value, dict):
        return profile_from_json(value)
    if isinstance(value, list):
        return tuple(_from_json_value(part) for part in value)
    if isinstance(value, int) and abs(value) >= 2**63:
        raise InputError("a whole number of a profile must have less than 64 bits.")
    return value
