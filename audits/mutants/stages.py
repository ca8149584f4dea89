"""Mechanisms of several stages or parts, with one of them left out of the account."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Mutant
from audits.mutants.runs import Sampled, hide, of_classes, of_plan, open_data, rescale
from audits.mutants.sources import CLASSES, ONE_MORE
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.data import Bounds, Interval, LabelSet, OpenRows
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic, Squared
from discreet.mechanisms import (
    AdaptiveRidge,
    EachAgainstTheRest,
    ObjectivePerturbation,
    PrivateStandardisation,
    SufficientStatistics,
)
from discreet.mechanisms.adaptive_ridge import missing_ridge
from discreet.mechanisms.summing.score_counts import EDGES, ScoreCounts, count_scores
from discreet.mechanisms.summing.standard_frame import StandardFrame
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import Noise, release_gaussian
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Approximate, Budget, Gaussian, Guarantee, Pure
from discreet.questions.problem import Problem

ADD = AddRemoveOne()
SMALL_DELTA = Budget(1.0, 1e-6)
"""What compound guarantees are asked for, and claim."""


def promised(budget: Budget) -> Guarantee:
    """Return the claim that a budget is kept, and no finer one: it is quick to check."""
    return Guarantee(Approximate(budget.epsilon, budget.delta), ADD, quoted_delta=budget.delta)


def whole_budget_for_each_class() -> Mutant:
    mechanism = EachAgainstTheRest(ObjectivePerturbation("radial"))
    plan: Any = mechanism.plan(CLASSES, Budget(1.0), ADD)
    alone = ObjectivePerturbation("radial").plan(CLASSES.problem, Budget(1.0), ADD)
    return Mutant(
        name="the whole budget for each class",
        breaks="A record is in the problem of every class, so three classes cost three times.",
        mechanism="one_vs_rest",
        guarantee=Guarantee(Pure(1.0), ADD),
        pair=ONE_MORE,
        run=of_classes(replace(plan, one=alone), CLASSES.bounds),
        original=of_classes(plan, CLASSES.bounds),
        trials=6000,
    )


FRAMED = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=2**20)


def exact_standardisation() -> Mutant:
    problem = Problem(MarginLogistic(), FRAMED, ridge=3.0)
    plan: Any = PrivateStandardisation().plan(problem, SMALL_DELTA, ADD)

    def exactly_framed(rows: OpenRows, noise: Noise, count: int) -> Array:
        frame = StandardFrame.of_gaussian(plan.moments.exact(rows), plan.moments, centred=True)
        second, bounds = plan.replan.plan_within(frame.region, plan.second)
        return frame.fold(second.run_many(rows.transform(frame.apply, bounds), noise, count))

    zeros, ones = np.zeros((60, 1)), np.ones(60)
    return Mutant(
        name="standardised by the exact means and spreads",
        breaks="The first stage has no noise: coefficients come in the data's own units.",
        mechanism="private_standardisation",
        guarantee=promised(SMALL_DELTA),
        pair=Pair((zeros, ones), (np.concatenate([zeros, [[1.0]]]), np.append(ones, 1.0)), ADD),
        run=Sampled(FRAMED, ADD, exactly_framed),
        original=of_plan(plan, FRAMED),
        trials=400,
    )


COUNTED = PrivateStandardisation(counts_scores=True)


def counts_not_accounted_for() -> BoundMutant:
    # Losses that are straight where it matters: each stage is a Gaussian that moves.
    problem = Problem(MarginLogistic(margin=40.0), FRAMED, ridge=4000.0)

    def reached(mechanism: PrivateStandardisation) -> float:
        plan: Any = mechanism.plan(problem, SMALL_DELTA, ADD)
        counts: Any = ScoreCounts.within_budget(SMALL_DELTA, ADD, FRAMED)
        apart = math.hypot(
            plan.moments.sensitivity(2, ADD) / plan.sums.grid.scale,
            plan.second.minimiser.problem.bounds.row_norm() / plan.second.scale,
            1 / counts.grid.scale,
        )
        return Gaussian(apart).delta(SMALL_DELTA.epsilon)

    return BoundMutant(
        name="counts of scores left out of the account",
        breaks="Sums and coefficients have the whole budget, and the counts come on top of it.",
        mechanism="private_standardisation",
        measure="delta",
        claimed=SMALL_DELTA.delta,
        reached=lambda: reached(PrivateStandardisation()),
        reached_by_original=lambda: reached(COUNTED),
    )


def row_in_two_cells() -> BoundMutant:
    counts: Any = ScoreCounts.within_budget(SMALL_DELTA, ADD, FRAMED)
    more = open_data((np.ones((1, 1)), np.ones(1)), FRAMED, ADD)

    def reached(cells: int) -> float:
        found = count_scores(more, np.ones(2), RowSums(FRAMED)).astype(np.float64)
        if cells == 2:
            found += np.roll(found, 1)  # in the next bin as well, to smooth the histogram
        return float(np.linalg.norm(found)) / counts.grid.scale

    return BoundMutant(
        name="a row counted in two bins of scores",
        breaks="The noise is for one count that changes by one; two do.",
        mechanism="private_standardisation",
        measure="mu",
        claimed=counts.profile.ideal.mu,
        reached=lambda: reached(2),
        reached_by_original=lambda: reached(1),
    )


def edges_from_scores() -> Mutant:
    counts = ScoreCounts.within_budget(SMALL_DELTA, ADD, FRAMED)
    coefficients = np.array([1.0, 0.0])  # as if they had been released before

    def with_edges(edges_of: Callable[[Vector], Vector]) -> Sampled:
        def released(rows: OpenRows, noise: Noise, count: int) -> Array:
            edges = edges_of(rows.gather()[0] @ coefficients)
            lines = [counts.release(rows, coefficients, noise) for _ in range(count)]
            return np.column_stack([np.tile(edges, (count, 1)), lines])

        return Sampled(FRAMED, ADD, released)

    few = np.linspace(-1, 0, 8)[:, None]
    return Mutant(
        name="bins between quantiles of the rows' own scores",
        breaks="The edges are published with the counts, and one record moves them.",
        mechanism="private_standardisation",
        guarantee=promised(SMALL_DELTA),
        pair=Pair((few, np.ones(8)), (np.concatenate([few, [[1.0]]]), np.ones(9)), ADD),
        run=with_edges(lambda scores: np.quantile(scores, [0.25, 0.5, 0.75])),
        original=with_edges(lambda _: EDGES[[9, 11, 13]]),
        trials=400,
    )


FLAT = Bounds(L2Ball(1.0), 1, labels=Interval(-1, 1), max_rows=2**20)


AIMED = Problem(Squared(1.0), FLAT, ridge=20.0, penalty=Indicator(L2Ball(2.0)))
X, Y = np.ones((11, 1)), np.ones(11)
ELEVEN = Pair((X[:10], Y[:10]), (X, Y), ADD)


def exact_eigenvalue() -> Mutant:
    plan: Any = AdaptiveRidge().plan(AIMED, SMALL_DELTA, ADD)

    def published(*, exact: bool) -> Sampled:
        def both(rows: OpenRows, noise: Noise, count: int) -> Array:
            smallest = np.full(count, plan.curvature.smallest(rows))
            if not exact:
                smallest = release_gaussian(smallest, plan.grid, noise) - plan.allowance
            ridges = [missing_ridge(AIMED, float(value)) for value in smallest]
            return np.array(
                [[ridge, *plan.second.run_with(rows, noise, ridge)] for ridge in ridges]
            )

        return Sampled(FLAT, ADD, both)

    return Mutant(
        name="the ridge chosen by the exact smallest eigenvalue",
        breaks="The ridge in use is published with the coefficients, and tells the eigenvalue.",
        mechanism="adaptive_ridge",
        guarantee=promised(SMALL_DELTA),
        pair=ELEVEN,
        run=published(exact=True),
        original=published(exact=False),
        trials=400,
    )


def exact_eigenvalue_kept_secret() -> Mutant:
    plan: Any = AdaptiveRidge().plan(AIMED, SMALL_DELTA, ADD)

    def coefficients(rows: OpenRows, noise: Noise, count: int) -> Array:
        ridge = missing_ridge(AIMED, plan.curvature.smallest(rows))
        return np.array([plan.second.run_with(rows, noise, ridge) for _ in range(count)])

    return Mutant(
        name="the exact eigenvalue of one column, kept secret",
        breaks="Nothing, for one column: when a record x comes the ridge falls by at most x**2, so "
        "the slope at w changes by c w - x y with 0 <= c <= x**2, no more than the record alone "
        "may change it, and the curvature stays above the one aimed at and grows by at most "
        "x**2. Those are all that the proof of objective perturbation asks for. With more columns "
        "the ridge acts on directions that the record does not, and the proof ends.",
        mechanism="adaptive_ridge",
        guarantee=promised(SMALL_DELTA),
        pair=ELEVEN,
        run=Sampled(FLAT, ADD, coefficients),
        original=of_plan(plan, FLAT),
        trials=400,
    )


def product_forgotten() -> Mutant:
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1), max_rows=2**20)
    problem = Problem(Squared(label_bound=1.0), bounds, ridge=1.0)
    plan: Any = SufficientStatistics().plan(problem, Budget(4.0, 1e-3), ADD)

    def statistics(grid: Any) -> Sampled:
        def noisy(rows: OpenRows, noise: Noise, count: int) -> Array:
            return hide(plan.moments.vector(rows), grid, noise, count, laplace=False)

        return Sampled(bounds, ADD, noisy)

    rows, labels = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.0, 1.0])
    return Mutant(
        name="X'y left out of the sensitivity",
        breaks="The noise is for the change of X'X alone; X'y changes as much beside it.",
        mechanism="sufficient_statistics",
        guarantee=plan.guarantee,
        pair=Pair((rows[:1], labels[:1]), (rows, labels), ADD),
        run=statistics(rescale(plan.grid, math.sqrt(0.5))),
        original=statistics(plan.grid),
        trials=24000,
    )


MUTANTS = (
    whole_budget_for_each_class(),
    exact_standardisation(),
    counts_not_accounted_for(),
    row_in_two_cells(),
    edges_from_scores(),
    exact_eigenvalue(),
    product_forgotten(),
)
SURVIVORS = (exact_eigenvalue_kept_secret(),)
