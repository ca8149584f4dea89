"""Counts of scores in bins that follow a first release: two histograms, each with its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.noisy_histogram import apart_l2, most_changed
from discreet.mechanisms.summing.totals import RowSums
from support.cases.staged import Part, StagedCase

EDGES = np.array([-1.0, 0.0, 2.0])
"""Any will do: they are public when the second release is made."""


@dataclass(frozen=True)
class FollowingCase(StagedCase):
    """Both releases, the second as it is once its edges are public."""

    def parts(self, plan):
        changes, rows = round(self.unit.spread(1.0)), RowSums(self.question.bounds)

        def sensitivity(noise):
            if noise.grid is None:  # sums of quotients are rounded
                return changes * rows.often / noise.scale * (1 + 1e-12)
            changed = most_changed(rows, changes, self.question.most_cells)
            return (apart_l2(rows, changes) + noise.grid.spread_l2(changed)) / noise.scale

        return (
            Part(lambda rows, noise: plan.release_first(rows, noise) / plan.first.scale,
                 sensitivity(plan.first)),
            Part(lambda rows, noise: plan.release_second(rows, EDGES, noise) / plan.second.scale,
                 sensitivity(plan.second)),
        )  # fmt: skip

    def random_row(self, generator):
        """A hostile row, or one of a class."""
        if generator.integers(2):
            return super().random_row(generator)
        return np.array([generator.integers(3), generator.normal() * 3, generator.uniform()]), None


KINDS = {
    "following_histogram": FollowingCase,
}
