"""What counts of events prove about a privacy guarantee.

If a release has profile delta(.), then for every event E, every epsilon, and both orders of the
pair, P(E) <= e**epsilon Q(E) + delta(epsilon). A lower bound on P(E) and an upper bound on Q(E)
that break this inequality for one epsilon refute the profile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from discreet._types import Vector
from discreet.privacy import Profile

_GRID = 400
_SHARES = 60


def chance_at_least(hits: ArrayLike, trials: int, tail: float) -> Vector:
    """Bound a chance from below, wrong with probability at most ``tail`` (Clopper-Pearson).

    Examples
    --------
    >>> float(chance_at_least(10, 10, 0.5).round(4))
    0.933
    """
    hits = np.asarray(hits, dtype=np.float64)
    bound = betaincinv(np.maximum(hits, 1.0), trials - hits + 1, tail)
    return np.where(hits > 0, bound * (1 - 1e-12), 0.0)


def chance_at_most(hits: ArrayLike, trials: int, tail: float) -> Vector:
    """Bound a chance from above, wrong with probability at most ``tail`` (Clopper-Pearson).

    Examples
    --------
    >>> float(chance_at_most(0, 10, 0.5).round(4))
    0.067
    """
    others = trials - np.asarray(hits, dtype=np.float64)
    bound: Vector = 1 - chance_at_least(others, trials, tail)
    return bound


def epsilon_bound(low: ArrayLike, high: ArrayLike, delta: float) -> Vector:
    """Return the smallest epsilon that (epsilon, delta) allows for chances >= low and <= high."""
    excess = np.asarray(low, dtype=np.float64) - delta
    with np.errstate(divide="ignore"):
        bound = np.log(np.maximum(excess, 0.0)) - np.log(np.asarray(high, dtype=np.float64))
    return np.maximum(bound, 0.0)


def mu_bound(low: ArrayLike, high: ArrayLike) -> Vector:
    """Return the smallest mu that Gaussian privacy allows for chances >= low and <= high.

    A threshold is the best test between two Gaussians that are mu apart, and its chances satisfy
    ndtri(P) - ndtri(Q) = mu.
    """
    bound = ndtri(np.asarray(low, dtype=np.float64)) - ndtri(np.asarray(high, dtype=np.float64))
    return np.where(np.isnan(bound), 0.0, np.maximum(bound, 0.0))


@dataclass(frozen=True)
class Evidence:
    """An event that is at least so likely on one data set and at most so likely on the other.

    Examples
    --------
    >>> from discreet.privacy import Gaussian, Pure
    >>> seen = Evidence("threshold", low=0.6, high=0.2)
    >>> round(seen.epsilon(0.0), 3), round(seen.mu, 3)
    (1.099, 1.095)
    >>> seen.refutes(Pure(1.0)), seen.refutes(Pure(1.1)), seen.refutes(Gaussian(1.0))
    (True, False, True)
    """

    event: str
    low: float
    high: float

    def epsilon(self, delta: float) -> float:
        """Bound epsilon at delta from below, whatever the mechanism."""
        return float(epsilon_bound(self.low, self.high, delta))

    @property
    def mu(self) -> float:
        """Bound from below the mu of any Gaussian profile that could be true."""
        return float(mu_bound(self.low, self.high))

    def refutes(self, profile: Profile, *, share: float = 1.0) -> bool:
        """Say whether the profile, with its privacy loss scaled by ``share``, cannot be true."""
        largest = self.epsilon(0.0)
        if largest <= 0:
            return False
        epsilons = largest * np.linspace(0, 1, _GRID)
        deltas = profile.deltas(epsilons / share)
        return bool(np.any(self.low > np.exp(epsilons) * self.high * (1 + 1e-12) + deltas))

    def share(self, profile: Profile) -> float:
        """Return how much of the profile's privacy loss is certified; above one it is refuted."""
        if not profile.is_private or not self.refutes(profile, share=2.0**-20):
            return 0.0
        low, high = 2.0**-20, 1.0
        while self.refutes(profile, share=high):
            low, high = high, 2 * high
            if high > 2.0**20:
                return math.inf
        for _ in range(_SHARES):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.refutes(profile, share=middle) else (low, middle)
            if high / low < 1 + 1e-6:
                break
        return low
