"""Counts of cells with noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.noisy_histogram import LaplaceHistogramPlan
from discreet.privacy import Pure, compose
from support.cases.additive import AdditiveCase


@dataclass(frozen=True)
class HistogramCase(AdditiveCase):
    """Whole numbers: a discrete Laplace law moved by one is randomised response.

    Moved further it is no more than that, at as many times the rate; what is claimed is that, too.
    """

    def noise_scale(self, plan):
        return plan.scale if isinstance(plan, LaplaceHistogramPlan) else plan.grid.scale

    def true_profile(self, plan, apart):
        if isinstance(plan, LaplaceHistogramPlan):
            moved = np.abs(apart[apart != 0])
            return compose([Pure(float(by) / plan.scale) for by in moved])
        return super().true_profile(plan, apart)


KINDS = {
    "noisy_histogram": HistogramCase,
}
