"""Counts of cells with noise."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.mechanisms.noisy_histogram import LaplaceHistogramPlan
from discreet.noise import UNIT_RATE
from discreet.privacy import Pure, compose
from support.cases.additive import AdditiveCase
from support.cases.base import l1


@dataclass(frozen=True)
class HistogramCase(AdditiveCase):
    """Whole numbers: a discrete Laplace law moved by one is randomised response."""

    def noise_scale(self, plan):
        return plan.scale if isinstance(plan, LaplaceHistogramPlan) else plan.grid.scale

    def true_profile(self, plan, apart):
        if isinstance(plan, LaplaceHistogramPlan):
            return compose([Pure(plan.rate / UNIT_RATE)] * round(l1(apart)))
        return super().true_profile(plan, apart)


KINDS = {
    "noisy_histogram": HistogramCase,
}
