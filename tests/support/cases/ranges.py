"""Private ranges: quantiles of places within public bounds, then a minimiser within the ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.exact.laws.finite import exponential_selection
from discreet.mechanisms.sampling.range_draws import STEPS
from support.cases.base import Case
from support.silent import SilentNoise


@dataclass(frozen=True)
class RangesCase(Case):
    """Draws of ranges, and a minimiser of rows within them."""

    def silent_answer(self, plan, data):
        exact = replace(plan, draws=replace(plan.draws, rate=None))
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step; ranges, exactly."""
        return 2 * plan.second.minimiser.radius + plan.second.mask.grid.step


def laws_of(case, plan, column, level, pair=None):
    """The laws of one draw under two data sets, from the definition of its scores."""
    laws = []
    for data in pair or case.worst_pair:
        counts = plan.draws.count(data.open(case))[column]
        taken = np.repeat(np.arange(STEPS + 1), counts)
        few = np.unique(np.concatenate([taken, taken + 1, [0]]))  # where scores can change
        scores = rank_scores_at(taken, few, float(level))
        each = np.diff(np.append(few, STEPS + 1))
        laws.append(exponential_selection(-np.repeat(scores, each), float(plan.draws.rate)))
    return tuple(laws)


def rank_scores_at(taken, points, q):
    """Count by how many ranks the quantile misses each of some points, from left to right."""
    n = len(taken)
    below = np.searchsorted(taken, points, side="left")
    upto = np.searchsorted(taken, points, side="right")
    return np.maximum(np.maximum(below - q * n, q * n - upto), 0.0)


KINDS = {
    "private_ranges": RangesCase,
}
