"""Cards of every mechanism and every kind of profile."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.mechanisms import REGISTRY
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    BoundedRange,
    Gaussian,
    Guarantee,
    Laplace,
    Pure,
    Renyi,
    ReplaceOne,
    ShiftedGaussian,
    WithinDistance,
    ZeroConcentrated,
)
from discreet.record import Certificate, Release, facts_about
from discreet.report import Card, card
from discreet.report.numbers import check_numbers, numbers_of
from support.cases import ALL_CASES

FIRST = {(case.mechanism.name, type(case)): case for case in reversed(ALL_CASES)}.values()
"""A case of every mechanism and kind."""

PROFILES = [
    Pure(0.01),
    Pure(40.0),
    Pure(5000.0),
    Approximate(0.5, 1e-3),
    Approximate(3.0, 0.5),
    Gaussian(1e-4),
    Gaussian(12.0),
    Laplace(3.0),
    ZeroConcentrated(0.5),
    BoundedRange(1.0, 4),
    ShiftedGaussian(0.2, 0.1, joint=0.4, is_one_signed=False, is_replace=True),
    Renyi((1.5, 2.0, 8.0, 32.0), (0.01, 0.015, 0.1, 0.5)),
    WithinDistance(Gaussian(0.5), 1e-7),
]


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
def test_the_numbers_of_every_profile_are_consistent(profile):
    unit = ReplaceOne() if "replace" in profile.units else AddRemoveOne()
    guarantee = Guarantee(profile, unit, quoted_delta=1e-6)
    numbers = numbers_of(guarantee)
    check_numbers(numbers, guarantee)
    for entry in numbers["epsilons"]:
        exact = profile.epsilon(entry["delta"])
        if entry["epsilon"] is None:
            assert exact > 30
        else:
            assert profile.delta(entry["epsilon"]) <= entry["delta"] * (1 + 1e-9)
            assert entry["epsilon"] <= exact * 1.001 + 1e-5
    misses = [point["false_negatives"] for point in numbers["tradeoff"]]
    assert misses == sorted(misses, reverse=True)
    assert 0.5 <= numbers["best_guess"] <= 1
    guesses = [group["best_guess"] for group in numbers["groups"]]
    assert guesses == sorted(guesses)
    assert all(one["at_least"] <= one["before"] <= one["at_most"] for one in
               numbers["belief"]["beliefs"])  # fmt: skip


def test_a_card_of_every_mechanism_is_tested():
    assert {case.mechanism.name for case in FIRST} == {mechanism.name for mechanism in REGISTRY}


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.label)
def test_every_mechanism_has_a_card(case):
    plan = case.mechanism.plan(case.question, case.budget, case.unit)
    profile = plan.guarantee.profile
    made = Release(
        np.zeros(2),
        plan.guarantee,
        case.mechanism.name,
        0,
        "0.1",
        plan.reason,
        facts=facts_about(case.question.bounds, case.unit, case.question.assumed),
        certificate=Certificate(profile.distance, profile.failure, plan.tolerances),
    )
    shown = card(Release.from_json(made.to_json()))
    document = shown.document
    assert document["certificate"]["distance"] == profile.distance
    assert document["numbers"]["quoted"]["epsilon"] <= case.budget.epsilon * (1 + 1e-9)
    assert Card.from_json(shown.to_json()) == shown
    assert document["mechanism"]["name"].replace("_", "\\_") in shown.markdown()


@pytest.mark.parametrize(
    "case",
    [case for case in FIRST if case.mechanism.name != "exponential_sampling"],
    ids=lambda case: case.label,
)
def test_plans_tell_their_tolerances(case):
    """All but exact draws have a grid or a solver, and say how fine it is."""
    plan = case.mechanism.plan(case.question, case.budget, case.unit)
    assert plan.tolerances
    assert all(math.isfinite(one.value) and one.value > 0 for one in plan.tolerances)
