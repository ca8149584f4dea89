"""Private ranges: quantiles of places within public bounds, then a minimiser within the ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.exact.laws.finite import exponential_selection
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
        counts = plan.draws.count(data.open(case))[column] / plan.draws.weights.one
        scores = rank_scores(counts, float(level))
        laws.append(exponential_selection(-scores, float(plan.draws.rate)))
    return tuple(laws)


def rank_scores(counts, q):
    """Count by how many ranks the quantile misses each point, given how many lie at each."""
    upto = np.cumsum(counts)
    return np.maximum(np.maximum(upto - counts - q * upto[-1], q * upto[-1] - upto), 0.0)


KINDS = {
    "private_ranges": RangesCase,
}
