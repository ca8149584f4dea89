"""How much an audit could have found.

Statistical power, and the largest epsilon that so many trials can certify.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from discreet._types import Vector
from discreet.audit.statistical.certify import Claim, Evidence
from discreet.privacy import Gaussian, Guarantee

_THRESHOLDS = 100
_STEPS = 11


@dataclass(frozen=True)
class Reach:
    """What ``trials`` tested runs on each data set can certify, at ``level`` for each event.

    Power analysis of the binomial tests.
    """

    trials: int
    level: float

    @property
    def open_book(self) -> Evidence:
        """The strongest evidence: an event that always happens on one data set, never on other."""
        return Evidence("open book", self.trials, 0, self.trials, self.level)

    def ceiling(self, delta: float) -> float:
        """Return the largest epsilon that can be certified at all."""
        return self.open_book.epsilon(delta)

    def power(self, guarantee: Guarantee, claim: Claim) -> float:
        """Return the chance to catch a mechanism with twice the privacy loss that is claimed.

        It is Laplace's if the claim is pure and Gaussian otherwise, and the best threshold is
        known.
        """
        if math.isfinite(guarantee.profile.pure_epsilon):
            chances = _laplace_chances(2 * guarantee.profile.pure_epsilon)
        else:
            chances = _gaussian_chances(2 * equivalent_mu(guarantee))
        hit, miss = self._best_event(chances, claim)
        return self._chance(hit, miss, claim)

    def _best_event(self, chances: tuple[Vector, Vector], claim: Claim) -> tuple[float, float]:
        """Return the event that is furthest, in standard errors, from what is allowed."""
        hit, miss = chances
        apart = hit - claim.allows()(miss)
        errors = np.sqrt(hit * (1 - hit) / self.trials) + np.sqrt(miss * (1 - miss) / self.trials)
        best = int(np.argmax(apart / np.maximum(errors, 1 / self.trials)))
        return float(hit[best]), float(miss[best])

    def _chance(self, hit: float, miss: float, claim: Claim) -> float:
        """Return, over quantiles of one count, the chance that the other refutes the claim."""
        from scipy.stats import binom  # slow to import

        total = 0.0
        for level in (np.arange(_STEPS) + 0.5) / _STEPS:
            misses = int(binom.ppf(level, self.trials, miss))
            low, high = misses, self.trials + 1  # the fewest hits that refute lie in (low, high]
            while high - low > 1:
                middle = (low + high) // 2
                seen = Evidence("", middle, misses, self.trials, self.level)
                low, high = (low, middle) if seen.refutes(claim) else (middle, high)
            total += float(binom.sf(high - 1, self.trials, hit))
        return total / _STEPS


def equivalent_mu(guarantee: Guarantee) -> float:
    """Return the mu of the Gaussian that has the claimed epsilon at the claimed delta.

    If there is no such epsilon, it is the one with the claimed delta at epsilon zero.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> promise = Guarantee(Gaussian(0.2), AddRemoveOne(), quoted_delta=1e-6)
    >>> round(equivalent_mu(promise), 6)
    0.2
    """
    ideal = guarantee.profile.ideal
    if isinstance(ideal, Gaussian):
        return ideal.mu
    delta, epsilon = guarantee.quoted_delta, guarantee.epsilon()
    if math.isinf(epsilon):
        return float(2 * ndtri((1 + guarantee.delta(0.0)) / 2))
    if delta == 0:
        # The two Gaussians that a threshold at the middle tells apart as well.
        return float(2 * ndtri(1 / (1 + math.exp(-epsilon))))
    low, high = 0.0, 1.0
    while Gaussian(high).delta(epsilon) < delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if Gaussian(middle).delta(epsilon) < delta else (low, middle)
    return high


def _laplace_chances(epsilon: float) -> tuple[Vector, Vector]:
    """Chances, on either data set, to be above a threshold at or beyond the second's centre."""
    beyond = np.linspace(0, 5, _THRESHOLDS)
    return 0.5 * np.exp(-beyond), 0.5 * np.exp(-beyond - epsilon)


def _gaussian_chances(mu: float) -> tuple[Vector, Vector]:
    thresholds = np.linspace(-3, 3, _THRESHOLDS) + mu / 2
    return ndtr(mu - thresholds), ndtr(-thresholds)
