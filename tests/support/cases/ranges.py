"""Private ranges: quantiles of places within public bounds, then a minimiser within the ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.exact.laws.finite import exponential_selection
from discreet.data import Bounds, LabelSet
from discreet.geometry import Box
from discreet.losses import MarginLogistic
from discreet.mechanisms import ObjectivePerturbation, PrivateRanges
from discreet.mechanisms.sampling.range_draws import STEPS
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Problem
from support.cases.base import Case, Data, hostile_row
from support.silent import SilentNoise

CROWD = 60
"""Rows at one place: more than fifty, so that a record moves the lowest quantile by a rank."""


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


def place(k):
    """Return what is written in a row for the k-th grid point."""
    return k / STEPS - 0.5


def worst_places(unit):
    """Places of a column for which one record moves the lowest quantile as far as it can."""
    if unit.count_is_public:
        crowd = [place(STEPS - 2)] * CROWD
        return [*crowd, place(STEPS)], [*crowd, place(0)]
    crowd = [place(STEPS - 1)] * CROWD
    return crowd, [*crowd, place(0)]


def _cases():
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    bounds = Bounds(
        Box([-1.0] * 2, [1.0] * 2), 2, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=2**20
    )
    problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)
    for unit in (AddRemoveOne(), ReplaceOne()):
        for budget, law in ((approximate, "gaussian"), (pure, "laplace")):
            mechanism = PrivateRanges(ObjectivePerturbation(law), columns=(0,))
            pair = tuple(
                Data(np.column_stack([column, np.ones(len(column))]), np.ones(len(column)))
                for column in worst_places(unit)
            )
            yield RangesCase(f"private ranges, {law}, {unit.name}", mechanism, problem, unit,
                             budget, pair, hostile_row(2, [-1, 1]))  # fmt: skip


CASES = tuple(_cases())
