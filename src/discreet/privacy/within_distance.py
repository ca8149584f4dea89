"""A computed mechanism that is near an ideal one, and what its distance costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.privacy import accountant
from discreet.privacy.bisection import lowest_place
from discreet.privacy.profile import Profile

NOT_FELT = 2.0**-54
"""The share of an ideal delta below which what is added to it is lost in rounding."""

SURE = 1 - 1e-9
"""A delta that safety rounds up to one."""


@dataclass(frozen=True)
class WithinDistance(Profile):
    r"""A mechanism whose computed law is within total variation ``tau`` of an ideal one.

    .. math:: \delta(\epsilon) = \min_{e \le \epsilon} \delta_{ideal}(e) + (1 + e^e) \tau

    Parameters
    ----------
    of
        The profile of the ideal mechanism, itself without a distance.
    tau
        The total variation between the two laws, from zero to one.

    Examples
    --------
    >>> from discreet.privacy import Gaussian
    >>> near = WithinDistance(Gaussian(0.2), tau=2.0**-80)
    >>> 0 < near.delta(1.0) - Gaussian(0.2).delta(1.0) < 1e-21
    True
    """

    kind: ClassVar[str] = "within_distance"
    of: Profile
    tau: float

    def __post_init__(self) -> None:
        _checks.instance(Profile, of=self.of)
        _checks.fraction(tau=self.tau)
        if self.of.distance:
            raise InputError("distances add; state their sum once.")

    @property
    def distance(self) -> float:
        return self.tau

    @property
    def failure(self) -> float:
        return self.of.failure

    @property
    def ideal(self) -> Profile:
        return self.of

    @property
    def core(self) -> Profile:
        return self.of.core

    @property
    def precision(self) -> float:
        return self.of.precision

    def guess(self, delta: float) -> float:
        return self.of.guess(delta)

    @property
    def is_private(self) -> bool:
        return self.of.is_private

    @property
    def releases(self) -> int:
        return self.of.releases

    @property
    def units(self) -> frozenset[str]:
        return self.of.units

    @property
    def pure_epsilon(self) -> float:
        return self.of.pure_epsilon if self.tau == 0 else math.inf

    def loss(self, interval: float) -> accountant.PrivacyLoss:
        return self.of.loss(interval)

    @cached_property
    def _turn(self) -> float:
        """Where the distance begins to cost more than a larger epsilon gains.

        The sum is convex in e**epsilon, so it falls before its minimum and rises after it. Any
        epsilon is sound here; five grids, each within a cell of the last, find a good one.
        """
        low, high = 0.0, min(700.0, -math.log(self.tau))
        if self.tau >= 0.5:  # twice that is one already
            return low
        expected = self._expected_turn(high)
        if expected > 0.9 * high and self.of.bound(np.array([high]))[0] > SURE:
            return high
        for _ in range(5):
            grid = np.linspace(low, high, 65)
            if self.of.is_closed_form:
                best = int(np.argmin(self._direct(grid)))
            else:
                best, expected = self._lowest(grid, expected)
            low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 64)])
        return float(grid[best])

    def _lowest(self, grid: Vector, expected: float) -> tuple[int, float]:
        """Return the place of the least sum on a grid, and roughly where it would be off it."""
        costs = self._cost(grid)

        @cache
        def ideal(place: int) -> float:
            return float(self.of.bound(grid[place : place + 1])[0])

        start = round((expected - grid[0]) / (grid[-1] - grid[0]) * (grid.size - 1))
        best = lowest_place(lambda place: ideal(place) + costs[place], grid.size, start)
        if not 0 < best < grid.size - 1:
            return best, float(grid[best])
        around = [ideal(place) for place in (best - 1, best, best + 1)]
        return best, self._vertex(float(grid[best]), float(grid[best + 1] - grid[best]), around)

    def _vertex(self, middle: float, step: float, ideals: list[float]) -> float:
        """Return where the sum is least if the logarithm of the ideal delta is a parabola.

        Its slope times the delta is then minus the slope of the cost; Newton's method from the
        middle, in logarithms.
        """
        if not min(ideals) > 0:
            return middle
        before, here, after = map(math.log, ideals)
        tilt, bend = (after - before) / 2, min(after - 2 * here + before, 0.0)
        share = 0.0
        for _ in range(4):
            slope = min(tilt + bend * share, -1e-9)
            height = here + tilt * share + bend * share**2 / 2 + math.log(-slope / step)
            miss = height - math.log(self.tau) - middle - step * share
            share -= miss / (slope + bend / slope - step)
        return middle + step * share if abs(share) < 1 else middle  # no parabola after all

    def _expected_turn(self, high: float) -> float:
        """Return roughly the epsilon at which the ideal delta has fallen to what distance costs."""

        limit = high

        def missing(epsilon: float) -> float:
            cost = min((1 + math.exp(epsilon)) * self.tau, 0.5)
            return min(self.of.guess(cost), 2 * limit) - epsilon

        low, under, over = 0.0, missing(0.0), missing(high)
        if under <= 0 or over >= 0:
            return low if under <= 0 else high
        for _ in range(3):  # as on a straight line
            middle = low + (high - low) * under / (under - over)
            found = missing(middle)
            if found > 0:
                low, under = middle, found
            else:
                high, over = middle, min(found, -1e-9)
        return middle

    def _cost(self, epsilons: Vector) -> Vector:
        return (1 + np.exp(epsilons)) * self.tau

    def _direct(self, epsilons: Vector) -> Vector:
        return self._ideal(epsilons) + self._cost(epsilons)

    def _ideal(self, epsilons: Vector) -> Vector:
        return self.of.bound(epsilons) if epsilons.size else epsilons

    def bound(self, epsilons: Vector) -> Vector:
        if self.tau == 0:
            return self.of.bound(epsilons)
        epsilons = np.minimum(epsilons, 700.0)
        cost = self._cost(epsilons)
        best = np.ones(epsilons.shape)
        is_open = cost < 1  # beyond, a smaller epsilon is better for sure
        ideal = self._ideal(epsilons[is_open])
        best[is_open] = ideal + cost[is_open]
        # The ideal falls, so nothing below it is gained where the cost is lost in rounding.
        is_felt = ~is_open
        is_felt[is_open] = cost[is_open] > NOT_FELT * ideal
        is_rising = is_felt & is_open
        before = self._direct(epsilons[is_rising] * (1 - 1e-6))
        if is_open.all() and (best[is_rising] <= before).all():
            return best
        best[is_felt] = np.minimum(best[is_felt], self._least_until(epsilons[is_felt]))
        return best

    def _least_until(self, epsilons: Vector) -> Vector:
        """Return the sum at the turn, or at epsilons before it."""
        least = np.full(epsilons.shape, self._direct(np.array([self._turn]))[0])
        is_before = epsilons < self._turn
        least[is_before] = self._direct(epsilons[is_before])
        return least

    def rdp(self, orders: ArrayLike) -> Vector:
        return self.of.rdp(orders)


def within(profile: Profile, distance: float) -> Profile:
    """Return the profile, a further ``distance`` from its ideal.

    Examples
    --------
    >>> from discreet.privacy import Gaussian
    >>> near = within(WithinDistance(Gaussian(0.2), 2.0**-80), 2.0**-80)
    >>> near.distance == 2.0**-79, within(Gaussian(0.2), 0.0)
    (True, Gaussian(mu=0.2))
    """
    total = profile.distance + distance
    return WithinDistance(profile.ideal, total) if total else profile
