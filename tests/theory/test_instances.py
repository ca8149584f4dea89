"""The library's mechanisms, on the instances behind the lower bounds, keep within their bounds.

The data are points of a cube of norm 1/2. The smoothed hinge of width 1/2 is linear on the unit
ball for them, so that the sum of losses is a constant less <w, total>; with a ridge it is the
quadratic loss of section V-B.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import RehearsalWarning
from discreet.gate import rehearse
from discreet.geometry import L2Ball
from discreet.losses import Logistic, SmoothedHinge, Squared
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation, SufficientStatistics
from discreet.mechanisms.minimising.spectrum import Spectrum
from discreet.penalties import Indicator
from discreet.privacy import Budget, unit_named
from discreet.questions.problem import Problem
from discreet.theory import CATALOGUE, Setting

N, P = 120, 4
BALL = Indicator(L2Ball(1.0))
UNITS = pytest.mark.parametrize("unit", ["replace", "add_remove"])


def cube_points(same):
    """``same`` copies of one point; the others in opposite pairs."""
    point = np.array([1.0, -1.0, 1.0, 1.0]) / 2 / math.sqrt(P)
    others = np.random.default_rng(2).choice([-1.0, 1.0], ((N - same) // 2, P)) / 2 / math.sqrt(P)
    return np.concatenate([np.tile(point, (same, 1)), others, -others])


def draws_of(mechanism, problem, X, y, budget, unit, count=300):
    rows = Rows(X, y, bounds=problem.bounds, unit=unit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        return rehearse(mechanism, problem, rows, budget=budget, draws=count, seed=11)


def excess_on_the_cube(draws, X, ridge):
    total = X.sum(axis=0)
    distance = 1.0 if ridge == 0 else min(1.0, np.linalg.norm(total) / ridge)
    least = ridge / 2 * distance**2 - np.linalg.norm(total) * distance
    return np.mean(ridge / 2 * np.sum(draws**2, axis=1) - draws @ total - least)


ON_THE_BALL = [
    ("output perturbation, radial, on a set", OutputPerturbation("radial"), 0.0),
    ("output perturbation, gaussian, on a set", OutputPerturbation("gaussian"), 1e-6),
    ("objective perturbation, radial", ObjectivePerturbation("radial"), 0.0),
    ("objective perturbation, gaussian", ObjectivePerturbation("gaussian"), 1e-6),
]


def cube_setting(problem, ridge, delta, unit):
    return Setting(
        n=N,
        p=P,
        epsilon=1.0,
        delta=delta,
        lipschitz=problem.row_lipschitz,
        diameter=2.0,
        radius=1.0,
        smoothness=problem.row_smoothness,
        ridge=ridge,
        form="generalised_linear",
        unit=unit,
    )


def cube_problem(ridge):
    bounds = Bounds(L2Ball(0.5), P, labels=LabelSet([-1, 1]), max_rows=N)
    return Problem(SmoothedHinge(0.5), bounds, ridge=ridge, penalty=BALL)


@UNITS
@pytest.mark.parametrize(("name", "mechanism", "delta"), ON_THE_BALL, ids=lambda v: str(v)[:40])
def test_linear_losses_on_the_ball(name, mechanism, delta, unit):
    bound, setting = CATALOGUE[name], cube_setting(cube_problem(1.0), 0.0, delta, unit)
    problem = cube_problem(bound.ridge(setting))
    for same in (8, N):  # a total of norm p/eps, and the largest
        X = cube_points(same)
        draws = draws_of(mechanism, problem, X, np.ones(N), Budget(1.0, delta), unit, count=40)
        assert np.max(np.linalg.norm(draws, axis=1)) < 1 + 1e-3
        excess = excess_on_the_cube(draws, X, 0.0)
        assert 0 < excess < bound(setting)


@UNITS
@pytest.mark.parametrize(("name", "mechanism", "delta"), ON_THE_BALL, ids=lambda v: str(v)[:40])
def test_quadratic_losses_on_the_ball(name, mechanism, delta, unit):
    ridge = 60.0
    setting = cube_setting(cube_problem(ridge), ridge, delta, unit)
    bound = CATALOGUE[name]
    X = cube_points(30)
    problem, budget = cube_problem(bound.ridge(setting)), Budget(1.0, delta)
    draws = draws_of(mechanism, problem, X, np.ones(N), budget, unit, count=80)
    excess = excess_on_the_cube(draws, X, ridge)
    assert 0 < excess < bound(setting)
    if "objective" in name:  # away from the border the bound is the mean, but for its tenth
        assert bound.ridge(setting) == ridge
        assert excess > 0.6 * bound(setting)


@UNITS
@pytest.mark.parametrize(
    ("law", "delta"), [("radial", 0.0), ("gaussian", 1e-6)], ids=["radial", "gaussian"]
)
def test_smooth_losses_of_margins_on_the_whole_space(law, delta, unit):
    ridge, y = 40.0, np.where(np.arange(N) < 70, 1.0, -1.0)
    X = 2 * cube_points(60)
    bounds = Bounds(L2Ball(1.0), P, labels=LabelSet([-1, 1]), max_rows=N)
    problem = Problem(Logistic(), bounds, ridge=ridge)
    setting = Setting(
        n=N,
        p=P,
        epsilon=1.0,
        delta=delta,
        lipschitz=problem.row_lipschitz,
        smoothness=problem.row_smoothness,
        diameter=math.inf,
        ridge=ridge,
        form="generalised_linear",
        unit=unit,
    )

    def objective(w):
        return np.sum(np.logaddexp(0, -y * (X @ w))) + ridge / 2 * w @ w

    least = minimize(objective, np.zeros(P), tol=1e-12).fun
    for name, mechanism in (
        (f"output perturbation, {law}, smooth", OutputPerturbation(law)),
        (f"output perturbation, {law}, of margins", OutputPerturbation(law)),
        (f"objective perturbation, {law}", ObjectivePerturbation(law)),
    ):
        bound = CATALOGUE[name]
        tuned = Problem(Logistic(), bounds, ridge=bound.ridge(setting))
        draws = draws_of(mechanism, tuned, X, y, Budget(1.0, delta), unit)
        excess = np.mean([objective(w) for w in draws]) - least
        assert 0 < excess < bound(setting), name
        if name.endswith("smooth"):
            assert excess > 0.3 * bound(setting)


def test_a_noisy_quadratic_costs_what_its_noise_allows():
    """The inequality behind sufficient statistics, for noise of every size."""
    generator = np.random.default_rng(3)
    used = []
    for size in (0.1, 1.0, 10.0, 100.0):
        for _ in range(60):
            X = generator.standard_normal((6, 3)) * generator.random()
            gram, product = X.T @ X, 30 * generator.standard_normal(3) * generator.random()
            W = size * generator.random() ** 4 * generator.standard_normal((3, 3))
            W, z = (W + W.T) / 2, size * generator.standard_normal(3)
            spectrum = Spectrum.of(gram + W)
            added = size * generator.random() ** 4
            ridge = added + spectrum.multiplier(product + z, added, 1.0)
            w = spectrum.solve(product + z, ridge)
            exact = Spectrum.of(gram)
            best = exact.solve(product, exact.multiplier(product, 1e-12, 1.0) + 1e-12)
            excess = w @ gram @ w / 2 - product @ w - (best @ gram @ best / 2 - product @ best)
            allowed = 1.5 * np.linalg.norm(W, 2) + 2 * np.linalg.norm(z) + added / 2
            used.append(excess / allowed)
    assert min(used) > -1e-6
    assert 0.3 < max(used) <= 1


@UNITS
def test_the_noise_in_the_statistics_is_that_of_the_bound(unit):
    bounds = Bounds(L2Ball(1.0), P, labels=Interval(-1, 1), max_rows=1000)
    problem = Problem(Squared(1.0), bounds, ridge=1.0, radius=1.0)
    change = math.sqrt(4.5 if unit == "replace" else 2)
    gaussian = SufficientStatistics().plan(problem, Budget(1.0, 1e-6), unit_named(unit))
    mu = Setting(n=N, p=P, epsilon=1.0, delta=1e-6).mu
    assert gaussian.grid.scale == pytest.approx(change / mu, rel=1e-3)
    pure = SufficientStatistics().plan(problem, Budget(1.0), unit_named(unit))
    change = math.sqrt(4.5 * 53 / 25) if unit == "replace" else 2.0
    assert pure.grid.scale == pytest.approx(change, rel=1e-3)


@UNITS
@pytest.mark.parametrize(
    ("law", "delta"), [("laplace", 0.0), ("gaussian", 1e-6)], ids=["laplace", "gaussian"]
)
def test_squared_losses_on_the_ball(law, delta, unit):
    ridge, reach = 1.0, 1.0
    bounds = Bounds(L2Ball(1.0), P, labels=Interval(-1, 1), max_rows=1000)
    problem = Problem(Squared(1.0), bounds, ridge=ridge, radius=reach)
    setting = Setting(
        n=N,
        p=P,
        epsilon=2.0,
        delta=delta,
        lipschitz=problem.row_lipschitz,
        smoothness=problem.row_smoothness,
        diameter=2 * reach,
        ridge=ridge,
        form="squared",
        unit=unit,
    )
    assert setting.lipschitz == pytest.approx(2.0, rel=1e-5)  # R (R B + Y)
    X = 2 * cube_points(60)
    y = np.clip(X @ np.array([0.5, -0.5, 0.5, 0.2]), -1, 1)
    draws = draws_of(SufficientStatistics(), problem, X, y, Budget(2.0, delta), unit)
    assert np.max(np.linalg.norm(draws, axis=1)) <= reach * (1 + 1e-9)

    def objective(w):
        return np.sum((X @ w - y) ** 2) / 2 + ridge / 2 * w @ w

    inside = {"type": "ineq", "fun": lambda w: reach**2 - w @ w}
    least = minimize(objective, np.zeros(P), constraints=inside, tol=1e-12).fun
    excess = np.mean([objective(w) for w in draws]) - least
    assert 0 < excess < CATALOGUE[f"sufficient statistics, {law}"](setting)
