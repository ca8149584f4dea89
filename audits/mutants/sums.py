"""Broken sums, means and counts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import Mutant
from audits.mutants.runs import Sampled, hide, of_plan, on_grid, open_data, rescale
from discreet._types import Array
from discreet.audit import Pair
from discreet.data import Bounds, LabelSet, OpenRows
from discreet.geometry import L1Ball, L2Ball
from discreet.mechanisms import GaussianSum, LaplaceSum, PrivateCount
from discreet.noise import Noise, RehearsalNoise, laplace_grid
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne, Unit
from discreet.questions import RowCount, VectorMean, VectorSum

BALL = Bounds(L2Ball(1.0), 2)
DIAMOND = Bounds(L1Ball(1.0), 2)
ADD, SWAP = AddRemoveOne(), ReplaceOne()
GAUSSIAN, PURE = Budget(4.0, 1e-3), Budget(1.0)

UP, DOWN, REST = [1.0, 0.0], [-1.0, 0.0], [0.1, 0.2]
ONE_MORE = Pair(np.array([REST]), np.array([REST, UP]), ADD)
EXCHANGED = Pair(np.array([REST, UP]), np.array([REST, DOWN]), SWAP)


def gaussian_sum(unit: Unit, bounds: Bounds = BALL) -> Any:
    return GaussianSum().plan(VectorSum(bounds), GAUSSIAN, unit)


def laplace_sum(unit: Unit, budget: Budget = PURE) -> Any:
    return LaplaceSum().plan(VectorSum(DIAMOND), budget, unit)


def moves_once_gaussian() -> Mutant:
    plan = gaussian_sum(SWAP)
    return Mutant(
        name="a replaced record moves the sum once (Gaussian)",
        breaks="The noise is for adding a record; replacing one moves the sum twice as far.",
        mechanism="gaussian_sum",
        guarantee=plan.guarantee,
        pair=EXCHANGED,
        run=of_plan(replace(plan, grid=rescale(plan.grid, 0.5)), BALL),
        original=of_plan(plan, BALL),
        trials=8000,
    )


def moves_once_laplace() -> Mutant:
    plan = laplace_sum(SWAP)
    return Mutant(
        name="a replaced record moves the sum once (Laplace)",
        breaks="The noise is for adding a record; replacing one moves the sum twice as far.",
        mechanism="laplace_sum",
        guarantee=plan.guarantee,
        pair=EXCHANGED,
        run=of_plan(replace(plan, grid=rescale(plan.grid, 0.5)), DIAMOND),
        original=of_plan(plan, DIAMOND),
        trials=8000,
    )


def not_clipped() -> Mutant:
    plan, wide = gaussian_sum(ADD), Bounds(L2Ball(100.0), 2)
    unbounded = replace(plan, grid=replace(plan.grid, bound=100.0))
    return Mutant(
        name="clipping forgotten",
        breaks="Rows are summed as they come; one of length 5 moves the sum five times too far.",
        mechanism="gaussian_sum",
        guarantee=plan.guarantee,
        pair=Pair(np.array([REST]), np.array([REST, [5.0, 0.0]]), ADD),
        run=of_plan(unbounded, wide),
        original=of_plan(plan, BALL),
        trials=2000,
    )


class _Measured:
    """A sum whose bound is the longest row in the data."""

    def many(self, data: Array, count: int, seed: int) -> Array:
        longest = float(np.linalg.norm(data, axis=1).max())
        measured = replace(BALL, features=L2Ball(longest))
        return of_plan(gaussian_sum(ADD, measured), measured).many(data, count, seed)


def measured_bound() -> Mutant:
    plan = gaussian_sum(ADD)
    return Mutant(
        name="the bound measured from the data",
        breaks="The noise grows with the longest row, so its size tells whether that row is there.",
        mechanism="gaussian_sum",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=_Measured(),
        original=of_plan(plan, BALL),
        trials=4000,
    )


def intercept_outside_the_norm() -> Mutant:
    bounds = replace(BALL, intercept=1.0)
    plan = gaussian_sum(ADD, bounds)
    return Mutant(
        name="the constant column left out of the norm",
        breaks="The noise is for rows of length one; the constant beside them makes it sqrt 2.",
        mechanism="gaussian_sum",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=of_plan(replace(plan, grid=rescale(plan.grid, math.sqrt(0.5))), bounds),
        original=of_plan(plan, bounds),
        trials=24000,
    )


def deviation_for_scale() -> Mutant:
    plan = laplace_sum(ADD, Budget(2.0))
    return Mutant(
        name="the standard deviation in place of the scale",
        breaks="Laplace noise of standard deviation 1/epsilon has the scale sqrt(1/2)/epsilon.",
        mechanism="laplace_sum",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=of_plan(replace(plan, grid=rescale(plan.grid, math.sqrt(0.5))), DIAMOND),
        original=of_plan(plan, DIAMOND),
        trials=16000,
    )


class _TrueCount:
    """A mean: the exact one, and noise for a record's share of one over the true count."""

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon

    def many(self, data: Array, count: int, seed: int) -> Array:
        rows, _ = open_data(data, DIAMOND, ADD).gather()
        grid = laplace_grid(
            epsilon=self._epsilon, sensitivity=1 / len(rows), dimension=2, bound=1.0
        )
        return hide(rows.mean(axis=0), grid, RehearsalNoise(seed), count, laplace=True)


def true_count() -> Mutant:
    plan: Any = LaplaceSum().plan(VectorMean(DIAMOND), PURE, ADD)

    def totals(rows: OpenRows, noise: Noise, count: int) -> Array:
        """Release what the mean is made of: its projection would take long."""
        return on_grid(plan.totals.units(rows, plan.grid), plan.grid, noise, count, laplace=True)

    rows = np.array([UP] * 40)
    return Mutant(
        name="the true number of rows in the scale of a mean",
        breaks="Where rows come and go, a mean moves by up to 2/n, and n itself is private.",
        mechanism="laplace_sum",
        guarantee=plan.guarantee,
        pair=Pair(rows, np.concatenate([rows, [DOWN]]), ADD),
        run=_TrueCount(PURE.epsilon),
        original=Sampled(DIAMOND, ADD, totals),
        trials=8000,
    )


def count_with_half_the_noise() -> Mutant:
    labelled = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    plan: Any = PrivateCount().plan(RowCount(labelled, 1), Budget(2.0), SWAP)
    X = np.zeros((3, 1))
    return Mutant(
        name="a count with the standard deviation for the scale",
        breaks="Laplace noise of standard deviation 1/epsilon has the scale sqrt(1/2)/epsilon.",
        mechanism="private_count",
        guarantee=plan.guarantee,
        pair=Pair((X, np.array([1, 1, 1])), (X, np.array([1, 1, -1])), SWAP),
        run=of_plan(replace(plan, grid=rescale(plan.grid, math.sqrt(0.5))), labelled),
        original=of_plan(plan, labelled),
        trials=16000,
    )


MUTANTS = (
    moves_once_gaussian(),
    moves_once_laplace(),
    not_clipped(),
    measured_bound(),
    intercept_outside_the_norm(),
    deviation_for_scale(),
    true_count(),
    count_with_half_the_noise(),
)
