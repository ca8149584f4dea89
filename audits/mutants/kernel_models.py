"""Broken kernel models on public points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan, open_data
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.audit.cases.oracles import straight_queries
from discreet.audit.exact.laws import exponential_selection
from discreet.data import OpenRows
from discreet.kernels import RBF, BoundedKernel
from discreet.mechanisms import NetUpdates, ProjectedKernel
from discreet.mechanisms.net_updates import NOWHERE, SCORE_STEPS, NetModel, NetUpdatesPlan
from discreet.mechanisms.projected_kernel import basis_of
from discreet.noise import Noise, release_gaussian
from discreet.privacy import AddRemoveOne, Budget

ADD = AddRemoveOne()
NOTHING, EDGE = np.zeros((1, 1)), np.array([[0.0], [1.0]])
ONE_MORE = Pair((NOTHING, np.ones(1)), (EDGE, np.ones(2)), ADD)


def noise_for_each_landmark() -> Mutant:
    """Predictions at landmarks, each with the noise that is meant for coordinates in a basis."""
    question = straight_queries(((1.0,),) * 4)
    plan: Any = ProjectedKernel().plan(question, Budget(4.0, 1e-3), ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        values = plan.minimiser.solve(rows).evaluate(plan.basis.landmarks)
        return np.asarray(release_gaussian(np.tile(values, count), plan.grid, noise))

    return Mutant(
        name="independent noise for each of four landmarks",
        breaks="Landmarks that are alike say the same four times; their mean has half the noise.",
        mechanism="projected_kernel",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=Sampled(question.bounds, ADD, released),
        original=of_plan(plan, question.bounds),
        trials=8000,
    )


def _true_stretch(matrix: Array, points: Array, gamma: float) -> float:
    """The largest singular value of the map to coordinates, in more digits than floats have."""
    rows = points.astype(np.longdouble)
    gram = np.exp(-gamma * (rows - rows.T) ** 2)
    wide = matrix.astype(np.longdouble)
    square = (wide.T @ gram @ wide).astype(np.float64)
    return float(np.sqrt(np.linalg.eigvalsh(square)[-1]))


def basis_taken_for_orthonormal() -> BoundMutant:
    """Every direction of near duplicates is kept, and the factor is left out."""
    gamma, points = 0.5, np.linspace(-1, 1, 30)[:, None]
    question = replace(
        straight_queries(tuple(map(tuple, points.tolist()))),
        kernel=BoundedKernel(RBF(gamma), 1.0),
    )
    basis = basis_of(question)

    def reached_by_all() -> float:
        gram = question.kernel.evaluate(points, points)
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        kept = values > 0
        return _true_stretch(vectors[:, kept] / np.sqrt(values[kept]), points, gamma)

    return BoundMutant(
        name="a computed basis taken for orthonormal",
        breaks="Directions of eigenvalues that rounding made are stretched many times over.",
        mechanism="projected_kernel",
        measure="stretch",
        claimed=basis.stretch,
        reached=reached_by_all,
        reached_by_original=lambda: _true_stretch(basis.matrix, points, gamma),
    )


def inexactness_left_out() -> BoundMutant:
    """A solver that may stop at half of a record's influence, with noise for exact minimisers."""
    plan: Any = ProjectedKernel().plan(straight_queries(((1.0,),)), Budget(1.0, 1e-6), ADD)
    loose = 0.5 * plan.minimiser.accuracy.influence

    def apart(inexact: float) -> float:
        first, second = (plan._coordinates(open_data(data, plan.minimiser.question.bounds, ADD))
                         for data in (ONE_MORE.first, ONE_MORE.second))  # fmt: skip
        return float(np.linalg.norm(second - first)) + 2 * inexact

    return BoundMutant(
        name="a solver's inexactness left out",
        breaks="Neighbours' models may stop on opposite sides, each as far as the tolerance.",
        mechanism="projected_kernel",
        measure="distance",
        claimed=plan.sensitivity,
        reached=lambda: apart(loose),
        reached_by_original=lambda: apart(0.0),
    )


def constant_left_out_of_the_radius() -> BoundMutant:
    """A constant stands in for an intercept, and noise is made for feature vectors without it."""
    question = straight_queries(((1.0,),))
    constant = replace(question, kernel=replace(question.kernel, constant=0.25))
    plans: list[Any] = [
        ProjectedKernel().plan(one, Budget(1.0, 1e-6), ADD) for one in (question, constant)
    ]

    def apart(plan: Any) -> float:
        first, second = (plan._coordinates(open_data(data, question.bounds, ADD))
                         for data in (ONE_MORE.first, ONE_MORE.second))  # fmt: skip
        return float(np.linalg.norm(second - first))

    return BoundMutant(
        name="a constant feature left out of the radius",
        breaks="A record moves the intercept as well: it is a coordinate of its feature vector.",
        mechanism="projected_kernel",
        measure="distance",
        claimed=plans[0].sensitivity,
        reached=lambda: apart(plans[1]),
        reached_by_original=lambda: apart(plans[0]),
    )


def stop_by_the_exact_gap() -> Mutant:
    """The last round is the one after which the exact model, not an answer, is near enough."""
    question = straight_queries(((1.0,),), rounds=3)
    plan: Any = NetUpdates(patience=0.0).plan(question, Budget(1.0, 1e-6), ADD)
    threshold = plan.minimiser.accuracy.influence / 2

    class Peeking(NetUpdatesPlan):
        def _answer(self, predictions: Vector, noise: Noise) -> Array:
            released = np.tile([NOWHERE, 0.0], (self.rounds, 1))
            model = NetModel(question, self.net)
            for line in released:
                if np.abs(predictions - model.values).max() <= threshold:
                    break
                place = self._choose(np.abs(predictions - model.values), noise)
                line[:] = place, self._hide(float(predictions[place]), noise)
                model.update(place, float(line[1]), 0.0)
            return released

    return Mutant(
        name="rounds that end by the exact gap",
        breaks="A model of zero asks for no round and another one does: their number tells.",
        mechanism="net_updates",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=of_plan(Peeking(**vars(plan)), question.bounds),
        original=of_plan(plan, question.bounds),
        trials=150,
    )


def move_for_range_of_gaps() -> BoundMutant:
    """The rate of draws is made for how far a gap moves, and not for the range of the moves."""
    plan: Any = NetUpdates().plan(straight_queries(((1.0,), (0.5,))), Budget(1.0, 1e-6), ADD)

    def span(rate: float) -> float:
        before, after = ([0.0, SCORE_STEPS], [SCORE_STEPS, 0.0])  # one gap rises, another falls
        ratios = np.log(exponential_selection(after, rate).masses)
        ratios -= np.log(exponential_selection(before, rate).masses)
        return float(np.ptp(ratios))

    return BoundMutant(
        name="how far a gap moves in the place of its range",
        breaks="The model is too high at one point and too low at another: log chances move twice.",
        mechanism="net_updates",
        measure="range",
        claimed=float(2 * (SCORE_STEPS + 2) * plan.rate),
        reached=lambda: span(2 * float(plan.rate)),
        reached_by_original=lambda: span(float(plan.rate)),
    )


MUTANTS: tuple[Broken, ...] = (
    noise_for_each_landmark(),
    basis_taken_for_orthonormal(),
    inexactness_left_out(),
    constant_left_out_of_the_radius(),
    stop_by_the_exact_gap(),
    move_for_range_of_gaps(),
)
