"""Broken sparse models."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from audits.mutants.supports import permute_and_flip
from discreet._types import Array
from discreet.audit import Pair
from discreet.audit.cases import cases
from discreet.audit.cases.draws import steep_pair, steep_rows
from discreet.data import OpenRows
from discreet.losses import Huber
from discreet.mechanisms import FrankWolfe, IterativeThresholding
from discreet.mechanisms.iterative_thresholding import NOISE_BITS
from discreet.mechanisms.summing.rounded_slopes import RoundedSlopes
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import L1Problem, SparseProblem

CLAIMED = 1.0
LOOSE = Budget(CLAIMED, 1e-3)
ADD = AddRemoveOne()


def one_sign_alone() -> Mutant:
    """The rate is made for how far a score moves, as if all moved to one side."""
    case = cases("frank_wolfe", "add_remove", CLAIMED)[0]
    plan: Any = case.plan()
    return Mutant(
        name="corners that move to one side",
        breaks="What one sign gains the opposite one loses, so that log chances move twice.",
        mechanism="frank_wolfe",
        guarantee=plan.guarantee,
        pair=cases("frank_wolfe", "add_remove", 2 * CLAIMED)[0].pair,
        run=of_plan(replace(plan, rate=2 * plan.rate), case.question.bounds),
        original=of_plan(plan, case.question.bounds),
        trials=6000,
    )


def radius_left_out() -> Mutant:
    """Scores are slopes times corners of radius four; their sensitivity, that of the slopes."""
    radius = 4
    problem = L1Problem(Huber(0.5), steep_rows(1), radius=float(radius))
    plan: Any = FrankWolfe(1).plan(problem, Budget(CLAIMED), ADD)
    return Mutant(
        name="a sensitivity without the radius of the ball",
        breaks="The score of a corner is the slope times the radius, and moves as much more.",
        mechanism="frank_wolfe",
        guarantee=plan.guarantee,
        pair=steep_pair(1, ADD),
        run=of_plan(replace(plan, rate=radius * plan.rate), problem.bounds),
        original=of_plan(plan, problem.bounds),
        trials=1500,
    )


def steps_paid_as_one() -> Mutant:
    case = cases("frank_wolfe", "add_remove", CLAIMED)[1]
    plan: Any = case.plan()
    return Mutant(
        name="several steps paid for as one",
        breaks="Each step draws a corner from the same rows, and says as much again.",
        mechanism="frank_wolfe",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, steps=6, rate=4 * plan.rate), case.question.bounds),
        original=of_plan(plan, case.question.bounds),
        trials=400,
    )


def steps_from_the_rows() -> Mutant:
    """As many steps as there are records, as a rule of the true number would have it."""
    problem = L1Problem(Huber(0.5), steep_rows(1), radius=0.1)
    plan: Any = FrankWolfe(4).plan(problem, Budget(CLAIMED), ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        lines = np.zeros((count, 8))
        for line in lines:
            line[: rows.count] = replace(plan, steps=rows.count).run(rows, noise)
        return lines

    return Mutant(
        name="steps from the true number of rows",
        breaks="How many corners there are tells how many records there are.",
        mechanism="frank_wolfe",
        guarantee=plan.guarantee,
        pair=steep_pair(1, ADD),
        run=Sampled(problem.bounds, ADD, released),
        original=of_plan(plan, problem.bounds),
        trials=400,
    )


def noise_of_one_coefficient() -> Mutant:
    """Nine coefficients are released, each with the noise that one of them would have."""
    size = 9
    problem = SparseProblem(Huber(0.5), steep_rows(size), size=size, radius=1e3)
    plan: Any = IterativeThresholding(1, rows=1).plan(problem, replace(LOOSE, epsilon=4.0), ADD)
    return Mutant(
        name="coefficients with the noise of one alone",
        breaks="One record moves all of them, so that they say as much as their root together.",
        mechanism="iterative_thresholding",
        guarantee=plan.guarantee,
        pair=steep_pair(size, ADD),
        run=_values(plan, math.sqrt(size)),
        original=_values(plan),
        trials=3000,
    )


def slopes_over_the_true_rows() -> Mutant:
    """Slopes are divided by the number of records, and the noise is for a declared number."""
    declared = 1000
    problem = SparseProblem(Huber(0.5), steep_rows(1), size=1, radius=100.0)
    plan: Any = IterativeThresholding(1, rows=declared).plan(problem, LOOSE, ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        return np.asarray(_values(plan, declared / rows.count).releases(rows, noise, count))

    return Mutant(
        name="slopes divided by the true number of rows",
        breaks="A record less moves the mean by as much as a share of the rows there are.",
        mechanism="iterative_thresholding",
        guarantee=plan.guarantee,
        pair=steep_pair(1, ADD),
        run=Sampled(problem.bounds, ADD, released),
        original=_values(plan),
        trials=400,
    )


def _values(plan: Any, factor: float = 1.0) -> Sampled:
    """Release the values of all columns, in their order; that all were drawn says nothing."""

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        moved = -np.rint(RoundedSlopes(plan.question).of(rows).totals() * factor * plan.factor)
        drawn = noise.gaussian(count * moved.size, NOISE_BITS).reshape(count, moved.size)
        return (moved + drawn + 0.5) * plan.unit

    return Sampled(plan.question.bounds, ADD, released)


def choice_for_nothing() -> Mutant:
    """Columns are chosen without noise, since only the model is released, one might say."""
    case = cases("select_then_fit", "add_remove", CLAIMED)[0]
    plan: Any = case.plan()

    def choices(chooser: Any) -> Sampled:
        def released(rows: OpenRows, noise: Noise, count: int) -> Array:
            return np.array([chooser.run(rows, noise) for _ in range(count)])

        return Sampled(case.question.bounds, ADD, released)

    X = np.array([[1.0, 1.0], [0.0, 1.0]])
    more = np.vstack([X, [[1.0, -1.0]]])
    return Mutant(
        name="a choice of columns that costs nothing",
        breaks="Which columns have coefficients is released, and one record may decide it.",
        mechanism="select_then_fit",
        guarantee=plan.guarantee,
        pair=Pair((X, np.ones(2)), (more, np.ones(3)), ADD),
        run=choices(replace(plan.first, rate=None)),
        original=choices(plan.first),
        trials=400,
    )


MUTANTS: tuple[Broken, ...] = (
    one_sign_alone(),
    radius_left_out(),
    steps_paid_as_one(),
    steps_from_the_rows(),
    permute_and_flip("frank_wolfe", "corners drawn"),
    noise_of_one_coefficient(),
    slopes_over_the_true_rows(),
    choice_for_nothing(),
)
