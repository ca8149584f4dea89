"""Counts of scores in bins that follow a first release: two histograms, each with its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from support.cases.staged import Part, StagedCase

EDGES = np.array([-1.0, 0.0, 2.0])
"""Any will do: they are public when the second release is made."""


@dataclass(frozen=True)
class FollowingCase(StagedCase):
    """Both releases, the second as it is once its edges are public."""

    def parts(self, plan):
        changes = round(self.unit.spread(1.0))

        def sensitivity(noise):
            if noise.grid is None:
                return changes / noise.scale * (1 + 1e-12)  # sums of quotients are rounded
            return (np.sqrt(changes) + noise.grid.spread_l2(changes)) / noise.scale

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
