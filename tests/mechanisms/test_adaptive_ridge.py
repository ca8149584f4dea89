"""Adaptive ridge: how much ridge is left, how surely, what it buys, and its mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, NotAccepted
from discreet.geometry import Box, L1L2Ball, L2Ball
from discreet.losses import Logistic, Squared
from discreet.mechanisms import AdaptiveRidge, ObjectivePerturbation
from discreet.mechanisms import adaptive_ridge as module
from discreet.mechanisms.adaptive_ridge import LEAST_RIDGE, missing_ridge
from discreet.noise import RehearsalNoise
from discreet.penalties import L1, Indicator, WithRidge
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne
from discreet.questions.problem import Problem
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(1.0, 1e-6)
both_units = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)


def problem_of(*, ridge=200.0, p=3, domain=1.0, row=1.0, label=1.0, max_rows=10**5, **more):
    bounds = Bounds(L2Ball(row), p, labels=Interval(-label, label), max_rows=max_rows, **more)
    return Problem(Squared(label), bounds, ridge=ridge, penalty=Indicator(L2Ball(domain)))


def data(rows, p=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, p))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * 1.001
    y = np.clip(X @ np.array([0.4, -0.3, 0.2])[:p] + 0.1 * generator.standard_normal(rows), -1, 1)
    return X, y


def ridges(plan, rows, seeds):
    """The ridges that the second release is run with."""
    seen = []

    class Watched(type(plan.second)):
        def run_with(self, rows, noise, ridge):
            seen.append(ridge)

    second = object.__new__(Watched)
    vars(second).update(vars(plan.second))
    watched = replace(plan, second=second)
    for seed in seeds:
        watched.run(rows, RehearsalNoise(seed))
    return np.array(seen)


# What is promised.


@both_units
@pytest.mark.parametrize("budget", [Budget(0.1, 1e-9), BUDGET, Budget(4.0, 1e-3)], ids=repr)
def test_the_guarantee_uses_nearly_all_of_the_budget_and_no_more(unit, budget):
    plan = AdaptiveRidge().plan(problem_of(), budget, unit)
    assert plan.guarantee.delta(budget.epsilon) <= budget.delta
    assert plan.guarantee.epsilon(budget.delta) >= 0.99 * budget.epsilon
    assert plan.guarantee.unit == unit


@both_units
def test_the_second_release_pays_for_the_first(unit):
    plan = AdaptiveRidge().plan(problem_of(), BUDGET, unit)
    alone = ObjectivePerturbation("gaussian").plan(problem_of(), BUDGET, unit)
    assert 1.03 * alone.scale < plan.second.scale < 1.1 * alone.scale
    assert plan.guarantee == plan.second.guarantee


@both_units
def test_the_tail_is_booked_as_a_distance(unit):
    plan = AdaptiveRidge().plan(problem_of(), BUDGET, unit)
    tail = module.TAIL_SHARE * BUDGET.delta / (1 + math.exp(BUDGET.epsilon))
    alone = ObjectivePerturbation("gaussian").plan(problem_of(), BUDGET, unit)
    assert plan.guarantee.profile.distance >= tail + alone.guarantee.profile.distance
    assert plan.guarantee.profile.distance <= 1.01 * (tail + alone.guarantee.profile.distance)


# The smallest eigenvalue.


def moved(plan, first, second, unit):
    """How far apart the eigenvalues of two data sets are."""
    bounds = plan.curvature.problem.bounds
    values = [plan.curvature.smallest(open_rows(X, y, bounds=bounds, unit=unit))
              for X, y in (first, second)]  # fmt: skip
    return abs(values[0] - values[1])


def pairs(unit):
    """Neighbours: random ones, and the row that stands alone in a direction."""
    generator = np.random.default_rng(1)
    for _ in range(40):
        X, y = data(6, seed=int(generator.integers(1000)))
        X[:, 2] *= generator.random() ** 3
        other, extra = X.copy(), np.vstack([X, [[0.0, 0.0, 1.0]]])
        other[0] = [0.0, 0.0, 1.0]
        yield ((X, y), (other, y)) if unit is SWAP else ((X, y), (extra, np.append(y, 1.0)))
    flat = np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]] * 5)
    gone, tall = np.array([[0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 5.0]])
    with_tall = np.vstack([flat, tall])
    without = np.vstack([flat, gone]) if unit is SWAP else flat
    yield (with_tall, np.ones(11)), (without, np.ones(len(without)))


@both_units
def test_one_record_moves_the_eigenvalue_by_at_most_its_squared_norm(unit):
    plan = AdaptiveRidge().plan(problem_of(row=2.0), BUDGET, unit)
    largest, error = problem_of(row=2.0).row_norm ** 2, plan.curvature.error
    apart = [moved(plan, first, second, unit) for first, second in pairs(unit)]
    assert max(apart) <= largest + 2 * error
    assert max(apart) >= 0.999 * largest  # the last pair attains it


def eigenvalue_is_private(plan, unit):
    """Whether the noise hides what one record can do, at the mu that was set aside for it."""
    apart = max(moved(plan, first, second, unit) for first, second in pairs(unit))
    return apart / plan.grid.scale <= math.sqrt(module.FIRST_SHARE) * mu_of(BUDGET) * (1 + 1e-9)


def mu_of(budget):
    low, high = 1e-6, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if Gaussian(middle).delta(1.0) <= budget.delta else (low, middle)
    return low


@both_units
def test_the_scale_of_the_noisy_eigenvalue_and_its_mutant(unit):
    plan = AdaptiveRidge().plan(problem_of(row=2.0), BUDGET, unit)
    expected = 4.0 / (math.sqrt(0.1) * mu_of(BUDGET))
    assert expected <= plan.grid.scale <= expected * 1.001
    assert eigenvalue_is_private(plan, unit)
    halved = replace(plan.grid, scale=plan.grid.scale / 2, bits=plan.grid.bits - 1)
    assert not eigenvalue_is_private(replace(plan, grid=halved), unit)


def test_the_noise_drawn_has_that_scale():
    problem = problem_of(ridge=1e6, max_rows=1000)
    plan = AdaptiveRidge().plan(problem, BUDGET, ADD)
    X, y = data(1000)
    rows = open_rows(X * 0.99, y, bounds=problem.bounds)
    smallest = plan.curvature.smallest(rows)
    shown = problem.ridge - ridges(plan, rows, range(400)) + plan.allowance
    assert shown.min() > plan.allowance  # none was clipped
    assert abs(shown.mean() - smallest) <= 4 * plan.grid.scale / 20
    assert shown.std() == pytest.approx(plan.grid.scale, rel=0.15)  # four standard errors


def test_the_computed_eigenvalue_is_within_its_error():
    problem = problem_of(p=2, max_rows=64)
    X = np.array([[1.0, 0.0]] * 32 + [[0.0, 2.0**-20]] * 32)
    rows = open_rows(X, np.zeros(64), bounds=problem.bounds)
    curvature = AdaptiveRidge().plan(problem, BUDGET, ADD).curvature
    assert abs(curvature.smallest(rows) - 2.0**-35) <= curvature.error <= 1e-9


# How much ridge is left.


@both_units
@pytest.mark.parametrize("rows", [3, 30_000])
def test_data_that_curve_enough_are_not_penalised_and_others_fully(unit, rows):
    problem = problem_of()
    plan = AdaptiveRidge().plan(problem, BUDGET, unit)
    X, y = data(rows)
    opened = open_rows(X, y, bounds=problem.bounds, unit=unit)
    left = LEAST_RIDGE * problem.ridge if rows > 3 else problem.ridge
    assert (ridges(plan, opened, range(20)) == left).all()


def test_what_is_missing_is_between_the_least_and_all_of_it():
    problem = problem_of(ridge=8.0)
    found = [missing_ridge(problem, t) for t in (-math.inf, -3.0, 0.0, 3.0, 8.0, 1e300)]
    assert found == [8.0, 8.0, 8.0, 5.0, LEAST_RIDGE * 8, LEAST_RIDGE * 8]


def overestimated(plan, rows, common, trials):
    """How often rows and ridge together curve less than was aimed at."""
    bounds = plan.curvature.problem.bounds
    smallest = float(np.linalg.eigvalsh(common.T @ common)[0])
    opened = open_rows(rows, np.zeros(len(rows)), bounds=bounds)
    aim = plan.curvature.problem.ridge
    return int(((smallest + ridges(plan, opened, range(trials))) < aim * (1 - 1e-9)).sum())


def test_overestimation_is_as_rare_as_booked_and_dropping_the_allowance_is_caught(monkeypatch):
    # An artificial tail of five per cent; the pair attains R^2, so nothing is to spare.
    tail, trials = 0.05, 1000
    monkeypatch.setattr(module, "TAIL_SHARE", tail * (1 + math.e) / 0.4)
    problem = problem_of(ridge=300.0, max_rows=1000)
    budget = Budget(1.0, 0.4)
    monkeypatch.setattr(
        ObjectivePerturbation, "plan_beside", lambda self, *a, **k: spare
    )  # no budget is left for a second release beside such a tail
    spare = ObjectivePerturbation("gaussian").plan(problem, BUDGET, ADD)
    plan = AdaptiveRidge().plan(problem, budget, ADD)
    common = np.vstack([np.eye(3)[:2]] * 400 + [np.eye(3)[2:]] * 100)
    rows = np.vstack([common, np.eye(3)[2:]])
    honest = overestimated(plan, rows, common, trials)
    assert honest <= binom.ppf(0.9999, trials, tail)
    assert honest >= binom.ppf(0.0001, trials, tail)  # and no rarer: the allowance is tight
    forgets_the_record = replace(plan, allowance=plan.allowance - problem.row_norm**2)
    forgets_all = replace(plan, allowance=0.0)
    assert overestimated(forgets_the_record, rows, common, trials) > honest
    assert overestimated(forgets_all, rows, common, trials) > binom.ppf(0.9999, trials, tail)


# What the second release computes.


def test_the_certificate_counts_on_the_curvature_aimed_at_and_never_on_the_ridge():
    problem = problem_of()
    plan = AdaptiveRidge().plan(problem, BUDGET, ADD)
    assert plan.minimiser.problem.ridge == problem.ridge
    assert plan.minimiser.radius < 1e-6
    rho = LEAST_RIDGE * problem.ridge
    mutant = replace(plan.minimiser, plain=replace(
        plan.minimiser.plain, problem=replace(plan.minimiser.problem, ridge=rho)))  # fmt: skip
    # Dividing by the ridge that is left would make the radius useless, not wrong.
    assert mutant.radius > 1e6 * plan.minimiser.radius


@both_units
def test_counting_on_more_curvature_than_there_is_is_caught(unit):
    # Where the data have no curvature of their own, neighbours are R (R B + Y) / Lam apart.
    problem = problem_of(ridge=50.0, p=1, domain=0.04, max_rows=1000)
    plan = AdaptiveRidge().plan(problem, BUDGET, unit)
    zero, one, other = ([[0.0]], [0.0]), ([[1.0]], [1.0]), ([[1.0]], [-1.0])
    pair = (zero, one) if unit is ADD else (one, other)
    rows = [open_rows(*each, bounds=problem.bounds, unit=unit) for each in pair]
    points = [plan.minimiser.solve(each, np.zeros(1), ridge=problem.ridge)[0] for each in rows]
    apart = abs(points[0] - points[1])
    assert 0.9 * plan.sensitivity <= apart <= plan.sensitivity
    mutant = AdaptiveRidge().plan(replace(problem, ridge=2 * problem.ridge), BUDGET, unit)
    assert apart > mutant.sensitivity


def test_least_squares_are_unbiased_where_the_data_curve_enough():
    # The statement: rho = 0, up to its least, and E excess = sigma^2/2 tr((X'X)^-1).
    trials = 300
    problem = problem_of(ridge=300.0, max_rows=10_000)
    plan = AdaptiveRidge().plan(problem, Budget(2.0, 1e-5), ADD)
    X, y = data(10_000)
    rows, noise = open_rows(X, y, bounds=problem.bounds), RehearsalNoise(3)
    released = np.array([plan.run(rows, noise) for _ in range(trials)])
    gram = X.T @ X
    best = np.linalg.solve(gram, X.T @ y)
    spread = released.std(axis=0) / math.sqrt(trials)
    assert (np.abs(released.mean(axis=0) - best) <= 4 * spread).all()
    penalised = np.linalg.solve(gram + problem.ridge * np.eye(3), X.T @ y)
    assert (np.abs(released.mean(axis=0) - penalised) > 8 * spread).any()  # it would be seen
    excess = np.einsum("ij,jk,ik->i", released - best, gram, released - best) / 2
    expected = plan.second.scale**2 / 2 * np.trace(np.linalg.inv(gram))
    assert abs(excess.mean() - expected) <= 4 * excess.std() / math.sqrt(trials)


def test_an_infinite_budget_gives_least_squares_in_the_domain():
    problem = problem_of()
    X, y = data(5000)
    rows = open_rows(X, y, bounds=problem.bounds)
    plan = AdaptiveRidge().plan(problem, Budget(math.inf), ADD)
    found = plan.run(rows, SilentNoise())
    np.testing.assert_allclose(found, np.linalg.lstsq(X, y)[0], atol=1e-7)
    assert plan.guarantee.epsilon(0.5) == math.inf
    small = replace(problem, penalty=Indicator(L2Ball(0.1)))
    inside = AdaptiveRidge().plan(small, Budget(math.inf), ADD).run(rows, SilentNoise())
    assert np.linalg.norm(inside) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("p", "rows"),
    [(1, np.ones((50, 1))), (3, np.zeros((2, 3))), (3, np.ones((40, 3)))],
    ids=["one column", "rows of zeros", "one direction"],
)
def test_degenerate_data_are_released_all_the_same(p, rows):
    problem = problem_of(p=p)
    plan = AdaptiveRidge().plan(problem, BUDGET, ADD)
    opened = open_rows(rows, np.ones(len(rows)), bounds=problem.bounds)
    value = plan.run(opened, RehearsalNoise(2))
    assert np.linalg.norm(value) <= 1 + 1e-12


def test_an_intercept_counts_as_a_column():
    problem = problem_of(intercept=1.0)
    plan = AdaptiveRidge().plan(problem, BUDGET, ADD)
    assert plan.grid.scale == pytest.approx(
        2 * AdaptiveRidge().plan(problem_of(), BUDGET, ADD).grid.scale, rel=1e-3
    )
    X, y = data(20_000)
    value = plan.run(open_rows(X, y, bounds=problem.bounds), RehearsalNoise(2))
    assert value.shape == (4,)


# What it refuses.


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"penalty": None}, "bounded domain"),
        ({"penalty": L1(1.0)}, "bounded domain"),
        ({"radius": 1.0}, "not as a radius"),
    ],
    ids=["no domain", "no bounded domain", "a radius"],
)
def test_a_problem_without_a_domain_is_refused(change, reason):
    with pytest.raises(NotAccepted, match=reason):
        AdaptiveRidge().plan(replace(problem_of(), **change), BUDGET, ADD)


def test_other_losses_and_widths_are_refused():
    classes = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    domain = Indicator(L2Ball(1.0))
    for problem, reason in (
        (Problem(Logistic(), classes, ridge=1.0, penalty=domain), "squared loss"),
        (problem_of(p=1501), "columns"),
    ):
        with pytest.raises(NotAccepted, match=reason):
            AdaptiveRidge().plan(problem, BUDGET, ADD)


@pytest.mark.parametrize(
    ("problem", "budget", "reason"),
    [
        (problem_of(), Budget(1.0), "delta > 0"),
        (problem_of(ridge=0.1), BUDGET, "too weak"),
        (replace(problem_of(), penalty=Indicator(L1L2Ball(1.0, 0.8))), BUDGET, "no bound"),
    ],
    ids=["pure", "little ridge", "no certificate"],
)
def test_what_cannot_be_calibrated_is_refused(problem, budget, reason):
    with pytest.raises(CalibrationError, match=reason):
        AdaptiveRidge().plan(problem, budget, ADD)


def test_a_ridge_beside_the_domain_and_a_box_are_accepted():
    X, y = data(500)
    for penalty in (WithRidge(Indicator(L2Ball(1.0)), 2.0), Indicator(Box([0] * 3, [1] * 3))):
        problem = replace(problem_of(), penalty=penalty)
        plan = AdaptiveRidge().plan(problem, BUDGET, ADD)
        value = plan.run(open_rows(X, y, bounds=problem.bounds), RehearsalNoise(1))
        assert math.isfinite(penalty.value(value))
