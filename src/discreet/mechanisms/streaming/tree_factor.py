r"""The binary tree: every node that is complete is a sum with noise of its own.

C says which steps are below which node. The running sum after t steps is that of the nodes for the
ones in the binary digits of t. Better than a node's own noisy sum is its weighted mean with the
estimates of its two children (Honaker), which are known when it is complete: with :math:`v_h` the
variance of an estimate at level h, and w the weight of the node itself,

.. math:: v_0 = 1, \quad v_h = w_h^2 + 2 (1 - w_h)^2 v_{h-1}, \quad w_h = 2 v_{h-1}/(1 + 2 v_{h-1}),

down to one half. Weights are multiples of 2**-20 and the mean is rounded to whole numbers. Whole
numbers can be added before rounding or afterwards, so an estimate is the sum of its steps plus
what the same rule makes of the noise alone: the sums themselves are not stored anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.mechanisms.streaming.correlated_noise import NUMBERS_AT_ONCE, CorrelatedNoise
from discreet.mechanisms.streaming.prefix_factor import (
    MOST_STEPS,
    ONCE,
    Participation,
    PrefixFactor,
    round_up,
)
from discreet.mechanisms.streaming.toeplitz_factor import optimal_band, square_root
from discreet.noise import Noise

WEIGHT_BITS = 20
ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class TreeFactor(PrefixFactor):
    """The binary tree over ``steps`` leaves, with estimates from below.

    Examples
    --------
    >>> tree = TreeFactor(256)
    >>> tree.column_norm() ** 2  # nodes above a leaf
    9.0
    >>> round(tree.largest_error(), 3), tree.rows_in_memory
    (6.574, 9)
    """

    name: ClassVar[str] = "tree"
    draws_a_step: ClassVar[float] = 2.0

    steps: int

    def __post_init__(self) -> None:
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        object.__setattr__(self, "steps", int(self.steps))

    @property
    def levels(self) -> int:
        """How many nodes are complete above the first step, itself included."""
        return self.steps.bit_length()

    def column_norm(self, participation: Participation = ONCE) -> float:
        """Bound how far the sums of all nodes move.

        A node of 2**h steps holds at most so many of a record's steps as are ``separation`` apart.
        With so many in one node at most, the sum of squares over the nodes of a level is largest
        if they are as crowded as can be.
        """
        times, square = participation.within(self.steps), 0
        for level in range(self.levels):
            most = min(times, 1 + (2**level - 1) // participation.separation)
            square += (times // most) * most**2 + (times % most) ** 2
        root = math.isqrt(square)
        return float(root) if root * root == square else round_up(math.sqrt(square))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """How much a node counts against its children, in units of 2**-20, from level one on."""
        return tuple(weight for weight, _ in self._estimates[1:])

    @cached_property
    def _estimates(self) -> tuple[tuple[int, float], ...]:
        """The weight and the variance at each level."""
        found, variance = [(2**WEIGHT_BITS, 1.0)], 1.0
        for _ in range(1, self.levels):
            weight = round(2**WEIGHT_BITS * 2 * variance / (1 + 2 * variance))
            share = weight / 2**WEIGHT_BITS
            variance = share**2 + 2 * (1 - share) ** 2 * variance
            found.append((weight, variance))
        return tuple(found)

    def deviations(self, count: int) -> Vector:
        _checks.whole(count=count, at_least=1, at_most=self.steps)
        times = np.arange(1, count + 1)
        variance = np.zeros(count)
        for level, (_, one) in enumerate(self._estimates):
            variance += ((times >> level) & 1) * one
        return np.sqrt(variance)

    @property
    def largest_deviation(self) -> float:
        # Of numbers up to the last: itself, or one of its ones less and all ones below that.
        variances = [one for _, one in self._estimates]
        ones = [level for level in range(self.levels) if self.steps >> level & 1]
        best = sum(variances[level] for level in ones)
        for less in ones:
            above = sum(variances[level] for level in ones if level > less)
            best = max(best, above + sum(variances[:less]))
        return math.sqrt(best)

    @property
    def usual_deviation(self) -> float:
        total = 0.0
        for level, (_, one) in enumerate(self._estimates):
            whole, rest = divmod(self.steps + 1, 2 ** (level + 1))
            total += one * (whole * 2**level + max(0, rest - 2**level))
        return math.sqrt(total / self.steps)

    @property
    def rows_in_memory(self) -> int:
        return self.levels

    def noise(self, width: int, bits: int, noise: Noise) -> CorrelatedNoise:
        return TreeNoise(self, width, bits, noise)


class TreeNoise(CorrelatedNoise):
    """The noise of the estimates that later steps need: one a level."""

    def __init__(self, factor: TreeFactor, width: int, bits: int, noise: Noise) -> None:
        super().__init__(factor.steps, width)
        self._weights = (0, *factor.weights)
        self._estimates = np.zeros((factor.levels, width), dtype=np.int64)
        self._at_once = max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // width, 2 * factor.steps))
        self._bits, self._noise = bits, noise
        self._drawn, self._used = np.empty((0, width), dtype=np.int64), 0
        self._sum = np.empty(width, dtype=np.int64)

    def _draw(self) -> Integers:
        """Return the noise of one more node, each drawn once."""
        if self._used == len(self._drawn):
            drawn = self._noise.gaussian(self._at_once * self.width, self._bits)
            self._drawn, self._used = drawn.reshape(self._at_once, self.width), 0
        self._used += 1
        row: Integers = self._drawn[self._used - 1]
        return row

    def _add(self, total: Integers) -> None:
        estimate, level = self._draw(), 0
        while not self.taken >> level & 1:  # the node above is complete
            left = self._estimates[level]
            total -= left
            level += 1
            weight = self._weights[level]
            below = np.add(left, estimate, out=self._sum)
            below *= 2**WEIGHT_BITS - weight
            own = self._draw()
            own *= weight
            below += own
            below += 2 ** (WEIGHT_BITS - 1)
            below >>= WEIGHT_BITS
            estimate = below
        self._estimates[level] = estimate
        total += estimate

    def _past(self) -> Array | Integers:
        return self._estimates.copy()

    def _remember(self, past: Array) -> None:
        self._estimates[:] = past


FACTORS = ("auto", "square_root", "tree", "band")

USUAL_BAND, LONGEST_BAND = 32, 256
LONGEST_STREAM, MOST_NUMBERS = 2**15, 2**24
"""Steps, and numbers of noise in memory, up to which the square root is taken unasked."""


def choose_factor(
    name: str, steps: int, width: int, band: int | None, participation: Participation
) -> PrefixFactor:
    """Return the factor that a name stands for."""
    if name == "square_root":
        return square_root(steps)
    if name == "tree":
        return TreeFactor(steps)
    if name == "band":
        return optimal_band(steps, _band(steps, band, participation))
    candidates: list[PrefixFactor] = [TreeFactor(steps)]
    if steps <= LONGEST_STREAM and steps * width <= MOST_NUMBERS:
        candidates.append(square_root(steps))
    if participation.within(steps) > 1:
        candidates.append(optimal_band(steps, _band(steps, None, participation)))
    return min(candidates, key=lambda factor: factor.error(participation))


def _band(steps: int, band: int | None, participation: Participation) -> int:
    """Return how long a band is: no longer than a record stays away, unless somebody says."""
    if band is not None:
        return min(band, steps)
    if participation.within(steps) == 1:
        return min(USUAL_BAND, steps)
    return min(int(participation.separation), LONGEST_BAND, steps)
