"""A noisy number of rows, where nothing is to be known of their columns.

Every record adds one: the same number of grid units, in integers; a person's records add what they
count together. If records are replaced, their number is public, and is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Integers, Vector
from discreet.data import Block, OpenRows
from discreet.mechanisms.summing.standard_frame import ColumnTotals
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import Grid
from discreet.privacy import Unit
from discreet.questions.bounds import Bounds


@dataclass(frozen=True, eq=False)
class RowTotal:
    """What is summed in place of columns: ones."""

    words: ClassVar[str] = "the number of rows"
    dimension: ClassVar[int] = 1

    bounds: Bounds

    @property
    def largest(self) -> float:
        """The most that a row adds."""
        return RowSums(self.bounds).largest(1.0)

    def sum(self, rows: OpenRows, grid: Grid) -> Integers:
        """Return how many rows there are, in grid units."""

        entering = RowSums(self.bounds)

        def kernel(block: Block) -> Integers:
            return np.asarray(entering.units(block, entering.one(grid)).sum(keepdims=True))

        counted: Integers = rows.sum(kernel)
        return counted

    def split(self, totals: Vector, noise: float) -> ColumnTotals:
        """Return the number as the sum of a column of ones, and nothing of the others."""
        return ColumnTotals(totals, np.zeros(1), noise)

    def exact(self, rows: OpenRows) -> ColumnTotals:
        """Return the number without noise."""
        grid = Grid(scale=1.0, bits=28, bound=self.largest)
        return self.split(self.sum(rows, grid).astype(np.float64) * grid.step, 0.0)

    def sensitivity(self, order: int, unit: Unit) -> float:
        """Bound, in any norm, the change of the number between neighbours."""
        return 0.0 if unit.rows_are_public else RowSums(self.bounds).count_spread(unit)
