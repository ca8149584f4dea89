r"""Confidence intervals by inverting a linear test: Fieller's method with noise on the counts.

For a ratio :math:`r = \sum u_c \pi_c / \sum d_c \pi_c` the statistic
:math:`T(r) = \sum_c (u_c - r d_c) \tilde N_c` has mean zero at the true r for every number of rows,
and the interval is all r at which T is within its quantile. Its variance is that of the sample,
estimated from above, two pseudo-rows in the most extreme cells on either side, and that of the
noise; the quantile is Cornish and Fisher's for the kurtosis of the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from discreet._types import Array, Booleans, Vector
from discreet.metrics.count_noise import CountNoise

LEAD = 4.0
"""How many standard deviations of its noise a total must be above zero; below, no interval."""

ROWS_OF_RATIOS, ROWS_OF_PAIRS = 2.0, 0.5
"""Pseudo-rows on either side, in the variance only: few rows of a kind look too much alike."""

MOST_KURTOSIS = 3.0
SCANNED, CUT, CUTS = 257, 33, 4
"""Values of a scan, and of each finer one between the last value outside and the first inside."""

TOO_FEW = "too few rows: the total cannot be told from noise, so nothing is known"
CONTRADICTION = "the counts contradict one another by more than their noise explains"


class Limits(NamedTuple):
    """An interval, and why it is the whole range if it is."""

    low: float
    high: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Statistic:
    """A test statistic at some values of what it tests: itself, its variance, its cumulant."""

    value: Vector
    variance: Vector
    cumulant: Vector

    def is_accepted(self, level: float) -> Booleans:
        """Say where the value is within its quantile."""
        variance = np.maximum(self.variance, 1e-300)
        kurtosis = np.minimum(self.cumulant / variance**2, MOST_KURTOSIS)
        accepted: Booleans = self.value**2 <= quantile(level, kurtosis) ** 2 * variance
        return accepted


def quantile(level: float, kurtosis: Vector) -> Vector:
    """Return the two-sided quantile of a symmetric law of variance one, by Cornish and Fisher.

    Examples
    --------
    >>> quantile(0.95, np.array([0.0, 3.0])).round(3)
    array([1.96 , 2.166])
    """
    z = float(ndtri((1 + level) / 2))
    return np.asarray(z + kurtosis * max(z**3 - 3 * z, 0.0) / 24)


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of weighted sums of counts: accuracy, precision, log loss.

    Parameters
    ----------
    upper, lower
        The weight of a row of each cell in the numerator and in the denominator.
    low, high
        The public range of the ratio.

    Examples
    --------
    >>> accuracy = Ratio(np.array([1.0, 0.0]), np.ones(2), 0.0, 1.0)
    >>> counts, noise = np.array([90.0, 10.0]), CountNoise("laplace", 1.0)
    >>> accuracy.of(counts)
    0.9
    >>> low, high, _ = accuracy.limits(counts, noise, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.83, 0.97)
    """

    upper: Vector
    lower: Vector
    low: float
    high: float

    def of(self, counts: Vector) -> float:
        """Return the ratio of counts that are not negative; the middle of its range for none."""
        total = float(self.lower @ counts)
        if total <= 0:
            return (self.low + self.high) / 2
        return float(np.clip(self.upper @ counts / total, self.low, self.high))

    def limits(
        self, counts: Vector, noise: CountNoise, level: float, *, is_sample: bool = False
    ) -> Limits:
        """Return the interval.

        Parameters
        ----------
        counts
            As released, not projected.
        noise
            The law of their noise.
        level
            The chance with which it covers.
        is_sample
            Whether it is about these rows, and not about where they came from.
        """
        spread = LEAD * np.sqrt(noise.variance * (self.lower**2).sum())
        if not self.lower @ counts > spread:
            return Limits(self.low, self.high, TOO_FEW)
        if is_sample and noise.variance == 0:
            return Limits(self.of(counts), self.of(counts))

        def statistic(ratios: Vector) -> Statistic:
            weights = self.upper - ratios[:, None] * self.lower
            return _statistic(weights @ counts, [(weights, counts)], noise, ROWS_OF_RATIOS,
                              is_sample=is_sample)  # fmt: skip

        return hull(statistic, level, self.low, self.high)


@dataclass(frozen=True, eq=False)
class PairMean:
    """The mean of a kernel over pairs of a positive and a negative row: area under the ROC curve.

    Parameters
    ----------
    kernel
        What a pair is worth: a line for each cell of positives, a column for each of negatives.

    Examples
    --------
    >>> area = PairMean(np.array([[0.5, 0.0], [1.0, 0.5]]))
    >>> area.of(positives=np.array([10.0, 90.0]), negatives=np.array([80.0, 20.0]))
    0.85
    """

    kernel: Array

    def of(self, positives: Vector, negatives: Vector) -> float:
        """Return the mean over counts that are not negative; one half without a pair."""
        pairs = positives.sum() * negatives.sum()
        if pairs <= 0:
            return 0.5
        return float(np.clip(positives @ self.kernel @ negatives / pairs, 0.0, 1.0))

    def limits(
        self,
        positives: Vector,
        negatives: Vector,
        noise: CountNoise,
        level: float,
        *,
        is_sample: bool = False,
    ) -> Limits:
        """Return the interval.

        Parameters
        ----------
        positives, negatives
            Counts as released.
        noise
            The law of their noise.
        level
            The chance with which it covers.
        is_sample
            Whether it is about these rows, and not about where they came from.
        """
        spread = LEAD * np.sqrt(noise.variance * positives.size)
        if min(positives.sum(), negatives.sum()) <= spread:
            return Limits(0.0, 1.0, TOO_FEW)
        if is_sample and noise.variance == 0:
            return Limits(self.of(positives, negatives), self.of(positives, negatives))
        above, below = self.kernel @ negatives, self.kernel.T @ positives

        def statistic(means: Vector) -> Statistic:
            of_positives = above - means[:, None] * negatives.sum()
            of_negatives = below - means[:, None] * positives.sum()
            parts = [(of_positives, positives), (of_negatives, negatives)]
            return _statistic(of_positives @ positives, parts, noise, ROWS_OF_PAIRS,
                              is_sample=is_sample)  # fmt: skip

        return hull(statistic, level, 0.0, 1.0)


def _statistic(
    value: Vector,
    parts: list[tuple[Array, Vector]],
    noise: CountNoise,
    rows: float,
    *,
    is_sample: bool,
) -> Statistic:
    """Return a statistic whose rows weigh so much in each cell, a line for each value tested."""
    squares = sum((weights**2).sum(axis=1) for weights, _ in parts)
    fourths = sum((weights**4).sum(axis=1) for weights, _ in parts)
    variance = noise.variance * squares
    if not is_sample:
        seen = sum(weights**2 @ counts for weights, counts in parts)
        variance = variance + np.maximum(seen + np.sqrt(noise.variance * fourths), 0.0)
        for weights, _ in parts:
            variance = variance + _variance_of_pseudo_rows(weights, rows)
    return Statistic(value, np.asarray(variance), np.asarray(noise.cumulant * fourths))


def variance_of_rows(weights: Array, counts: Vector, noise: CountNoise, rows: float) -> Vector:
    """Return the variance of a sum over rows that are drawn, estimated from above.

    Parameters
    ----------
    weights
        What a row of each cell adds, about its mean: a line for each value tested.
    counts
        As released.
    noise
        The law of their noise.
    rows
        Pseudo-rows in the most extreme cell on either side.

    Examples
    --------
    >>> variance_of_rows(np.array([[-1.0, 1.0]]), np.array([50.0, 50.0]), CountNoise("none", 0), 2)
    array([104.])
    """
    seen = weights**2 @ counts + np.sqrt(noise.variance * (weights**4).sum(axis=1))
    return np.asarray(np.maximum(seen, 0.0) + _variance_of_pseudo_rows(weights, rows))


def _variance_of_pseudo_rows(weights: Array, rows: float) -> Vector:
    up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    return np.asarray(rows * (up**2).max(axis=1) + rows * (down**2).max(axis=1))


def hull(statistic: Callable[[Vector], Statistic], level: float, low: float, high: float) -> Limits:
    """Return the least interval that holds all values at which a statistic is accepted.

    Parameters
    ----------
    statistic
        Of values to test.
    level
        The chance with which the interval covers.
    low, high
        The range of values.
    """
    places = np.linspace(low, high, SCANNED)
    for _ in range(4):  # an interval narrower than the scan lies where the statistic is least
        found = statistic(places)
        accepted = np.flatnonzero(found.is_accepted(level))
        if accepted.size:
            break
        nearest = int(np.argmin(found.value**2 / np.maximum(found.variance, 1e-300)))
        around = places[max(nearest - 1, 0)], places[min(nearest + 1, SCANNED - 1)]
        places = np.linspace(*around, SCANNED)
    else:
        return Limits(low, high, CONTRADICTION)
    first, last = int(accepted[0]), int(accepted[-1])
    outside = [max(first - 1, 0), min(last + 1, SCANNED - 1)]
    ends = _cut(statistic, level, places[outside], places[[first, last]])
    return Limits(float(ends[0]), float(ends[1]))


def _cut(
    statistic: Callable[[Vector], Statistic], level: float, outside: Vector, inside: Vector
) -> Vector:
    """Return, for each of two brackets, where acceptance ends, on the outer side."""
    for _ in range(CUTS):
        places = np.linspace(outside, inside, CUT)
        accepted = statistic(places.ravel()).is_accepted(level).reshape(places.shape)
        accepted[-1] = True
        first = accepted.argmax(axis=0)
        inside = places[first, [0, 1]]
        outside = places[np.maximum(first - 1, 0), [0, 1]]
    return outside
