"""Noisy sums of gradients: of one margin, of distances, and of several classes at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Hinge, Logistic
from discreet.mechanisms import AcceleratedGradient, NoisyGradient
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import OneVsRest, Problem, SpatialMedian
from support.cases.base import Data, hostile_row, l2
from support.cases.staged import Part, StagedCase
from support.silent import SilentNoise

BUDGET = Budget(1.0, 1e-6)
ROWS = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
FOUR_STEPS = NoisyGradient(steps=4)
NOTHING, UP = [0.0] * 3, [5.0, 0.0, 0.0]


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


def sum_error(plan):
    """Sums are exact, but sparse and dense rows are clipped by different roundings."""
    cut = 20 * plan.problem.row_lipschitz * 2.0**-19 * math.sqrt(plan.problem.bounds.width)
    return (cut + 2 * plan.grid.step) / plan.problem.ridge


@dataclass(frozen=True)
class GradientCase(StagedCase):
    """Noisy sums of gradients; any public coefficients will do, and the origin is one of them."""

    point: tuple[float, ...] | None = None

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
    attained = 0.997

    point: tuple[float, ...] | None = None

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


def _cases(
    name,
    problem,
    other,
    row,
    *,
    up=UP,
    has_labels=True,
    kind=GradientCase,
    mechanism=FOUR_STEPS,
    **options,
):
    """A row more, and a row for another."""
    for unit, first, second in (
        (AddRemoveOne(), [NOTHING], [NOTHING, up]),
        (ReplaceOne(), [NOTHING, up], [NOTHING, other]),
    ):
        pair = tuple(
            Data(np.array(rows), np.ones(len(rows)) if has_labels else None)
            for rows in (first, second)
        )
        yield kind(f"{name}, {unit.name}", mechanism, problem, unit, BUDGET, pair, row, l2,
                   **options)  # fmt: skip


HINGES = Problem(Hinge(), ROWS, ridge=4000.0)

DISTANCES = SpatialMedian(Bounds(L2Ball(1e6), 3, max_rows=2**20), 20_000.0, Indicator(L2Ball(2.0)))
"""At a row the direction jumps, however near: what half a cell moves is one over the ridge."""

CLASSES = OneVsRest(Problem(Logistic(), ROWS, ridge=4000.0), classes=3)

FIRST_CLASS = (0.0, 0.0, 1000.0, *[0.0] * 6)
"""Both rows are taken for the first class, by what they have in common, and are of the second."""

CASES = (
    *_cases("noisy gradient", HINGES, [-5.0, 0.0, 0.0], hostile_row(3, [-1, 1])),
    *_cases("noisy directions", DISTANCES, [-3.0, 0.0, 0.0], hostile_row(3), has_labels=False),
    *_cases("noisy softmax", CLASSES, [-5.0, 0.0, 0.2], hostile_row(3, [0, 1, 2]),
            up=[5.0, 0.0, 0.2], point=FIRST_CLASS),
    *_cases("accelerated softmax", CLASSES, [-5.0, 0.0, 0.2], hostile_row(3, [0, 1, 2]),
            up=[5.0, 0.0, 0.2], point=FIRST_CLASS, kind=AcceleratedCase,
            mechanism=AcceleratedGradient(steps=4)),
)  # fmt: skip
