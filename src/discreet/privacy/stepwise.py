"""One release over and over: a profile known in closed form, composed with itself."""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import numpy as np

from discreet._types import Vector
from discreet.privacy import accountant
from discreet.privacy.concentrated import ORDERS, renyi_delta
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.profile import SMALLEST, Profile
from discreet.privacy.tilted_fft import ComposedLoss, GridLoss, connect_the_dots

WIDENING = 1e-3
"""How much of the variance of a composed loss the grid may add."""

MOST_CELLS = 2**16
"""Of the grid of one step, from zero on."""

LEAST_REACH = 1e-12
"""Grids of smaller losses would be lost in rounding; a larger one only rounds up."""

TAIL = 1e-20
"""The chance of all steps together to lose more than the grid reaches."""


_REACHES: Vector = np.array([*accumulate([LEAST_REACH, *[1.25] * 186], operator.mul)])
"""Up to the first above 10**6."""

BEYOND_GRIDS = 1e-18
"""Deltas below this are also looked up on the full Renyi curve, which takes long. Above, composed
losses gave less in each of 1637 settings tried; a bound that is left out costs no privacy."""

NOTHING = 1e-30
"""A delta that is small enough for every purpose."""


class Stepwise(Profile):
    """``steps`` releases with one and the same profile, each of data the earlier ones may choose.

    ``one`` bounds delta of a single step in one order of the pair, ``one_reversed`` in the other;
    of several steps either order is composed by itself, and the larger delta counts.
    """

    is_closed_form: ClassVar[bool] = False
    steps: int

    @abstractmethod
    def one(self, epsilons: Vector) -> Vector:
        """Bound delta of one step at epsilons >= 0; nowhere below :meth:`one_reversed`."""

    @abstractmethod
    def one_reversed(self, epsilons: Vector) -> Vector:
        """Bound delta of one step in the reverse order."""

    @abstractmethod
    def quick_rdp(self, orders: Vector) -> Vector:
        """Bound the Renyi curve by a closed form."""

    @property
    def is_two_sided(self) -> bool:
        """Whether the orders differ, so that both have to be composed."""
        return True

    @property
    def releases(self) -> int:
        return self.steps

    @cached_property
    def reach_of_one(self) -> float:
        """An epsilon that one step exceeds with negligible chance."""
        is_beyond = self.one(_REACHES) <= TAIL / self.steps
        is_beyond[-1] = True
        return float(_REACHES[np.argmax(is_beyond)])

    def loss_of_one(self, step: float, *, is_reversed: bool) -> GridLoss:
        """Return a loss that dominates one step, in one order of the pair."""
        ahead, behind = self.one, self.one_reversed
        if not self.is_two_sided:
            return connect_the_dots(ahead, self.reach_of_one, step)
        if is_reversed:
            ahead, behind = behind, ahead
        return connect_the_dots(ahead, self.reach_of_one, step, behind)

    @cached_property
    def variance_of_one(self) -> float:
        """The variance of the loss of one step, or a little more."""
        step = self.reach_of_one / 500
        while True:
            loss = self.loss_of_one(step, is_reversed=False)
            mean = float(loss.masses @ loss.losses)
            variance = float(loss.masses @ (loss.losses - mean) ** 2)
            if step**2 < variance or self.reach_of_one / step > MOST_CELLS / 2:
                return variance
            step /= 2

    @property
    def precision(self) -> float:
        return 1e-6

    def guess(self, delta: float) -> float:
        deviation = math.sqrt(self.steps * self.variance_of_one)
        return Gaussian(max(deviation, 1e-12)).epsilon(min(delta, 0.1)) + 1e-12

    @cached_property
    def reach(self) -> float:
        values = self.rdp(ORDERS)
        high = 1e-3
        while renyi_delta(np.array([high]), ORDERS, values)[0] > accountant.TAIL and high < 1e5:
            high *= 1.25
        return high

    @cached_property
    def _quick_curve(self) -> Vector:
        return self.quick_rdp(ORDERS)

    @cached_property
    def _composed(self) -> tuple[ComposedLoss, ...]:
        return composed_both_ways([(self, 1)], [], 0.0)

    def bound(self, epsilons: Vector) -> Vector:
        if self.steps == 1:
            return np.maximum(self.one(epsilons), SMALLEST)
        bounds = renyi_delta(epsilons, ORDERS, self._quick_curve)
        # Where the Renyi curve says that nothing is left, nobody looks closer.
        for i in np.flatnonzero(bounds > NOTHING):
            bounds[i] = min(bounds[i], float(largest_delta(self._composed, epsilons[i : i + 1])[0]))
        # What the grid leaves out counts as lost, and shows in the least deltas.
        is_far = bounds < BEYOND_GRIDS
        if is_far.any():
            renyi = renyi_delta(epsilons[is_far], ORDERS, self.rdp(ORDERS))
            bounds[is_far] = np.minimum(bounds[is_far], renyi)
        return bounds


def composed_both_ways(
    stepwise: Sequence[tuple[Stepwise, int]], others: Sequence[tuple[Profile, int]], mu: float
) -> tuple[ComposedLoss, ...]:
    """Compose step by step, with other profiles and a Gaussian, in each order of the pair."""
    steps = sum(times * profile.steps for profile, times in stepwise)
    variance = mu**2 + sum(
        times * profile.steps * profile.variance_of_one for profile, times in stepwise
    )
    reach = max(profile.reach_of_one for profile, _ in stepwise)
    step = 2 * math.sqrt(WIDENING * variance / steps)
    step = max(min(step, reach / 100), reach / MOST_CELLS)
    for profile, _ in others:
        within = profile.reach
        step = max(min(step, within / 500), within / MOST_CELLS)
    beside = [
        (connect_the_dots(profile.deltas, profile.reach, step), times) for profile, times in others
    ]
    ways = (False, True) if any(profile.is_two_sided for profile, _ in stepwise) else (False,)
    return tuple(
        ComposedLoss(
            (
                *(
                    (profile.loss_of_one(step, is_reversed=way), times * profile.steps)
                    for profile, times in stepwise
                ),
                *beside,
            ),
            mu,
        )
        for way in ways
    )


def largest_delta(losses: Sequence[ComposedLoss], epsilons: Vector) -> Vector:
    """Return the larger delta of both orders at each epsilon."""
    deltas = [[loss.delta(epsilon) for loss in losses] for epsilon in epsilons.tolist()]
    return np.asarray(np.nan_to_num(np.max(deltas, axis=1), nan=1.0))
