"""Noisy sums of entries and of their squares: what a standardisation is made from.

Entries are divided by the declared ``unit`` and clipped to the declared largest entry, one by one,
before they are summed; squares are taken of the clipped ones. Sums are exact integers on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.mechanisms.summing.totals import INTEGER_ROOM
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, laplace_grid
from discreet.privacy import Gaussian, Laplace, Profile, Unit, within
from discreet.questions.bounds import CLIPPING_SLACK, Bounds


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
        at most :math:`\sqrt 2 e` norms. The intercept cancels.
        """
        entry = self.entry_bound
        if not unit.count_is_public:
            return self.bounds.row_norm() / self.unit * math.sqrt(1 + entry**2) * (1 + 1e-15)
        norm = self._feature_norm(2)
        if 4 * entry**2 <= 1:
            return 2 * norm * (1 + 1e-15)
        return math.hypot(2 * norm, math.sqrt(2) * entry * norm) * (1 + 1e-15)

    def _sensitivity_l1(self, unit: Unit) -> float:
        """Return the l1 norm of a row, and what the squares of a row can sum to."""
        entry, norm = self.entry_bound, self._feature_norm(1)
        squares = entry * min(entry * sum(self.squared), norm)
        constant = 0.0 if unit.count_is_public else (self.bounds.intercept or 0.0) / self.unit
        return unit.spread(norm + squares + constant) * (1 + 1e-15)

    def _feature_norm(self, order: int) -> float:
        reach = self.bounds.features.reach(self.bounds.n_features, order)
        return reach * CLIPPING_SLACK / self.unit

    @property
    def largest(self) -> float:
        """The largest entry or square of one."""
        return max(1.0, self.entry_bound, self.entry_bound**2)


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
            room=INTEGER_ROOM / moments.bounds.max_rows,
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
            room=INTEGER_ROOM / moments.bounds.max_rows,
        )
        reached = (sensitivity + grid.spread_l1(dimension)) / grid.scale * (1 + 1e-15)
        return cls(moments, grid, Laplace(reached), True)

    def release(self, rows: OpenRows, noise: Noise) -> ColumnTotals:
        """Return the sums with noise: public."""
        units = self.moments.sum(rows, self.grid)
        draw = noise.laplace if self.is_pure else noise.gaussian
        units += draw(units.size, self.grid.bits)
        return self.moments.split(self.grid.values(units), self.grid.scale)
