"""Bounded range: the log ratio of probabilities lies in an interval of known length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.privacy.concentrated import ZeroConcentrated
from discreet.privacy.profile import SAFETY, SMALLEST, Profile, orders_above_one

EXACT_DRAWS = 256
"""With more draws than this the zCDP bound answers instead of the exact formula."""


@dataclass(frozen=True)
class BoundedRange(Profile):
    r"""``draws`` independent draws from one law whose log ratios span at most ``span``.

    The exact profile is the largest, over :math:`t \in [0, \eta]`, of that of :math:`m` draws from
    the two-point pair with losses :math:`t` and :math:`t - \eta`; the maximum is attained at one of
    :math:`t = (\epsilon + l \eta)/(m + 1)`. It is also :math:`m \eta^2 / 8`-zCDP.

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

    def __post_init__(self) -> None:
        _checks.positive(span=self.span)
        if not 1e-100 <= self.span <= 1e100:
            raise InputError(f"span must lie between 1e-100 and 1e100; got {self.span}.")
        _checks.whole(draws=self.draws, at_least=1)

    @property
    def rho(self) -> float:
        """The zCDP parameter."""
        return self.draws * self.span**2 / 8 * SAFETY

    @property
    def pure_epsilon(self) -> float:
        product = self.draws * self.span
        return product if self.draws == 1 else math.nextafter(product, math.inf)

    def bound(self, epsilons: Vector) -> Vector:
        best = ZeroConcentrated(self.rho).bound(epsilons)
        if self.draws <= EXACT_DRAWS:
            exact = np.array([self._exact(epsilon) for epsilon in epsilons.tolist()])
            best = np.minimum(best, np.maximum(exact, SMALLEST))
        return np.where(epsilons >= self.pure_epsilon, 0.0, best)

    def _exact(self, epsilon: float) -> float:
        m, span = self.draws, self.span
        tilt = (epsilon + span * np.arange(m + 2)) / (m + 1)
        tilt = tilt[(tilt > 0) & (tilt < span)]
        if tilt.size == 0:
            return 0.0
        high = np.arange(m + 1)
        loss = m * (tilt[:, None] - span) + high * span
        chance = np.expm1(tilt - span) / math.expm1(-span)
        log_weight = gammaln(m + 1) - gammaln(high + 1) - gammaln(m - high + 1)
        log_weight = log_weight + xlogy(high, chance[:, None]) + xlog1py(m - high, -chance[:, None])
        gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
        return float((np.exp(log_weight) * gain).sum(axis=1).max())

    def rdp(self, orders: ArrayLike) -> Vector:
        return np.minimum(orders_above_one(orders) * self.rho, self.pure_epsilon)
