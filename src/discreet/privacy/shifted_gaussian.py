r"""The profile of objective perturbation with Gaussian noise.

For a generalised linear loss with slope at most L and curvature at most beta, rows of norm at most
R, ridge Lam and noise :math:`b \sim N(0, \sigma^2 I)`, write :math:`\mu = LR/\sigma`,
:math:`\ln K = \ln(1 + \beta R^2/Lam)` (``log_ratio``) and, for jointly smooth losses
(:math:`f'' \le \kappa (1 - |f'|/L)`), :math:`k = \kappa R^2 / Lam` (``joint``). With d the Gaussian
profile, the following rules hold from the stated epsilon on:

========== =============================== ======================================================
relation   rule                            valid when
========== =============================== ======================================================
add/remove d(eps - ln K; mu), twice if     eps >= ln K
           slopes take both signs
add/remove d(eps; mu), twice if two-signed eps >= k
replace    Rayleigh                        eps >= ln K
replace    d(eps - ln K; 2 mu), twice if   eps - ln K >= sqrt(3) 2 mu + (2 mu)^2 / 2
           two-signed
replace    d(eps; 2 mu) + d(eps - k; mu),  eps >= k and eps >= sqrt(3) 2 mu + (2 mu)^2 / 2
           twice if two-signed
replace    mean excess over eps - ln K of  eps >= ln K, one-signed
           max(0, mu t + mu^2/2)
           + max(0, mu t + 3 mu^2/2)
replace    mean excess over eps of         eps >= k, one-signed
           max(k, mu t + mu^2/2)
           + max(0, mu t + 3 mu^2/2)
========== =============================== ======================================================

The last two hold for every one-signed loss in the middle of the profile, where the others are far
from tight; compositions of many releases live on it. With :math:`s_1, s_2` the noise along the two
rows (standard normal, of any correlation :math:`\rho`) and :math:`q_i \in [0, 1]` the sizes of
their slopes, the loss is at most

.. math:: \mu(q_1 s_1 + q_2 s_2) + \mu^2 (q_1^2 + q_2^2 + 2 \rho q_1 q_2)/2 + k (1 - q_1)
    \le \max(k, \mu s_1 + \mu^2/2) + \max(0, \mu s_2 + 3\mu^2/2),

since :math:`q_i^2 \le q_i` and :math:`\rho q_1 \le 1` (:math:`\ln K` in place of
:math:`k(1 - q_1)` for the first of the two). Delta is at most the mean excess
:math:`E(Z - \epsilon)_+` of a loss Z, convex in Z, and of all couplings of two increasing functions
of a standard normal t the mean of a convex function of their sum is largest when both see the same
t.

None of them is a statement for all epsilon: below its start a rule says nothing, and the gap is
filled by the convex hull. In particular this is *not* Gaussian privacy of parameter mu.

All this is about one record, whose row has one direction. The rows of a person have many, and other
rules (``many_directions.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError, InputTypeError
from discreet.privacy.gaussian import BEYOND, HOPELESS, gaussian_delta, gaussian_guess, mills_ratio
from discreet.privacy.hull import Hull, lower_hull
from discreet.privacy.many_directions import PartialBound, mean_excess, rules_of_many
from discreet.privacy.profile import SAFETY, SMALLEST, Profile, orders_above_one
from discreet.privacy.unit import unit_of

_POINTS = 160

DIRECTIONS = ("one", "many")


@dataclass(frozen=True)
class ShiftedGaussian(Profile):
    r"""Objective perturbation with Gaussian noise, in either relation.

    Parameters
    ----------
    mu
        :math:`LR/\sigma`, the bound on one record's gradient over the standard deviation of the
        linear term; positive.
    log_ratio
        :math:`\ln(1 + \beta R^2 / \Lambda)`: how much the curvature of one record can change the
        volume element, for the ridge :math:`\Lambda`.
    joint
        :math:`\kappa R^2 / \Lambda` for a jointly smooth loss, such as the logistic one; None for
        others.
    is_one_signed
        Whether slopes of the loss take one sign, as those for classes do.
    is_replace
        Whether one record, or person, is replaced, and not added or removed.
    of_persons
        Whether persons are protected, and not records.
    directions
        ``"one"`` for one row of whoever is protected; ``"many"`` for the rows of a person: ``mu``,
        ``log_ratio`` and ``joint`` are those of all of them together.

    Examples
    --------
    A logistic regression whose ridge is at least R**2/eps is, from that eps on, as private as a
    Gaussian mechanism:

    >>> from discreet.privacy import Gaussian
    >>> logistic = ShiftedGaussian(mu=0.2, log_ratio=0.2, joint=1.0)
    >>> logistic.delta(1.0) == Gaussian(0.2).delta(1.0)
    True
    >>> logistic.delta(0.1) > Gaussian(0.2).delta(0.1)
    True

    A person with many rows, all of which count once together:

    >>> person = ShiftedGaussian(mu=0.2, log_ratio=0.2, joint=1.0, of_persons=True,
    ...                          directions="many")
    >>> round(person.delta(1.0) / logistic.delta(1.0), 3), sorted(person.units)
    (1.037, ['add_remove_person'])
    """

    kind: ClassVar[str] = "shifted_gaussian"
    later: ClassVar[frozenset[str]] = frozenset(["of_persons", "directions"])
    mu: float
    log_ratio: float
    joint: float | None = None
    is_one_signed: bool = True
    is_replace: bool = False
    of_persons: bool = False
    directions: str = "one"

    def __post_init__(self) -> None:
        _checks.positive(mu=self.mu)
        _checks.not_negative(log_ratio=self.log_ratio)
        if self.joint is not None:
            _checks.not_negative(joint=self.joint)
        for flag in (self.is_one_signed, self.is_replace, self.of_persons):
            if not isinstance(flag, bool):
                raise InputTypeError(
                    "is_one_signed, is_replace and of_persons must be True or False."
                )
        _checks.one_of(DIRECTIONS, directions=self.directions)
        if self._has_many and not self.of_persons:
            raise InputError("a record has one row; many directions are those of a person.")

    @property
    def units(self) -> frozenset[str]:
        return frozenset(
            [unit_of(is_replace=self.is_replace, protects_persons=self.of_persons).name]
        )

    @property
    def _has_many(self) -> bool:
        return self.directions == "many"

    @property
    def _shift(self) -> float:
        """m: what all rows that differ can do to the linear term together."""
        return 2 * self.mu if self.is_replace else self.mu

    @property
    def rules(self) -> tuple[PartialBound, ...]:
        """Every rule that applies to this loss and relation."""
        if self._has_many:
            return rules_of_many(
                self._shift,
                self.log_ratio,
                self.joint,
                is_one_signed=self.is_one_signed,
                is_replace=self.is_replace,
            )
        return self._replace_rules() if self.is_replace else self._add_remove_rules()

    def _add_remove_rules(self) -> tuple[PartialBound, ...]:
        mu, shift, sides = self.mu, self.log_ratio, 1 if self.is_one_signed else 2
        rules = [
            PartialBound(shift, lambda e: sides * gaussian_delta(np.maximum(e - shift, 0), mu))
        ]
        if self.joint is not None:
            rules.append(PartialBound(self.joint, lambda e: sides * gaussian_delta(e, mu)))
        return tuple(rules)

    def _replace_rules(self) -> tuple[PartialBound, ...]:
        mu, shift, sides = self.mu, self.log_ratio, 1 if self.is_one_signed else 2
        tail_start = (math.sqrt(3) * 2 * mu + 2 * mu * mu) * SAFETY
        rules = [
            PartialBound(shift, lambda e: _rayleigh(np.maximum(e - shift, 0), 2 * mu)),
            PartialBound(
                shift + tail_start,
                lambda e: sides * gaussian_delta(np.maximum(e - shift, 0), 2 * mu),
            ),
        ]
        if self.is_one_signed:
            rules.append(
                PartialBound(shift, lambda e: _mean_excess(np.maximum(e - shift, 0), mu, 0.0))
            )
        if self.joint is not None:
            k = self.joint
            if self.is_one_signed:
                rules.append(PartialBound(k, lambda e: _mean_excess(np.maximum(e, k), mu, k)))
            rules.append(
                PartialBound(
                    max(k, tail_start),
                    lambda e: (
                        sides
                        * (gaussian_delta(e, 2 * mu) + gaussian_delta(np.maximum(e - k, 0), mu))
                    ),
                )
            )
        return tuple(rules)

    def _direct(self, epsilons: Vector) -> Vector:
        stated = [np.where(epsilons >= r.start, r.bound(epsilons), 1.0) for r in self.rules]
        best: Vector = np.min(stated, axis=0)
        return np.minimum(best, 1.0)

    @property
    def _tail(self) -> float:
        """How far beyond the start of a rule its delta becomes negligible."""
        shift = min(self._shift, HOPELESS)
        return shift**2 / 2 + 12 * shift

    @property
    def reach(self) -> float:
        return min(rule.start for rule in self.rules) + self._tail

    def guess(self, delta: float) -> float:
        return min(rule.start for rule in self.rules) + gaussian_guess(self._shift, delta)

    @cached_property
    def _hull(self) -> Hull:
        starts = np.array([rule.start for rule in self.rules])
        grid = np.unique(starts + self._tail * np.linspace(0, 1, _POINTS)[:, None])
        return lower_hull(grid, np.minimum(1.0, self._direct(grid) * SAFETY))

    def bound(self, epsilons: Vector) -> Vector:
        if self.mu > HOPELESS:
            return np.ones(epsilons.shape)
        return self._hull.below(epsilons, self._direct(epsilons))

    def rdp(self, orders: ArrayLike) -> Vector:
        from scipy.special import log_ndtr  # slow to import

        orders = orders_above_one(orders)
        shift, has_many = self._shift, self._has_many
        with np.errstate(over="ignore"):  # an infinite divergence is no bound, nothing worse
            square = orders * shift * shift / 2
            both = math.log(2) + log_ndtr((orders - 1) * shift)
            curve: Vector = self.log_ratio + square + both / (orders - 1)
            if self.is_one_signed and (has_many or not self.is_replace):
                moment = _log_moment(orders, shift, 0.0)
                curve = np.minimum(curve, self.log_ratio + np.maximum(moment, 0.0) / (orders - 1))
                if has_many and self.joint is not None and not self.is_replace:
                    bent = _log_moment(orders, shift, self.joint) / (orders - 1)
                    curve = np.minimum(curve, np.maximum(bent, self.joint))
            return curve * SAFETY


def _log_moment(orders: Vector, shift: float, floor: float) -> Vector:
    """Return ln E exp((order - 1) max(floor, m t + m^2/2)) of a standard normal t."""
    from scipy.special import log_ndtr  # slow to import

    above = log_ndtr((orders - 0.5) * shift - floor / shift)
    below = log_ndtr(floor / shift - shift / 2)
    rise = (orders - 1) * (orders * shift * shift / 2) + above
    return np.asarray(np.logaddexp((orders - 1) * floor + below, rise))


def _rayleigh(excess: Vector, shift: float) -> Vector:
    """Return the rule that holds for any two rows: the noise in their plane has a Rayleigh norm."""
    near = np.minimum(excess / shift - shift / 2, BEYOND)
    tail = shift * np.exp(-0.5 * near**2) * mills_ratio(np.maximum(near, 0.0) + shift)
    inner = np.full(1, shift)
    bulk = 1 - np.exp(np.minimum(shift * near, 0.0)) * (1 - shift * mills_ratio(inner))
    return np.maximum(np.where(near >= 0, tail, bulk), SMALLEST)


def _mean_excess(epsilons: Vector, mu: float, floor: float) -> Vector:
    """Return the mean excess over each epsilon >= floor of a sum of two coupled positive parts.

    The sum max(floor, mu t + mu^2/2) + max(0, mu t + 3 mu^2/2) minus epsilon has, where positive,
    slope mu from its root on and 2 mu from where the first part leaves the floor.
    """
    bend = np.full(1, floor / mu - mu / 2)
    root = (epsilons - floor) / mu - 3 * mu / 2
    late = mu * 2 * mean_excess(epsilons / (2 * mu) - mu)
    early = mu * (mean_excess(root) + mean_excess(bend))
    return np.maximum(np.where(root < bend, early, late), SMALLEST)
