"""Weights count as repetitions, up to a declared largest one that the noise is made for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import Budget, LinearClassifier, MemoryLedger
from discreet.data import Bounds, Interval
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball
from discreet.linear_model import HuberRegressor, LogisticRegression
from discreet.losses import Squared
from discreet.mechanisms import SufficientStatistics
from discreet.privacy import AddRemoveOne
from discreet.questions.problem import Problem
from discreet.svm import LinearSVC
from support.estimators import (
    WEIGHTS,
    X,
    coefficients,
    declare,
    every_estimator,
    penalty,
    rehearsal,
    target,
)

TWICE = np.repeat(np.arange(len(X)), WEIGHTS.astype(int))


def exact(model, **parameters):
    """Return a model without noise."""
    if model is LinearClassifier:
        parameters["mechanism"] = "objective_perturbation"
    return declare(model, epsilon=math.inf, max_rows=1000, **penalty(model, 0.7), **parameters)


@every_estimator
def test_a_weight_of_two_is_a_row_twice(model):
    y = target(model)
    weighted = exact(model, max_weight=2.0).fit(X, y, sample_weight=WEIGHTS)
    repeated = exact(model).fit(X[TWICE], y[TWICE])
    once = exact(model).fit(X, y)
    np.testing.assert_allclose(coefficients(weighted), coefficients(repeated), rtol=0, atol=1e-8)
    assert np.abs(coefficients(weighted) - coefficients(once)).max() > 1e-3


@every_estimator
def test_weights_are_clipped_and_missing_ones_count_as_zero(model):
    y = target(model)
    odd, clean = WEIGHTS.copy(), WEIGHTS.copy()
    odd[:5], clean[:5] = [7.0, math.inf, math.nan, -3.0, -math.inf], [2, 2, 0, 0, 0]
    one = exact(model, max_weight=2.0).fit(X, y, sample_weight=odd)
    other = exact(model, max_weight=2.0).fit(X, y, sample_weight=clean)
    np.testing.assert_array_equal(coefficients(one), coefficients(other))


@every_estimator
def test_rows_without_weights_count_once(model):
    y = target(model)
    none = exact(model, max_weight=2.0).fit(X, y)
    ones = exact(model, max_weight=2.0).fit(X, y, sample_weight=np.ones(len(X)))
    plain = exact(model).fit(X, y)
    np.testing.assert_array_equal(coefficients(none), coefficients(ones))
    np.testing.assert_allclose(coefficients(none), coefficients(plain), rtol=0, atol=1e-8)


@every_estimator
@pytest.mark.parametrize(
    ("parameters", "weights", "error", "says"),
    [
        ({}, WEIGHTS, InputError, "max_weight"),
        ({"max_weight": 2.0}, WEIGHTS[:-1], InputError, "one weight for each row"),
        ({"max_weight": 2.0}, WEIGHTS.astype(str), InputTypeError, "numbers"),
        ({"max_weight": 2.0}, 2.0, InputTypeError, "array"),
        ({"max_weight": 0.0}, WEIGHTS, InputError, "max_weight"),
        ({"max_weight": math.inf}, WEIGHTS, InputError, "max_weight"),
        ({"max_weight": "2"}, WEIGHTS, InputTypeError, "max_weight"),
    ],
    ids=["undeclared", "short", "text", "scalar", "zero", "infinite", "no number"],
)
def test_weights_out_of_place_are_refused_before_a_charge(model, parameters, weights, error, says):
    ledger = MemoryLedger(Budget(10.0))
    with pytest.raises(error, match=says):
        declare(model, delta=0.0, ledger=ledger, **parameters).fit(
            X, target(model), sample_weight=weights
        )
    assert ledger.history() == ()


@every_estimator
def test_other_keywords_are_refused(model):
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        declare(model, delta=0.0).fit(X, target(model), weight=WEIGHTS)


@rehearsal
@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC, HuberRegressor])
@pytest.mark.parametrize("setting", [{"delta": 0.0}, {"delta": 1e-6}], ids=str)
def test_noise_grows_with_the_declared_weight(model, setting):
    # Rows of weight zero and a penalty so strong that nothing else matters: what is left is noise.
    def noise(largest):
        parameters = {**penalty(model, 1e6), **setting, "max_weight": largest, "rehearsal": 3}
        fit = declare(model, **parameters).fit(X, target(model), sample_weight=np.zeros(len(X)))
        return np.linalg.norm(coefficients(fit))

    assert noise(8.0) / noise(2.0) == pytest.approx(4.0, rel=0.02)
    assert noise(2.0) > 0


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier, HuberRegressor])
def test_a_weighted_fit_costs_no_more(model):
    fit = declare(model, delta=0.0, max_weight=3.0).fit(X, target(model), sample_weight=WEIGHTS)
    assert 0.999 <= fit.privacy_.epsilon(0.0) <= 1.0


@rehearsal
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_statistics_of_weighted_rows_have_noise_for_the_largest_weight(delta):
    # Rows of weight zero: the ridge that is added against noise is in proportion to it.
    def plan(largest):
        bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-1, 1), max_weight=largest, max_rows=2**20)
        problem = Problem(Squared(1.0), bounds, ridge=1.0)
        return SufficientStatistics().plan(problem, Budget(1.0, delta), AddRemoveOne())

    assert plan(8.0).slope_noise(1.0) == pytest.approx(4 * plan(2.0).slope_noise(1.0), rel=1e-6)
    assert plan(2.0).guarantee.epsilon(delta) <= 1.0


def test_scores_can_be_weighted():
    fit = exact(LogisticRegression).fit(X, target(LogisticRegression))
    right = fit.predict(X) == target(LogisticRegression)
    weighted = fit.score(X, target(LogisticRegression), sample_weight=WEIGHTS)
    assert weighted == pytest.approx(np.average(right, weights=WEIGHTS))
