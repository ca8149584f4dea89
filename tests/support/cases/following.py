"""Counts of scores in bins that follow a first release: two histograms, each with its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms import FollowingHistogram
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import FollowingCounts
from support.cases.base import Data, hostile_row, l1, l2
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


def _cases():
    low, high, other = [1.0, -3.0, 0.9], [2.0, 3.0, 0.1], [1.0, 3.0, 0.9]
    for law, budget, norm in (("laplace", Budget(1.0), l1), ("gaussian", Budget(1.0, 1e-6), l2)):
        for unit, first, second in (
            (AddRemoveOne(), [low], [low, high]),
            (ReplaceOne(), [low, high], [low, other]),
        ):
            question = FollowingCounts(8, most_bins=8, max_rows=2**20)
            yield FollowingCase(f"{law} following histogram, {unit.name}", FollowingHistogram(law),
                                question, unit, budget, (Data(first), Data(second)), _row,
                                norm)  # fmt: skip


def _row(generator):
    """A hostile row, or one of a class."""
    if generator.integers(2):
        return hostile_row(3)(generator)
    return np.array([generator.integers(3), generator.normal() * 3, generator.uniform()]), None


CASES = tuple(_cases())
