"""The sum or mean of bounded rows with Laplace noise; proof in ``laplace_sum.md``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    grid_tolerances,
    public_facts,
)
from discreet.mechanisms.summing.totals import ExactTotal, Totals, is_total
from discreet.noise import Grid, Noise, laplace_grid
from discreet.privacy import Budget, Guarantee, Laplace, Unit
from discreet.questions import Question, VectorMean, VectorSum
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class LaplaceSumPlan(Plan):
    """A grid, and integers of Laplace law."""

    totals: Totals
    grid: Grid
    guarantee: Guarantee

    @property
    def sensitivity(self) -> float:
        """How far, in l1, the totals of neighbours can be apart on the grid."""
        return self.totals.sensitivity(1) + self.grid.spread_l1(self.totals.dimension)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        units = self.totals.units(rows, self.grid)
        units += noise.laplace(units.size, self.grid.bits)
        return self.totals.answer(self.grid.values(units), rows)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        units = self.totals.units(rows, self.grid)
        noisy = units + noise.laplace(draws * units.size, self.grid.bits).reshape(draws, -1)
        return np.array([self.totals.answer(total, rows) for total in self.grid.values(noisy)])


class LaplaceSum(Mechanism):
    """The Laplace mechanism: noise on each coordinate of the sum of rows; pure epsilon.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import L1Ball
    >>> from discreet.privacy import ReplaceOne
    >>> question = VectorSum(Bounds(L1Ball(1.0), n_features=10))
    >>> plan = LaplaceSum().plan(question, Budget(0.5), ReplaceOne())
    >>> round(plan.grid.scale, 2), plan.guarantee.epsilon(0.0) <= 0.5
    (4.0, True)
    """

    name: ClassVar[str] = "laplace_sum"
    units = TABLE_UNITS

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if is_total(question):
            return YES
        return Verdict(False, "laplace_sum answers sums and means; use private_count for a count.")

    def _plan(self, question: VectorSum | VectorMean, budget: Budget, unit: Unit) -> Plan:
        totals = Totals.of(question, unit, order=1)
        if not budget.is_private:
            return ExactTotal.of(totals)
        grid = laplace_grid(
            epsilon=budget.epsilon,
            sensitivity=totals.sensitivity(1),
            dimension=totals.dimension,
            bound=totals.largest,
            room=totals.rows.room,
            bits=totals.rows.bits,
        )
        reached = (totals.sensitivity(1) + grid.spread_l1(totals.dimension)) / grid.scale
        guarantee = Guarantee(
            Laplace(reached * (1 + 1e-15)), unit, public_facts(question.bounds, unit)
        )
        return LaplaceSumPlan(totals, grid, guarantee)
