"""The standardised frame: columns centred and scaled by what noisy sums say of them.

Standardisation (z-scores) by public means and variances, and coefficients folded back from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.mechanisms.summing.column_sums import ColumnSums, ColumnTotals
from discreet.questions.bounds import CLIPPING_SLACK, Bounds

FEWEST = 50.0
"""The count of rows is taken to be at least this much, lest a noisy one be zero or negative."""

LEAST_SQUARED_LENGTH = 0.25
"""Of standardised rows, intercept aside: that is added to it, so nothing rests on this."""

ROW_SHARE = 0.8
"""The mean absolute value of a bell curve is this much of its standard deviation."""


@dataclass(frozen=True, eq=False)
class StandardFrame:
    """Public once the sums are: z = (x - mean) * scale in each column, then divided by ``length``.

    The intercept's column, the last, becomes ``constant`` before the division. ``count`` is the
    noisy number of rows.
    """

    mean: Vector
    scale: Vector
    constant: float
    length: float
    region: ConvexSet
    intercept: float
    count: float = FEWEST

    @classmethod
    def of_gaussian(
        cls, sums: ColumnTotals, moments: ColumnSums, *, centred: bool
    ) -> StandardFrame:
        """Scale columns by their noisy standard deviations; rows are clipped in l2."""
        unit, constant = moments.unit, moments.bounds.intercept or 0.0
        count = max(float(sums.entries[-1]) * unit / constant, FEWEST)
        noise = sums.noise / count
        mean = sums.entries[:-1] / count if centred else np.zeros(sums.entries.size - 1)
        found = sums.squares[:-1] / count - mean**2
        spread = np.maximum(found, 0.0)
        floor = 3 * noise + float(spread.mean()) + 1e-12
        length = math.sqrt(1 + squared_length(found, mean, floor, noise, centred=centred))
        scale = 1 / (np.sqrt(spread + floor) * unit)
        return cls(mean * unit, scale, 1.0, length, L2Ball(1.0), constant, count)

    @classmethod
    def of_count(cls, sums: ColumnTotals, bounds: Bounds) -> StandardFrame:
        """Leave columns as they are, but for one factor by which declared rows have norm one."""
        unit, constant = bounds.row_norm(), bounds.intercept or 0.0
        width, count = bounds.n_features, max(float(sums.entries[-1]), FEWEST)
        scale = np.full(width, 1 / unit)
        return cls(np.zeros(width), scale, constant / unit, 1.0, L2Ball(1.0), constant, count)

    @classmethod
    def of_laplace(cls, sums: ColumnTotals, moments: ColumnSums) -> StandardFrame:
        """Scale columns by noisy deviations or frequencies; rows are clipped in l1 and l2."""
        unit, constant = moments.unit, moments.bounds.intercept or 0.0
        numeric = np.array(moments.squared[:-1], dtype=np.bool_)
        count = max(float(sums.entries[-1]) * unit / constant, FEWEST)
        largest = moments.entry_bound
        share = np.clip(sums.entries[:-1] / count, -largest, largest)
        mean = np.where(numeric, share, 0.0)
        variance = np.maximum(sums.squares[:-1] / count - mean**2, 0.0)
        spread = np.where(numeric, variance, np.maximum(share, 0.0))
        floor = 1.5 * sums.noise / count + float(spread.mean()) + 1e-12
        scale = 1 / np.sqrt(spread + floor)
        anchor = 1 / math.sqrt(0.25 + floor)
        typical = np.where(numeric, ROW_SHARE * np.sqrt(spread), spread)
        total = anchor + float((scale * typical).sum())
        length = math.sqrt(anchor**2 + float((spread * scale**2).sum()))
        region = L1L2Ball(max(total / length, 1.0), 1.0)
        return cls(mean * unit, scale / unit, anchor, length, region, constant, count)

    def longest(self, moments: ColumnSums) -> float:
        """Bound the norm of what a declared row becomes before it is divided by the length.

        Whichever is smaller, by its largest entry in every column or by its norm along the column
        that is stretched most.
        """
        declared, centre = moments.bounds, np.abs(self.mean)
        entry = moments.entry_bound * moments.unit
        norm = declared.features.reach(declared.n_features, 2)
        by_entries = float(np.linalg.norm((entry + centre) * self.scale))
        by_norm = norm * float(self.scale.max()) + float(np.linalg.norm(centre * self.scale))
        return math.hypot(min(by_entries, by_norm), self.constant) * CLIPPING_SLACK**2

    def apply(self, rows: Any) -> Any:
        """Bring rows, the intercept's column last, into the frame; dense ones are overwritten."""
        is_sparse = sparse.issparse(rows)
        if is_sparse and not self.mean.any():
            factors = np.append(self.scale, self.constant / self.intercept) / self.length
            return sparse.csr_array(rows).multiply(factors[None, :]).tocsr()
        dense: Array = rows.toarray() if is_sparse else rows
        dense[:, :-1] -= self.mean
        dense[:, :-1] *= self.scale / self.length
        dense[:, -1] = self.constant / self.length
        return dense

    def fold(self, coefficients: Array) -> Array:
        """Return the coefficients of the original columns that give the same margins."""
        slopes = coefficients[..., :-1] * (self.scale / self.length)
        anchor = coefficients[..., -1:] * (self.constant / self.length)
        anchor = anchor - (slopes * self.mean).sum(axis=-1, keepdims=True)
        return np.concatenate([slopes, anchor / self.intercept], axis=-1)


def squared_length(
    found: Vector, mean: Vector, floor: float, noise: float, *, centred: bool
) -> float:
    r"""Estimate, without bias, the mean squared norm of standardised rows, intercept aside.

    A column is found to have the variance r, of which the noise in its squared mean has taken
    :math:`s^2`, and is weighed by :math:`w = 1/(\max(r, 0) + floor)`: by less if the noise made r
    large, so that :math:`\sum (r + s^2) w` is too short. By Stein's identity what is missing is
    :math:`-\mathrm{Var}(r) \, w' = \mathrm{Var}(r) \, w^2` where r is positive and nothing
    elsewhere, with :math:`\mathrm{Var}(r) = s^2 (1 + 4 \, mean^2)`. The estimate is no smaller
    than its own noise, nor than a quarter.
    """
    weights = 1 / (np.maximum(found, 0.0) + floor)
    unbiased = found + noise**2 if centred else found
    doubt = noise**2 * (1 + 4 * mean**2) * weights**2
    length = float((unbiased * weights).sum()) + float(doubt[found > 0].sum())
    return max(length, math.sqrt(float(doubt.sum())), LEAST_SQUARED_LENGTH)


@dataclass(frozen=True, eq=False)
class Framing:
    """A frame, what is declared about rows in it, and what is declared about rows as they were."""

    frame: StandardFrame
    inside: Bounds
    declared: Bounds

    def apply(self, rows: OpenRows) -> OpenRows:
        """Return the rows in the frame, each clipped to its region: private."""
        return rows.transform(self.frame.apply, self.inside)

    def lengthen(self, factor: float) -> Framing:
        """Return a frame in which rows are this much shorter, so that fewer are clipped."""
        return replace(self, frame=replace(self.frame, length=self.frame.length * factor))
