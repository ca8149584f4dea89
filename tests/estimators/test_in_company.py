"""Estimators among scikit-learn's tools: pipelines, searches, routing, processes, ledgers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import sklearn
from joblib import Parallel, delayed
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import FitFailedWarning, UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from discreet import Budget, LinearClassifier, LinearRegressor, MemoryLedger
from discreet.errors import BudgetExceeded, PrivacyError
from discreet.ledger import State
from discreet.linear_model import HuberRegressor, LogisticRegression, Ridge
from discreet.preprocessing import BoundedScaler, Category, Numeric
from discreet.svm import LinearSVC
from support.estimators import (
    SIGNAL,
    THREE,
    WEIGHTS,
    X,
    coefficients,
    declare,
    every_estimator,
    target,
)

EXACT = {"epsilon": math.inf, "max_rows": 1000}
TABLE = np.column_stack([X, np.arange(200) % 2])
both_kinds = pytest.mark.parametrize("model", [LogisticRegression, HuberRegressor])


@every_estimator
def test_it_is_the_last_step_of_a_pipeline(model):
    scaler = BoundedScaler([Numeric(-1, 1)] * 3 + [Category([0, 1])], data_norm=2.0)
    encoder = ColumnTransformer([("own", scaler, [0, 1, 2, 3])])
    pipeline = make_pipeline(encoder, declare(model, data_norm=2.0, **EXACT)).fit(
        TABLE, target(model)
    )
    direct = declare(model, data_norm=2.0, **EXACT).fit(scaler.transform(TABLE), target(model))
    np.testing.assert_array_equal(coefficients(pipeline[-1]), coefficients(direct))
    assert pipeline.score(TABLE, target(model)) == pytest.approx(
        direct.score(scaler.transform(TABLE), target(model))
    )


@every_estimator
def test_it_is_cross_validated(model):
    scores = cross_val_score(declare(model, delta=0.0), X, target(model), cv=3, error_score="raise")
    assert np.isfinite(scores).all()


# Ledgers


@both_kinds
def test_a_search_charges_every_fit_to_the_one_ledger(model):
    ledger = MemoryLedger(Budget(1.0))
    estimator = declare(model, epsilon=0.2, delta=0.0, ledger=ledger)
    search = GridSearchCV(estimator, {"fit_intercept": [True, False]}, cv=2, error_score="raise")
    search.fit(X, target(model))
    assert [entry.state for entry in ledger.history()] == [State.RELEASED] * 5
    assert [entry.purpose for entry in ledger.history()] == [model.__name__] * 5
    assert ledger.spent(0.0) == pytest.approx(1.0)
    assert search.best_estimator_.ledger is ledger
    with pytest.raises(BudgetExceeded):
        search.fit(X, target(model))
    assert len(ledger.history()) == 5


def test_a_search_ends_when_the_budget_does():
    ledger = MemoryLedger(Budget(1.0))
    estimator = Ridge(
        epsilon=0.3, delta=0.0, ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)
    )
    search = GridSearchCV(estimator, {"alpha": [0.1, 1.0, 10.0]}, cv=2, error_score="raise")
    with pytest.raises(BudgetExceeded):
        search.fit(X, SIGNAL)
    assert [entry.state for entry in ledger.history()] == [State.RELEASED] * 3
    assert not hasattr(search, "best_estimator_")


def test_a_search_that_forgives_errors_gets_no_model_for_nothing():
    ledger = MemoryLedger(Budget(1.0))
    estimator = Ridge(
        epsilon=0.5, delta=0.0, ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)
    )
    search = GridSearchCV(estimator, {"alpha": [0.1, 1.0]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(BudgetExceeded):
            search.fit(X, SIGNAL)
    assert len(ledger.history()) == 2
    assert ledger.spent(0.0) <= 1.0


def test_another_process_cannot_charge_a_ledger_in_memory():
    estimator = Ridge(
        epsilon=0.1,
        delta=0.0,
        ledger=MemoryLedger(Budget(1.0)),
        data_norm=1.0,
        target_range=(-1.0, 1.0),
    )
    said = Parallel(n_jobs=2)(delayed(_refusal)(estimator) for _ in range(2))
    assert all("another process" in words for words in said)
    assert estimator.ledger.history() == ()


# Processes


def _fit(estimator):
    return estimator.fit(X, SIGNAL).coef_.tobytes()


def _refusal(estimator):
    try:
        _fit(estimator)
    except PrivacyError as error:
        return str(error)
    return "fitted"


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_parallel_fits_have_independent_noise(backend):
    estimator = Ridge(delta=0.0, data_norm=1.0, target_range=(-1.0, 1.0))
    _fit(estimator)  # so that a forked process inherits whatever a fit leaves behind
    found = Parallel(n_jobs=2, backend=backend)(delayed(_fit)(estimator) for _ in range(6))
    assert len({*found, _fit(estimator)}) == 7


# Routing


def weighted(model):
    parameters = {**EXACT, "max_weight": 2.0}
    if model is LinearClassifier:
        parameters["mechanism"] = "objective_perturbation"
    if model is LogisticRegression:
        parameters["C"] = 1.0  # some part of the rows is separated
    return declare(model, **parameters)


ROUTED = pytest.mark.parametrize(
    "model", [LogisticRegression, LinearSVC, LinearClassifier, HuberRegressor, LinearRegressor]
)


@ROUTED
def test_weights_are_routed_through_a_pipeline(model):
    y = target(model)
    direct = weighted(model).fit(X, y, sample_weight=WEIGHTS)
    plain = weighted(model).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        last = weighted(model).set_fit_request(sample_weight=True)
        pipeline = Pipeline(
            [("scale", BoundedScaler([Numeric(-1, 1)] * 3, data_norm=None)), ("fit", last)]
        )
        pipeline.fit(X, y, sample_weight=WEIGHTS)
        unasked = Pipeline([("fit", weighted(model).set_fit_request(sample_weight=False))])
        with pytest.raises(TypeError, match="sample_weight"):
            unasked.fit(X, y, sample_weight=WEIGHTS)
        unset = Pipeline([("fit", weighted(model))])
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            unset.fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(coefficients(pipeline[-1]), coefficients(direct), atol=1e-12)
    assert np.abs(coefficients(plain) - coefficients(direct)).max() > 1e-4


@both_kinds
def test_weights_are_routed_through_a_search(model):
    y = target(model)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = weighted(model).set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=False)
        search = GridSearchCV(estimator, {"data_norm": [1.0]}, cv=2, error_score="raise")
        search.fit(X, y, sample_weight=WEIGHTS)
    direct = weighted(model).fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(coefficients(search.best_estimator_), coefficients(direct))


@both_kinds
def test_weights_travel_without_routing_too(model):
    y = target(model)
    direct = weighted(model).fit(X, y, sample_weight=WEIGHTS)
    pipeline = Pipeline([("fit", weighted(model))]).fit(X, y, fit__sample_weight=WEIGHTS)
    search = GridSearchCV(weighted(model), {"data_norm": [1.0]}, cv=2, error_score="raise")
    search.fit(X, y, sample_weight=WEIGHTS)
    for model_found in (pipeline[-1], search.best_estimator_):
        np.testing.assert_array_equal(coefficients(model_found), coefficients(direct))


def test_search_over_several_classes_works():
    search = GridSearchCV(
        LogisticRegression(delta=0.0, data_norm=1.0),
        {"epsilon": [5.0, 50.0]},
        cv=2,
        error_score="raise",
    )
    assert search.fit(X, THREE).best_estimator_.coef_.shape == (3, 3)
