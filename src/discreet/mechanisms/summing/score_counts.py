"""A noisy histogram of scores: how many rows of either class a linear model gives which score.

What probabilities are calibrated from. The edges of the bins are public, and a row is counted in
one cell, that of its class and of its own score: elementwise products and pairwise additions, so
that the score is, to the last bit, a function of that row and of the released coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.data.block import SparseBlock
from discreet.errors import PrivacyError
from discreet.geometry.norms import pairwise_sums
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, laplace_grid
from discreet.privacy import Budget, Gaussian, Laplace, Profile, Unit, gaussian_multiplier, within
from discreet.questions.bounds import Bounds

BINS = 24
CELLS = 2 * BINS
"""The bins of the second class come after those of the first."""

COUNTED_SHARE = 0.03
"""The share of mu squared, or of a pure epsilon, that goes into the counts."""

ENTRIES_AT_ONCE = 2**15

WIDE, WIDE_ROWS = 513, 32
"""Columns from which sparse rows are multiplied as they are, and how many rows then at once."""


def _spread_out(places: Array) -> Vector:
    scores: Vector = 3 * np.sinh(3.6 * places / BINS)
    return scores


EDGES = _spread_out(np.arange(1 - BINS // 2, BINS // 2, dtype=np.float64))
"""Where one bin ends and the next begins; zero, the boundary of the classes, is among them."""

NODES = _spread_out(0.5 + np.arange(-BINS // 2, BINS // 2, dtype=np.float64))
"""A score that stands for each bin."""


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """What is planned about the counts: their grid and law of noise, and their profile.

    Without a private budget there is neither grid nor profile, and the counts are exact. Weights
    play no part, but for what a person's records leave one another.
    """

    entering: RowSums
    grid: Grid | None
    profile: Profile | None
    is_pure: bool

    @classmethod
    def within_budget(cls, budget: Budget, unit: Unit, bounds: Bounds) -> ScoreCounts:
        """Plan counts for their share of a budget.

        One record more is one more in one cell; another record is one less in one cell and one more
        in another. So counts change by 1 or 2 in l1, by 1 or the root of 2 in l2; or by so many
        times as much as a person's records count together.
        """
        rows = RowSums(bounds)
        if not budget.is_private:
            return cls(rows, None, None, False)
        if budget.delta == 0:
            moved = rows.count_spread(unit, diameter=2.0)
            grid = laplace_grid(
                epsilon=COUNTED_SHARE * budget.epsilon,
                sensitivity=moved,
                dimension=CELLS,
                bound=rows.largest(1.0),
                room=rows.room,
                bits=rows.bits,
            )
            reached = (moved + grid.spread_l1(CELLS)) / grid.scale * (1 + 1e-15)
            return cls(rows, grid, Laplace(reached), True)
        apart = rows.count_spread(unit, diameter=math.sqrt(2)) * (1 + 1e-15)
        grid = gaussian_grid(
            multiplier=gaussian_multiplier(budget) / math.sqrt(COUNTED_SHARE),
            sensitivity=apart,
            dimension=CELLS,
            bound=rows.largest(1.0),
            room=rows.room,
            bits=rows.bits,
        )
        reached = (apart + grid.spread_l2(CELLS)) / grid.scale * (1 + 1e-15)
        return cls(rows, grid, within(Gaussian(reached), distance_of_gaussian(CELLS)), False)

    @property
    def variance(self) -> float:
        """Of the noise in a cell."""
        if self.grid is None:
            return 0.0
        return self.grid.scale**2 * (2 if self.is_pure else 1)

    def release(self, rows: OpenRows, coefficients: Vector, noise: Noise) -> Vector:
        """Return the counts with noise: public."""
        if self.grid is None:
            parts = self.entering.parts
            return count_scores(rows, coefficients, self.entering, parts) / parts
        units = count_scores(rows, coefficients, self.entering, self.entering.one(self.grid))
        draw = noise.laplace if self.is_pure else noise.gaussian
        units += draw(units.size, self.grid.bits)
        return self.grid.values(units)


def count_scores(rows: OpenRows, coefficients: Vector, entering: RowSums, one: int = 1) -> Integers:
    """Return how many rows of either class have a score in each bin; so many units are a one."""

    def kernel(block: Block) -> Integers:
        return entering.tally(block, _cells(block, coefficients), CELLS, one)

    at_once = max(1, ENTRIES_AT_ONCE // coefficients.size)
    if coefficients.size > WIDE:
        at_once = WIDE_ROWS
    counts: Integers = rows.sum(kernel, block_rows=at_once)
    return counts


@np.errstate(all="ignore")
def _cells(block: Block, coefficients: Vector) -> Integers:
    """Return the cell of each row, of which every row has one."""
    if block.labels is None:
        raise PrivacyError("scores were counted of rows without labels.")
    if isinstance(block, SparseBlock) and coefficients.size > WIDE:
        scores = block.careful_margins(coefficients)  # row by row: segments of one row each
    else:
        terms = block.rows()
        terms *= coefficients
        scores = pairwise_sums(terms)
    bins = np.searchsorted(EDGES, scores)
    cells: Integers = bins + BINS * (block.labels > 0)
    return cells
