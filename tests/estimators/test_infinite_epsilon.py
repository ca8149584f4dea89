"""An infinite epsilon is the limit of finite ones: the same frame, loss and classes, no noise."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as SklearnLogistic

from discreet import LinearClassifier, LinearRegressor
from discreet.linear_model import LogisticRegression, LowRankRegressor, PoissonRegressor
from discreet.policy.stating import VANISHING
from discreet.preprocessing import Numeric
from support.estimators import CLASSIFIERS, EVERY, coefficients, declare, rehearsal

GENERATOR = np.random.default_rng(0)
ROWS = 3000
X = GENERATOR.standard_normal((ROWS, 3))
X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
SIGNAL = X @ [0.9, -0.6, 0.2] + 0.2 * GENERATOR.standard_normal(ROWS)
TWO = (SIGNAL + 0.3 * GENERATOR.standard_normal(ROWS) > 0.05).astype(int)
THREE = np.digitize(SIGNAL + 0.3 * GENERATOR.standard_normal(ROWS), [-0.3, 0.3])
COUNTS = GENERATOR.poisson(np.exp(SIGNAL))
LIMIT = 3e-3
"""How far a fit of a large epsilon may be from one of infinity, over its largest coefficient."""

LARGE = 1e6
GAUSSIAN = 100.0
"""The largest epsilon that Gaussian noise is computed well enough for, at this delta."""


def labels(kind):
    if kind in CLASSIFIERS:
        return TWO
    return COUNTS if kind is PoissonRegressor else np.clip(SIGNAL, -1, 1)


def distance(kind, y, epsilon, **parameters):
    """Return how far apart the fits of a finite and an infinite epsilon are."""
    told = {"max_rows": ROWS, "rehearsal": 0, **parameters}
    finite, exact = (
        coefficients(declare(kind, epsilon=e, **told).fit(X, y)) for e in (epsilon, math.inf)
    )
    return np.abs(finite - exact).max() / np.abs(exact).max()


@rehearsal
@pytest.mark.parametrize("kind", EVERY)
def test_a_large_epsilon_comes_near_to_an_infinite_one(kind):
    assert distance(kind, labels(kind), LARGE, delta=0.0) < LIMIT


@rehearsal
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor])
def test_so_it_does_with_declared_columns(kind):
    columns = [Numeric(-1, 1)] * 3
    assert distance(kind, labels(kind), LARGE, delta=0.0, columns=columns) < LIMIT


@rehearsal
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_so_it_does_with_three_classes(kind):
    assert distance(kind, THREE, LARGE, delta=0.0) < LIMIT


@rehearsal
@pytest.mark.parametrize("kind", EVERY)
def test_so_it_does_with_gaussian_noise(kind):
    assert distance(kind, labels(kind), GAUSSIAN, delta=1e-6) < 3 * LIMIT


@rehearsal
def test_so_it_does_for_each_class_against_the_rest_in_the_frame_of_gaussian_noise():
    how = {"delta": 1e-6, "mechanism": "private_standardisation"}
    assert distance(LinearClassifier, THREE, GAUSSIAN, **how) < 3 * LIMIT


def test_without_noise_the_headline_class_is_logistic_regression():
    told = {"epsilon": math.inf, "data_norm": 1.0, "max_rows": ROWS}
    ours = coefficients(LinearClassifier(**told).fit(X, TWO))
    np.testing.assert_allclose(coefficients(LogisticRegression(**told).fit(X, TWO)), ours)
    theirs = SklearnLogistic(C=np.inf, tol=1e-12, max_iter=1000).fit(X, TWO)
    np.testing.assert_allclose(ours, [*theirs.coef_[0], *theirs.intercept_], rtol=1e-5)


@pytest.mark.parametrize("gap", [0.003, 0.03])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_that_are_nearly_separated_are_learnt(kind, gap):
    generator = np.random.default_rng(0)
    rows = generator.uniform(-1, 1, (2000, 5))
    score = rows @ [1.0, -1.0, 0.5, 0.2, 0.1]
    kept = np.abs(score) > gap
    kept[np.abs(score).argmin()] = True
    y = score > 0
    y[np.abs(score).argmin()] ^= True  # one is on the wrong side
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit = kind(epsilon=math.inf, data_norm=3.0).fit(rows[kept], y[kept])
    assert fit.score(rows[kept], y[kept]) > 0.99
    assert all(issubclass(one.category, ConvergenceWarning) for one in told)


def test_classes_that_are_separated_are_said_to_be():
    y = X[:, 0] > 0
    kept = np.abs(X[:, 0]) > 0.003
    for kind in (LinearClassifier, LogisticRegression):
        with pytest.warns(
            ConvergenceWarning, match="the classes are linearly separable, or nearly"
        ):
            fit = kind(epsilon=math.inf, data_norm=1.0).fit(X[kept], y[kept])
        assert fit.score(X[kept], y[kept]) == 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kind(epsilon=math.inf, data_norm=1.0, C=1e3).fit(X[kept], y[kept])
            kind(epsilon=math.inf, data_norm=1e4).fit(X, TWO)  # far too wide, and not separated


@rehearsal
def test_classes_that_are_learnt_at_once_are_learnt_at_once_without_noise():
    # The noise moves all classes together, which changes no prediction.
    told = {"data_norm": 1.0, "delta": 1e-6, "max_rows": ROWS, "rehearsal": 0}
    finite, exact = (LinearClassifier(epsilon=e, **told).fit(X, THREE) for e in (100.0, math.inf))
    assert finite.multiclass_ == exact.multiclass_ == "softmax"
    between = [fit.coef_ - fit.coef_.mean(axis=0) for fit in (finite, exact)]
    assert np.abs(between[0] - between[1]).max() < 0.01 * np.abs(between[1]).max()


@pytest.mark.parametrize("kind", [k for k in EVERY if k not in CLASSIFIERS])
def test_its_penalty_is_a_trace(kind):
    # Rows that are predicted without error are learnt without shrinking.
    y = X @ [0.5, -0.3, 0.1]
    fit = declare(kind, epsilon=math.inf, max_rows=ROWS)
    if kind is PoissonRegressor:
        fit.set_params(max_margin=5.0)
        y = np.exp(y)
    np.testing.assert_allclose(fit.fit(X, y).coef_, [0.5, -0.3, 0.1], atol=1e-4)


def test_several_targets_shrink_as_little():
    Y = np.column_stack([X @ [0.5, -0.3, 0.1], X @ [0.1, 0.2, 0.3]])
    fit = declare(LowRankRegressor, epsilon=math.inf, nuclear_radius=10.0, max_rows=ROWS)
    np.testing.assert_allclose(fit.fit(X, Y).coef_, [[0.5, -0.3, 0.1], [0.1, 0.2, 0.3]], atol=1e-4)
    assert VANISHING < 1e-3
