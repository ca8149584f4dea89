"""With an infinite epsilon every estimator solves the problem its docstring states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize, root
from scipy.special import expit
from sklearn.linear_model import ElasticNet as PlainNet
from sklearn.linear_model import Lasso as PlainLasso
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import Ridge as PlainRidge

from discreet import LinearClassifier, LinearRegressor
from discreet.geometry import L1Ball
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from discreet.svm import LinearSVC
from support.estimators import COUNTS, SIGNAL, TWO, X, coefficients

# Rows beyond the bound, so that clipping is part of what is checked.
LONG = X.copy()
LONG[:20] *= 3
BOUND = 1.25
CLIPPED = LONG * np.minimum(1, BOUND / np.linalg.norm(LONG, axis=1))[:, None]
COLUMN = np.column_stack([CLIPPED, np.full(len(X), BOUND / 2)])
SIGNS = np.where(TWO == "yes", 1.0, -1.0)
# The gradient that the solver stops at is decided by the bound on the number of rows.
EXACT = {"epsilon": math.inf, "data_norm": BOUND, "max_rows": 1000}


def solution(rows, value, slope, ridge):
    """Minimise the sum of losses of the margins, plus a ridge."""

    def objective(w):
        return value(rows @ w).sum() + ridge / 2 * (w @ w)

    def gradient(w):
        return rows.T @ slope(rows @ w) + ridge * w

    start = minimize(objective, np.zeros(rows.shape[1]), jac=gradient, method="BFGS").x
    found = root(gradient, start, tol=1e-15).x
    assert np.linalg.norm(gradient(found)) < 1e-10
    return found


def in_own_units(w, middle=0.0):
    return np.append(w[:-1], w[-1] * BOUND / 2 + middle)


def check(model, w, middle=0.0):
    np.testing.assert_allclose(coefficients(model), in_own_units(w, middle), rtol=0, atol=1e-8)
    assert not model.release_.is_private


def test_logistic_regression_is_that_of_scikit_learn():
    plain = PlainLogistic(C=2.0, fit_intercept=False, solver="newton-cholesky", tol=1e-13)
    plain.fit(COLUMN, TWO)
    check(LogisticRegression(C=2.0, **EXACT).fit(LONG, TWO), plain.coef_[0])


def test_logistic_regression_without_an_intercept_is_that_of_scikit_learn():
    plain = PlainLogistic(C=2.0, fit_intercept=False, solver="newton-cholesky", tol=1e-13)
    plain.fit(CLIPPED, TWO)
    model = LogisticRegression(C=2.0, fit_intercept=False, **EXACT).fit(LONG, TWO)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("target_range", [(-1.0, 1.0), (-0.4, 0.7)])
def test_ridge_is_that_of_scikit_learn(target_range):
    middle = sum(target_range) / 2
    y = np.clip(SIGNAL, *target_range) - middle
    plain = PlainRidge(alpha=0.5, fit_intercept=False, solver="cholesky").fit(COLUMN, y)
    model = Ridge(alpha=0.5, target_range=target_range, **EXACT).fit(LONG, SIGNAL)
    check(model, plain.coef_, middle)


def test_ridge_without_an_intercept_counts_targets_from_zero():
    plain = PlainRidge(alpha=0.5, fit_intercept=False).fit(CLIPPED, np.clip(SIGNAL, 0, 3))
    model = Ridge(alpha=0.5, fit_intercept=False, target_range=(0, 3), **EXACT).fit(LONG, SIGNAL)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("alpha", [1e-3, 0.5, 5.0, 500.0])
def test_the_lasso_is_that_of_scikit_learn(alpha):
    y = np.clip(SIGNAL, -1, 1)
    plain = PlainLasso(alpha=alpha / len(y), tol=1e-15, max_iter=10**6).fit(CLIPPED, y)
    model = Lasso(alpha=alpha, **EXACT, target_range=(-1.0, 1.0)).fit(LONG, SIGNAL)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-8)
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=1e-8)


@pytest.mark.parametrize("ratio", [0.1, 0.3, 1.0])
def test_the_elastic_net_is_that_of_scikit_learn(ratio):
    y = np.clip(SIGNAL, -1, 1)
    plain = PlainNet(alpha=2.0 / len(y), l1_ratio=ratio, fit_intercept=False, tol=1e-15,
                     max_iter=10**6).fit(CLIPPED, y)  # fmt: skip
    model = ElasticNet(
        alpha=2.0,
        l1_ratio=ratio,
        fit_intercept=False,
        **EXACT,
        target_range=(-1.0, 1.0),
    ).fit(LONG, SIGNAL)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-8)


def test_a_lasso_in_a_domain_minimises_its_objective():
    domain, y = L1Ball(0.5), np.clip(SIGNAL, -1, 1)
    model = Lasso(
        alpha=3.0,
        fit_intercept=False,
        domain=domain,
        **EXACT,
        target_range=(-1.0, 1.0),
    ).fit(LONG, SIGNAL)
    w = np.zeros(3)
    for _ in range(1500):
        w = w - (CLIPPED.T @ (CLIPPED @ w - y)) / 400
        w = domain.project(np.sign(w) * np.maximum(np.abs(w) - 3.0 / 400, 0))
    np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-8)


def test_huber_regression_minimises_its_objective():
    k, y = 0.15, np.clip(SIGNAL, -0.5, 0.9) - 0.2

    def value(z):
        size = np.abs(z - y)
        return np.where(size <= k, size**2 / 2, k * size - k**2 / 2)

    w = solution(COLUMN, value, lambda z: np.clip(z - y, -k, k), 0.7)
    model = HuberRegressor(alpha=0.7, threshold=k, target_range=(-0.5, 0.9), **EXACT)
    check(model.fit(LONG, SIGNAL), w, 0.2)


def test_quantile_regression_minimises_its_objective():
    q, h, y = 0.8, 0.3, np.clip(SIGNAL, -1, 1)

    def value(z):
        r = z - y
        pinball = np.maximum(-q * r, (1 - q) * r)
        return pinball + np.maximum(h / 2 - np.abs(r), 0) ** 2 / (2 * h)

    def slope(z):
        return np.clip((z - y) / h + 0.5, 0, 1) - q

    w = solution(COLUMN, value, slope, 0.7)
    check(
        QuantileRegressor(
            quantile=q, smoothing=h, alpha=0.7, **EXACT, target_range=(-1.0, 1.0)
        ).fit(LONG, SIGNAL),
        w,
    )


def test_poisson_regression_minimises_its_objective():
    y, far = np.clip(COUNTS, 0, 4.0), 0.8  # some margins lie beyond

    def value(z):
        c = np.clip(z, -far, far)
        return np.exp(c) - y * z + np.exp(c) * (z - c)

    w = solution(COLUMN, value, lambda z: np.exp(np.clip(z, -far, far)) - y, 0.7)
    assert np.abs(COLUMN @ w).max() > far
    model = PoissonRegressor(max_count=4.0, max_margin=far, alpha=0.7, **EXACT).fit(LONG, COUNTS)
    check(model, w)
    np.testing.assert_allclose(model.predict(CLIPPED), np.exp(COLUMN @ w), rtol=1e-7)


@pytest.mark.parametrize("loss", ["huber_hinge", "smoothed_hinge"])
def test_support_vectors_minimise_their_objective(loss):
    def value(z):
        short = 1 - SIGNS * z
        if loss == "huber_hinge":
            bent = np.where(np.abs(short) <= 0.5, (short + 0.5) ** 2 / 2, short)
            return np.where(short < -0.5, 0.0, bent)
        return np.where(short >= 1, short - 0.5, np.maximum(short, 0) ** 2 / 2)

    def slope(z):
        short = 1 - SIGNS * z
        return -SIGNS * np.clip(short + (0.5 if loss == "huber_hinge" else 0.0), 0, 1)

    w = solution(COLUMN, value, slope, 0.7)
    check(LinearSVC(loss=loss, C=1 / 0.7, **EXACT).fit(LONG, TWO), w)


def test_the_linear_regressor_minimises_its_objective():
    k, y = 0.15, np.clip(SIGNAL, -0.5, 0.9) - 0.2

    def value(z):
        return k**2 * (np.sqrt(1 + ((z - y) / k) ** 2) - 1)

    w = solution(COLUMN, value, lambda z: (z - y) / np.sqrt(1 + ((z - y) / k) ** 2), 0.7)
    model = LinearRegressor(alpha=0.7, threshold=k, target_range=(-0.5, 0.9), **EXACT)
    check(model.fit(LONG, SIGNAL), w, 0.2)


def test_the_linear_classifier_minimises_its_objective_where_it_does_not_standardise():
    def value(z):
        return np.logaddexp(0, 2 - SIGNS * z)

    w = solution(COLUMN, value, lambda z: -SIGNS * expit(2 - SIGNS * z), 0.7)
    model = LinearClassifier(C=1 / 0.7, mechanism="objective_perturbation", **EXACT)
    check(model.fit(LONG, TWO), w)


def test_the_linear_classifier_learns_where_it_does():
    model = LinearClassifier(**EXACT).fit(LONG, TWO)
    assert (
        model.score(LONG, TWO)
        > PlainLogistic(solver="newton-cholesky").fit(LONG, TWO).score(LONG, TWO) - 0.02
    )


@pytest.mark.parametrize("mechanism", ["objective_perturbation", "output_perturbation"])
def test_no_mechanism_adds_noise_to_an_infinite_budget(mechanism):
    told = {**EXACT, "C": 10.0}  # without one, the default is learnt in a frame of its own
    exact = {**told, "mechanism": mechanism}
    one, two = (LogisticRegression(**exact).fit(LONG, TWO) for _ in range(2))
    np.testing.assert_allclose(coefficients(one), coefficients(two), rtol=0, atol=1e-8)
    default = LogisticRegression(**told).fit(LONG, TWO)
    np.testing.assert_allclose(coefficients(one), coefficients(default), rtol=0, atol=1e-8)
