r"""One of all subsets of columns, by the squared error of a linear model on it.

The exponential mechanism over best subsets. Rows are summed as integers, exactly. The least error
of each subset is then computed in floats and certified: with the gradient g at a point of the box
of coefficients, the least value is no lower than by :math:`\sum_j g_j \theta_j + c |g_j|`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import LinfBall
from discreet.mechanisms.base import labels_of, public_facts
from discreet.mechanisms.sampling.choice import ChoicePlan
from discreet.privacy import BoundedRange, Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import BestSubset

STEPS = 2**10
"""Entries and labels are rounded to so many steps on either side of zero."""

ROWS_AT_ONCE = 2**15
"""Sums of so many products of two such integers are exact in floats."""

RIDGE = 1.0
"""Half of it times the squares of the coefficients is added to every error: no minimum is flat."""

SCORE_STEPS = 2**20
"""Steps of a score for the largest loss of a record."""

GAP = 2.0**-12
"""How far, in largest losses, a computed minimum may be above the true one."""

ROUNDING = 2.0**-36
"""In largest losses and for each row, more than what rounding does to a value and to its gap.

Both are sums of at most 64 squared products, none larger than twice the number of rows and losses;
each term is rounded some 130 times by 2**-53, and the slopes of a gap are multiplied by 64."""

SWEEPS = 200
"""Sweeps over the coefficients before another method is asked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SubsetPlan(ChoicePlan):
    """Releases the places of a subset's columns."""

    holds_rows = False

    question: BestSubset

    def groups(self, rows: OpenRows) -> tuple[Integers, Integers, Integers]:
        asked = self.question
        everyone = itertools.combinations(range(asked.bounds.n_features), asked.size)
        subsets = np.array(list(everyone), dtype=np.int64)
        errors = least_errors(asked, *moments_of(asked, rows), subsets)
        scores = np.rint(errors / asked.largest_loss * SCORE_STEPS).astype(np.int64)
        return subsets, np.ones(len(subsets), dtype=np.int64), np.maximum(scores, 0)

    def value(self, group: Integers, member: Vector) -> Vector:
        return np.asarray(group, dtype=np.float64)


def plan_subset(question: BestSubset, budget: Budget, unit: Unit) -> SubsetPlan:
    """Plan so that log chances move by epsilon at most, errors of computation included."""
    rate, guarantee = None, Guarantee(NoPrivacy(), unit)
    if budget.is_private:
        rate = Fraction(budget.epsilon) / _score_range(question, unit)
        facts = (*public_facts(question.bounds, unit), *question.assumed)
        guarantee = Guarantee(BoundedRange(budget.epsilon), unit, facts, budget.delta or 1e-9)
    return SubsetPlan(rate=rate, guarantee=guarantee, question=question)


def _score_range(question: BestSubset, unit: Unit) -> int:
    """Bound the range of the change of scores, in their steps.

    A record adds between nothing and the largest loss to every least error, each of a person's as
    much; a computed one is at most ``GAP`` above the true one and as much again off by rounding,
    and is rounded to steps.
    """
    if question.bounds.max_rows * ROUNDING > GAP:
        raise CalibrationError("too many rows for this choice; declare a smaller max_rows.")
    losses = round(question.bounds.unit_weight) * (2 if unit.is_replace else 1)
    return losses * SCORE_STEPS + math.ceil(6 * GAP * SCORE_STEPS) + 2


def moments_of(question: BestSubset, rows: OpenRows) -> tuple[Array, Vector, float]:
    """Return X'X, X'y and y'y of entries and labels in [-1, 1], a constant last: private."""
    declared = question.bounds
    reach = declared.features.reach(declared.n_features, math.inf)
    bounds = replace(declared, features=LinfBall(2.0 * STEPS))

    def round_rows(table: Any) -> Any:
        if isinstance(table, np.ndarray):
            return np.rint(np.clip(table / reach, -1.0, 1.0) * STEPS)
        table.data = np.rint(np.clip(table.data / reach, -1.0, 1.0) * STEPS)
        return table

    def kernel(block: Block) -> tuple[Integers, ...]:
        labels = _code(question, labels_of(block))
        sums = block.several_sums(np.vstack([np.ones(block.size), labels]))
        rest = np.array([block.size * STEPS, labels.sum(), labels @ labels])
        return tuple(part.astype(np.int64) for part in (block.gram(None), sums, rest))

    rounded = rows.transform(round_rows, bounds)
    gram, sums, (count, total, square) = rounded.sum(kernel, block_rows=ROWS_AT_ONCE)
    gram, product = gram / STEPS**2, sums[1] / STEPS**2
    if question.has_constant:
        edge = sums[0] / STEPS
        gram = np.block([[gram, edge[:, None]], [edge[None, :], np.array([[count / STEPS]])]])
        product = np.append(product, total / STEPS)
    return gram, product, float(square) / STEPS**2


def _code(question: BestSubset, labels: Vector) -> Vector:
    """Return labels in [-1, 1], in whole steps."""
    within = question.label_range
    middle, half = (within.low + within.high) / 2, (within.high - within.low) / 2
    return np.rint(np.clip((labels - middle) / half, -1.0, 1.0) * STEPS)


def least_errors(
    question: BestSubset, gram: Array, product: Vector, square: float, subsets: Integers
) -> Vector:
    """Return the least error of each subset, certified to be within ``GAP`` of the largest loss."""
    places = subsets
    if question.has_constant:
        last = np.full((len(subsets), 1), gram.shape[0] - 1)
        places = np.hstack([subsets, last])
    matrices = gram[places[:, :, None], places[:, None, :]] + RIDGE * np.eye(places.shape[1])
    vectors = product[places]
    limit = float(question.coefficient)
    points = np.clip(np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0], -limit, limit)
    points = _minimise(matrices, vectors, limit, points, GAP * question.largest_loss)
    fits = np.einsum("ij,ijk,ik->i", points, matrices, points) / 2 - (points * vectors).sum(axis=1)
    return np.asarray(fits + square / 2)


def _minimise(matrices: Array, vectors: Array, limit: float, points: Array, gap: float) -> Array:
    """Improve points in the box until every one is certified: nothing else ends this."""
    left = _find_uncertain(matrices, vectors, limit, points, gap)
    sweeps = 0
    while left.size:
        if sweeps == SWEEPS:
            for which in left.tolist():
                points[which] = _solve_alone(matrices[which], vectors[which], limit)
        else:
            points[left] = _sweep(matrices[left], vectors[left], limit, points[left])
        sweeps += 1
        left = left[_find_uncertain(matrices[left], vectors[left], limit, points[left], gap)]
    return points


def _find_uncertain(
    matrices: Array, vectors: Array, limit: float, points: Array, gap: float
) -> Integers:
    """Return which points may be farther above the least value than the gap."""
    slopes = np.einsum("ijk,ik->ij", matrices, points) - vectors
    above = (slopes * points + limit * np.abs(slopes)).sum(axis=1)
    return np.flatnonzero(~(above <= gap))


def _sweep(matrices: Array, vectors: Array, limit: float, points: Array) -> Array:
    """Minimise over one coefficient after another."""
    points = points.copy()
    for place in range(points.shape[1]):
        own = matrices[:, place, place]
        slopes = (matrices[:, place] * points).sum(axis=1) - vectors[:, place]
        points[:, place] = np.clip(points[:, place] - slopes / own, -limit, limit)
    return points


def _solve_alone(matrix: Array, vector: Vector, limit: float) -> Vector:
    """Minimise in the box by the method of active sets."""
    root = np.linalg.cholesky(matrix)
    found = lsq_linear(root.T, np.linalg.solve(root, vector), (-limit, limit), method="bvls")
    return np.clip(found.x, -limit, limit)
