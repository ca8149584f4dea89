r"""Privacy filters: rules that stay valid though requests depend on earlier answers.

Privacy filters for fully adaptive composition. Composition theorems for parameters fixed in advance
do not bound an analyst who looks at one release before deciding how much to spend on the next.
These filters do. Each charges every request a list of costs and admits it while every sum, of
decimals as written and without rounding, stays within its limit:

* **basic**: the epsilons and the deltas as quoted (Rogers, Roth, Ullman, Vadhan 2016);
* **Renyi**: the Renyi divergence at one order fixed when the ledger is opened (Feldman, Zrnic
  2021), with the probability that a request's curve fails added to delta;
* **Gaussian**: the squares of mu of Gaussian requests (Smith, Thakurta 2022). A sequence of
  Gaussian releases with adaptively chosen mu is post-processing of a Brownian motion with drift,
  watched for the time that is the sum of the squares, hence of one Gaussian of that total.

A ledger may admit a request if *any* filter admits the whole sequence, provided their deltas add up
to the budget's: let :math:`S_j` be the outcomes whose final sequence filter j admits and no
earlier filter does. Costs only grow, so filter j admitted every prefix, and on :math:`S_j` the
process is the one that filter j would have let run; so
:math:`P(S \cap S_j) \le e^\epsilon Q(S \cap S_j) + \delta_j`. Add over j.

**Distances.** A computed release is within total variation :math:`\tau_i` of an ideal one. What the
basic filter adds up is quoted of the computed release itself, distance included, so nothing comes
on top. The other two speak of ideal releases, and pay for each distance by a failure

.. math:: \beta_i = \tau_i + \min_\alpha (\tau_i e^{\rho_i(\alpha)})^{1 - 1/\alpha}

that adds to delta, whatever the budget's epsilon is. (To compare the laws of whole sequences would
cost :math:`(1 + e^\epsilon) \sum \tau_i`, which is too much from epsilon = 35 on.) *Proof.* Given
what was released before, let :math:`P_i, Q_i` be the densities of the ideal release on two
neighbours, :math:`P'_i, Q'_i` of the computed one, and :math:`G_i \le P_i` the part of
:math:`P_i` that keeps the Renyi curve :math:`\rho_i`: all but the failure. Put
:math:`r_i = \min(1, Q'_i / Q_i)` and :math:`G'_i = r_i G_i \min(1, P'_i / P_i) \le P'_i`. First,
:math:`P'_i` loses little: besides the failure at most :math:`\tau_i` by the last factor, and by
the first, with Hoelder's inequality and :math:`\int Q_i (1 - r_i) \le \tau_i`,

.. math:: \int G_i (1 - r_i) \le \Big(\int G_i^\alpha Q_i^{1-\alpha}\Big)^{1/\alpha}
          \Big(\int Q_i (1 - r_i)\Big)^{1-1/\alpha}
          \le (\tau_i e^{\rho_i(\alpha)})^{1-1/\alpha}.

Second, :math:`G'_i \le r_i G_i` and :math:`Q'_i \ge r_i Q_i`. So along any sequence of requests
:math:`\prod G'_i - e^\epsilon \prod Q'_i \le \prod r_i (\prod G_i - e^\epsilon \prod Q_i)`; its
positive part is at most that of the ideal sequence without its failures: what the filter bounds.
Requests and stopping are functions of what was released, and failures are capped on every
sequence, so what is lost in all is at most the cap.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

import numpy as np

from discreet.errors import CalibrationError
from discreet.ledger.decimal_amounts import Amounts, amounts, is_within, share_of
from discreet.privacy import ORDERS, Approximate, Budget, Gaussian, Guarantee, Profile, calibrate

BASIC_SHARE, RENYI_SHARE, GAUSSIAN_SHARE = 0.5, 0.25, 0.25
FAILURE_SHARE, DISTANCE_SHARE = 0.2, 0.02
"""Of a filter's own share of delta: what failures may use up, and failures by distance alone."""

ROUNDED_DOWN = 1 - 1e-12
"""Limits that are computed are lowered by more than they, and costs, can be off by rounding."""

MOST_DIGITS = 12
"""Digits in which a quoted epsilon is looked for before it is taken as it was computed."""

FINE = 1e-13
"""How closely most epsilons are looked for."""

FEW_ORDERS = ORDERS[::8]


@dataclass(frozen=True)
class Filter(ABC):
    """One rule for one budget; costs add up, limits are fixed.

    A privacy filter: requests may be chosen adaptively, and stop being admitted at the limit.
    """

    budget: Budget

    @abstractmethod
    def cost(self, guarantee: Guarantee) -> Amounts:
        """Return what a request uses up; an infinite cost is never admitted."""

    @property
    @abstractmethod
    def limit(self) -> Amounts:
        """Return what all requests together may use up."""

    def admits(self, total: Amounts) -> bool:
        """Say whether a sequence with these total costs is within the budget."""
        return is_within(total, self.limit)


def quoted_pair(guarantee: Guarantee) -> tuple[float, float]:
    """Return an epsilon and a delta that a guarantee promises: as quoted, in few digits.

    An epsilon is looked for numerically and may come out a hair above the number that was asked
    for. If the profile promises a shorter or smaller number nearby, that is quoted.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, gaussian_multiplier
    >>> noise = gaussian_multiplier(Budget(0.1, 1e-9))
    >>> epsilon, _ = quoted_pair(Guarantee(Gaussian(1 / noise), AddRemoveOne()))
    >>> 0.1 - 1e-12 < epsilon <= 0.1
    True
    """
    return _quoted_pair(guarantee.profile, guarantee.quoted_delta)


@lru_cache(maxsize=1024)  # the same plan is often charged many times, as in a grid search
def _quoted_pair(profile: Profile, delta: float) -> tuple[float, float]:
    pure = profile.ideal.pure_epsilon
    if math.isfinite(pure):
        return pure, profile.delta(pure) if profile.distance else 0.0
    epsilon = profile.epsilon(delta)
    is_stated = isinstance(profile, Approximate) and profile.exception == delta
    if is_stated or not math.isfinite(epsilon):
        return epsilon, delta
    least = (1 - 10 * max(profile.precision, FINE)) * epsilon
    for digits in range(1, MOST_DIGITS + 1):
        short = float(f"{epsilon:.{digits}g}")
        if least <= short < epsilon and profile.delta(short) <= delta:
            return short, delta
    while profile.precision <= FINE and least < (middle := (least + epsilon) / 2) < epsilon:
        least, epsilon = (least, middle) if profile.delta(middle) <= delta else (middle, epsilon)
    return epsilon, delta


@lru_cache(maxsize=1024)
def failure_by_distance(profile: Profile) -> float:
    """Return the failure that pays for the distance of a computed release from its ideal.

    Examples
    --------
    >>> from discreet.privacy import WithinDistance
    >>> failure_by_distance(Gaussian(0.2))
    0.0
    >>> 1e-24 < failure_by_distance(WithinDistance(Gaussian(0.2), 1e-24)) < 1e-23
    True
    """
    if profile.distance == 0:
        return 0.0
    curve = profile.core.rdp(FEW_ORDERS)
    with np.errstate(over="ignore"):
        logarithms = (1 - 1 / FEW_ORDERS) * (math.log(profile.distance) + curve)
    least = min(0.0, float(np.nanmin(logarithms, initial=0.0)))
    return min(1.0, (profile.distance + math.exp(least)) / ROUNDED_DOWN)


@dataclass(frozen=True)
class BasicFilter(Filter):
    """The sums of the quoted epsilons and deltas.

    Basic composition.

    Examples
    --------
    >>> from discreet.ledger.decimal_amounts import add
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> rule = BasicFilter(Budget(1.0))
    >>> half = rule.cost(Guarantee(Pure(0.5), AddRemoveOne()))
    >>> rule.admits(add(half, half)), rule.admits(add(half, add(half, half)))
    (True, False)
    """

    def cost(self, guarantee: Guarantee) -> Amounts:
        return amounts(*quoted_pair(guarantee))

    @cached_property
    def limit(self) -> Amounts:
        epsilon, delta = self.budget.epsilon, self.budget.delta
        return *amounts(epsilon), share_of(Decimal(BASIC_SHARE), delta)


@dataclass(frozen=True)
class RenyiFilter(Filter):
    """The Renyi divergence at the order that suits Gaussian-like requests best.

    Composition of Renyi differential privacy, at one order.
    """

    @cached_property
    def _order_and_room(self) -> tuple[float, float]:
        """Return the order, and the divergence of that order that the budget allows.

        The order maximises the zCDP parameter that fits; the choice affects only how much fits.
        """
        delta = RENYI_SHARE * (1 - FAILURE_SHARE) * self.budget.delta
        if delta == 0:
            return 2.0, -1.0
        epsilon = self.budget.epsilon
        room = epsilon + (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1) - np.log1p(-1 / ORDERS)
        best = int(np.argmax(room / ORDERS))
        return float(ORDERS[best]), float(room[best] * ROUNDED_DOWN)

    def cost(self, guarantee: Guarantee) -> Amounts:
        order, _ = self._order_and_room
        profile = guarantee.profile
        failure = profile.failure + failure_by_distance(profile)
        return amounts(profile.core.rdp([order])[0], failure)

    @cached_property
    def limit(self) -> Amounts:
        _, room = self._order_and_room
        return amounts(room, FAILURE_SHARE * RENYI_SHARE * self.budget.delta * ROUNDED_DOWN)


@dataclass(frozen=True)
class GaussianFilter(Filter):
    """The squares of mu, for requests that are Gaussian and nothing else.

    Composition of Gaussian differential privacy.
    """

    def cost(self, guarantee: Guarantee) -> Amounts:
        ideal = guarantee.profile.ideal
        square = ideal.mu**2 if isinstance(ideal, Gaussian) else math.inf
        return amounts(square, failure_by_distance(guarantee.profile))

    @cached_property
    def limit(self) -> Amounts:
        delta = GAUSSIAN_SHARE * self.budget.delta
        try:
            noise = calibrate(
                lambda noise: Gaussian(1 / noise),
                Budget(self.budget.epsilon, (1 - DISTANCE_SHARE) * delta),
            )
        except CalibrationError:
            return amounts(-1.0, 0.0)
        return amounts(ROUNDED_DOWN / noise**2, DISTANCE_SHARE * delta * ROUNDED_DOWN)


@lru_cache(maxsize=256)  # limits are found by bisection, and are functions of the budget
def filters_for(budget: Budget) -> tuple[Filter, ...]:
    """Return the filters whose deltas together make up the budget's."""
    return BasicFilter(budget), RenyiFilter(budget), GaussianFilter(budget)
