"""An infinite epsilon is the limit of finite ones: the same frame, loss and classes, no noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import LinearClassifier, LinearRegressor
from discreet.estimators.penalty_strength import VANISHING
from discreet.linear_model import LowRankRegressor, PoissonRegressor
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
"""How far a fit of epsilon 1000 may be from one of infinity, over its largest coefficient."""


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
    assert distance(kind, labels(kind), 1000.0, delta=0.0) < LIMIT


@rehearsal
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor])
def test_so_it_does_with_declared_columns(kind):
    columns = [Numeric(-1, 1)] * 3
    assert distance(kind, labels(kind), 1000.0, delta=0.0, columns=columns) < LIMIT


@rehearsal
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_so_it_does_with_three_classes(kind):
    assert distance(kind, THREE, 1000.0, delta=0.0) < LIMIT


@rehearsal
def test_so_it_does_in_the_frame_of_gaussian_noise():
    assert distance(LinearClassifier, TWO, 100.0, delta=1e-6) < LIMIT


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
