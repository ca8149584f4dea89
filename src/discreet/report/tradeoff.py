r"""What the best attacker can do: false negatives against false positives.

The trade-off function of hypothesis testing (Dong, Roth and Su 2022), from a privacy profile. A
profile says, for every epsilon and both orders of the pair, that no test with a share ``a`` of
false positives has fewer false negatives than

.. math:: \max(0, \; 1 - \delta - e^\epsilon a, \; e^{-\epsilon} (1 - \delta - a)).

The largest of these lines is convex and made of straight pieces. Its corners are kept, so whoever
joins them by straight lines draws the bound itself, never something above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet._types import Vector
from discreet.privacy import Profile
from discreet.privacy.tabulated import epsilons_for

ROUNDING = 1e-12
"""Bounds are lowered by this, far above the rounding of a few additions and one exponential."""

GRID = 4001


@dataclass(frozen=True)
class Tradeoff:
    """A lower bound on false negatives for every share of false positives, by its corners.

    A trade-off function: convex, piecewise linear.

    Parameters
    ----------
    alarms
        Shares of false positives, increasing from 0 to 1.
    least_misses
        The share of false negatives at each of them, at least.

    Examples
    --------
    >>> from discreet.privacy import Pure
    >>> curve = tradeoff_of(Pure(1.0))
    >>> [round(share, 4) for share in curve.misses([0.0, 0.05, 0.5]).tolist()]
    [1.0, 0.8641, 0.1839]
    >>> round(curve.best_guess, 4)
    0.7311
    """

    alarms: tuple[float, ...]
    least_misses: tuple[float, ...]

    def misses(self, alarms: ArrayLike) -> Vector:
        """Return the least share of false negatives at shares of false positives."""
        found = np.interp(np.asarray(alarms, dtype=np.float64), self.alarms, self.least_misses)
        return np.maximum(found - ROUNDING, 0.0)

    @property
    def best_guess(self) -> float:
        """How often the best attacker is right at most, about a coin that decided the data."""
        errors = np.add(self.alarms, self.least_misses).min()
        return float(min(1.0, 1 - errors / 2 + ROUNDING))

    def best_guess_about(self, records: int) -> float:
        r"""How often the best attacker is right at most if so many records change together.

        The power of a test, :math:`g = 1 - f`, is applied once for each record. Between points of a
        grid the power is at most that of the next point.

        Examples
        --------
        >>> from discreet.privacy import Gaussian, Pure
        >>> round(tradeoff_of(Pure(1.0)).best_guess_about(2), 2)
        0.82
        >>> round(tradeoff_of(Gaussian(0.5)).best_guess_about(4), 2)  # Phi(1)
        0.84
        """
        alarms = np.linspace(0.0, 1.0, GRID)
        power = alarms
        for _ in range(records):
            power = 1 - self.misses(power)
        return float(min(1.0, 0.5 + np.max(power[1:] - alarms[:-1]) / 2))


def tradeoff_of(profile: Profile) -> Tradeoff:
    """Return the bound that a profile puts on all attacks.

    Examples
    --------
    >>> from discreet.privacy import Gaussian
    >>> round(float(tradeoff_of(Gaussian(1.0)).misses(0.1586553)), 3)  # Phi(1 - 1) is a half
    0.5
    """
    if not profile.is_private:
        return Tradeoff((0.0, 1.0), (0.0, 0.0))
    epsilons = epsilons_for(profile)
    return tradeoff_through(epsilons, profile.deltas(epsilons))


def tradeoff_through(epsilons: Vector, deltas: Vector) -> Tradeoff:
    """Return the bound that a profile at these epsilons puts on all attacks.

    Examples
    --------
    >>> tradeoff_through(np.array([0.0]), np.array([0.25])).alarms
    (0.0, 0.75, 1.0)
    """
    up, down, kept = np.exp(epsilons), np.exp(-epsilons), 1 - np.minimum(deltas, 1.0)
    slopes = np.concatenate([-up, -down, [0.0]])
    heights = np.concatenate([kept, down * kept, [0.0]])
    corners = _upper_envelope(slopes, heights)
    alarms = np.array([0.0, *corners, 1.0])
    least = np.max(slopes[:, None] * alarms + heights[:, None], axis=0) - ROUNDING
    return Tradeoff(tuple(alarms.tolist()), tuple(np.clip(least, 0.0, 1.0).tolist()))


def _upper_envelope(slopes: Vector, heights: Vector) -> list[float]:
    """Return where, between zero and one, the largest of several lines changes."""
    order = np.lexsort((heights, slopes))
    lines: list[tuple[float, float]] = []
    starts: list[float] = []
    for slope, height in zip(slopes[order].tolist(), heights[order].tolist(), strict=True):
        if lines and lines[-1][0] == slope:
            lines.pop()
            starts.pop()
        start = -math.inf
        while lines:
            start = (lines[-1][1] - height) / (slope - lines[-1][0])
            if start > starts[-1]:
                break
            lines.pop()
            starts.pop()
            start = -math.inf
        lines.append((slope, height))
        starts.append(start)
    return [start for start in starts if 0 < start < 1]
