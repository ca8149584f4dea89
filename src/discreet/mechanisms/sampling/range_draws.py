"""Ranges of columns: two quantiles of each, drawn exactly from a public grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet._types import Array, Integers
from discreet.data import Block, OpenRows
from discreet.mechanisms.sampling.choice import nearest_step
from discreet.mechanisms.sampling.ranks import Runs, rank_range
from discreet.mechanisms.sampling.whole_weights import WholeWeights, sum_by_place
from discreet.noise import Noise
from discreet.privacy import BoundedRange, Budget, Profile, Unit, compose, gaussian_multiplier
from discreet.questions import Share
from discreet.questions.bounds import Bounds
from discreet.questions.sought_ranges import read_places

LEVELS = (Fraction(1, 50), Fraction(49, 50))
"""The quantiles that are drawn."""

STEPS = 2**14
"""Steps of the grid between public bounds."""

STRETCH = 0.1
"""A range goes beyond its two quantiles by this much of their distance, at each end."""

LEAST_HALF = 2.0**-10
"""The least width of a range, as a share of the public bounds."""


@dataclass(frozen=True, eq=False)
class RangeDraws:
    """Which columns, how fast chances fall with each rank, and the profile of all draws."""

    columns: tuple[int, ...]
    rate: Fraction | None
    profile: Profile | None
    weights: WholeWeights
    is_idle: bool = False

    @classmethod
    def within_budget(
        cls, columns: tuple[int, ...], bounds: Bounds, share: float, budget: Budget, unit: Unit
    ) -> RangeDraws:
        r"""Plan draws for a share of mu squared, or of a pure epsilon.

        A draw of the span h is :math:`h^2/8`-zCDP, a mu-Gaussian mechanism :math:`\mu^2/2`-zCDP.
        """
        weights = _rank_weights(bounds)
        if share == 0:
            return cls(columns, None, None, weights, is_idle=True)
        if not budget.is_private:
            return cls(columns, None, None, weights)
        draws = len(LEVELS) * len(columns)
        if budget.delta == 0:
            span = share * budget.epsilon / draws
        else:
            span = math.sqrt(4 * share / draws) / gaussian_multiplier(budget)
        widest = max(rank_range(level, unit) for level in LEVELS)
        rate = Fraction(span) / (widest * Fraction(weights.largest, weights.one))
        return cls(columns, rate, compose([BoundedRange(span)] * draws), weights)

    def expect_nats(self, rows: int) -> float:
        """Return how much less likely, in logarithms, points beyond so many numbers would be."""
        return math.inf if self.rate is None else rows * float(self.rate * min(LEVELS))

    def release(self, rows: OpenRows, noise: Noise) -> Array:
        """Return a range for each column, from -1 to 1 within its public bounds: public."""
        if self.is_idle:
            return np.tile([-1.0, 1.0], (len(self.columns), 1))
        ends = [[self._draw(tally, level, noise) for level in LEVELS] for tally in self.count(rows)]
        return widen(np.sort(np.array(ends), axis=1))

    def count(self, rows: OpenRows) -> Integers:
        """Return how many known numbers of each column lie at each grid point: private.

        Records count once each, whatever weights they have; those of a person what their share is.
        """
        size = (STEPS + 1) * len(self.columns)

        def kernel(block: Block) -> Integers:
            shares, is_known = read_places(block.rows()[:, list(self.columns)])
            places = nearest_step((-1.0, 1.0), shares, STEPS)
            places += (STEPS + 1) * np.arange(len(self.columns))
            whole = self.weights.of_block(block) if self.weights.bits else None
            if whole is None:
                return np.bincount(places[is_known], minlength=size)
            each = np.repeat(whole, len(self.columns)).reshape(places.shape)
            return sum_by_place(places[is_known], each[is_known], size)

        return np.asarray(rows.sum(kernel)).reshape(len(self.columns), STEPS + 1)

    def _draw(self, tally: Integers, level: Fraction, noise: Noise) -> float:
        taken = np.flatnonzero(tally)
        runs = Runs.of_tally(taken, tally[taken], STEPS, level)
        if self.rate is None:
            return 2 * runs.best() / STEPS - 1
        rate = self.rate / (level.denominator * self.weights.one)
        return 2 * float(runs.draw(rate, noise, 1)[0]) / STEPS - 1


def _rank_weights(bounds: Bounds) -> WholeWeights:
    """Return what rows count in ranks: once each, unless a person's share one weight."""
    is_shared = isinstance(bounds.person, Share)
    counted = bounds if is_shared else replace(bounds, max_weight=None)
    return WholeWeights.of(counted, max(level.denominator for level in LEVELS))


def widen(ends: Array) -> Array:
    """Return ranges that go somewhat beyond two quantiles, within the bounds, and not too narrow.

    Examples
    --------
    >>> widen(np.array([[0.0, 0.5], [-1.0, 1.0], [1.0, 1.0]])).round(3).tolist()
    [[-0.05, 0.55], [-1.0, 1.0], [0.998, 1.0]]
    """
    half = np.maximum((ends[:, 1] - ends[:, 0]) * (0.5 + STRETCH), LEAST_HALF)
    middle = np.clip(ends.mean(axis=1), LEAST_HALF - 1, 1 - LEAST_HALF)
    ranges: Array = np.clip(np.column_stack([middle - half, middle + half]), -1.0, 1.0)
    return ranges


def narrow_rows(rows: Array, columns: tuple[int, ...], ranges: Array) -> Array:
    """Write numbers by their place within their own range, from -1 to 1; what is missing as 0."""
    for column, (low, high) in zip(columns, ranges.tolist(), strict=True):
        shares, is_known = read_places(rows[:, column])
        inside = np.clip((shares - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)
        rows[:, column] = np.where(is_known, inside, 0.0)
    return rows
