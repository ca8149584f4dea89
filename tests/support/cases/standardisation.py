"""Private standardisation: noisy sums of columns, then a minimiser in the frame that they give.

And, if they are asked for, counts of the scores that released coefficients give to rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from discreet.geometry import Box, L1L2Ball, L2Ball
from discreet.mechanisms.objective_perturbation import MOST_RIDGES, ExactMinimiser
from discreet.mechanisms.summing.row_count import RowTotal
from discreet.mechanisms.summing.standard_frame import StandardFrame
from discreet.noise import RehearsalNoise
from support.cases.staged import Part, StagedCase, minimiser_part
from support.silent import SilentNoise


@dataclass(frozen=True)
class StandardisationCase(StagedCase):
    """All stages, later ones as they are once frame and coefficients are public; any will do."""

    frame: StandardFrame = field(default=None, repr=False)

    @classmethod
    def of(cls, stated):
        bounds, region = stated.question.bounds, L2Ball(1.0)
        if stated.budget.delta == 0:
            region = L1L2Ball(2.0 if isinstance(bounds.features, Box) else 1.0, 1.0)
        return replace(super().of(stated), frame=long_frame(bounds, region, 1e3))

    def parts(self, plan):
        second, bounds = plan.replan.plan_within(self.frame.region, plan.second)
        if plan.rules is not None:  # as if noise dominated
            problem = plan.replan.problem
            second = second.settle(problem.loss, MOST_RIDGES * problem.ridge)
        counted = () if plan.sums is None else (first_stage(plan),)
        both = (
            *counted,
            minimiser_part(
                second, lambda rows: rows.transform(self.frame.apply, bounds), self.unit
            ),
        )
        return both if plan.counts is None else (*both, last_stage(plan))

    def silent_answer(self, plan, data):
        # Noise widens the floor of the spreads; without it, exact sums.
        counts = None if plan.counts is None else replace(plan.counts, grid=None)
        second = plan.second
        if plan.rules is not None:  # without noise they settle another objective
            second = ExactMinimiser(second.minimiser, second.guarantee)
        exact = replace(plan, sums=None, counts=counts, second=second)
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step, before they are folded."""
        frame = plan._frame(data.open(self), RehearsalNoise(3))
        second, _ = plan.replan.plan_within(frame.region, plan.second)
        off = 2 * second.minimiser.radius + second.mask.grid.step
        return off * np.abs(frame.fold(np.eye(frame.mean.size + 1))).sum(axis=0).max()


def first_stage(plan):
    """The noisy sums of a private standardisation."""
    sums, moments = plan.sums, plan.moments
    reached = sums.profile.ideal

    def run(rows, noise):
        found = sums.release(rows, noise)
        if isinstance(moments, RowTotal):
            return found.entries / sums.grid.scale
        squares = found.squares[np.array(moments.squared)]
        return np.concatenate([found.entries, squares]) / sums.grid.scale

    return Part(run, reached.pure_epsilon if sums.is_pure else reached.mu)


def last_stage(plan):
    """The noisy counts of scores, of coefficients that tell rows apart by their sum."""
    counts, reached = plan.counts, plan.counts.profile.ideal
    coefficients = np.ones(plan.moments.bounds.width)

    def run(rows, noise):
        return counts.release(rows, coefficients, noise) / counts.grid.scale

    return Part(run, reached.pure_epsilon if counts.is_pure else reached.mu)


def long_frame(bounds, region, size):
    """A frame that makes features long and the intercept short."""
    p = bounds.n_features
    return StandardFrame(np.zeros(p), np.full(p, size), 1.0, 1.0, region, bounds.intercept)


KINDS = {
    "private_standardisation": StandardisationCase,
}
