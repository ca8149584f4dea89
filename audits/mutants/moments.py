"""Second moments for standard errors, with a step of their proof left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audits.mutants.base import Mutant
from audits.mutants.runs import Sampled, hide, of_plan, rescale
from audits.mutants.stages import promised
from discreet._types import Array
from discreet.audit import Pair
from discreet.data import Bounds, Interval, OpenRows
from discreet.geometry import L2Ball
from discreet.losses import Huber
from discreet.mechanisms import SandwichMoments
from discreet.mechanisms.released_sandwich import ReleasedSandwich
from discreet.mechanisms.sandwich_moments import count_shortened
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Guarantee, ReplaceOne, within
from discreet.questions.problem import Problem

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(4.0, 1e-3)
BOUNDS = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1), max_rows=2**20)
EDGED = Problem(Huber(0.5), BOUNDS, ridge=4000.0)
"""A loss that is steep and bent at once, at the edge of its straight part."""

EDGE = 0.5 * (1 - 1e-6)
SHARED = SandwichMoments(curvature_share=0.45, outer_share=0.45)


def moments_of(plan: Any, *grids: Any) -> Sampled:
    """Release matrices at the origin, the first so many, each with noise of its own grid."""

    def noisy(rows: OpenRows, noise: Noise, count: int) -> Array:
        vectors = plan.moments.vectors(rows, np.zeros(2))
        parts = [
            hide(vector, grid, noise, count, laplace=False)
            for vector, grid in zip(vectors, grids, strict=False)
        ]
        return np.concatenate(parts, axis=1)

    return Sampled(BOUNDS, plan.guarantee.unit, noisy)


def one_matrix_free() -> Mutant:
    plan: Any = SHARED.plan(EDGED, BUDGET, ADD)
    curvature, outer = plan.events.curvature, plan.events.outer
    mu = math.hypot(curvature.profile.ideal.mu, outer.profile.ideal.mu)
    distance = curvature.profile.distance + outer.profile.distance
    rows, labels = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.0, EDGE])
    narrow = (rescale(curvature.grid, math.sqrt(0.5)), rescale(outer.grid, math.sqrt(0.5)))
    return Mutant(
        name="curvatures counted once for slopes as well",
        breaks="Two matrices are released, and each is as noisy as one alone would have to be.",
        mechanism="sandwich_moments",
        guarantee=Guarantee(within(Gaussian(mu), distance), ADD),
        pair=Pair((rows[:1], labels[:1]), (rows, labels), ADD),
        run=moments_of(plan, *narrow),
        original=moments_of(plan, curvature.grid, outer.grid),
        trials=24000,
    )


def replaced_as_added() -> Mutant:
    plan: Any = SHARED.plan(EDGED, BUDGET, SWAP)
    event = plan.events.curvature
    labels = np.array([EDGE])
    return Mutant(
        name="one matrix for a record that is replaced",
        breaks="A record that is replaced takes one matrix away and brings another, of another "
        "direction: their distance is the root of two times the norm of one.",
        mechanism="sandwich_moments",
        guarantee=Guarantee(event.profile, SWAP),
        pair=Pair((np.array([[1.0, 0.0]]), labels), (np.array([[0.0, 1.0]]), labels), SWAP),
        run=moments_of(plan, rescale(event.grid, math.sqrt(0.5))),
        original=moments_of(plan, event.grid),
        trials=24000,
    )


ROWS = 200
STEEP = 0.01
ALIKE = Bounds(L2Ball(1.0), 1, labels=Interval(-1, 1), max_rows=2**20)
POISED = Problem(Huber(STEEP), ALIKE, ridge=20.0)
"""Rows all alike, whose residual is just beyond the edge: with one more it is within."""


def exact_point() -> Mutant:
    plan: Any = SandwichMoments().plan(POISED, Budget(1.0, 1e-6), ADD)
    exact: Any = SandwichMoments().plan(POISED, Budget(math.inf), ADD)

    def at_the_minimiser(rows: OpenRows, noise: Noise, count: int) -> Array:
        point = exact.learner.run(rows, noise)
        released = []
        for _ in range(count):
            found = ReleasedSandwich.of(plan.run(rows, noise))
            vector = plan.moments.vectors(rows, point)[0]
            curvature = plan.events.curvature.release(vector, noise)
            released.append([*found.coefficients, *curvature])
        return np.array(released)

    def at_the_released(rows: OpenRows, noise: Noise, count: int) -> Array:
        found = [ReleasedSandwich.of(plan.run(rows, noise)) for _ in range(count)]
        return np.array([[*one.coefficients, one.curvature[0, 0]] for one in found])

    X = np.ones((ROWS + 1, 1))
    y = np.full(ROWS + 1, STEEP * (1 + ROWS / POISED.ridge) + STEEP / POISED.ridge / 2)
    return Mutant(
        name="curvatures at the exact minimiser",
        breaks="The sum is not one at released coefficients: one record moves the minimiser, and "
        "with it the curvature of every row.",
        mechanism="sandwich_moments",
        guarantee=promised(Budget(1.0, 1e-6)),
        pair=Pair((X[:ROWS], y[:ROWS]), (X, y), ADD),
        run=Sampled(ALIKE, ADD, at_the_minimiser),
        original=Sampled(ALIKE, ADD, at_the_released),
        trials=300,
    )


def exact_counts() -> Mutant:
    plan: Any = SandwichMoments().plan(EDGED, Budget(1.0, 1e-6), ADD)

    def counted(rows: OpenRows, noise: Noise, count: int) -> Array:
        exact = count_shortened(rows, BOUNDS, None)
        values = plan.run_many(rows, noise, count)
        return np.column_stack([values, np.tile(exact, (count, 1))])

    rows, labels = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.0, EDGE])
    return Mutant(
        name="the number of clipped rows as it is",
        breaks="A warning that rows were clipped tells whether one was.",
        mechanism="sandwich_moments",
        guarantee=promised(Budget(1.0, 1e-6)),
        pair=Pair((rows[:1], labels[:1]), (rows, labels), ADD),
        run=Sampled(BOUNDS, ADD, counted),
        original=of_plan(plan, BOUNDS),
        trials=300,
    )


MUTANTS = (one_matrix_free(), replaced_as_added(), exact_point(), exact_counts())
