"""What computers do to real numbers, left out of the account."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Mutant
from audits.mutants.output import BOUNDS, ONE_MORE, STEEP, of_radial
from audits.mutants.runs import Sampled, of_plan, on_grid, open_data
from discreet._types import Array
from discreet.audit import Pair
from discreet.audit.scores import (
    EvenSteps,
    GridAlignment,
    ImpliedNoise,
    LowestBit,
    OutputAlignment,
)
from discreet.data import Bounds, LabelSet, OpenRows
from discreet.geometry import L1Ball, L2Ball
from discreet.losses import Logistic
from discreet.mechanisms import (
    GaussianSum,
    LaplaceSum,
    ObjectivePerturbation,
    OutputPerturbation,
)
from discreet.mechanisms.minimising.linear_term import BITS
from discreet.mechanisms.minimising.many_terms import solve_many
from discreet.noise import Grid, Noise, RehearsalNoise, gaussian_grid
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import VectorSum
from discreet.questions.problem import Problem

ADD = AddRemoveOne()


def no_snap() -> Mutant:
    bounds = Bounds(L1Ball(1.0), 1)
    plan: Any = LaplaceSum().plan(VectorSum(bounds), Budget(1.0), ADD)

    def unsnapped(rows: OpenRows, noise: Noise, count: int) -> Array:
        nothing = np.zeros(1, dtype=np.int64)
        noisy = on_grid(nothing, plan.grid, noise, count, laplace=True)
        return np.asarray(plan.totals.exact(rows) + noisy)

    return Mutant(
        name="noise on a grid, values off it",
        breaks="The sum is not snapped first, so that what is left over beyond the grid shows it.",
        mechanism="laplace_sum",
        guarantee=plan.guarantee,
        pair=Pair(np.array([[0.0]]), np.array([[0.0], [0.3]]), ADD),
        run=Sampled(bounds, ADD, unsnapped),
        original=of_plan(plan, bounds),
        trials=1000,
        scores=(OutputAlignment(EvenSteps(plan.grid.step)),),
    )


WIDTH = 6
TIGHT = Problem(
    Logistic(), Bounds(L2Ball(1.0), WIDTH, labels=LabelSet([-1, 1]), max_rows=2), ridge=10.0
)


def no_mask() -> Mutant:
    plan: Any = ObjectivePerturbation("laplace").plan(TIGHT, Budget(1.0), ADD)
    rows, labels = np.full((2, WIDTH), 0.4), np.array([1, -1])
    rows[1] *= -0.5
    pair = Pair((rows[:1], labels[:1]), (rows, labels), ADD)

    def bare(rows: OpenRows, noise: Noise, count: int) -> Array:
        return solve_many(plan.minimiser, rows, plan.term.draw_many(WIDTH, count, noise))

    implied = (ImpliedNoise(TIGHT, *data) for data in (pair.first, pair.second))
    return Mutant(
        name="the mask of the minimiser left out",
        breaks="The linear term lies on a grid; only the true data set implies one that does.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=pair,
        run=Sampled(TIGHT.bounds, ADD, bare),
        original=of_plan(plan, TIGHT.bounds),
        trials=4000,
        scores=(GridAlignment(EvenSteps(math.ldexp(plan.scale, -BITS)), *implied),),
    )


def no_mask_on_radial_noise() -> Mutant:
    plan: Any = OutputPerturbation("radial").plan(STEEP, Budget(1.0), ADD)

    def bare(rows: OpenRows, noise: Noise, count: int) -> Array:
        point = plan._solve(rows)
        return np.asarray(point + plan.term.draw_many(point.size, count, noise))

    return Mutant(
        name="the mask of radial noise left out",
        breaks="Small noise keeps its finest bits only if what it is added to is zero.",
        mechanism="output_perturbation",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=Sampled(BOUNDS, ADD, bare),
        original=of_radial(plan, plan.term),
        trials=4000,
        scores=(LowestBit(0), LowestBit(1)),
    )


class _SinglePrecision:
    """A sum in floats of 32 bits, one row after the other."""

    def __init__(self, plan: Any, bounds: Bounds) -> None:
        self._plan, self._bounds = plan, bounds

    def many(self, data: Array, count: int, seed: int) -> Array:
        rows, _ = open_data(data, self._bounds, ADD).gather()
        total = np.cumsum(rows, axis=0, dtype=np.float32)[-1].astype(np.float64)
        grid = Grid(self._plan.grid.scale, 24, bound=2.0**20)
        return on_grid(grid.snap(total), grid, RehearsalNoise(seed), count, laplace=False)


def single_precision() -> Mutant:
    bounds = Bounds(L2Ball(1.0), 1)
    plan: Any = GaussianSum().plan(VectorSum(bounds), Budget(4.0, 1e-3), ADD)
    # From 4097 on, floats of 32 bits are too sparse for the small rows to count; below, they are
    # dense enough for each to count for more than it is.
    large, small = np.ones((2**12, 1)), np.full((2**14, 1), -0.75 * 2.0**-12)
    return Mutant(
        name="sums in single precision",
        breaks="One record decides whether 16,384 small ones are rounded away: the sum moves by 5.",
        mechanism="gaussian_sum",
        guarantee=plan.guarantee,
        pair=Pair(np.concatenate([large, small]), np.concatenate([[[1.0]], large, small]), ADD),
        run=_SinglePrecision(plan, bounds),
        original=of_plan(plan, bounds),
        trials=2000,
    )


COARSE_WIDTH = 250_000
FAR_VALUES = 1.5 * 2.0**39
"""Values as large as this leave no room for a fine grid."""


def _mu_after_snapping(grid: Grid) -> float:
    """Snap two vectors at distance one, whose coordinates are just off the middle of cells."""
    half = 0.5 / math.sqrt(COARSE_WIDTH)
    cells = math.floor(half / grid.step) + 0.5  # rounded up on one side, down on the other
    start = (cells + 1e-6) * grid.step - half
    left, right = np.full(COARSE_WIDTH, start - half), np.full(COARSE_WIDTH, start + half)
    if np.linalg.norm(right - left) > 1 + 1e-9:
        raise ValueError("neighbours must be at distance one.")
    apart = (grid.snap(right) - grid.snap(left)).astype(np.float64) * grid.step
    return float(np.linalg.norm(apart)) / grid.scale


def no_rounding_term() -> BoundMutant:
    multiplier = 2.0
    return BoundMutant(
        name="the rounding term 2 g sqrt(p) left out of the sensitivity",
        breaks="On a coarse grid in many dimensions snapping moves neighbours apart; mu exceeds "
        "what was planned. Exact: Gaussian noise on the grid moves by what is computed.",
        mechanism="gaussian_sum",
        measure="mu",
        claimed=1 / multiplier,
        reached=lambda: _mu_after_snapping(Grid(multiplier, 12, FAR_VALUES)),
        reached_by_original=lambda: _mu_after_snapping(
            gaussian_grid(
                multiplier=multiplier, sensitivity=1.0, dimension=COARSE_WIDTH, bound=FAR_VALUES
            )
        ),
    )


MUTANTS = (
    no_snap(),
    no_mask(),
    no_mask_on_radial_noise(),
    single_precision(),
    no_rounding_term(),
)
