"""A count with Laplace noise; proof in ``private_count.md``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Booleans, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    grid_tolerances,
    public_facts,
)
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import MOST_UNITS, Grid, Noise, laplace_grid, release_laplace
from discreet.privacy import Budget, Guarantee, Laplace, NoPrivacy, Unit
from discreet.questions import Question, RowCount
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class PrivateCountPlan(Plan):
    """A grid for the count, or none if nothing is to be hidden."""

    question: RowCount
    unit: Unit
    grid: Grid | None
    guarantee: Guarantee

    @property
    def sensitivity(self) -> float:
        """How far the counts of neighbours can be apart on the grid."""
        most = self.rows.count_spread(self.unit)
        return most if self.grid is None else most + self.grid.spread_l1(1)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid)

    @property
    def rows(self) -> RowSums:
        """How rows are counted."""
        return RowSums(self.question.bounds)

    def run(self, rows: OpenRows, noise: Noise) -> int:
        return int(self.run_many(rows, noise, 1)[0])

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Integers:
        if self.grid is None:
            found = rows.sum(lambda block: self.rows.weights(block)[self._is_counted(block)].sum())
            return np.full(draws, round(float(found)))
        return np.maximum(0, np.rint(self._hide(rows, self.grid, noise, draws))).astype(np.int64)

    def _hide(self, rows: OpenRows, grid: Grid, noise: Noise, draws: int) -> Vector:
        """Return the count with noise, so many times."""
        if not self.rows.are_cut:
            count = float(rows.sum(lambda block: np.count_nonzero(self._is_counted(block))))
            return release_laplace(np.full(draws, count), grid, noise)

        def kernel(block: Block) -> Integers:
            units = self.rows.units(block, self.rows.one(grid))
            return np.asarray(units[self._is_counted(block)].sum())

        return grid.values(int(rows.sum(kernel)) + noise.laplace(draws, grid.bits))

    def _is_counted(self, block: Block) -> Booleans:
        """Say of each row whether it has the label that is counted, if only one is."""
        if self.question.label is None or block.labels is None:
            return np.ones(block.size, dtype=np.bool_)
        return np.asarray(block.labels == self.question.label)


class PrivateCount(Mechanism):
    """The number of rows, or of rows with one label; pure epsilon.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.privacy import AddRemoveOne
    >>> question = RowCount(Bounds(L2Ball(1.0), n_features=3))
    >>> plan = PrivateCount().plan(question, Budget(0.1), AddRemoveOne())
    >>> round(plan.grid.scale, 3)
    10.0
    """

    name: ClassVar[str] = "private_count"
    units = TABLE_UNITS

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, RowCount):
            return Verdict(False, "private_count answers counts; use gaussian_sum or laplace_sum.")
        if question.label is None and unit.rows_are_public:
            return Verdict(False, "when records are replaced, their number is public; read it off.")
        return YES

    def _plan(self, question: RowCount, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return PrivateCountPlan(question, unit, None, Guarantee(NoPrivacy(), unit))
        bounds, rows = question.bounds, RowSums(question.bounds)
        most = rows.count_spread(unit)
        grid = laplace_grid(
            epsilon=budget.epsilon,
            sensitivity=most,
            dimension=1,
            bound=rows.largest(1.0) if rows.are_cut else float(bounds.max_rows),
            room=rows.room if rows.are_cut else MOST_UNITS,
            bits=rows.bits,
        )
        reached = (most + grid.spread_l1(1)) / grid.scale * (1 + 1e-15)
        guarantee = Guarantee(Laplace(reached), unit, public_facts(bounds, unit))
        return PrivateCountPlan(question, unit, grid, guarantee)
