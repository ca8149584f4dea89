"""Sparse regression: what is certified is true, and every table gets a certificate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet

from discreet.solvers import huber_lasso
from discreet.solvers.exact_steps import minimise_exactly
from discreet.solvers.huber_lasso import HuberLasso

DRAW = np.random.default_rng(8)


def on_grid(values):
    return np.rint(np.clip(values, -1, 1) * 2.0**32) / 2.0**32


def a_problem(rows=80, width=6, threshold=0.2, ridge=1.0, weight=3.0, noise=0.1,
              spares_last=False):  # fmt: skip
    X = on_grid(DRAW.uniform(-1, 1, (rows, width)))
    y = on_grid(X @ (0.5 * (np.arange(width) < 2)) + noise * DRAW.standard_normal(rows))
    if spares_last:
        X[:, -1] = 1.0
    return HuberLasso(X, y, threshold, ridge, weight, spares_last)


def exact_subgradient(problem, point):
    """Return the norm of the least subgradient, in fractions."""
    X = [[Fraction(float(entry)) for entry in row] for row in problem.X]
    theta = [Fraction(float(value)) for value in point]
    bend, ridge, weight = map(Fraction, (problem.threshold, problem.ridge, problem.weight))
    slopes = []
    for row, label in zip(X, problem.y, strict=True):
        residual = Fraction(float(label)) - sum(x * t for x, t in zip(row, theta, strict=True))
        slopes.append(min(max(residual, -bend), bend))
    total = Fraction(0)
    for place, value in enumerate(theta):
        product = sum(row[place] * slope for row, slope in zip(X, slopes, strict=True))
        is_spared = problem.spares_last and place == len(theta) - 1
        if value or is_spared:
            sign = 0 if is_spared else 1 if value > 0 else -1
            least = weight * sign + ridge * value - product
        else:
            least = max(abs(product) - weight, Fraction(0))
        total += least**2
    return math.sqrt(total)


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_no_subgradient_is_larger_than_its_bound(noise):
    problem = a_problem(rows=30, width=4, noise=noise, spares_last=noise == 0.1)
    found = problem.minimise(1e-6)
    for point in (found, np.round(found, 3), np.zeros(4), found + 1e-9):
        products = problem.products(problem.slopes(problem.residuals(point)))
        bound, true = problem.bound(point, products), exact_subgradient(problem, point)
        assert true <= bound <= true * (1 + 1e-5) + 1e-11
    assert exact_subgradient(problem, found) <= 1e-6


def test_squares_alone_are_what_scikit_learn_minimises():
    problem = a_problem(rows=300, width=60, threshold=3.0, weight=12.0, noise=0.3)
    point = problem.minimise(1e-7)
    weights = np.array([problem.weight, problem.ridge]) / 300
    model = ElasticNet(weights.sum(), l1_ratio=weights[0] / weights.sum(), fit_intercept=False,
                       tol=1e-13, max_iter=10**6).fit(problem.X, problem.y)  # fmt: skip
    assert 2 <= np.count_nonzero(point) < 60
    np.testing.assert_array_equal(np.flatnonzero(point), np.flatnonzero(model.coef_))
    np.testing.assert_allclose(point, model.coef_, atol=1e-6)


@pytest.mark.oracle
def test_squares_alone_are_what_celer_minimises():
    celer = pytest.importorskip("celer")
    problem = a_problem(rows=200, width=1000, threshold=5.0, weight=4.0, noise=0.3)
    point = problem.minimise(1e-6)
    weights = np.array([problem.weight, problem.ridge]) / 200
    model = celer.ElasticNet(weights.sum(), l1_ratio=weights[0] / weights.sum(), tol=1e-14,
                             fit_intercept=False).fit(problem.X, problem.y)  # fmt: skip
    assert np.count_nonzero(point) >= 20
    np.testing.assert_array_equal(np.flatnonzero(point), np.flatnonzero(model.coef_))
    np.testing.assert_allclose(point, model.coef_, atol=1e-6)


def test_steps_in_whole_numbers_come_to_the_same_point():
    problem = a_problem(rows=40, width=3, noise=0.3, spares_last=True)
    given = {
        "threshold": problem.threshold, "ridge": problem.ridge, "weight": problem.weight,
        "spares_last": True,
    }  # fmt: skip
    point = minimise_exactly(problem.X, problem.y, tolerance=1e-9, **given)
    assert exact_subgradient(problem, point) <= 1e-9
    np.testing.assert_allclose(problem.minimise(1e-9), point, atol=2e-9)


def test_where_floats_stand_still_whole_numbers_go_on(monkeypatch):
    problem = a_problem(rows=25, width=3)
    expected = problem.minimise(1e-8)
    monkeypatch.setattr(HuberLasso, "_solve_for", lambda self, places, tolerance: places * np.nan)
    monkeypatch.setattr(HuberLasso, "_accelerate", lambda self, tolerance: np.zeros(3))
    for table in (problem.X, sparse.csr_array(problem.X)):
        same = HuberLasso(table, problem.y, problem.threshold, problem.ridge, problem.weight)
        np.testing.assert_allclose(same.minimise(1e-8), expected, atol=2e-8)


def test_where_newton_fails_another_method_goes_on(monkeypatch):
    problem = a_problem(rows=60, width=5)
    expected = problem.minimise(1e-7)

    def fail(*_, **__):
        raise np.linalg.LinAlgError

    for broken in ("proximal_newton", "minimise_exactly"):
        monkeypatch.setattr(huber_lasso, broken, fail)
    np.testing.assert_allclose(problem.minimise(1e-7), expected, atol=2e-7)


def test_sparse_tables_and_many_columns_come_to_the_same_point(monkeypatch):
    problem = a_problem(rows=120, width=40, weight=2.0, noise=0.5)
    expected = problem.minimise(1e-7)
    assert np.count_nonzero(expected) > 4
    table = sparse.csr_array(problem.X)
    thin = HuberLasso(table, problem.y, problem.threshold, problem.ridge, problem.weight)
    np.testing.assert_allclose(thin.minimise(1e-7), expected, atol=2e-7)
    monkeypatch.setattr(huber_lasso, "DENSE", 3)  # all columns at once, without a Hessian
    monkeypatch.setattr(huber_lasso, "BLOCK", 7)
    for one in (thin, problem):
        np.testing.assert_allclose(one.minimise(1e-7), expected, atol=2e-7)


def hostile_tables():
    X = DRAW.uniform(-1, 1, (50, 3))
    yield "zeros", np.zeros((5, 3)), np.ones(5)
    yield "one row", np.ones((1, 3)), np.ones(1)
    yield "columns twice", X[:, [0, 0, 1]], X[:, 0]
    yield "columns nearly twice", np.column_stack([X, X[:, 0] * (1 - 1e-9)]), X[:, 0]
    yield "labels beyond", np.ones((40, 2)), np.repeat([1.0, -1.0], 20)
    yield "more columns", DRAW.uniform(-1, 1, (10, 300)), DRAW.uniform(-1, 1, 10)
    yield "tiny", X * 2.0**-30, X[:, 0]


@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=name) for name, X, y in
                                      hostile_tables()])  # fmt: skip
@pytest.mark.parametrize("weight", [1e-3, 1.0, 20.0])
def test_every_table_is_certified_in_floats(X, y, weight, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("floats stood still")

    monkeypatch.setattr(huber_lasso, "minimise_exactly", fail)
    problem = HuberLasso(on_grid(X), on_grid(y), 0.1, 0.5, weight)
    point = problem.minimise(1e-6)
    assert problem.bound(point, problem.products(problem.slopes(problem.residuals(point)))) <= 1e-6
