"""Output perturbation: its sensitivity by hand, what it refuses, and its mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import NotAccepted
from discreet.geometry import L2Ball
from discreet.losses import Hinge, HuberHinge, Logistic, PseudoHuber, Squared
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms._minimiser import Minimiser
from discreet.noise import Grid, RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Laplace, ReplaceOne
from discreet.problem import Problem
from discreet.release import release
from support.cases import CASES, Data
from support.checks import check_exact_audit, check_sensitivity
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
MECHANISM = OutputPerturbation()
BY_LABEL = {case.label: case for case in CASES}
CLASSES = BY_LABEL["output perturbation, classes, add_remove"]
CLASSES_REPLACE = BY_LABEL["output perturbation, classes, replace"]
NUMBERS_REPLACE = BY_LABEL["output perturbation, numbers, replace"]
PURE = BY_LABEL["pure output perturbation, classes, add_remove"]


def problem_of(loss, *, ridge, p=1, radius=math.inf, intercept=None):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-3, 3)
    bounds = Bounds(L2Ball(1.0), p, labels=labels, max_rows=1000, intercept=intercept)
    return Problem(loss, bounds, ridge=ridge, radius=radius)


def with_scale(plan, factor):
    """A plan whose noise is wrong by a factor, and whose guarantee does not know."""
    return replace(plan, grid=Grid(plan.grid.scale * factor, plan.grid.bits - 2, plan.grid.bound))


def assert_caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


@pytest.mark.parametrize(("unit", "apart"), [(ADD, 0.1), (SWAP, 0.2)], ids=["add", "replace"])
def test_the_sensitivity_is_the_slope_over_the_ridge_once_for_each_record(unit, apart):
    # L R / Lam with L = R = 1 and Lam = 10; in l1 times the root of the dimension.
    problem = problem_of(Logistic(), ridge=10.0, p=4)
    gaussian = MECHANISM.plan(problem, Budget(1.0, 1e-6), unit)
    pure = MECHANISM.plan(problem, Budget(1.0), unit)
    assert gaussian.sensitivity == pytest.approx(apart, rel=1e-5)
    assert pure.sensitivity == pytest.approx(2 * apart, rel=1e-5)
    assert gaussian.sensitivity > apart
    assert pure.sensitivity > 2 * apart


def test_the_guarantee_is_that_of_the_declared_sensitivity_over_the_noise():
    problem = problem_of(PseudoHuber(0.5), ridge=10.0, p=4)
    gaussian = MECHANISM.plan(problem, Budget(1.0, 1e-6), SWAP)
    pure = MECHANISM.plan(problem, Budget(0.7), SWAP)
    mu, epsilon = (plan.sensitivity / plan.grid.scale for plan in (gaussian, pure))
    assert gaussian.guarantee.profile.ideal == Gaussian(mu * (1 + 1e-15))
    assert pure.guarantee.profile.ideal == Laplace(epsilon * (1 + 1e-15))
    assert epsilon <= 0.7


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(0.5), PseudoHuber(0.5)], ids=repr)
def test_random_neighbours_stay_within_the_sensitivity(loss, unit):
    problem = problem_of(loss, ridge=0.5, p=2)
    plan = MECHANISM.plan(problem, Budget(1.0, 1e-6), unit)
    generator = np.random.default_rng(4)
    for _ in range(5):
        X = generator.standard_normal((12, 2)) * 3
        y = generator.choice([-1.0, 1.0], 12)
        other, labels = X[:-1], y[:-1]
        if unit is SWAP:
            other, labels = X.copy(), y.copy()
            other[0], labels[0] = -X[0], y[0]
        points = [
            plan.minimiser.solve(open_rows(*d, bounds=problem.bounds), np.zeros(2))
            for d in ((X, y), (other, labels))
        ]
        assert np.linalg.norm(points[0] - points[1]) <= plan.sensitivity


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "laplace"])
def test_noise_has_the_scale_that_the_plan_declares(budget):
    problem = problem_of(Logistic(), ridge=10.0, p=50)
    plan = MECHANISM.plan(problem, budget, ADD)
    rows = open_rows(np.eye(50)[:5], np.ones(5), bounds=problem.bounds)
    exact = plan.minimiser.solve(rows, np.zeros(50))
    noise = RehearsalNoise(6)
    added = np.concatenate([plan.run(rows, noise) - exact for _ in range(60)])
    size = np.abs(added).mean()
    expected = plan.grid.scale * (math.sqrt(2 / math.pi) if budget.delta else 1.0)
    assert size == pytest.approx(expected, rel=0.06)


def test_an_infinite_budget_agrees_with_objective_perturbation():
    problem = problem_of(Logistic(), ridge=2.0, p=3, intercept=1.0)
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((80, 3)), generator.choice([-1.0, 1.0], 80)
    rows = Rows(X, y, bounds=problem.bounds)
    values = [
        release(mechanism, problem, rows, budget=Budget(math.inf)).value
        for mechanism in (MECHANISM, ObjectivePerturbation())
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-10)


# Mutants.


@pytest.mark.parametrize("case", [CLASSES_REPLACE, NUMBERS_REPLACE], ids=lambda case: case.label)
def test_forgetting_that_a_replaced_record_pulls_twice_is_caught(case):
    check_exact_audit(case, case.plan())
    assert_caught(check_exact_audit, case, with_scale(case.plan(), 0.5))


def test_a_replacement_planned_as_an_addition_is_caught():
    once = CLASSES_REPLACE.mechanism.plan(CLASSES_REPLACE.question, CLASSES_REPLACE.budget, ADD)
    check_sensitivity(CLASSES_REPLACE, CLASSES_REPLACE.plan(), [CLASSES_REPLACE.worst_pair])
    assert_caught(check_sensitivity, CLASSES_REPLACE, once, [CLASSES_REPLACE.worst_pair])


def test_a_standard_deviation_taken_for_the_scale_of_laplace_noise_is_caught():
    # Chaudhuri and Monteleoni (2008) print "standard deviation".
    check_exact_audit(PURE, PURE.plan())
    assert_caught(check_exact_audit, PURE, with_scale(PURE.plan(), 1 / math.sqrt(2)))


def test_laplace_noise_made_for_the_euclidean_distance_is_caught():
    check_exact_audit(PURE, PURE.plan())
    assert_caught(check_exact_audit, PURE, with_scale(PURE.plan(), 1 / math.sqrt(3)))


def test_an_intercept_left_out_of_the_row_norm_is_caught():
    bounds = replace(CLASSES.question.bounds, intercept=1.0)
    case = replace(CLASSES, question=replace(CLASSES.question, bounds=bounds))
    # A row of weight appears with its intercept; the weightless one has an intercept, too.
    first = Data([[0.0, 0.0, 0.0]], [1])
    second = Data([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]], [1, 1])
    case = replace(case, worst_pair=(first, second))
    plan = case.plan()
    check_exact_audit(case, plan)
    assert_caught(
        check_exact_audit, case, with_scale(plan, CLASSES.plan().grid.scale / plan.grid.scale)
    )


def test_a_solver_that_stops_at_its_start_on_one_side_is_caught(monkeypatch):
    # Certified on neither side: neighbours may then be as far apart as the whole ball.
    problem = problem_of(Logistic(), ridge=1.0)
    case = replace(
        CLASSES,
        question=problem,
        worst_pair=(Data(np.ones((50, 1)), np.ones(50)), Data(np.ones((51, 1)), np.ones(51))),
    )
    check_sensitivity(case, case.plan(), [case.worst_pair])
    honest = Minimiser.solve

    def hasty(self, rows, linear):
        return honest(self, rows, linear) if rows.count % 2 else np.zeros_like(linear)

    monkeypatch.setattr(Minimiser, "solve", hasty)
    assert_caught(check_sensitivity, case, case.plan(), [case.worst_pair])


# Refusals.


@pytest.mark.parametrize(
    ("loss", "reason"), [(Hinge(), "not smooth"), (Squared(3.0), "bounded slope")], ids=repr
)
def test_a_loss_that_cannot_be_certified_is_refused_with_a_reason(loss, reason):
    problem = problem_of(loss, ridge=1.0)
    assert not MECHANISM.accepts(problem, ADD)
    with pytest.raises(NotAccepted, match=reason):
        MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "laplace"])
def test_smoothed_losses_are_accepted(budget):
    for problem in (
        problem_of(HuberHinge(0.5), ridge=1.0),
        problem_of(PseudoHuber(0.5), ridge=1.0),
    ):
        assert MECHANISM.plan(problem, budget, ADD).grid.scale > 0
