"""How much an audit could have found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from discreet._types import Vector
from discreet.audit.certify import (
    Evidence,
    chance_at_least,
    chance_at_most,
    epsilon_bound,
    mu_bound,
)
from discreet.privacy import Gaussian, Guarantee

Bound: TypeAlias = Callable[..., Vector]

_THRESHOLDS = 60
_QUANTILES = 41


@dataclass(frozen=True)
class Reach:
    """What ``trials`` tested runs on each data set can certify, at ``tail`` for each bound."""

    trials: int
    tail: float

    @property
    def open_book(self) -> Evidence:
        """The strongest evidence: an event that always happens on one data set, never on other."""
        low = float(chance_at_least(self.trials, self.trials, self.tail))
        return Evidence("open book", low, float(chance_at_most(0, self.trials, self.tail)))

    def ceiling(self, delta: float) -> float:
        """Return the largest epsilon that can be certified at all."""
        return self.open_book.epsilon(delta)

    def power(self, guarantee: Guarantee) -> float:
        """Return the chance to catch a mechanism with twice the privacy loss that is claimed.

        It is Laplace's if the claim is pure and Gaussian otherwise, and the best threshold is
        known.
        """
        if math.isfinite(guarantee.profile.pure_epsilon):
            claimed = guarantee.profile.pure_epsilon
            chances, bound = _laplace(2 * claimed), _log_ratio
        else:
            claimed = equivalent_mu(guarantee)
            chances, bound = _gaussian(2 * claimed), mu_bound
        return max(self._chance(p, q, claimed, bound) for p, q in zip(*chances, strict=True))

    def _chance(self, hit: float, miss: float, claimed: float, bound: Bound) -> float:
        """Return the chance that both counts together certify more than is claimed."""
        levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
        misses = binom.ppf(levels, self.trials, miss)
        highs = chance_at_most(misses, self.trials, self.tail)
        hits = np.unique(binom.ppf(np.linspace(1e-4, 1 - 1e-4, 400), self.trials, hit))
        lows = chance_at_least(hits, self.trials, self.tail)
        caught = bound(lows[:, None], highs[None, :]) > claimed
        enough = np.where(caught.any(axis=0), caught.argmax(axis=0), -1)
        chances = np.where(
            enough < 0, 0.0, binom.sf(hits[np.maximum(enough, 0)] - 1, self.trials, hit)
        )
        return float(chances.mean())


def equivalent_mu(guarantee: Guarantee) -> float:
    """Return the mu of the Gaussian that has the claimed epsilon at the claimed delta.

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
    if delta == 0 or not math.isfinite(epsilon):
        return math.inf
    low, high = 0.0, 1.0
    while Gaussian(high).delta(epsilon) < delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if Gaussian(middle).delta(epsilon) < delta else (low, middle)
    return high


def _log_ratio(low: Vector, high: Vector) -> Vector:
    return epsilon_bound(low, high, 0.0)


def _laplace(epsilon: float) -> tuple[Vector, Vector]:
    """Chances, on either data set, to be above a threshold at or beyond the second's centre."""
    beyond = np.linspace(0, 8, _THRESHOLDS)
    return 0.5 * np.exp(-beyond), 0.5 * np.exp(-beyond - epsilon)


def _gaussian(mu: float) -> tuple[Vector, Vector]:
    thresholds = np.linspace(-4, 4, _THRESHOLDS) + mu / 2
    return ndtr(mu - thresholds), ndtr(-thresholds)
