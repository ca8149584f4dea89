"""The sum or mean of bounded rows with Gaussian noise; proof in ``gaussian_sum.md``."""

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
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid
from discreet.privacy import Budget, Gaussian, Guarantee, Unit, gaussian_multiplier, within
from discreet.questions import Question, VectorMean, VectorSum
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class GaussianSumPlan(Plan):
    """A grid, and integers of Gaussian law."""

    totals: Totals
    grid: Grid
    guarantee: Guarantee

    @property
    def sensitivity(self) -> float:
        """How far, in l2, the totals of neighbours can be apart on the grid."""
        return self.totals.sensitivity(2) + self.grid.spread_l2(self.totals.dimension)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        units = self.totals.units(rows, self.grid)
        units += noise.gaussian(units.size, self.grid.bits)
        return self.totals.answer(self.grid.values(units), rows)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        units = self.totals.units(rows, self.grid)
        noisy = units + noise.gaussian(draws * units.size, self.grid.bits).reshape(draws, -1)
        return np.array([self.totals.answer(total, rows) for total in self.grid.values(noisy)])


class GaussianSum(Mechanism):
    """The Gaussian mechanism, on the sum of rows, or on the sum and the count for a mean.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.privacy import AddRemoveOne
    >>> question = VectorSum(Bounds(L2Ball(1.0), n_features=10))
    >>> plan = GaussianSum().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.grid.scale, 2), plan.guarantee.epsilon(1e-6) <= 1.0
    (4.22, True)
    """

    name: ClassVar[str] = "gaussian_sum"
    units = TABLE_UNITS

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if is_total(question):
            return YES
        return Verdict(False, "gaussian_sum answers sums and means; use private_count for a count.")

    def _plan(self, question: VectorSum | VectorMean, budget: Budget, unit: Unit) -> Plan:
        totals = Totals.of(question, unit, order=2)
        if not budget.is_private:
            return ExactTotal.of(totals)
        distance = distance_of_gaussian(totals.dimension)
        return plan_total(totals, gaussian_multiplier(budget, distance=distance), budget.delta)


def plan_total(totals: Totals, multiplier: float, quoted_delta: float) -> GaussianSumPlan:
    """Plan Gaussian noise of so many times the sensitivity."""
    bounds, distance = totals.question.bounds, distance_of_gaussian(totals.dimension)
    grid = gaussian_grid(
        multiplier=multiplier,
        sensitivity=totals.sensitivity(2),
        dimension=totals.dimension,
        bound=totals.largest,
        room=totals.rows.room,
        bits=totals.rows.bits,
    )
    reached = (totals.sensitivity(2) + grid.spread_l2(totals.dimension)) / grid.scale
    guarantee = Guarantee(
        within(Gaussian(reached * (1 + 1e-15)), distance),
        totals.unit,
        public_facts(bounds, totals.unit),
        quoted_delta=quoted_delta,
    )
    return GaussianSumPlan(totals, grid, guarantee)
