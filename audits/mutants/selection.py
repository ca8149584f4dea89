"""Broken draws of quantiles and of coefficients."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.attacks import SeenBefore
from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.audit.cases import cases
from discreet.audit.exact.laws import FiniteLaw, exponential_selection
from discreet.data import OpenRows
from discreet.mechanisms.exponential_sampling import Runs
from discreet.mechanisms.localization import FIRST_SHARE
from discreet.mechanisms.sampling.energy import Energy
from discreet.mechanisms.sampling.lattice import region_around
from discreet.mechanisms.sampling.rejection import Sampler
from discreet.mechanisms.sampling.sampled_model import domain_of
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, ReplaceOne

CLAIMED = 1.0
TRUE = 2 * CLAIMED


def wrong_rate(unit: str, name: str, breaks: str) -> Mutant:
    """Chances that fall twice as fast as they may, on the pair that is worst for that."""
    worst, _ = cases("exponential_sampling", unit, TRUE)
    claim, _ = cases("exponential_sampling", unit, CLAIMED)
    plan: Any = claim.plan()
    return Mutant(
        name=name,
        breaks=breaks,
        mechanism="exponential_sampling",
        guarantee=plan.guarantee,
        pair=worst.pair,
        run=of_plan(replace(plan, rate=2 * plan.rate), claim.question.bounds),
        original=of_plan(plan, claim.question.bounds),
        trials=12_000,
    )


def sensitivity_for_range() -> Mutant:
    return wrong_rate(
        "add_remove",
        "the sensitivity of ranks in the place of their range",
        "A record makes some points better and others worse, so that ratios move twice as far.",
    )


def replaced_once() -> Mutant:
    return wrong_rate(
        "replace",
        "a replaced record moves ranks once",
        "The rate is for adding a record; replacing one moves a rank by a whole, not by a half.",
    )


def records_as_candidates() -> Mutant:
    """The textbook's choice among the values in the data."""
    case, _ = cases("exponential_sampling", "add_remove", CLAIMED)
    plan: Any = case.plan()
    rate = plan.rate / plan.level.denominator

    def among_records(rows: OpenRows, noise: Noise, count: int) -> Array:
        values = np.unique(rows.gather()[0][:, 0])
        places = plan.places(0, values)
        runs = Runs.of(places, plan.question.steps, plan.level)
        scores = runs.scores[np.searchsorted(runs.starts, places, side="right") - 1]
        chosen, _ = noise.candidates(np.ones_like(scores), scores, rate, count)
        return values[chosen]

    unit = AddRemoveOne()
    return Mutant(
        name="the records are the candidates",
        breaks="An answer is one of the records, so that whose value is released was there.",
        mechanism="exponential_sampling",
        guarantee=plan.guarantee,
        pair=Pair(np.array([[0.2], [0.8]]), np.array([[0.2], [0.8], [0.5]]), unit),
        run=Sampled(case.question.bounds, unit, among_records),
        original=of_plan(plan, case.question.bounds),
        trials=1000,
        scores=(SeenBefore(),),
    )


BEHIND, NEARER = 40.9, 40.0
"""How far apart two candidates are on two neighbours, times the rate; a record moves it by one."""


def gumbel_in_floats() -> BoundMutant:
    def reached() -> float:
        extremes = -np.log(-np.log(np.array([2.0**-53, 1 - 2.0**-53])))
        widest = float(extremes[1] - extremes[0])
        return math.inf if BEHIND > widest > NEARER else 0.0

    def exactly() -> float:
        far, near = (exponential_selection([0.0, -gap], 1.0).masses for gap in (BEHIND, NEARER))
        return float(np.abs(np.log(far / near)).max())

    return BoundMutant(
        name="Gumbel noise made of 53 bits",
        breaks="It spans 40.3 at most: a candidate further behind is drawn on one neighbour alone.",
        mechanism="exponential_sampling",
        measure="epsilon",
        claimed=1.0,
        reached=reached,
        reached_by_original=exactly,
    )


CROWD = 12
"""Rows that hold the coefficient where the one that changes wants it, or not."""


def _straight_law(plan: Any, agreeing: int, factor: float) -> FiniteLaw:
    """The law on a coarse lattice if so many more rows pull up than down."""
    points = np.linspace(-1.0, 1.0, 401)
    energies = plan.rate * (-agreeing * points + plan.problem.ridge / 2 * points**2)
    return exponential_selection(-factor * energies, 1.0)


def model_replaced_once() -> BoundMutant:
    """Chances of coefficients for adding a record, where one is replaced."""
    plan: Any = cases("exponential_sampling", "replace", CLAIMED)[1].plan()

    def reached(factor: float) -> float:
        laws = [_straight_law(plan, CROWD + sign, factor) for sign in (1, -1)]
        return float(np.abs(np.log(laws[0].masses / laws[1].masses)).max())

    return BoundMutant(
        name="a replaced record changes the losses once",
        breaks="The loss of the old record goes and that of the new one comes: twice the range.",
        mechanism="exponential_sampling",
        measure="epsilon",
        claimed=CLAIMED,
        reached=lambda: reached(2.0),
        reached_by_original=lambda: reached(1.0),
    )


def draft_without_noise() -> Mutant:
    """Localization around the minimiser itself."""
    (case,) = cases("localization", "replace", LARGE)
    plan: Any = case.plan()

    def drawn(rows: OpenRows, noise: Noise, count: int, centre: Vector) -> Array:
        region = region_around(centre, plan.radius, domain_of(plan.problem), step_bits=10)
        energy = Energy(plan.problem, plan.rate, rows)
        return Sampler.of(energy, region, plan.scale).draw(noise, count)

    def bare(rows: OpenRows, noise: Noise, count: int) -> Array:
        return drawn(rows, noise, count, plan.first.minimiser.solve(rows, np.zeros(1)))

    def second_stage(rows: OpenRows, noise: Noise, count: int) -> Array:
        return drawn(rows, noise, count, np.zeros(1))

    X = np.ones((1, 1))
    return Mutant(
        name="a ball around the minimiser itself",
        breaks="What can be drawn at all says where the minimiser is.",
        mechanism="localization",
        guarantee=plan.guarantee,
        pair=Pair((X, np.ones(1)), (X, -np.ones(1)), ReplaceOne()),
        run=Sampled(case.question.bounds, ReplaceOne(), bare),
        original=Sampled(case.question.bounds, ReplaceOne(), second_stage),
        trials=40_000,
    )


LARGE = 1.0


def bounds_from_the_data() -> Mutant:
    """The grid lies between the smallest and the largest record."""
    case, _ = cases("exponential_sampling", "add_remove", CLAIMED)
    plan: Any = case.plan()
    rate = plan.rate / plan.level.denominator

    def between_records(rows: OpenRows, noise: Noise, count: int) -> Array:
        values = rows.gather()[0][:, 0]
        low, high = values.min(), values.max()
        places = np.rint((values - low) / (high - low) * plan.question.steps).astype(np.int64)
        drawn = Runs.of(places, plan.question.steps, plan.level).draw(rate, noise, count)
        return np.asarray(low + drawn / plan.question.steps * (high - low))

    unit = AddRemoveOne()
    return Mutant(
        name="the range of values is that of the records",
        breaks="The largest record moves the grid: what lies beyond it is drawn with it alone.",
        mechanism="exponential_sampling",
        guarantee=plan.guarantee,
        pair=Pair(np.array([[0.2], [0.5]]), np.array([[0.2], [0.5], [1.0]]), unit),
        run=Sampled(case.question.bounds, unit, between_records),
        original=of_plan(plan, case.question.bounds),
        trials=2000,
    )


def threshold_replaced_once() -> BoundMutant:
    """Chances of thresholds for adding a record, where one is replaced."""

    def reached(most: int) -> float:
        # Errors of the right and the wrong threshold, before and after a label is turned.
        before, after = (
            exponential_selection([-wrong, wrong - AGREEING], CLAIMED / most).masses
            for wrong in (0.0, 1.0)
        )
        return float(np.abs(np.log(before / after)).max())

    return BoundMutant(
        name="a replaced record is one error",
        breaks="A turned label makes some thresholds better by one and others worse by one.",
        mechanism="exponential_sampling",
        measure="epsilon",
        claimed=CLAIMED,
        reached=lambda: reached(1),
        reached_by_original=lambda: reached(2),
    )


AGREEING = 12
"""Records that agree on a threshold."""


def radius_for_diameter() -> BoundMutant:
    """The second stage of localization, calibrated as if losses varied by G r in the ball."""
    (case,) = cases("localization", "replace", LARGE)
    plan: Any = case.plan()
    share = 1 - FIRST_SHARE

    def reached(factor: float) -> float:
        points = np.linspace(-plan.radius, plan.radius, 401)
        crowd = 100 / (plan.rate * plan.radius)
        ridge = plan.problem.ridge / 2 * points**2
        laws = [
            exponential_selection(-factor * plan.rate * (ridge - (crowd + sign) * points), 1.0)
            for sign in (1, -1)
        ]
        return float(np.abs(np.log(laws[0].masses / laws[1].masses)).max())

    return BoundMutant(
        name="a ball's radius in the place of its diameter",
        breaks="Two points of a ball are up to 2r apart, so that losses vary by 2 G r.",
        mechanism="localization",
        measure="epsilon",
        claimed=share * LARGE,
        reached=lambda: reached(2.0),
        reached_by_original=lambda: reached(1.0),
    )


MUTANTS: tuple[Broken, ...] = (
    bounds_from_the_data(),
    threshold_replaced_once(),
    radius_for_diameter(),
    model_replaced_once(),
    draft_without_noise(),
    sensitivity_for_range(),
    replaced_once(),
    records_as_candidates(),
    gumbel_in_floats(),
)
