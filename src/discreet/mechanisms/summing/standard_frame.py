"""The standardised frame: columns centred and scaled by what noisy sums say of them.

Standardisation (z-scores) by public means and variances, and coefficients folded back from it. It
is made from noisy sums of entries and of their squares. Entries are divided by the declared
``unit`` and clipped to the declared largest entry, one by one, before they are summed; squares are
taken of the clipped ones. Sums are exact integers on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, laplace_grid
from discreet.privacy import Gaussian, Laplace, Profile, Unit, within
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


@dataclass(frozen=True, eq=False)
class ColumnTotals:
    """Sums of entries and squares over all rows, in units of ``unit`` and its square.

    ``squares`` has zeros where no square was asked for. ``noise`` is the scale of the noise.
    """

    entries: Vector
    squares: Vector
    noise: float


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What is summed: every column, and the squares of some."""

    words: ClassVar[str] = "sums of columns"

    bounds: Bounds
    entry_bound: float  # of an entry in units of ``unit``; larger ones are clipped
    squared: tuple[bool, ...]  # one for each column, the intercept's last
    unit: float

    def sum(self, rows: OpenRows, grid: Grid) -> Integers:
        """Return the exact sums of the rows' grid units, squares after entries."""
        if self.rows.are_cut:
            first, second = rows.sum(
                lambda block: (
                    block.weighed_sum(lambda values, _: self._clip(values), grid.cut),
                    block.weighed_sum(lambda values, _: np.square(self._clip(values)), grid.cut),
                )
            )
            return np.concatenate([first, second[np.array(self.squared)]])

        def kernel(block: Block) -> tuple[Integers, ...]:
            is_exact = grid.sums_exactly(block.size)

            def both(values: Array, columns: slice | Integers) -> tuple[Any, Any]:
                clipped = self._clip(values)
                if not is_exact or clipped.ndim == 1:
                    return grid.snap(clipped), grid.snap(np.square(clipped))
                entries = grid.snap_as_floats(clipped, out=np.empty_like(clipped))
                np.square(clipped, out=clipped)
                return entries, grid.snap_as_floats(clipped, out=clipped)

            return block.integer_sums(both)

        first, second = rows.sum(kernel)
        return np.concatenate([first, second[np.array(self.squared)]])

    @property
    def rows(self) -> RowSums:
        """How rows enter the sums."""
        return RowSums(self.bounds)

    def _clip(self, values: Array) -> Array:
        if values.ndim == 1:
            return np.clip(values / self.unit, -self.entry_bound, self.entry_bound)
        clipped = np.divide(values, self.unit)
        return np.clip(clipped, -self.entry_bound, self.entry_bound, out=clipped)

    def split(self, totals: Vector, noise: float) -> ColumnTotals:
        """Take the vector of all sums apart."""
        width = self.bounds.width
        squares = np.zeros(width)
        squares[np.array(self.squared)] = totals[width:]
        return ColumnTotals(totals[:width], squares, noise)

    def exact(self, rows: OpenRows) -> ColumnTotals:
        """Return the sums without noise."""
        grid = Grid(scale=1.0, bits=28, bound=self.largest)
        totals = self.sum(rows, grid).astype(np.float64) * grid.step
        return self.split(totals, 0.0)

    @property
    def dimension(self) -> int:
        """How many sums there are."""
        return self.bounds.width + sum(self.squared)

    def sensitivity(self, order: int, unit: Unit) -> float:
        """Bound, in a norm, the change of the sums between neighbours."""
        return self._sensitivity_l1(unit) if order == 1 else self._sensitivity_l2(unit)

    def _sensitivity_l2(self, unit: Unit) -> float:
        r"""Return :math:`\sqrt{1 + e^2}` row norms, e the largest entry.

        :math:`\sum x^4 \le e^2 \sum x^2`. For two records, with w = x + x',
        :math:`(x - x')^2 (1 + w^2) = 2 (x^2 + x'^2) + w^2 (2 (x^2 + x'^2) - 1 - w^2)`, at most
        :math:`2 (x^2 + x'^2)` if :math:`4 e^2 \le 1`; in any case squares of both signs differ by
        at most :math:`\sqrt 2 e` norms. The intercept cancels. Of a person's rows, weighed and cut,
        nothing does.
        """
        entry = self.entry_bound
        one = self.bounds.row_norm() / self.unit * math.sqrt(1 + entry**2) * (1 + 1e-15)
        if self.rows.are_cut:
            return self.rows.spread(unit, one)
        if not unit.is_replace:
            return one
        norm = self._feature_norm(2)
        if 4 * entry**2 <= 1:
            return 2 * norm * (1 + 1e-15)
        return math.hypot(2 * norm, math.sqrt(2) * entry * norm) * (1 + 1e-15)

    def _sensitivity_l1(self, unit: Unit) -> float:
        """Return the l1 norm of a row, and what the squares of a row can sum to."""
        entry, norm = self.entry_bound, self._feature_norm(1)
        squares = entry * min(entry * sum(self.squared), norm)
        constant = 0.0 if unit.rows_are_public else (self.bounds.intercept or 0.0) / self.unit
        return self.rows.spread(unit, norm + squares + constant) * (1 + 1e-15)

    def _feature_norm(self, order: int) -> float:
        reach = self.bounds.features.reach(self.bounds.n_features, order)
        return reach * CLIPPING_SLACK / self.unit

    @property
    def largest(self) -> float:
        """The largest entry or square of one, as often as a row counts."""
        return self.rows.largest(max(1.0, self.entry_bound, self.entry_bound**2))


class ExactSums(Protocol):
    """What noise is added to: exact sums of integers, of bounded sensitivity."""

    @property
    def bounds(self) -> Bounds: ...
    @property
    def dimension(self) -> int: ...
    @property
    def largest(self) -> float: ...
    def sum(self, rows: OpenRows, grid: Grid) -> Integers: ...
    def split(self, totals: Vector, noise: float) -> ColumnTotals: ...
    def sensitivity(self, order: int, unit: Unit) -> float: ...


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Sums with a grid and a law of noise, and their profile."""

    moments: ExactSums
    grid: Grid
    profile: Profile
    is_pure: bool

    @classmethod
    def gaussian(cls, moments: ExactSums, unit: Unit, mu: float) -> NoisySums:
        """Plan sums that are mu-Gaussian private."""
        sensitivity, dimension = moments.sensitivity(2, unit), moments.dimension
        grid = gaussian_grid(
            multiplier=1 / mu,
            sensitivity=sensitivity,
            dimension=dimension,
            bound=moments.largest,
            room=RowSums(moments.bounds).room,
            bits=RowSums(moments.bounds).bits,
        )
        reached = (sensitivity + grid.spread_l2(dimension)) / grid.scale * (1 + 1e-15)
        profile = within(Gaussian(reached), distance_of_gaussian(dimension))
        return cls(moments, grid, profile, False)

    @classmethod
    def laplace(cls, moments: ExactSums, unit: Unit, epsilon: float) -> NoisySums:
        """Plan sums of pure epsilon."""
        sensitivity, dimension = moments.sensitivity(1, unit), moments.dimension
        grid = laplace_grid(
            epsilon=epsilon,
            sensitivity=sensitivity,
            dimension=dimension,
            bound=moments.largest,
            room=RowSums(moments.bounds).room,
            bits=RowSums(moments.bounds).bits,
        )
        reached = (sensitivity + grid.spread_l1(dimension)) / grid.scale * (1 + 1e-15)
        return cls(moments, grid, Laplace(reached), True)

    def release(self, rows: OpenRows, noise: Noise) -> ColumnTotals:
        """Return the sums with noise: public."""
        units = self.moments.sum(rows, self.grid)
        draw = noise.laplace if self.is_pure else noise.gaussian
        units += draw(units.size, self.grid.bits)
        return self.moments.split(self.grid.values(units), self.grid.scale)
