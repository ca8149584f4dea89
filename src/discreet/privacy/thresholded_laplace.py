"""The profile of Laplace tests against a public threshold, of which few may fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.privacy.concentrated import ORDERS, renyi_delta
from discreet.privacy.gaussian import gaussian_guess
from discreet.privacy.profile import SAFETY, Profile, orders_above_one

EXPONENTS: Vector = np.geomspace(1e-6, 1e4, 241)
"""Hoelder exponents less one at which the theorem is tried; any set is sound."""

ROUNDING = 4 * 2.0**-52
"""The relative error of each term of c, with room to spare."""


@dataclass(frozen=True)
class ThresholdedLaplace(Profile):
    r"""Sparse vector technique: Laplace tests against public thresholds, few of which may fail.

    Each round adds Laplace noise to a value. If the sum is near enough to a public number, nothing
    but that is told; otherwise the sum itself is, and at most ``updates`` times.

    .. math:: \epsilon_\alpha \le \min_{x > 1} - \frac{B (x - 1)}{x (\alpha - 1)}
        \ln\Big(1 - \frac{2 c_{\alpha x}}{x - 1}\Big), \quad
        c_k = e^{k \epsilon_0} - 1 - k (e^{\epsilon_0} - 1)

    over those x with :math:`\alpha x \ge 2` and :math:`2 c_{\alpha x} < x - 1`. The proof is in
    ``bounded_updates.md``.

    Parameters
    ----------
    rate
        :math:`\epsilon_0`, the sensitivity of a value over the scale of the noise; positive.
    updates
        :math:`B`, how often the sum is told at most.

    Examples
    --------
    >>> ThresholdedLaplace(0.05, 5).rdp([2.0]).round(4)
    array([0.0308])
    """

    kind: ClassVar[str] = "thresholded_laplace"
    rate: float
    updates: int

    def __post_init__(self) -> None:
        _checks.positive(rate=self.rate)
        _checks.whole(updates=self.updates, at_least=1)

    @cached_property
    def _curve(self) -> Vector:
        return self.rdp(ORDERS)

    def bound(self, epsilons: Vector) -> Vector:
        return renyi_delta(epsilons, ORDERS, self._curve)

    def guess(self, delta: float) -> float:
        return gaussian_guess(self.rate * math.sqrt(2 * self.updates), delta)

    def rdp(self, orders: ArrayLike) -> Vector:
        """Return the least bound of an order or a higher one: a divergence grows with its order."""
        wanted = orders_above_one(orders)
        tried = np.union1d(wanted, ORDERS)
        least = np.minimum.accumulate(self._theorem(tried)[::-1])[::-1]
        return np.asarray(least[np.searchsorted(tried, wanted)])

    def _theorem(self, orders: Vector) -> Vector:
        """Return the bound of each order, the best of many exponents."""
        wanted = orders[:, None]
        least = np.maximum(2 / wanted - 1, 0.0)  # so that the power is two or more
        above = np.maximum(EXPONENTS, least * (1 + 1e-12))
        with np.errstate(all="ignore"):  # infinite powers are not admissible, nothing worse
            share = 2 * self._excess(wanted * (1 + above)) / above
            cost = -np.log1p(-share) * self.updates * above / ((1 + above) * (wanted - 1))
            cost = np.where(share < 1, cost * SAFETY, math.inf)
        best: Vector = cost.min(axis=1)
        return best

    def _excess(self, powers: Vector) -> Vector:
        """Return c_k, rounded up."""
        first, second = np.expm1(powers * self.rate), powers * np.expm1(self.rate)
        found = first - second + ROUNDING * (first + second)
        return np.where(np.isfinite(found), found, math.inf)
