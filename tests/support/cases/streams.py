"""Online algorithms over short streams, where slopes are at their bound; and draws of experts.

The second record is the one that differs: of gradient steps, the first is passed over. Of a mean of
iterates it is the first, which is in most of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from support.cases.additive import AdditiveCase
from support.cases.base import Case
from support.cases.staged import Part, StagedCase


@dataclass(frozen=True)
class IteratesCase(StagedCase):
    """All answers side by side, each in units of its noise."""

    def parts(self, plan):
        releases = range(1, plan.question.updates + 1)
        grids = [plan.schedule.grid(release) for release in releases]
        scales = np.array([[grid.scale] for grid in grids])
        width = plan.question.problem.width
        costs = [
            (plan.schedule.sensitivity(release) + grid.spread_l2(width)) / grid.scale
            for release, grid in zip(releases, grids, strict=True)
        ]

        def run(rows, noise):
            transcript = plan.run(rows, noise)
            return (transcript / scales[: len(transcript)]).ravel()

        def run_together(rows, noise, draws):
            transcripts = plan.run_many(rows, noise, draws)
            return (transcripts / scales[: transcripts.shape[1]]).reshape(draws, -1)

        return [Part(run, math.hypot(*costs), run_together)]

    def solver_error(self, plan, data):
        ridge = plan.question.problem.ridge
        return 2 * plan.algorithm.error / ridge + plan.schedule.grid(1).step


@dataclass(frozen=True)
class MeanCase(AdditiveCase):
    """The mean of iterates."""

    def solver_error(self, plan, data):
        return 2 * plan.steps.error / plan.question.problem.ridge + plan.grid.step


@dataclass(frozen=True)
class ExpertsCase(Case):
    """Draws of experts."""

    def silent_answer(self, plan, data):
        return np.cumsum(data.X, axis=0).argmin(axis=1)


KINDS = {
    "private_ocp": IteratesCase,
    "online_to_batch": MeanCase,
    "experts": ExpertsCase,
}
