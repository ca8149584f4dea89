"""Bounded range: the log ratio of probabilities lies in an interval of known length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.privacy.concentrated import ZeroConcentrated
from discreet.privacy.hull import Hull, lower_hull
from discreet.privacy.profile import SAFETY, SMALLEST, Profile, orders_above_one

EXACT_DRAWS = 2048
EXACT_AT_MANY_LEVELS, FEW_LEVELS = 256, 64
"""With more draws than this the zCDP bound answers instead of the exact formula; the second number
is for compositions, which ask for thousands of levels."""

KNOTS = 1024
"""At more levels than this the exact formula is worked out at so many, once, and its convex hull
answers; at four standard deviations that is 0.04 percent more."""

HALF_WINDOW = 4.5
"""In roots of the number of draws: by Hoeffding counts are farther below their mean with a chance
of 3e-18."""

NEAR_LARGEST = 1 - 1e-6
AT_ONCE, WORK = 128, 2**18
"""Tilts, and numbers, worked on together."""

TINY = 1e-300


@dataclass(frozen=True)
class BoundedRange(Profile):
    r"""``draws`` independent draws from one law whose log ratios span at most ``span``.

    The exact profile is the largest, over :math:`t \in [0, \eta]`, of that of :math:`m` draws from
    the two-point pair with losses :math:`t` and :math:`t - \eta`; the maximum is attained at one of
    :math:`t = (\epsilon + l \eta)/(m + 1)`. It is also :math:`m \eta^2 / 8`-zCDP.

    A pure guarantee is quoted at delta zero. Many draws that are made for a positive delta say
    ``is_pure=False`` and give that epsilon up, which is far larger than the one asked for.

    Parameters
    ----------
    span
        :math:`\eta`, the length of the interval that the log ratios of one draw lie in; from 1e-100
        to 1e100.
    draws
        :math:`m`, how many draws; at least one.
    is_pure
        Whether the epsilon at delta zero, ``draws * span``, is part of the promise.

    References
    ----------
    Durfee, Rogers (2019); Dong, Durfee, Rogers (2020); Cesar, Rogers (2021).

    Examples
    --------
    >>> BoundedRange(0.5).epsilon(0.0)
    0.5
    >>> BoundedRange(0.1, draws=100).epsilon(1e-6) < 100 * 0.1
    True
    """

    kind: ClassVar[str] = "bounded_range"
    span: float
    draws: int = 1
    is_pure: bool = True

    def __post_init__(self) -> None:
        _checks.positive(span=self.span)
        if not 1e-100 <= self.span <= 1e100:
            raise InputError(f"span must lie between 1e-100 and 1e100; got {self.span}.")
        _checks.whole(draws=self.draws, at_least=1)
        _checks.instance(bool, is_pure=self.is_pure)

    @property
    def rho(self) -> float:
        """The zCDP parameter."""
        return self.draws * self.span**2 / 8 * SAFETY

    @property
    def pure_epsilon(self) -> float:
        return self._largest if self.is_pure else math.inf

    @property
    def _largest(self) -> float:
        product = self.draws * self.span
        return product if self.draws == 1 else math.nextafter(product, math.inf)

    def bound(self, epsilons: Vector) -> Vector:
        most = EXACT_DRAWS if epsilons.size <= FEW_LEVELS else EXACT_AT_MANY_LEVELS
        if self.draws <= most and epsilons.size > KNOTS:
            best = self._hull(epsilons)
        elif self.draws <= most:  # never above the bound of zCDP
            best = self._exact_at(epsilons)
        else:
            best = ZeroConcentrated(self.rho).bound(epsilons)
        least = 0.0 if self.is_pure else SMALLEST
        return np.where(epsilons >= self._largest, least, best)

    @cached_property
    def _hull(self) -> Hull:
        """The exact formula at some levels, to where delta is below 1e-40, and straight between."""
        far = self.rho + 2 * math.sqrt(self.rho * math.log(1e40))
        levels = np.linspace(0, min(far, self._largest), KNOTS)
        return lower_hull(levels, np.minimum(1.0, self._exact_at(levels) * SAFETY))

    def _exact_at(self, epsilons: Vector) -> Vector:
        return np.maximum(self._exact(epsilons), SMALLEST)

    def _exact(self, epsilons: Vector) -> Vector:
        # Nearer to the largest loss rounding would show; delta falls, so this is an upper bound.
        levels = np.minimum(epsilons, self._largest * NEAR_LARGEST)
        if self.draws + 2 > AT_ONCE:
            return np.array([self._largest_delta(level) for level in levels.tolist()])
        at_once = max(1, WORK // ((self.draws + 2) * (self.draws + 1)))
        pieces = (levels[k : k + at_once] for k in range(0, levels.size, at_once))
        return np.concatenate([np.zeros(0), *map(self._of_all_tilts, pieces)])

    def _of_all_tilts(self, levels: Vector) -> Vector:
        """Return the largest delta over all tilts, at some levels at once."""
        tilts = (levels[:, None] + self.span * np.arange(self.draws + 2)) / (self.draws + 1)
        is_inside = (tilts > 0) & (tilts < self.span)
        which, _ = np.nonzero(is_inside)
        largest = np.zeros(levels.shape)
        np.maximum.at(largest, which, self._of_tilts(levels[which], tilts[is_inside]))
        return largest

    def _largest_delta(self, level: float) -> float:
        """Return the largest delta over tilts: the most promising first, until no other can win."""
        tilt = (level + self.span * np.arange(self.draws + 2)) / (self.draws + 1)
        tilt = tilt[(tilt > 0) & (tilt < self.span)]
        most = self._at_most(level, tilt)
        order = np.argsort(-most)
        best = 0.0
        for first in range(0, tilt.size, AT_ONCE):
            some = order[first : first + AT_ONCE]
            if most[some[0]] * SAFETY < best:
                break
            best = max(best, float(self._of_tilts(level, tilt[some]).max()))
        return best

    def _chance(self, tilt: Vector) -> Vector:
        """Return the chance of the high loss, under the first law."""
        return np.asarray(np.expm1(tilt - self.span) / math.expm1(-self.span))

    def _at_most(self, epsilon: float, tilt: Vector) -> Vector:
        r"""Bound delta for each tilt, by Chernoff.

        :math:`(1 - e^{-x})_+ \le c_a e^{a x}` with :math:`c_a = a^a / (1 + a)^{1 + a}`, a >= 0.
        """
        m, span, chance = self.draws, self.span, self._chance(tilt)
        mean, spread = tilt - span + chance * span, chance * (1 - chance) * span**2
        with np.errstate(over="ignore"):  # any exponent is sound
            a = np.clip((epsilon / m - mean) / np.maximum(spread, TINY), 0.0, 500.0 / span)
        moment = a * tilt + np.log(chance + (1 - chance) * np.exp(-a * span))
        constant = -np.log1p(a) - np.where(a > 0, a * np.log1p(1 / np.maximum(a, TINY)), 0.0)
        logarithm = m * moment - a * epsilon + constant
        return np.asarray(np.exp(np.minimum(logarithm, 0.0)))

    def _of_tilts(self, epsilon: float | Vector, tilt: Vector) -> Vector:
        """Return delta for each tilt, rounded up: a sum over counts of the high loss.

        The epsilon is one for all tilts, or each has its own.

        They begin where the loss exceeds epsilon, or far below the mean, and end far above both.
        """
        from scipy.special import gammaln, xlog1py, xlogy  # slow to import

        m, span, chance = self.draws, self.span, self._chance(tilt)
        reach = math.ceil(HALF_WINDOW * math.sqrt(m))
        least = np.floor((epsilon - m * (tilt - span)) / span) + 1
        start = np.maximum(np.maximum(least, np.floor(m * chance) - reach), 0).astype(np.int64)
        high = start[:, None] + np.arange(min(2 * reach, m) + 1)
        inside = high <= m
        high = np.minimum(high, m)
        counts = np.arange(m + 1)
        ways = gammaln(m + 1) - gammaln(counts + 1) - gammaln(m - counts + 1)
        log_weight = ways[high] + xlogy(high, chance[:, None]) + xlog1py(m - high, -chance[:, None])
        weight = np.where(inside, np.exp(log_weight), 0.0)
        loss = m * (tilt[:, None] - span) + high * span
        gain = -np.expm1(np.minimum(np.reshape(epsilon, (-1, 1)) - loss, 0.0))
        # Beyond the last, which is far above the mean or m itself, weights fall ever faster.
        last = high[:, -1]
        factor = (m - last) / (last + 1) * chance / np.maximum(1 - chance, TINY)
        above = weight[:, -1] * factor / np.maximum(1 - factor, 0.1)
        below = np.where(start > np.maximum(least, 0), math.exp(-2 * reach**2 / m), 0.0)
        return np.asarray((weight * gain).sum(axis=1) + above + below)

    def rdp(self, orders: ArrayLike) -> Vector:
        return np.minimum(orders_above_one(orders) * self.rho, self._largest)
