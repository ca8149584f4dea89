"""Sparse models: corners of an l1 ball, thresholded steps, and models of chosen columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import L2Ball, LinfBall
from discreet.losses import Huber, Logistic, MarginLogistic, Squared
from discreet.mechanisms import (
    FrankWolfe,
    IterativeThresholding,
    ObjectivePerturbation,
    SelectThenFit,
)
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import L1Problem, Problem, SparseProblem, StrongestColumns
from support.cases.base import Case, Data, hostile_row
from support.silent import SilentNoise


def with_constant(X, question):
    constant = question.bounds.intercept
    X = np.clip(np.asarray(X, float), -1.0, 1.0)
    return X if constant is None else np.column_stack([X, np.full(len(X), constant)])


def corners_of(X, y, question, steps):
    """Walk towards the best corners in floats, from the formulas of the method."""
    X, y = with_constant(X, question), np.asarray(y, float)
    w, corners = np.zeros(X.shape[1]), []
    for step in range(1, steps + 1):
        slope = X.T @ question.loss.slope(y, X @ w)
        place = int(np.argmax(np.abs(slope)))
        sign = -np.sign(slope[place])
        corners.append(sign * (place + 1))
        share = 2 / (step + 2)
        w *= 1 - share
        w[place] += share * sign * question.radius
    return np.array(corners)


@dataclass(frozen=True)
class CornersCase(Case):
    """Steps towards corners."""

    def silent_answer(self, plan, data):
        return corners_of(data.X, data.y, self.question, plan.steps)


@dataclass(frozen=True)
class ThresholdingCase(Case):
    """Steps of which the largest coefficients are kept."""

    def silent_answer(self, plan, data):
        question, mechanism = self.question, self.mechanism
        X, y = with_constant(data.X, question), np.asarray(data.y, float)
        w = np.zeros(X.shape[1])
        size = mechanism.step_size / question.loss.smoothness(np.inf) / mechanism.rows
        for _ in range(plan.steps):
            moved = w - size * (X.T @ question.loss.slope(y, X @ w))
            places = np.argsort(-np.abs(moved), kind="stable")[: question.size]
            w = np.zeros_like(w)
            w[places] = moved[places]
            w *= min(1.0, question.radius / np.linalg.norm(w))
        return np.concatenate([places, w[places]])


@dataclass(frozen=True)
class SelectedCase(Case):
    """A choice of columns, and a minimiser of rows of these columns."""

    def silent_answer(self, plan, data):
        exact = replace(plan, first=replace(plan.first, rate=None))
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step; places, exactly."""
        return 2 * plan.second.minimiser.radius + plan.second.mask.grid.step


def pulled_pair(unit, width):
    """Records that pull one way, more for the first column, and one that pulls the other way."""
    X, y = -np.ones((5, width)), np.ones(5)
    X[:3, 1:] = 0.5
    row = np.ones((1, width))
    if unit.count_is_public:
        return Data(np.vstack([X, row]), np.append(y, -1.0)), Data(np.vstack([X, row]),
                                                                   np.append(y, 1.0))  # fmt: skip
    return Data(X, y), Data(np.vstack([X, row]), np.append(y, 1.0))


def _cases():
    numbers = Bounds(LinfBall(1.0), 3, labels=Interval(-1, 1), max_rows=2**16)
    classes = replace(numbers, labels=LabelSet([-1, 1]))
    inside = Bounds(L2Ball(1.0), 1, labels=classes.labels, intercept=1.0, max_rows=2**16)
    row, two = hostile_row(3, [-1, 0.25, 1]), hostile_row(3, [-1, 1])
    for unit in (AddRemoveOne(), ReplaceOne()):
        pair = pulled_pair(unit, 3)
        for loss, bounds, budget in (
            (Squared(1.0), replace(numbers, intercept=1.0), Budget(1.0, 1e-6)),
            (Huber(0.5), numbers, Budget(1.0)),
            (Logistic(), classes, Budget(1.0, 1e-6)),
        ):
            yield CornersCase(f"Frank-Wolfe, {loss!r}, {unit.name}", FrankWolfe(3),
                              L1Problem(loss, bounds, radius=0.7), unit, budget, pair,
                              two if bounds is classes else row)  # fmt: skip
        problem = SparseProblem(Huber(0.5), numbers, size=2, radius=2.0)
        for budget in (Budget(1.0, 1e-6), Budget(1.0)):
            law = "gaussian" if budget.delta > 0 else "laplace"
            yield ThresholdingCase(f"iterative thresholding, {law}, {unit.name}",
                                   IterativeThresholding(3, rows=6), problem, unit,
                                   budget, pair, row)  # fmt: skip
        problem = Problem(MarginLogistic(margin=40.0), classes, ridge=4000.0)
        mechanism = SelectThenFit(StrongestColumns(classes, 1, is_centred=False),
                                  ObjectivePerturbation("gaussian"), inside)  # fmt: skip
        yield SelectedCase(f"select, then fit, {unit.name}", mechanism, problem, unit,
                           Budget(1.0, 1e-6), pair, two)  # fmt: skip


CASES = tuple(_cases())
