"""Sparse models: corners of an l1 ball, thresholded steps, and models of chosen columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from support.cases.base import Case
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
        counted = data.counted(self)
        return corners_of(counted.X, counted.y, self.question, plan.steps)


@dataclass(frozen=True)
class ThresholdingCase(Case):
    """Steps of which the largest coefficients are kept."""

    def silent_answer(self, plan, data):
        question, mechanism = self.question, self.mechanism
        counted = data.counted(self)
        X, y = with_constant(counted.X, question), np.asarray(counted.y, float)
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


KINDS = {
    "frank_wolfe": CornersCase,
    "iterative_thresholding": ThresholdingCase,
    "select_then_fit": SelectedCase,
}
