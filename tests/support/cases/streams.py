"""Online algorithms over short streams, where slopes are at their bound; and draws of experts.

The second record is the one that differs: of gradient steps, the first is passed over. Of a mean of
iterates it is the first, which is in most of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, LabelSet
from discreet.geometry import Box, L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import (
    Experts,
    GradientAscent,
    ImplicitGradient,
    OnlineToBatch,
    PrivateOCP,
)
from discreet.privacy import Budget, ReplaceOne, ZeroOutOne
from discreet.questions import ExpertStream, Problem, Stream
from support.cases.additive import AdditiveCase
from support.cases.base import Case, Data, hostile_row, l2
from support.cases.staged import Part, StagedCase

SWAP, ZERO = ReplaceOne(), ZeroOutOne()
HORIZON = 40


class StreamCase(Case):
    """Records in an order; under ``zero_out`` a neighbour has an empty record somewhere."""

    def random_pair(self, generator):
        first, second = super().random_pair(generator)
        if self.unit == ZERO:
            place = generator.integers(len(first.X))
            X, y = first.X.copy(), None if first.y is None else first.y.copy()
            X[place] = 0.0  # no slope, and the same loss for all experts
            if y is not None:
                y[place] = 1.0
            second = Data(X, y)
        return first, second


@dataclass(frozen=True)
class IteratesCase(StreamCase, StagedCase):
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
class MeanCase(StreamCase, AdditiveCase):
    """The mean of iterates."""

    def solver_error(self, plan, data):
        return 2 * plan.steps.error / plan.question.problem.ridge + plan.grid.step


@dataclass(frozen=True)
class ExpertsCase(StreamCase):
    """Draws of experts."""

    def silent_answer(self, plan, data):
        return np.cumsum(data.X, axis=0).argmin(axis=1)


def _stream(batch=10):
    bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    steep = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)
    return Stream(steep, HORIZON, batch)


def _pair_of_records(unit, count=HORIZON, place=1):
    X, y = np.zeros((count, 3)), np.ones(count)
    X[place, 0] = 5.0
    if unit == SWAP:
        return Data(X, y), Data(X, np.where(np.arange(count) == place, -1.0, y))
    return Data(X, y), Data(0 * X, y)


def _pair_of_losses(unit):
    X = np.tile([[0.25, 0.75]], (6, 1))
    other = X.copy()
    X[1], other[1] = [1.0, 0.0], [0.0, 1.0] if unit == SWAP else [0.5, 0.5]
    return Data(X), Data(other)


def _cases():
    budget, rows = Budget(1.0, 1e-6), hostile_row(3, [-1, 1])
    for unit in (SWAP, ZERO):
        pair = _pair_of_records(unit)
        for mechanism in (
            PrivateOCP("regret" if unit == SWAP else "even"),
            ImplicitGradient(),
            GradientAscent(),
        ):
            label = f"private ocp, {mechanism.algorithm}, {mechanism.schedule}, {unit.name}"
            yield IteratesCase(label, mechanism, _stream(), unit, budget, pair, rows, l2)
        yield MeanCase(f"online to batch, {unit.name}", OnlineToBatch(), _stream(), unit, budget,
                       _pair_of_records(unit, 3, place=0), rows, l2)  # fmt: skip
        losses = ExpertStream(Bounds(Box([0.0] * 2, [1.0] * 2), 2), HORIZON)
        yield ExpertsCase(f"experts, {unit.name}", Experts(), losses, unit, budget,
                          _pair_of_losses(unit), hostile_row(2))  # fmt: skip


CASES = tuple(_cases())
