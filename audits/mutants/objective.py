"""Broken objective perturbation: a random linear term in the loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.attacks import Nearness
from audits.mutants.base import Mutant
from audits.mutants.line import minimisers
from audits.mutants.runs import Sampled, of_plan, open_data
from discreet._types import Array
from discreet.audit import Pair
from discreet.audit.scores import ObjectiveLikelihood
from discreet.data import Bounds, LabelSet, OpenRows
from discreet.geometry import L2Ball
from discreet.losses import HuberHinge, Logistic, MarginLogistic
from discreet.mechanisms import ObjectivePerturbation
from discreet.noise import Noise, RehearsalNoise
from discreet.penalties import L1
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BOUNDS = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**20)
STEEP = Problem(MarginLogistic(margin=40.0), BOUNDS, ridge=4000.0)
"""Its slope is one wherever coefficients are small, so that worst pairs attain the sensitivity."""

NOTHING, AXIS = [0.0, 0.0], [1.0, 0.0]
ONE_MORE = Pair((np.array([NOTHING]), np.array([1])), (np.array([NOTHING, AXIS]), np.array([1, 1])),
                ADD)  # fmt: skip
EXCHANGED = Pair((np.array([NOTHING, AXIS]), np.array([1, 1])),
                 (np.array([NOTHING, AXIS]), np.array([1, -1])), SWAP)  # fmt: skip


def moves_once() -> Mutant:
    plan: Any = ObjectivePerturbation("radial").plan(STEEP, Budget(1.0), SWAP)
    return Mutant(
        name="a replaced record tilts the objective once",
        breaks="The linear term is for adding a record; replacing one tilts it twice as much.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=EXCHANGED,
        run=of_plan(replace(plan, term=replace(plan.term, scale=plan.scale / 2)), BOUNDS),
        original=of_plan(plan, BOUNDS),
        trials=16000,
        scores=(
            ObjectiveLikelihood(STEEP, EXCHANGED.first, EXCHANGED.second, plan.scale / 2, "radial"),
        ),
    )


def not_clipped() -> Mutant:
    plan: Any = ObjectivePerturbation("radial").plan(STEEP, Budget(1.0), ADD)
    wide = replace(BOUNDS, features=L2Ball(100.0))
    long = (np.array([NOTHING, [5.0, 0.0]]), np.array([1, 1]))
    unclipped = replace(
        plan,
        minimiser=replace(plan.minimiser, problem=replace(plan.minimiser.problem, bounds=wide)),
    )
    return Mutant(
        name="clipping forgotten in learning",
        breaks="Rows are used as they come; one of length 5 tilts the objective five times more.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=Pair((np.array([NOTHING]), np.array([1])), long, ADD),
        run=of_plan(unclipped, wide),
        original=of_plan(plan, BOUNDS),
        trials=2000,
    )


HINGED = Problem(HuberHinge(0.5), replace(BOUNDS, n_features=1, intercept=1.0), ridge=20.0)
ALMOST_NOTHING = 1e-6


class _FreeIntercept:
    """Objective perturbation without ridge on the intercept, for rows of zeros.

    The two coefficients do not meet then: the first is that of the linear term alone, and the
    intercept is where a slope that rises is zero. A trace of ridge makes it exist.
    """

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def many(self, data: Any, count: int, seed: int) -> Array:
        noise = RehearsalNoise(seed)
        rows, labels = open_data(data, HINGED.bounds, ADD).gather()
        if rows[:, :-1].any():
            raise ValueError("rows must be zero but for the intercept.")
        linears = self._plan.term.draw_many(2, count, noise)
        intercepts = minimisers(
            HINGED.loss, rows[:, -1], np.asarray(labels), ALMOST_NOTHING, linears[:, 1]
        )
        points = np.column_stack([-linears[:, 0] / HINGED.ridge, intercepts])
        near = np.clip(points, -self._plan.mask.grid.bound, self._plan.mask.grid.bound)
        return np.asarray(self._plan.mask.hide(near.ravel(), noise).reshape(count, 2))


def free_intercept() -> Mutant:
    plan: Any = ObjectivePerturbation("radial").plan(HINGED, Budget(1.0), ADD)
    zero = np.zeros((2, 1))
    return Mutant(
        name="the intercept is not penalised",
        breaks="Nothing bounds what one record does to the curvature: two classes give an "
        "intercept that exists, one class gives none.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=Pair((zero[:1], np.array([1])), (zero, np.array([1, -1])), ADD),
        run=_FreeIntercept(plan),
        original=of_plan(plan, HINGED.bounds),
        trials=8000,
        scores=(Nearness([0.0, -1.0]),),
    )


def stopped_early() -> Mutant:
    plan: Any = ObjectivePerturbation("radial").plan(STEEP, Budget(1.0), ADD)
    problem, width = plan.minimiser.problem, BOUNDS.width

    def few_steps(rows: OpenRows, noise: Noise, count: int) -> Array:
        start = plan.minimiser.solve(rows, np.zeros(width))
        linears = plan.term.draw_many(width, count, noise)
        # The gradient at the start is the linear term; each step goes a third of the way.
        return np.asarray(start - 0.3 * linears / problem.ridge)

    return Mutant(
        name="a solver started warm and stopped early, without a mask",
        breaks="The solver begins at the minimiser without noise and stops while it is near it.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=Sampled(BOUNDS, ADD, few_steps),
        original=of_plan(plan, BOUNDS),
        trials=8000,
    )


def sparse_stopped_early() -> Mutant:
    lasso = L1(0.2)
    problem = replace(STEEP, penalty=lasso)
    plan: Any = ObjectivePerturbation("radial").plan(problem, Budget(1.0), ADD)

    def one_step(rows: OpenRows, noise: Noise, count: int) -> Array:
        start = plan.minimiser.solve(rows, np.zeros(BOUNDS.width))
        linears = plan.term.draw_many(BOUNDS.width, count, noise)
        return np.array(
            [lasso.prox(start - 0.05 * b / problem.ridge, 0.05 / problem.ridge) for b in linears]
        )

    return Mutant(
        name="a lasso solved from a warm start by one proximal step, without a mask",
        breaks="The step is a twentieth of what it takes, so a twentieth of the noise arrives.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=Sampled(BOUNDS, ADD, one_step),
        original=of_plan(plan, BOUNDS),
        trials=400,
    )


def one_step_from_zero() -> Mutant:
    problem = replace(STEEP, loss=Logistic(), ridge=2.0)
    plan: Any = ObjectivePerturbation("radial").plan(problem, Budget(1.0), ADD)

    def one_step(rows: OpenRows, noise: Noise, count: int) -> Array:
        matrix, labels = rows.gather()
        slope = problem.loss.slope(np.asarray(labels), np.zeros(len(matrix))) @ matrix
        points = -(slope + plan.term.draw_many(BOUNDS.width, count, noise)) / problem.ridge
        return np.asarray(plan.mask.hide(points.ravel(), noise))

    return Mutant(
        name="one step of gradient descent from zero",
        breaks="Nothing: the gradient at zero, a public point, moves by at most the largest slope "
        "when a record comes or goes, and the linear term is noise for exactly that. The step is "
        "a function of the noisy gradient alone, so the curvature costs nothing at all, and the "
        "mask hides the rounding as before.",
        mechanism="objective_perturbation",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=Sampled(BOUNDS, ADD, one_step),
        original=of_plan(plan, BOUNDS),
        trials=8000,
    )


MUTANTS = (
    moves_once(),
    not_clipped(),
    free_intercept(),
    stopped_early(),
    sparse_stopped_early(),
)
SURVIVORS = (one_step_from_zero(),)
