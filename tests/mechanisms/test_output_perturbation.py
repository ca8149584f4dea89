"""Output perturbation: its sensitivity by hand, what it refuses, and its mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import NotAccepted
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.losses import Hinge, HuberHinge, Logistic, PseudoHuber, Squared
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.minimising.linear_term import RadialTerm
from discreet.mechanisms.minimising.mask import laplace_mask
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.objective_perturbation import PURE_MASK_SHARE
from discreet.noise import Grid, RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Laplace, ReplaceOne
from discreet.questions.problem import Problem
from support.cases import Data, case_labelled
from support.checks import check_exact_audit, check_sensitivity
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
GAUSSIAN, LAPLACE = OutputPerturbation("gaussian"), OutputPerturbation("laplace")
RADIAL = OutputPerturbation("radial")
CLASSES = case_labelled("output perturbation, gaussian, classes, add_remove")
REPLACE = [
    case_labelled(f"output perturbation, {rest}, replace")
    for rest in ("gaussian, classes", "gaussian, numbers", "laplace, classes", "radial, numbers")
]
IN_L1 = case_labelled("output perturbation, laplace, classes, add_remove")
IN_L2 = case_labelled("output perturbation, radial, classes, add_remove")


def problem_of(loss, *, ridge, p=1, radius=math.inf, intercept=None):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-3, 3)
    bounds = Bounds(L2Ball(1.0), p, labels=labels, max_rows=1000, intercept=intercept)
    return Problem(loss, bounds, ridge=ridge, radius=radius)


def with_scale(plan, factor):
    """A plan whose noise is wrong by a factor, and whose guarantee does not know."""
    if hasattr(plan, "term"):
        return replace(plan, term=RadialTerm(plan.scale * factor))
    return replace(plan, grid=Grid(plan.grid.scale * factor, plan.grid.bits - 2, plan.grid.bound))


def assert_caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


@pytest.mark.parametrize(("unit", "apart"), [(ADD, 0.1), (SWAP, 0.2)], ids=["add", "replace"])
def test_the_sensitivity_is_the_slope_over_the_ridge_once_for_each_record(unit, apart):
    # L R / Lam with L = R = 1 and Lam = 10; in l1 times the root of the dimension.
    problem = problem_of(Logistic(), ridge=10.0, p=4)
    for mechanism, expected in ((GAUSSIAN, apart), (RADIAL, apart), (LAPLACE, 2 * apart)):
        plan = mechanism.plan(problem, Budget(1.0, 1e-6), unit)
        assert plan.sensitivity == pytest.approx(expected, rel=1e-5)
        assert plan.sensitivity > expected


def test_the_guarantee_is_that_of_the_declared_sensitivity_over_the_noise():
    problem = problem_of(PseudoHuber(0.5), ridge=10.0, p=4)
    gaussian = GAUSSIAN.plan(problem, Budget(1.0, 1e-6), SWAP)
    pure = LAPLACE.plan(problem, Budget(0.7), SWAP)
    mu, epsilon = (plan.sensitivity / plan.grid.scale for plan in (gaussian, pure))
    assert gaussian.guarantee.profile.ideal == Gaussian(mu * (1 + 1e-15))
    assert pure.guarantee.profile.ideal == Laplace(epsilon * (1 + 1e-15))
    assert epsilon <= 0.7


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(0.5), PseudoHuber(0.5)], ids=repr)
def test_random_neighbours_stay_within_the_sensitivity(loss, unit):
    problem = problem_of(loss, ridge=0.5, p=2)
    plan = GAUSSIAN.plan(problem, Budget(1.0, 1e-6), unit)
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


@pytest.mark.parametrize(
    ("mechanism", "size"),
    [(GAUSSIAN, math.sqrt(2 / math.pi)), (LAPLACE, 1.0), (RADIAL, math.sqrt(2 / math.pi * 51))],
    ids=["gaussian", "laplace", "radial"],
)
def test_noise_has_the_scale_that_the_plan_declares(mechanism, size):
    problem = problem_of(Logistic(), ridge=10.0, p=50)
    plan = mechanism.plan(problem, Budget(1.0, 1e-6), ADD)
    rows = open_rows(np.eye(50)[:5], np.ones(5), bounds=problem.bounds)
    exact = plan.minimiser.solve(rows, np.zeros(50))
    noise = RehearsalNoise(6)
    added = np.concatenate([plan.run(rows, noise) - exact for _ in range(60)])
    scale = plan.scale if mechanism is RADIAL else plan.grid.scale
    assert np.abs(added).mean() == pytest.approx(size * scale, rel=0.06)


def test_an_infinite_budget_agrees_with_objective_perturbation():
    problem = problem_of(Logistic(), ridge=2.0, p=3, intercept=1.0)
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((80, 3)), generator.choice([-1.0, 1.0], 80)
    rows = Rows(X, y, bounds=problem.bounds)
    values = [
        release(mechanism, problem, rows, budget=Budget(math.inf)).value
        for mechanism in (OutputPerturbation(), ObjectivePerturbation())
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-10)


# Mutants.


@pytest.mark.parametrize("case", REPLACE, ids=lambda case: case.label)
def test_forgetting_that_a_replaced_record_pulls_twice_is_caught(case):
    check_exact_audit(case, case.plan())
    assert_caught(check_exact_audit, case, with_scale(case.plan(), 0.5))


@pytest.mark.parametrize("case", REPLACE, ids=lambda case: case.label)
def test_a_replacement_planned_as_an_addition_is_caught(case):
    once = case.mechanism.plan(case.question, case.budget, ADD)
    check_sensitivity(case, case.plan(), [case.worst_pair])
    assert_caught(check_sensitivity, case, once, [case.worst_pair])


def test_a_standard_deviation_taken_for_the_scale_of_pure_noise_is_caught():
    # Chaudhuri and Monteleoni (2008) print "standard deviation".
    for case in (IN_L1, IN_L2):
        check_exact_audit(case, case.plan())
        assert_caught(check_exact_audit, case, with_scale(case.plan(), 1 / math.sqrt(2)))


def test_laplace_noise_made_for_the_euclidean_distance_is_caught():
    check_exact_audit(IN_L1, IN_L1.plan())
    assert_caught(check_exact_audit, IN_L1, with_scale(IN_L1.plan(), 1 / math.sqrt(3)))


def check_radial_plan(plan, epsilon):
    """The noise and the mask of everything that is not ideal are within epsilon together."""
    problem, grid = plan.minimiser.problem, plan.mask.grid
    width = problem.bounds.width
    apart = plan.guarantee.unit.spread(problem.row_lipschitz) / problem.ridge
    rounding = 2.0**-53 * (plan.minimiser.far + plan.term.bound(width))
    error = plan.minimiser.radius + plan.term.error(width) + rounding
    masked = (2 * math.sqrt(width) * error + grid.spread_l1(width)) / grid.scale
    assert apart / plan.scale + masked <= epsilon


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
@pytest.mark.parametrize("max_rows", [10, 2**27])
def test_radial_noise_and_its_mask_share_epsilon(unit, max_rows):
    bounds = Bounds(L2Ball(1.0), 30, labels=LabelSet([-1, 1]), max_rows=max_rows)
    plan = RADIAL.plan(Problem(Logistic(), bounds, ridge=100.0), Budget(1.0), unit)
    check_radial_plan(plan, 1.0)
    assert_caught(check_radial_plan, with_scale(plan, 1 - PURE_MASK_SHARE), 1.0)


@pytest.mark.parametrize("share", [0.5, 1 / math.sqrt(30)], ids=["once", "in l2"])
def test_a_radial_mask_made_for_too_small_an_error_is_caught(share):
    # So many rows that the solver's error decides the size of the mask.
    bounds = Bounds(L2Ball(1.0), 30, labels=LabelSet([-1, 1]), max_rows=2**27)
    plan = RADIAL.plan(Problem(Logistic(), bounds, ridge=100.0), Budget(1.0), ADD)
    error = share * (plan.minimiser.radius + plan.term.error(30))
    mutant = laplace_mask(epsilon=PURE_MASK_SHARE, error=error, width=30, bound=plan.minimiser.far)
    check_radial_plan(plan, 1.0)
    assert_caught(check_radial_plan, replace(plan, mask=mutant), 1.0)


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
    assert not GAUSSIAN.accepts(problem, ADD)
    with pytest.raises(NotAccepted, match=reason):
        GAUSSIAN.plan(problem, Budget(1.0, 1e-6), ADD)


@pytest.mark.parametrize("mechanism", [GAUSSIAN, LAPLACE, RADIAL], ids=repr)
def test_smoothed_losses_are_accepted(mechanism):
    for problem in (
        problem_of(HuberHinge(0.5), ridge=1.0),
        problem_of(PseudoHuber(0.5), ridge=1.0),
    ):
        assert mechanism.plan(problem, Budget(1.0, 1e-6), ADD).guarantee.epsilon(1e-6) <= 1.0
