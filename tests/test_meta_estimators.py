"""A seed that somebody else's estimator sets never makes a model that is not private."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import RANSACRegressor
from sklearn.linear_model import Ridge as PublicRidge
from sklearn.model_selection import RandomizedSearchCV
from sklearn.multiclass import OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, RegressorChain
from sklearn.utils.validation import has_fit_parameter

import discreet
from discreet import Budget, MemoryLedger
from discreet.errors import InputError
from discreet.linear_model import LogisticRegression, Ridge
from discreet.model_selection import PrivateRandomizedSearch
from discreet.online.live_estimator import LiveEstimator
from discreet.privacy import AddRemoveOne
from discreet.svm import LinearSVC

GENERATOR = np.random.default_rng(5)
X = GENERATOR.uniform(-1, 1, size=(120, 2)) / 2
Y = X[:, 0] > 0
SIGNAL = X @ [0.5, -0.5]


def every_public_estimator():
    """Return every class that can be made and has the interface of an estimator."""
    found = set()
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if (
                inspect.isclass(value)
                and issubclass(value, BaseEstimator)
                and value.__module__.startswith("discreet.")
                and value.__init__ is not object.__init__
            ):
                found.add(value)
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


@pytest.mark.parametrize("kind", every_public_estimator(), ids=lambda kind: kind.__qualname__)
def test_no_parameter_is_one_that_meta_estimators_set(kind):
    if kind.__module__.startswith("discreet.compat."):
        return  # theirs is taken and never used: test_diffprivlib_models.py
    if kind is PrivateRandomizedSearch:
        return  # which candidates there are, drawn in public before a row is read: never noise
    names = inspect.signature(kind).parameters
    assert [name for name in names if name.endswith(("random_state", "seed"))] == []


def test_all_estimators_are_found():
    names = {kind.__name__ for kind in every_public_estimator()}
    assert {*discreet.linear_model.__all__, *discreet.svm.__all__} <= names
    assert {*discreet.location.__all__, "BoundedScaler"} <= names


def parts_of(model):
    """Return every fitted model of ours inside another's."""
    if hasattr(model, "release_"):
        return [model]
    inside = []
    for name in ("estimators_", "estimator_", "best_estimator_", "calibrated_classifiers_",
                 "estimator", "final_estimator_"):  # fmt: skip
        value = getattr(model, name, None)
        for one in value if isinstance(value, list) else [value]:
            inside += [] if one is None or one is model else parts_of(one)
    return inside


CLASSIFIER = LogisticRegression(classes=[False, True], max_weight=8.0, data_norm=1.0)
SEEDED = {
    "bagging": BaggingClassifier(CLASSIFIER, n_estimators=3, random_state=0),
    "bagging in two processes": BaggingClassifier(
        CLASSIFIER, n_estimators=3, n_jobs=2, random_state=0
    ),
    "bagging, no seed": BaggingClassifier(CLASSIFIER, n_estimators=2),
    "bagging of vectors": BaggingClassifier(
        LinearSVC(max_weight=8.0, data_norm=1.0), n_estimators=2, random_state=0
    ),
    "voting": VotingClassifier([("one", CLASSIFIER), ("other", LinearSVC(data_norm=1.0))]),
    "stacking": StackingClassifier([("one", CLASSIFIER)], LogisticRegression(data_norm=1.0), cv=2),
    "calibration": CalibratedClassifierCV(CLASSIFIER, cv=2),
    "search": RandomizedSearchCV(
        LogisticRegression(data_norm=1.0), {"C": [0.1, 1.0]}, n_iter=1, cv=2, random_state=0
    ),
    "codes": OutputCodeClassifier(LogisticRegression(data_norm=1.0), random_state=0),
}


@pytest.mark.parametrize("name", SEEDED)
def test_every_part_of_a_seeded_ensemble_is_private(name):
    parts = parts_of(clone(SEEDED[name]).fit(X, Y))
    assert parts
    assert all(part.release_.is_private and part.privacy_.is_private for part in parts)
    assert not any(part.release_.is_rehearsal for part in parts)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_part_of_a_seeded_regression_is_private(n_jobs):
    model = BaggingRegressor(
        Ridge(max_weight=8.0, data_norm=1.0, target_range=(-1.0, 1.0)),
        n_estimators=3,
        n_jobs=n_jobs,
        random_state=0,
    )
    fits = [parts_of(clone(model).fit(X, SIGNAL)) for _ in range(2)]
    assert all(part.release_.is_private for part in fits[0] + fits[1])
    assert all(
        (one.coef_ != other.coef_).all() for one, other in zip(*fits, strict=True)
    )  # the same rows, other noise


@pytest.mark.parametrize(
    "model",
    [
        ClassifierChain(LogisticRegression(classes=[False, True], data_norm=1.0), random_state=0),
        RegressorChain(Ridge(data_norm=1.0, target_range=(-1.0, 1.0)), random_state=0),
    ],
    ids=["classes", "numbers"],
)
def test_every_link_of_a_chain_is_private(model):
    targets = np.column_stack([Y, ~Y]) if isinstance(model, ClassifierChain) else X
    parts = parts_of(model.fit(X, targets))
    assert len(parts) == 2
    assert all(part.release_.is_private for part in parts)


def test_a_seeded_ransac_is_private():
    model = RANSACRegressor(
        Ridge(data_norm=1.0, target_range=(-1.0, 1.0)),
        min_samples=60,
        max_trials=2,
        residual_threshold=100.0,
        random_state=0,
    )
    assert all(part.release_.is_private for part in parts_of(model.fit(X, SIGNAL)))


def test_each_part_of_an_ensemble_is_paid_for():
    ledger = MemoryLedger(Budget(10.0, 1e-6), AddRemoveOne())
    model = Ridge(ledger=ledger, max_weight=8.0, data_norm=1.0, target_range=(-1.0, 1.0))
    BaggingRegressor(model, n_estimators=3, random_state=0).fit(X, SIGNAL)
    assert len(ledger.history()) == 3


# Weights


@pytest.mark.parametrize("kind", every_public_estimator(), ids=lambda kind: kind.__qualname__)
def test_weights_are_in_the_signature_of_whoever_takes_them(kind):
    takes = "max_weight" in inspect.signature(kind).parameters
    takes = takes or issubclass(kind, LiveEstimator)  # which refuse them with a reason
    assert has_fit_parameter(kind, "sample_weight") == takes


@pytest.mark.parametrize(
    ("ensemble", "y"),
    [
        (BaggingClassifier(LogisticRegression(data_norm=1.0), n_estimators=2, random_state=0), Y),
        (
            BaggingRegressor(
                Ridge(data_norm=1.0, target_range=(-1.0, 1.0)), n_estimators=2, random_state=0
            ),
            SIGNAL,
        ),
        (AdaBoostClassifier(LogisticRegression(data_norm=1.0), n_estimators=2), Y),
    ],
    ids=["bagged classes", "bagged numbers", "boosting"],
)
def test_who_repeats_rows_or_weighs_them_has_to_declare_how_much(ensemble, y):
    with pytest.raises(InputError, match="pass max_weight"):
        ensemble.fit(X, y)


def test_boosting_runs_with_a_declared_largest_weight():
    model = AdaBoostClassifier(
        LogisticRegression(epsilon=np.inf, C=1e3, max_weight=1.0, data_norm=1.0), n_estimators=2
    )
    assert model.fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_hands_weights_on(method):
    exact = LogisticRegression(epsilon=np.inf, C=1.0, max_weight=5.0, data_norm=1.0)
    weights = np.where(X[:, 1] > 0, 5.0, 0.0)
    one, other = (
        CalibratedClassifierCV(exact, method=method, cv=2).fit(X, Y, sample_weight=given)
        for given in (weights, np.ones(len(X)))
    )
    fits = [parts_of(model)[0].coef_ for model in (one, other)]
    assert np.abs(fits[0] - fits[1]).max() > 0.1


def test_the_way_to_look_inside_finds_nothing_where_there_is_nothing():
    assert parts_of(BaggingRegressor(PublicRidge(), n_estimators=2).fit(X, SIGNAL)) == []
