"""Additive models: noisy marginals, then a minimiser in the frame that they give."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.data import Interval, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms.additive_model import bounds_within
from discreet.mechanisms.additive_objectives import TargetSettings
from discreet.mechanisms.additive_pure import region_of
from discreet.mechanisms.additive_release import limits_of, scores_of
from discreet.mechanisms.marginal_splits import SplitNoise
from discreet.mechanisms.objective_perturbation import ExactMinimiser
from discreet.mechanisms.signal_rules import Settings
from discreet.mechanisms.summing.additive_tables import AdditiveFrame
from discreet.privacy import Budget
from support.cases.gradients import sum_error, sum_parts
from support.cases.marginals import scales_of
from support.cases.staged import Part, StagedCase, minimiser_part
from support.silent import SilentNoise

FRAME = AdditiveFrame((np.zeros((17, 1)), np.zeros((17, 1))), 1.0, 50.0)
"""Any will do: in this one rows are their constant, so that slopes have their full size."""

LONG = AdditiveFrame((1000 * np.sign(np.arange(17) - 8.0)[:, None], np.zeros((17, 1))), 1.0, 50.0)
"""In this one the ends of the pair are opposite, and hardly anything else counts."""

FIRST_CLASS = (0.0, 0.0, 1e9, *[0.0] * 6)
"""Coefficients that take every row for the first of three classes, by its constant."""

SHAPES = np.linspace(-9, 9, 17), np.zeros(17)
"""Of functions that tell the ends of the pair apart, where scores are counted."""


@dataclass(frozen=True)
class AdditiveModelCase(StagedCase):
    """All stages, the second as it is once the frame is public."""

    @classmethod
    def of(cls, stated):
        labels = stated.question.bounds.labels
        if isinstance(labels, Interval):
            return super(AdditiveModelCase, AdditiveTargetCase).of(stated)
        if len(labels.values) > 2:
            return super(AdditiveModelCase, AdditiveClassesCase).of(stated)
        kind = PureAdditiveCase if stated.budget.delta == 0 else AdditiveModelCase
        return super(AdditiveModelCase, kind).of(stated)

    def parts(self, plan):
        loss = plan.objective.planned
        if isinstance(loss, MarginLogistic):
            loss = replace(loss, margin=40.0)
        second = plan.second.settle(loss, self.question.ridge).narrow(FRAME.width + 1)

        def see(rows):
            return self.frame(plan, rows, FRAME, L2Ball(1.0))

        return [
            first_stage(plan.noise),
            *(minimiser_part(second, see, self.unit) for _ in range(plan.fits)),
            *([] if plan.counts is None else [self.last_stage(plan)]),
        ]

    def frame(self, plan, rows, frame, region):
        """Return rows in a frame that is public."""
        width, labels = frame.width + 1, plan.objective.labels
        return rows.transform(frame.apply, bounds_within(self.question, region, width, labels))

    def last_stage(self, plan):
        counts = plan.counts

        def run(rows, noise):
            scores = scores_of(FRAME, SHAPES, np.zeros(0))
            scored = self.frame(plan, rows, scores, limits_of(scores))
            return counts.release(scored, np.ones(3), noise) / counts.grid.scale

        return Part(run, counts.profile.ideal.mu)

    def silent_answer(self, plan, data):
        second = ExactMinimiser(plan.second.minimiser, plan.second.guarantee)
        exact = replace(plan, noise=SplitNoise(plan.noise.layout, self.unit), second=second)
        if plan.counts is not None:
            exact = replace(exact, counts=replace(plan.counts, grid=None))
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        return 2 * plan.second.minimiser.radius + plan.second.mask.grid.step


@dataclass(frozen=True)
class PureAdditiveCase(AdditiveModelCase):
    """Laplace splits, then a minimiser that is planned when the region of its rows is public."""

    def parts(self, plan):
        region = region_of(1.0, FRAME.width + 1)  # rows are their constant
        bounds = bounds_within(self.question, region, FRAME.width + 1, plan.objective.labels)
        settings = Settings(50.0, 1.0, 1.0, 40.0, self.question.ridge)
        second = plan.second.settle(settings, bounds)
        part = minimiser_part(second, lambda rows: self.frame(plan, rows, FRAME, region), self.unit)
        return [first_stage(plan.noise), part]

    def silent_answer(self, plan, data):
        return self.plan(Budget(math.inf)).run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        return 2 * plan.second.widest.minimiser.radius + plan.second.widest.mask.grid.step


@dataclass(frozen=True)
class AdditiveClassesCase(AdditiveModelCase):
    """Three classes: marginals, then noisy sums of gradients, at coefficients that are public.

    Labels that differ move marginals most, and labels that are alike sums of gradients: replaced
    records come near the largest change, and do not attain it.
    """

    attained = 0.985

    def parts(self, plan):
        bounds = bounds_within(self.question, L2Ball(1.0), LONG.width + 1, LabelSet(range(3)))
        settings = Settings(50.0, 1.0, 1.0, 40.0, self.question.ridge)
        second = plan.objective.settle_second(plan.second, settings, bounds)

        def see(run):
            return lambda rows, *rest: run(self.frame(plan, rows, LONG, L2Ball(1.0)), *rest)

        sums = (
            Part(see(part.run), part.sensitivity, see(part.run_together))
            for part in sum_parts(second, FIRST_CLASS)
        )
        return [first_stage(plan.noise), *sums]

    def silent_answer(self, plan, data):
        exact = self.plan(Budget(math.inf))
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        return sum_error(plan.second)


@dataclass(frozen=True)
class AdditiveTargetCase(AdditiveModelCase):
    """Both stages; targets are counted from a centre, in the smallest unit that can come."""

    attained = 0.995  # of a smooth loss slopes only come near their largest

    def frame(self, plan, rows, frame, region):
        centre = 0.5 if self.unit.is_replace else 0.0  # slopes of both signs, or of one
        settings = TargetSettings(50.0, 1.0, 1.0, self.question.ridge, centre, 0.04)
        return super().frame(plan, plan.objective.place(rows, settings), frame, region)


def first_stage(splits):
    """The noisy marginals, each number in units of its noise."""
    scales = scales_of(splits)
    return Part(
        lambda rows, noise: splits.hide(splits.layout.count(rows), noise)[0] / scales,
        splits.sensitivity * (1 + 1e-12),
    )


KINDS = {
    "additive_model": AdditiveModelCase,
}
