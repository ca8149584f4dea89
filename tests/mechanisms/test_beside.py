"""Plans that share a budget: the whole stays within it and uses it up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, InputError, UnitMismatch
from discreet.geometry import L2Ball
from discreet.losses import HuberHinge, Logistic
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.noise import RehearsalNoise
from discreet.privacy import (
    AddRemoveOne,
    Budget,
    Gaussian,
    NoPrivacy,
    Pure,
    ReplaceOne,
    ShiftedGaussian,
    calibrate,
    compose,
)
from discreet.questions.problem import Problem
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
UNITS = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
MECHANISMS = pytest.mark.parametrize(
    "made", [ObjectivePerturbation, OutputPerturbation], ids=lambda made: made().name
)
PURE_LAWS = pytest.mark.parametrize("law", ["laplace", "radial"])

BOUNDS = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=1000)
PROBLEM = Problem(Logistic(), BOUNDS, ridge=50.0)
APPROXIMATE, PURE = Budget(1.0, 1e-6), Budget(1.0)
SMALL = math.sqrt(0.03) / calibrate(lambda noise: Gaussian(1 / noise), APPROXIMATE)
"""The first stage's mu: three percent of the budget's, squared."""


def scale_of(plan):
    return plan.scale if hasattr(plan, "term") else plan.grid.scale


def check_delta_is_used(plan, budget):
    assert 0.99 * budget.delta <= plan.guarantee.delta(budget.epsilon) <= budget.delta


@UNITS
@MECHANISMS
@pytest.mark.parametrize("beside", [None, Gaussian(SMALL), Pure(0.1)], ids=repr)
def test_gaussian_noise_uses_up_the_delta_that_others_leave(made, unit, beside):
    plan = made("gaussian").plan_beside(PROBLEM, APPROXIMATE, unit, beside=beside)
    check_delta_is_used(plan, APPROXIMATE)
    alone = made("gaussian").plan(PROBLEM, APPROXIMATE, unit)
    grown = scale_of(plan) / scale_of(alone)
    if beside is None:
        assert grown == 1.0
    elif isinstance(beside, Gaussian):
        # Exact for Gaussians, 1 / sqrt(0.97); nearly so for objective perturbation.
        assert grown == pytest.approx(1 / math.sqrt(0.97), rel=0.01)
    else:
        assert 1.0 < grown < 1.25


def test_three_gaussian_runs_beside_another_use_up_the_delta():
    plan = OutputPerturbation("gaussian").plan_beside(
        PROBLEM, APPROXIMATE, SWAP, beside=Gaussian(SMALL), times=3
    )
    check_delta_is_used(plan, APPROXIMATE)
    once = OutputPerturbation("gaussian").plan(PROBLEM, APPROXIMATE, SWAP)
    assert scale_of(plan) / scale_of(once) == pytest.approx(math.sqrt(3 / 0.97), rel=1e-3)


def test_objective_perturbation_planned_for_two_gaussian_runs_uses_up_the_delta():
    plan = ObjectivePerturbation("gaussian").plan_beside(PROBLEM, APPROXIMATE, ADD, times=2)
    check_delta_is_used(plan, APPROXIMATE)


@UNITS
@MECHANISMS
@PURE_LAWS
@pytest.mark.parametrize("beside", [None, Pure(0.1)], ids=repr)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("budget", [PURE, APPROXIMATE], ids=["pure", "with delta"])
def test_pure_noise_uses_up_the_epsilon_that_others_leave(made, unit, law, beside, times, budget):
    plan = made(law).plan_beside(PROBLEM, budget, unit, beside=beside, times=times)
    spent = plan.guarantee.profile.ideal.pure_epsilon
    assert 0.99 * budget.epsilon <= spent <= budget.epsilon
    assert plan.guarantee.delta(budget.epsilon) <= budget.delta
    one = made(law).plan(PROBLEM, Budget((1.0 - (0.1 if beside else 0.0)) / times), unit)
    assert scale_of(plan) == pytest.approx(scale_of(one), rel=1e-6)


def test_the_guarantee_is_that_of_everything():
    plan = OutputPerturbation("radial").plan_beside(PROBLEM, PURE, ADD, beside=Pure(0.25), times=3)
    one = (1 - 0.25) / 3
    everything = compose([Pure(0.25), *[Pure(one)] * 3])
    ideal = plan.guarantee.profile.ideal
    assert ideal.pure_epsilon == pytest.approx(everything.pure_epsilon, rel=1e-9)
    assert len(ideal.parts) == 4


def test_chances_that_are_neglected_or_booked_are_counted_once_for_each_run():
    for budget in (PURE, APPROXIMATE):
        plans = [
            OutputPerturbation("radial").plan_beside(PROBLEM, budget, ADD, times=times)
            for times in (1, 8)
        ]
        if budget.delta:
            once, often = (plan.guarantee.profile.distance for plan in plans)
            assert often == pytest.approx(8 * once)
        else:
            once, often = (
                next(fact for fact in plan.guarantee.public_facts if "2^" in fact) for plan in plans
            )
            powers = [int(fact.split("2^")[1].split()[0]) for fact in (once, often)]
            assert powers[1] == powers[0] + 3


def test_runs_of_one_plan_are_independent():
    plan = ObjectivePerturbation("radial").plan_beside(PROBLEM, PURE, ADD, times=2)
    rows = open_rows(np.eye(3), np.ones(3), bounds=BOUNDS)
    noise = RehearsalNoise(3)
    first, second = plan.run(rows, noise), plan.run(rows, noise)
    assert np.linalg.norm(first - second) > 0.01 * plan.scale / PROBLEM.ridge


@MECHANISMS
def test_what_leaves_nothing_is_refused(made):
    for beside in (Pure(1.0), Gaussian(SMALL), NoPrivacy()):
        with pytest.raises(CalibrationError, match="no pure epsilon"):
            made("radial").plan_beside(PROBLEM, PURE, ADD, beside=beside)
    for beside in (Gaussian(3.0), Pure(1.1), NoPrivacy()):
        with pytest.raises(CalibrationError):
            made("gaussian").plan_beside(PROBLEM, APPROXIMATE, ADD, beside=beside)
    with pytest.raises(InputError, match="times"):
        made().plan_beside(PROBLEM, APPROXIMATE, ADD, times=0)


def test_a_profile_of_the_other_unit_is_refused():
    other = ShiftedGaussian(mu=0.01, log_ratio=0.01, is_replace=False)
    with pytest.raises(UnitMismatch):
        OutputPerturbation("gaussian").plan_beside(PROBLEM, APPROXIMATE, SWAP, beside=other)


# The law with the smallest noise.


@pytest.mark.parametrize("width", [1, 3, 40, 400])
@MECHANISMS
@UNITS
def test_the_law_chosen_has_the_smallest_noise(made, unit, width):
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=1000)
    problem = Problem(HuberHinge(0.5), bounds, ridge=50.0)
    chosen = made().plan(problem, APPROXIMATE, unit)
    sizes = {}
    for law in ("gaussian", "laplace", "radial"):
        plan = made(law).plan(problem, APPROXIMATE, unit)
        factor = {"gaussian": 1.0, "laplace": math.sqrt(2), "radial": math.sqrt(width + 1)}[law]
        sizes[law] = factor * scale_of(plan)
    best = min(sizes, key=lambda law: sizes[law])
    # In one dimension Laplace and radial noise are the same.
    ties = {law for law, size in sizes.items() if size <= 1.001 * sizes[best]}
    assert chosen.reason.split()[0] in ties
    assert best == ("gaussian" if width >= 40 else "radial") or width == 1


def test_a_pure_budget_never_gets_gaussian_noise():
    bounds = Bounds(L2Ball(1.0), 400, labels=LabelSet([-1, 1]), max_rows=1000)
    plan = ObjectivePerturbation().plan(Problem(Logistic(), bounds, ridge=50.0), PURE, ADD)
    assert "gaussian" not in plan.reason
    assert plan.guarantee.epsilon(0.0) <= 1.0
