"""Draws among finitely many candidates, and of points: thresholds, columns, locations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from discreet.data import Bounds, LabelSet
from discreet.geometry import Box, LinfBall
from discreet.losses import Huber, Pinball
from discreet.mechanisms import ExponentialSampling
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BestSubset, BestThreshold, LeastLoss
from discreet.questions.choices import ColumnLocations
from support.cases.base import Case, Data, hostile_row


def errors_of(X, y, steps):
    """Count errors candidate by candidate: columns, directions, thresholds, in the unit box."""
    places = np.rint(np.clip(X, 0, 1) * steps)
    return np.array(
        [
            [
                [((np.where(places[:, j] > cut, sign, -sign)) != y).sum()
                 for cut in range(-1, steps + 1)]
                for sign in (1, -1)
            ]
            for j in range(places.shape[1])
        ]
    )  # fmt: skip


@dataclass(frozen=True)
class ThresholdCase(Case):
    """A draw of a column, a threshold and a direction."""

    def silent_answer(self, plan, data):
        X, y = np.asarray(data.X), np.asarray(data.y)
        errors = errors_of(X, y, plan.steps)
        column, which, _ = np.argwhere(errors == errors.min())[0]
        best = np.flatnonzero(errors[column, which] == errors.min())
        return np.array([column, (best.mean() - 0.5) / plan.steps, (1, -1)[which]])


@dataclass(frozen=True)
class ColumnCase(Case):
    """A draw of the column with the least sum."""

    def silent_answer(self, plan, data):
        return np.sum(data.X, axis=0).argmin()


@dataclass(frozen=True)
class LocationCase(Case):
    """A draw of a point of each column."""

    def silent_answer(self, plan, data):
        grid = np.linspace(0, 1, 20_001)
        loss = self.question.loss
        sums = [
            loss.value(np.asarray(column)[:, None], grid).sum(axis=0)
            for column in np.transpose(data.X)
        ]
        return np.array([grid[each.argmin()] for each in sums])


@dataclass(frozen=True)
class SubsetCase(Case):
    """A draw of the columns of a linear model."""

    def silent_answer(self, plan, data):
        return least_subset(np.asarray(data.X), np.asarray(data.y), self.question)


def least_subset(X, y, question):
    """Return the subset with the least error, each found by itself."""

    def error(subset):
        columns = np.column_stack([X[:, subset], np.ones(len(X))])
        ridged = np.vstack([columns, np.eye(columns.shape[1])])
        found = lsq_linear(ridged, np.append(y, np.zeros(columns.shape[1])),
                           (-question.coefficient, question.coefficient))  # fmt: skip
        return found.cost

    everyone = itertools.combinations(range(X.shape[1]), question.size)
    return np.array(min(everyone, key=lambda subset: error(list(subset))))


def _cases():
    labels = LabelSet([-1, 1])
    columns = Bounds(Box([0.0] * 2, [1.0] * 2), 2, max_rows=2**16)
    marked = Bounds(Box([0.0] * 2, [1.0] * 2), 2, labels=labels, max_rows=2**16)
    X = np.array([[0.5, 0.2]] * 12 + [[0.5, 0.8]] * 12)
    y = np.repeat([-1.0, 1.0], 12)
    losses = np.array([[0.0, 1.0]] * 12)
    points = np.array([[0.25, 1.0]] * 12)
    signed = Bounds(LinfBall(1.0), 3, labels=labels, max_rows=2**16)
    table, sides = np.array([[1.0, 0.3, -0.2]] * 12 + [[-1.0, 0.3, 0.2]] * 12), -y
    for unit in (AddRemoveOne(), ReplaceOne()):
        lines = Data(table[:-1], sides[:-1]), Data(table, sides)
        if unit.count_is_public:
            lines = Data(table, np.append(sides[:-1], 1.0)), Data(table, sides)
        if unit.count_is_public:
            classes = Data(X, np.append(y[:-1], -1.0)), Data(X, y)
            tables = Data(np.append(losses[1:], [[1.0, 0.0]], axis=0)), Data(losses)
            places = Data(np.append(points[1:], [[1.0, 0.0]], axis=0)), Data(points)
        else:
            classes = Data(X[:-1], y[:-1]), Data(X, y)
            tables, places = (Data(losses[1:]), Data(losses)), (Data(points[1:]), Data(points))
        for kind, name, question, pair, row in (
            (ThresholdCase, "threshold", BestThreshold(marked, steps=100), classes,
             hostile_row(2, [-1, 1])),
            (ColumnCase, "least loss", LeastLoss(columns), tables, hostile_row(2)),
            (SubsetCase, "subset", BestSubset(signed, 2), lines, hostile_row(3, [-1, 1])),
            (LocationCase, "Huber location", ColumnLocations(columns, Huber(0.1)), places,
             hostile_row(2)),
            (LocationCase, "absolute location", ColumnLocations(columns, Pinball(0.5)), places,
             hostile_row(2)),
        ):  # fmt: skip
            yield kind(f"exponential sampling, {name}, {unit.name}", ExponentialSampling(),
                       question, unit, Budget(1.0), pair, row)  # fmt: skip


CASES = tuple(_cases())
