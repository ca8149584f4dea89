"""Noisy sums of gradients: of one margin, of distances, and of several classes at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.privacy import Budget
from discreet.questions import OneVsRest
from support.cases.staged import Part, StagedCase
from support.silent import SilentNoise


def sum_parts(plan, point):
    """Return the noisy sums of a plan, at public coefficients or at the origin."""
    point = np.zeros(plan.problem.width) if point is None else np.array(point)

    def run(rows, noise):
        drawn = noise.gaussian(point.size, plan.grid.bits)
        (batch,) = plan.batches.draw(plan.sums.prepare(rows), noise, 1)
        total = plan.noisy_sum(batch, point, drawn)
        return total / plan.grid.scale

    def run_together(rows, noise, draws):
        batches = plan.batches.draw(plan.sums.prepare(rows), noise, draws)
        drawn = noise.gaussian(draws * point.size, plan.grid.bits).reshape(draws, -1)
        totals = [
            plan.noisy_sum(*each) for each in zip(batches, [point] * draws, drawn, strict=True)
        ]
        return np.array(totals) / plan.grid.scale

    return (Part(run, plan.sensitivity / plan.grid.scale, run_together),) * plan.steps


def with_first_class(case):
    """Take rows of several classes for the first, by what they have in common."""
    if not isinstance(case.question, OneVsRest):
        return case
    columns = case.question.bounds.n_features
    point = (*[0.0] * (columns - 1), 1000.0, *[0.0] * (columns * (case.question.classes - 1)))
    return replace(case, point=point)


def sum_error(plan):
    """Sums are exact, but sparse and dense rows are clipped by different roundings."""
    cut = 20 * plan.problem.row_lipschitz * 2.0**-19 * math.sqrt(plan.problem.bounds.width)
    return (cut + 2 * plan.grid.step) / plan.problem.ridge


@dataclass(frozen=True)
class GradientCase(StagedCase):
    """Noisy sums of gradients; any public coefficients will do, and the origin is one of them."""

    point: tuple[float, ...] | None = None

    @classmethod
    def of(cls, stated):
        return with_first_class(super().of(stated))

    def parts(self, plan):
        return sum_parts(plan, self.point)

    def silent_answer(self, plan, data):
        exact = self.plan(Budget(math.inf))  # whose steps are its own: they depend on the noise
        plan = replace(plan, steps=exact.steps, rule=exact.rule)
        return plan.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        return sum_error(plan)


@dataclass(frozen=True)
class AcceleratedCase(StagedCase):
    """A noisy norm first, then noisy sums of softmax gradients."""

    # A row that is turned round moves gradients as far as can be, and the norm, which has 0.3 % of
    # mu squared, hardly at all: no pair attains both.
    @property
    def attained(self):
        return min(0.997, super().attained)

    point: tuple[float, ...] | None = None

    @classmethod
    def of(cls, stated):
        return with_first_class(super().of(stated))

    def parts(self, plan):
        def run(rows, noise):
            norm = plan.noisy_norm(plan.norm.sums.prepare(rows), noise)
            return np.array([norm]) / plan.event.grid.scale

        moved = (1 + 2 * plan.norm.error + plan.event.grid.spread_l2(1)) / plan.event.grid.scale
        return (Part(run, moved), *sum_parts(plan.second, self.point))

    def silent_answer(self, plan, data):
        # Steps are made for the noise that was planned: without it, there is none.
        steps = self.plan(Budget(math.inf)).second.steps
        second = replace(plan.second, steps=steps, grid=None)
        return replace(plan, event=None, second=second).run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        return sum_error(plan.second)


KINDS = {
    "noisy_gradient": GradientCase,
    "accelerated_gradient": AcceleratedCase,
}
