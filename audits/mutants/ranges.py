"""Ranges that are found, with a step of their proof left out."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, open_data
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.audit.cases import cases
from discreet.audit.exact.laws import exponential_selection
from discreet.data import OpenRows
from discreet.mechanisms import ObjectivePerturbation
from discreet.mechanisms.sampling.range_draws import LEVELS, RangeDraws
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, Approximate, Budget, Gaussian, Guarantee, Unit

BUDGET = Budget(1.0, 1e-6)

BALANCED = -0.42
"""Where a crowd leaves points below it, which a record there makes better, about as likely as those
above, which it makes worse."""


def worst_case(unit: str) -> tuple[Any, Any, Pair]:
    """Return the case of the catalogue, its plan and its pair."""
    case = next(one for one in cases("private_ranges", unit, BUDGET.epsilon) if one.budget.delta)
    return case, case.mechanism.plan(case.question, BUDGET, case.pair.unit), case.pair


def one_more(rows: int, at: float) -> Pair:
    """Return a crowd at one place, and the same with a record at the lower bound."""
    crowd = np.full((rows, 1), at)
    more = np.vstack([crowd, [[-0.5]]])
    return Pair((crowd, np.ones(rows)), (more, np.ones(rows + 1)), AddRemoveOne())


def laws_of(
    case: Any, pair: Pair, plan: Any, rate: Fraction, level: Fraction
) -> tuple[Vector, Vector]:
    """Return the chances of all grid points on both data sets, from the definition of scores."""

    def law(data: Any) -> Vector:
        tally = plan.draws.count(open_data(data, case.question.bounds, pair.unit))[0]
        upto, total = np.cumsum(tally), tally.sum()
        below, wanted = upto - tally, float(level) * total
        scores = np.maximum(np.maximum(below - wanted, wanted - upto), 0.0)
        return np.asarray(exponential_selection(-scores, float(rate)).masses)

    return law(pair.first), law(pair.second)


def one_draw(unit: str, factor: Fraction) -> float:
    """Return the epsilon of one draw whose chances fall ``factor`` times as fast as they may."""
    case, plan, pair = worst_case(unit)
    first, second = laws_of(case, pair, plan, plan.draws.rate * factor, LEVELS[0])
    return float(np.abs(np.log(second) - np.log(first)).max())


def declared_span(unit: str) -> float:
    plan = worst_case(unit)[1]
    return float(plan.draws.profile.ideal.parts[0].span)


def ranks_of_added_records() -> BoundMutant:
    # A replaced record moves a rank by one, an added one by 49/50.
    return BoundMutant(
        name="the range of ranks for adding where records are replaced",
        breaks="A replaced record moves the rank of a point by one, an added one by 49/50.",
        mechanism="private_ranges",
        measure="epsilon",
        claimed=declared_span("replace"),
        reached=lambda: one_draw("replace", Fraction(50, 49)),
        reached_by_original=lambda: one_draw("replace", Fraction(1)),
    )


def sensitivity_of_ranks() -> BoundMutant:
    return BoundMutant(
        name="ranges drawn by the sensitivity of ranks",
        breaks="A record makes points beyond the crowd worse and those before it better.",
        mechanism="private_ranges",
        measure="epsilon",
        claimed=declared_span("add_remove"),
        reached=lambda: one_draw("add_remove", Fraction(2)),
        reached_by_original=lambda: one_draw("add_remove", Fraction(1)),
    )


def exact_ranges() -> Mutant:
    case, plan, _ = worst_case("add_remove")
    pair = one_more(10, 0.499)  # the lowest of few records is their lowest quantile

    def published(draws: RangeDraws) -> Sampled:
        def ranges(rows: OpenRows, noise: Noise, count: int) -> Array:
            return np.array([draws.release(rows, noise).ravel() for _ in range(count)])

        return Sampled(case.question.bounds, pair.unit, ranges)

    return Mutant(
        name="ranges from the sorted cells themselves",
        breaks="The quantiles are published with the coefficients, and one record moves them.",
        mechanism="private_ranges",
        guarantee=promised(pair.unit),
        pair=pair,
        run=published(replace(plan.draws, rate=None)),
        original=published(plan.draws),
        trials=200,
    )


def promised(unit: Unit) -> Guarantee:
    """Return the claim that the budget is kept, and no finer one: it is quick to check."""
    return Guarantee(Approximate(BUDGET.epsilon, BUDGET.delta), unit, quoted_delta=BUDGET.delta)


def group_losses(first: Vector, second: Vector) -> tuple[Array, Array]:
    """Return the log ratios of a law to another, each once, and the chance of each."""
    losses, which = np.unique(np.round(np.log(first) - np.log(second), 12), return_inverse=True)
    return losses, np.bincount(which, weights=first)


def ranges_not_accounted_for() -> BoundMutant:
    def reached(*, is_counted: bool) -> float:
        case, plan, _ = worst_case("add_remove")
        pair = one_more(60, BALANCED)
        # Losses that are straight where it matters: the second stage is a Gaussian that moves.
        second = plan.second
        if not is_counted:
            second = ObjectivePerturbation("gaussian").plan(case.question, BUDGET, pair.unit)
        apart = Gaussian(second.minimiser.problem.bounds.row_norm() / second.scale)
        parts = [
            group_losses(*laws_of(case, pair, plan, plan.draws.rate, level)[::order])
            for order, level in itertools.product((1, -1), LEVELS)
        ]
        return max(together(parts[:2], apart), together(parts[2:], apart))

    return BoundMutant(
        name="ranges left out of the account",
        breaks="The coefficients have the whole budget, and the ranges come on top of it.",
        mechanism="private_ranges",
        measure="delta",
        claimed=BUDGET.delta,
        reached=lambda: reached(is_counted=False),
        reached_by_original=lambda: reached(is_counted=True),
    )


def together(draws: list[tuple[Array, Array]], gaussian: Gaussian) -> float:
    """Return delta at the claimed epsilon of two draws and a Gaussian, in one order."""
    (one, chances), (other, others) = draws
    total = 0.0
    for loss, chance in zip(one, chances, strict=True):
        # Below zero the profile follows from that of the other order, which is the same here.
        levels = BUDGET.epsilon - loss - other
        deltas = [delta_at(gaussian, level) for level in levels.tolist()]
        total += chance * float(others @ np.array(deltas))
    return total


def delta_at(gaussian: Gaussian, level: float) -> float:
    """Return delta at a level of either sign."""
    if level >= 0:
        return gaussian.delta(level)
    return float(1 - np.exp(level) * (1 - gaussian.delta(-level)))


MUTANTS: tuple[Broken, ...] = (
    exact_ranges(),
    ranges_not_accounted_for(),
    sensitivity_of_ranks(),
    ranks_of_added_records(),
)
