r"""Confidence intervals by inverting a linear test: Fieller's method with noise on the counts.

For a ratio :math:`r = \sum u_c \pi_c / \sum d_c \pi_c` the statistic
:math:`T(r) = \sum_c (u_c - r d_c) \tilde N_c` has mean zero at the true r for every number of rows,
and the interval is all r at which T is within its quantile. Its variance is that of the sample,
estimated from above, two pseudo-rows in the most extreme cells on either side, and that of the
noise; the quantile is Cornish and Fisher's for the kurtosis of the noise. Where rows of a person
weigh W together, the variance of the sample is W times that of as many independent rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from discreet._types import Array, Booleans, Integers, Vector
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
    coins: Vector | None = None

    def of(self, counts: Vector) -> float:
        """Return the ratio of counts that are not negative; the middle of its range for none."""
        total = float(self.lower @ counts)
        if total <= 0:
            return (self.low + self.high) / 2
        return float(np.clip(self.upper @ counts / total, self.low, self.high))

    def limits(
        self, counts: Vector, noise: CountNoise, level: float, *, is_sample: bool = False
    ) -> Limits:
        """Return the interval."""
        spread = LEAD * np.sqrt(noise.variance * (self.lower**2).sum())
        if not self.lower @ counts > spread:
            return Limits(self.low, self.high, TOO_FEW)
        tossed = self._variance_of_coins(counts, noise) if is_sample else 0.0
        if is_sample and noise.variance == 0 and tossed == 0:
            return Limits(self.of(counts), self.of(counts))
        group = _Group.of(self.upper, self.lower, counts)

        def statistic(ratios: Vector) -> Statistic:
            weights = group.upper - ratios[:, None] * group.lower
            part = _Part(weights, group.counts, group.cells)
            return _statistic(weights @ group.counts, [part], noise, ROWS_OF_RATIOS,
                              is_sample=is_sample, besides=tossed)  # fmt: skip

        return hull(statistic, level, self.low, self.high)

    def _variance_of_coins(self, counts: Vector, noise: CountNoise) -> float:
        """Return the variance that coins add to the numerator, estimated from above."""
        if self.coins is None:
            return 0.0
        spread = math.sqrt(noise.variance * (self.coins**2).sum())
        return max(float(self.coins @ counts) + spread, 0.0)


class _Group(NamedTuple):
    """Cells of the same weights, put together: nothing depends on which of them a row is in."""

    upper: Vector
    lower: Vector
    counts: Vector
    cells: Vector

    @classmethod
    def of(cls, upper: Vector, lower: Vector, counts: Vector) -> _Group:
        """Return the sums of counts, and of how many cells each is."""
        pairs, where, cells = np.unique(
            np.stack([upper, lower]), axis=1, return_inverse=True, return_counts=True
        )
        sums = _sums_of(where.ravel(), counts)
        return cls(pairs[0], pairs[1], sums, cells.astype(np.float64))


def _sums_of(places: Integers, counts: Vector) -> Vector:
    """Return the sums of the counts of each place."""
    return np.asarray(np.bincount(places, counts), dtype=np.float64)


class _Part(NamedTuple):
    """What rows of some counts weigh, a line for each value tested, and how many cells each has."""

    weights: Array
    counts: Vector
    cells: Vector


@dataclass(frozen=True, eq=False)
class PairMean:
    """How often a positive row is ranked above a negative one: area under the ROC curve.

    Examples
    --------
    >>> area = PairMean(np.arange(2))
    >>> area.of(positives=np.array([10.0, 90.0]), negatives=np.array([80.0, 20.0]))
    0.85
    """

    places: Integers
    tie: float = 0.5

    def of(self, positives: Vector, negatives: Vector) -> float:
        """Return the mean over counts that are not negative; one half without a pair."""
        pairs = positives.sum() * negatives.sum()
        if pairs <= 0:
            return 0.5
        worth = _sums_of(self.places, positives) @ self._below(negatives)
        return float(np.clip(worth / pairs, 0.0, 1.0))

    def _below(self, negatives: Vector) -> Vector:
        """Return, for each rank, what a positive row there is worth beside all negative ones."""
        ranked = _sums_of(self.places, negatives)
        return np.asarray(np.cumsum(ranked) - (1 - self.tie) * ranked)

    def _above(self, positives: Vector) -> Vector:
        """Return, for each rank, what a negative row there is worth beside all positive ones."""
        ranked = _sums_of(self.places, positives)
        return np.asarray(ranked.sum() - np.cumsum(ranked) + self.tie * ranked)

    def limits(
        self,
        positives: Vector,
        negatives: Vector,
        noise: CountNoise,
        level: float,
        *,
        is_sample: bool = False,
    ) -> Limits:
        """Return the interval."""
        spread = LEAD * np.sqrt(noise.variance * positives.size)
        if min(positives.sum(), negatives.sum()) <= spread:
            return Limits(0.0, 1.0, TOO_FEW)
        if is_sample and noise.variance == 0:
            return Limits(self.of(positives, negatives), self.of(positives, negatives))
        below, above = self._below(negatives), self._above(positives)
        ranked = [_sums_of(self.places, counts) for counts in (positives, negatives)]
        cells = np.bincount(self.places).astype(np.float64)

        def statistic(means: Vector) -> Statistic:
            of_positives = below - means[:, None] * negatives.sum()
            of_negatives = above - means[:, None] * positives.sum()
            parts = [_Part(of_positives, ranked[0], cells), _Part(of_negatives, ranked[1], cells)]
            return _statistic(of_positives @ ranked[0], parts, noise, ROWS_OF_PAIRS,
                              is_sample=is_sample)  # fmt: skip

        return hull(statistic, level, 0.0, 1.0)


def _statistic(
    value: Vector,
    parts: list[_Part],
    noise: CountNoise,
    rows: float,
    *,
    is_sample: bool,
    besides: float = 0.0,
) -> Statistic:
    """Return a statistic whose rows weigh so much in each cell, with a variance besides."""
    squared = [(part.weights**2, part) for part in parts]
    squares = sum(square @ part.cells for square, part in squared)
    fourths = sum(square**2 @ part.cells for square, part in squared)
    variance = noise.variance * squares + besides
    if not is_sample:
        seen = sum(square @ part.counts for square, part in squared)
        drawn = np.maximum(seen + np.sqrt(noise.variance * fourths), 0.0)
        variance = variance + noise.crowding * drawn
        for part in parts:
            variance = variance + noise.crowding * _variance_of_pseudo_rows(part.weights, rows)
    return Statistic(value, np.asarray(variance), np.asarray(noise.cumulant * fourths))


def variance_of_rows(weights: Array, counts: Vector, noise: CountNoise, rows: float) -> Vector:
    """Return the variance of a sum over rows that are drawn, estimated from above.

    Examples
    --------
    >>> variance_of_rows(np.array([[-1.0, 1.0]]), np.array([50.0, 50.0]), CountNoise("none", 0), 2)
    array([104.])
    """
    seen = weights**2 @ counts + np.sqrt(noise.variance * (weights**4).sum(axis=1))
    drawn = np.maximum(seen, 0.0) + _variance_of_pseudo_rows(weights, rows)
    return np.asarray(noise.crowding * drawn)


def _variance_of_pseudo_rows(weights: Array, rows: float) -> Vector:
    up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    return np.asarray(rows * (up**2).max(axis=1) + rows * (down**2).max(axis=1))


def hull(statistic: Callable[[Vector], Statistic], level: float, low: float, high: float) -> Limits:
    """Return the least interval that holds all values at which a statistic is accepted."""
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
