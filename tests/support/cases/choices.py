"""Draws among finitely many candidates, and of points: thresholds, columns, locations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from discreet.questions import BestSubset, BestThreshold, LeastLoss
from discreet.questions.choices import ColumnLocations
from support.cases.base import Case


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
        counted = data.counted(self)
        X, y = np.asarray(counted.X), np.asarray(counted.y)
        errors = errors_of(X, y, plan.steps)
        column, which, _ = np.argwhere(errors == errors.min())[0]
        best = np.flatnonzero(errors[column, which] == errors.min())
        return np.array([column, (best.mean() - 0.5) / plan.steps, (1, -1)[which]])


@dataclass(frozen=True)
class ColumnCase(Case):
    """A draw of the column with the least sum."""

    def silent_answer(self, plan, data):
        return np.sum(data.counted(self).X, axis=0).argmin()


@dataclass(frozen=True)
class LocationCase(Case):
    """A draw of a point of each column."""

    def silent_answer(self, plan, data):
        grid = np.linspace(0, 1, 20_001)
        loss = self.question.loss
        sums = [
            loss.value(np.asarray(column)[:, None], grid).sum(axis=0)
            for column in np.transpose(data.counted(self).X)
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


KINDS = {
    ("exponential_sampling", BestThreshold): ThresholdCase,
    ("exponential_sampling", LeastLoss): ColumnCase,
    ("exponential_sampling", ColumnLocations): LocationCase,
    ("exponential_sampling", BestSubset): SubsetCase,
}
