"""Shares, means and quantiles with intervals, from counts and splits whose noise is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.metrics.inversion import LEAD, TOO_FEW, quantile


class NoisyNumber(NamedTuple):
    """A number, the ends of its interval, and why the interval is all there could be if it is.

    Parameters
    ----------
    value
        The number, within its interval.
    low, high
        The interval, for sampling and noise together; for counts of rows, for noise alone.
    reason
        Why the interval is the whole range; nothing if it is not.

    Examples
    --------
    >>> f"{NoisyNumber(58.2, 57.6, 58.8)}"
    '58.2 (57.6 to 58.8)'
    """

    value: float
    low: float
    high: float
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"

    def scale(self, factor: float, shift: float = 0.0) -> NoisyNumber:
        """Return what becomes of it in other units."""
        value, low, high = (shift + factor * number for number in self[:3])
        return NoisyNumber(value, low, high, self.reason)


class Noisy(NamedTuple):
    """A released number, and the variance of the noise on it."""

    value: float
    variance: float


@dataclass(frozen=True)
class Confidence:
    """How sure an interval is, and the law of the noise that it has to hold."""

    level: float
    is_laplace: bool

    def reach(self, noise: float | Array, all_of_it: float | Array) -> Array:
        """Return how many deviations to go: more where heavy tails of noise are most of it."""
        share = np.asarray(noise) / np.maximum(all_of_it, np.finfo(float).tiny)
        return quantile(self.level, 3.0 * share**2 if self.is_laplace else 0.0 * share)

    def count(self, counted: Noisy, kept: float) -> NoisyNumber:
        """Return how many rows there are; ``kept`` is the number that agrees with all others."""
        far = float(self.reach(counted.variance, counted.variance)) * math.sqrt(counted.variance)
        low, high = max(counted.value - far, 0.0), max(counted.value + far, 0.0)
        return NoisyNumber(kept, min(low, kept), max(high, kept))

    def share(self, counted: Noisy, total: Noisy, kept: float) -> NoisyNumber:
        r"""Return a share of rows: Wilson's interval, with the noise of both counts in it.

        All p at which :math:`(n - pN)^2 \le z^2 (N p (1 - p) + \sigma_n^2 + p^2 \sigma_N^2)`.
        """
        if not total.value > LEAD * math.sqrt(total.variance):
            return NoisyNumber(kept, 0.0, 1.0, TOO_FEW)
        rows, spread = total.value, total.value * max(kept * (1 - kept), 1 / total.value)
        noise = counted.variance + total.variance * kept**2
        squared = float(self.reach(noise, noise + spread)) ** 2
        return solve(
            rows**2 + squared * (rows - total.variance),
            -2 * counted.value * rows - squared * rows,
            counted.value**2 - squared * counted.variance,
            kept,
            (0.0, 1.0),
        )


def check_level(level: object) -> None:
    """Refuse a level of confidence that no interval has."""
    _checks.fraction(level=level)
    if level in (0, 1):
        raise InputError(f"level must be below one and above zero, such as 0.95; got {level}.")


def solve(
    first: float, second: float, third: float, kept: float, ends: tuple[float, float]
) -> NoisyNumber:
    """Return where a parabola is not above zero, and what is kept in it."""
    low, high = ends
    if not first > 0:
        return NoisyNumber(kept, low, high, TOO_FEW)
    root = math.sqrt(max(second**2 - 4 * first * third, 0.0))
    found = ((-second - root) / (2 * first), (-second + root) / (2 * first))
    inside = [min(max(end, low), high) for end in found]
    return NoisyNumber(kept, min(inside[0], kept), max(inside[1], kept))


@dataclass(frozen=True, eq=False)
class NoisyTree:
    """The splits of a range, as they were released, and how many values are known.

    ``splits`` are of every node left minus right, from the whole range downwards; ``deviations``
    those of the noise on each level. ``counts`` of cells are not negative and have such a total.

    Examples
    --------
    >>> tree = NoisyTree(np.array([4.0, 4.0, -2.0]), np.zeros(2), Noisy(8.0, 0.0),
    ...                  np.array([5.0, 1.0, 0.0, 2.0]))
    >>> sure = Confidence(0.95, is_laplace=False)
    >>> print(tree.mean(tree.places, sure, (0.0, 1.0)))
    0.3438 (0.124 to 0.5635)
    """

    splits: Vector
    deviations: Vector
    total: Noisy
    counts: Vector

    @cached_property
    def places(self) -> Vector:
        """The middle of each cell, the whole range being one."""
        cells = self.counts.size
        return (np.arange(cells) + 0.5) / cells

    @cached_property
    def shares(self) -> Vector:
        """The shares of cells, even if there is no value."""
        total = float(self.counts.sum())
        return self.counts / total if total > 0 else np.full(self.counts.size, 1 / self.counts.size)

    def mean(self, values: Vector, sure: Confidence, ends: tuple[float, float]) -> NoisyNumber:
        r"""Return the mean of a function of the cell, in Fieller's interval.

        Of released splits H = :math:`\sum h d` and a total T, the mean is r where
        :math:`(\bar f - r) T + H` has mean zero; its variance is that of the noise, of both, and
        that of T values that are drawn.
        """
        kept = float(self.shares @ values)
        middle, weights = float(values.mean()), split_weights(values)
        total, found = self.total.value, float(np.concatenate(weights) @ self.splits)
        if not total > LEAD * math.sqrt(self.total.variance):
            return NoisyNumber(kept, *ends, TOO_FEW)
        squares = np.array([float(part @ part) for part in weights])
        noise = float(squares @ self.deviations**2)
        drawn = total * float(self.shares @ (values - kept) ** 2)
        off = (kept - middle) ** 2 * self.total.variance
        squared = float(sure.reach(noise + off, noise + off + drawn)) ** 2
        limits = solve(
            total**2 - squared * self.total.variance,
            -2 * found * total,
            found**2 - squared * (noise + drawn),
            kept - middle,
            (ends[0] - middle, ends[1] - middle),
        )
        return limits.scale(1.0, middle)

    def quantile(self, q: float, sure: Confidence) -> NoisyNumber:
        """Return a quantile, as a place between zero and one, and an interval that ends at cells.

        A value is below the quantile if, seen from the end of the range, every edge up to it has
        clearly fewer than its share of values beneath. The true quantile is passed only if the
        one edge next to it is wrong, so it does not matter how many edges are looked at.
        """
        reached = np.cumsum(self.shares)
        cell = min(int(np.searchsorted(reached, q)), reached.size - 1)
        before = reached[cell] - self.shares[cell]
        within = (q - before) / max(self.shares[cell], np.finfo(float).tiny)
        kept = (cell + min(max(within, 0.0), 1.0)) / reached.size
        depth = self._depth(q, kept)
        edges = np.arange(2**depth + 1) / 2**depth
        moved, noise = self._below(edges, depth, q)
        drawn = max(self.total.value, 1.0) * q * (1 - q)
        far = sure.reach(noise, noise + drawn) * np.sqrt(noise + drawn)
        starts = np.flatnonzero(~(moved < -far)[1:]) + 1  # nothing is below the first edge
        stops = np.flatnonzero(~(moved > far)[:-1])  # and nothing beyond the last
        low = edges[starts[0] - 1] if starts.size else edges[-2]
        high = edges[stops[-1] + 1] if stops.size else edges[1]
        return NoisyNumber(kept, min(float(low), kept), max(float(high), kept))

    def _depth(self, q: float, place: float) -> int:
        """Return in how many halvings edges are looked at: finer ones are noisier.

        One more is worth it while half the cell around the quantile, as far as it is known, holds
        more values than two deviations grow by.
        """
        drawn = max(self.total.value, 1.0) * q * (1 - q)
        reach = 2 * np.sqrt(drawn + np.cumsum(self.deviations**2) / 12)
        for depth in range(1, self.deviations.size):
            inside = self.shares.reshape(2**depth, -1).sum(axis=1)
            cell = inside[min(int(place * 2**depth), inside.size - 1)] * self.total.value
            if cell / 4 < reach[depth] - reach[depth - 1]:
                return depth
        return int(self.deviations.size)

    def _below(self, edges: Vector, depth: int, q: float) -> tuple[Vector, Vector]:
        """Return how many values are below each edge beyond their share, and its noise."""
        counts = np.array([self.total.value])
        noise = (edges - q) ** 2 * self.total.variance
        for level, deviation in enumerate(self.deviations[:depth]):
            splits = self.splits[2**level - 1 : 2 ** (level + 1) - 1]
            counts = (np.stack([counts + splits, counts - splits], axis=-1) / 2).ravel()
            inside = edges * 2**level % 1.0
            noise = noise + (deviation * np.minimum(inside, 1 - inside)) ** 2
        found = np.concatenate([[0.0], np.cumsum(counts)])
        return found - q * self.total.value, noise


def split_weights(values: Vector) -> list[Vector]:
    """Return how much each split counts in the sum of a function of the cell, level by level.

    Examples
    --------
    >>> [part.tolist() for part in split_weights(np.array([0.0, 1.0, 2.0, 3.0]))]
    [[-1.0], [-0.5, -0.5]]
    """
    found, means = list[Vector](), values
    while means.size > 1:
        halves = means.reshape(-1, 2)
        found.append((halves[:, 0] - halves[:, 1]) / 2)
        means = halves.mean(axis=1)
    return found[::-1]
