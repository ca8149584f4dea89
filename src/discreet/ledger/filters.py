r"""When to stop: rules that stay valid though each request is chosen after seeing earlier answers.

Composition theorems for parameters fixed in advance do not bound an analyst who looks at one
release before deciding how much to spend on the next. These filters do. Each charges every
request a vector of costs and admits it while every sum stays within its limit:

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
:math:`P(S \cap S_j) \le e^\epsilon Q(S \cap S_j) + \delta_j`. Add over j. Distances of computed
from ideal releases are capped in each filter, at :math:`(1 + e^\epsilon)` times their sum.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from discreet._types import Vector
from discreet.errors import CalibrationError
from discreet.privacy import ORDERS, Budget, Gaussian, Guarantee, Profile, calibrate

BASIC_SHARE, RENYI_SHARE, GAUSSIAN_SHARE = 0.5, 0.25, 0.25
DISTANCE_SHARE, FAILURE_SHARE = 0.02, 0.18
"""Of a filter's own share of delta: what distances and failures may use up."""

SIZEABLE_EPSILON = 30.0
"""The Renyi and Gaussian filters never count on more: distances cost e**epsilon."""

ROUNDING = 1 + 1e-9
"""A budget is held to nine digits, so that ten times 0.1 fits into one."""


@dataclass(frozen=True)
class Filter(ABC):
    """One rule for one budget; costs add up, limits are fixed."""

    budget: Budget

    @abstractmethod
    def cost(self, guarantee: Guarantee) -> Vector:
        """Return what a request uses up; an infinite cost is never admitted."""

    @property
    @abstractmethod
    def limit(self) -> Vector:
        """Return what all requests together may use up."""

    def admits(self, total: Vector) -> bool:
        """Say whether a sequence with these total costs is within the budget."""
        return bool((total <= self.limit).all())


@lru_cache(maxsize=1024)  # the same plan is often charged many times, as in a grid search
def _epsilon(profile: Profile, delta: float) -> float:
    return profile.epsilon(delta)


def _distance_limit(epsilon: float, delta: float) -> float:
    return DISTANCE_SHARE * delta / (1 + math.exp(epsilon)) if epsilon < 700 else 0.0


@dataclass(frozen=True)
class BasicFilter(Filter):
    """The sums of the quoted epsilons and deltas.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> rule = BasicFilter(Budget(1.0))
    >>> half = rule.cost(Guarantee(Pure(0.5), AddRemoveOne()))
    >>> rule.admits(2 * half), rule.admits(3 * half)
    (True, False)
    """

    def cost(self, guarantee: Guarantee) -> Vector:
        ideal = guarantee.profile.ideal
        if math.isfinite(ideal.pure_epsilon):
            point = (ideal.pure_epsilon, 0.0)
        else:
            point = (_epsilon(ideal, guarantee.quoted_delta), guarantee.quoted_delta)
        return np.array([*point, guarantee.profile.distance])

    @property
    def limit(self) -> Vector:
        delta = BASIC_SHARE * self.budget.delta
        usable = (1 - DISTANCE_SHARE) * delta
        return np.array(
            [
                self.budget.epsilon * ROUNDING,
                usable,
                _distance_limit(self.budget.epsilon, delta),
            ]
        )


@dataclass(frozen=True)
class RenyiFilter(Filter):
    """The Renyi divergence at the order that suits Gaussian-like requests best."""

    @cached_property
    def _order_and_room(self) -> tuple[float, float]:
        """Return the order, and the divergence of that order that the budget allows.

        The order maximises the zCDP parameter that fits; the choice affects only how much fits.
        """
        delta = RENYI_SHARE * (1 - DISTANCE_SHARE - FAILURE_SHARE) * self.budget.delta
        if delta == 0:
            return 2.0, -1.0
        epsilon = min(self.budget.epsilon, SIZEABLE_EPSILON)
        room = epsilon + (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1) - np.log1p(-1 / ORDERS)
        best = int(np.argmax(room / ORDERS))
        return float(ORDERS[best]), float(room[best])

    def cost(self, guarantee: Guarantee) -> Vector:
        order, _ = self._order_and_room
        profile = guarantee.profile
        return np.array([profile.core.rdp([order])[0], profile.failure, profile.distance])

    @property
    def limit(self) -> Vector:
        delta = RENYI_SHARE * self.budget.delta
        epsilon = min(self.budget.epsilon, SIZEABLE_EPSILON)
        _, room = self._order_and_room
        return np.array([room, FAILURE_SHARE * delta, _distance_limit(epsilon, delta)])


@dataclass(frozen=True)
class GaussianFilter(Filter):
    """The squares of mu, for requests that are Gaussian and nothing else."""

    def cost(self, guarantee: Guarantee) -> Vector:
        ideal = guarantee.profile.ideal
        square = ideal.mu**2 if isinstance(ideal, Gaussian) else math.inf
        return np.array([square, guarantee.profile.distance])

    @cached_property
    def limit(self) -> Vector:
        delta = GAUSSIAN_SHARE * self.budget.delta
        epsilon = min(self.budget.epsilon, SIZEABLE_EPSILON)
        usable = Budget(epsilon, (1 - DISTANCE_SHARE) * delta)
        try:
            noise = calibrate(lambda noise: Gaussian(1 / noise), usable)
        except CalibrationError:
            return np.array([-1.0, 0.0])
        return np.array([1 / noise**2, _distance_limit(epsilon, delta)])


def filters_for(budget: Budget) -> tuple[Filter, ...]:
    """Return the filters whose deltas together make up the budget's."""
    return BasicFilter(budget), RenyiFilter(budget), GaussianFilter(budget)
