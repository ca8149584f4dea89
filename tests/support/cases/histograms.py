"""Counts of cells with noise."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.mechanisms import NoisyHistogram
from discreet.mechanisms.noisy_histogram import LaplaceHistogramPlan
from discreet.noise import UNIT_RATE
from discreet.privacy import AddRemoveOne, Budget, Pure, ReplaceOne, compose
from discreet.questions import CellCounts
from support.cases.additive import AdditiveCase
from support.cases.base import Data, hostile_row, l1, l2

ADD, SWAP = AddRemoveOne(), ReplaceOne()
ONE, TWO = CellCounts(4, max_rows=2**20), CellCounts((4, 3), max_rows=2**20)


@dataclass(frozen=True)
class HistogramCase(AdditiveCase):
    """Whole numbers: a discrete Laplace law moved by one is randomised response."""

    def noise_scale(self, plan):
        return plan.scale if isinstance(plan, LaplaceHistogramPlan) else plan.grid.scale

    def true_profile(self, plan, apart):
        if isinstance(plan, LaplaceHistogramPlan):
            return compose([Pure(plan.rate / UNIT_RATE)] * round(l1(apart)))
        return super().true_profile(plan, apart)


def _case(law, label, question, unit, first, second):
    budget, norm = (Budget(1.0), l1) if law == "laplace" else (Budget(1.0, 1e-6), l2)
    return HistogramCase(f"{law} histogram{label}, {unit.name}", NoisyHistogram(law), question,
                         unit, budget, (Data(first), Data(second)),
                         hostile_row(len(question.cells)), norm)  # fmt: skip


CASES = (
    *(
        case
        for law in ("laplace", "gaussian")
        for case in (
            _case(law, "", ONE, ADD, [[1.0]], [[1.0], [3.0]]),
            _case(law, "", ONE, SWAP, [[1.0], [3.0]], [[1.0], [2.0]]),
        )
    ),
    _case("laplace", "s of two columns", TWO, ADD, [[1.0, 1.0]], [[1.0, 1.0], [3.0, 9.0]]),
    _case("gaussian", "s of two columns", TWO, SWAP, [[1.0, 1.0]], [[3.0, 2.0]]),
)
