"""A count with Laplace noise; proof in ``private_count.md``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Integers
from discreet.data import Block, OpenRows
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, grid_tolerances, public_facts
from discreet.noise import Grid, Noise, laplace_grid, release_laplace
from discreet.privacy import Budget, Guarantee, Laplace, NoPrivacy, Unit
from discreet.questions import Question, RowCount
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class PrivateCountPlan(Plan):
    """A grid for the count, or none if nothing is to be hidden."""

    question: RowCount
    grid: Grid | None
    guarantee: Guarantee

    @property
    def sensitivity(self) -> float:
        """How far the counts of neighbours can be apart on the grid."""
        return 1.0 if self.grid is None else 1.0 + self.grid.spread_l1(1)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid)

    def run(self, rows: OpenRows, noise: Noise) -> int:
        count = int(rows.sum(self._matching))
        if self.grid is None:
            return count
        noisy = release_laplace([float(count)], self.grid, noise)
        return max(0, round(float(noisy[0])))

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Integers:
        count = int(rows.sum(self._matching))
        if self.grid is None:
            return np.full(draws, count)
        noisy = release_laplace(np.full(draws, float(count)), self.grid, noise)
        return np.maximum(0, np.rint(noisy)).astype(np.int64)

    def _matching(self, block: Block) -> Integers:
        if self.question.label is None or block.labels is None:
            return np.array(block.size, dtype=np.int64)
        return np.count_nonzero(block.labels == self.question.label) * np.ones((), dtype=np.int64)


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

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, RowCount):
            return Verdict(False, "private_count answers counts; use gaussian_sum or laplace_sum.")
        if question.label is None and unit.rows_are_public:
            return Verdict(False, "when records are replaced, their number is public; read it off.")
        return YES

    def _plan(self, question: RowCount, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return PrivateCountPlan(question, None, Guarantee(NoPrivacy(), unit))
        grid = laplace_grid(
            epsilon=budget.epsilon,
            sensitivity=unit.spread(1.0, diameter=1.0),
            dimension=1,
            bound=float(question.bounds.max_rows),
        )
        reached = (1.0 + grid.spread_l1(1)) / grid.scale * (1 + 1e-15)
        guarantee = Guarantee(Laplace(reached), unit, public_facts(question.bounds, unit))
        return PrivateCountPlan(question, grid, guarantee)
