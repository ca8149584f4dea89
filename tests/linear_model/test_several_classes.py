"""Three classes or more: one problem each, and one budget for all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from discreet import LinearClassifier
from discreet.linear_model import LogisticRegression
from discreet.svm import LinearSVC
from linear_model.estimators import (
    SIGNAL,
    THREE,
    X,
    coefficients,
    every_classifier,
    fitted,
    penalty,
    rehearsal,
)


@every_classifier
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_all_classes_together_cost_the_pure_epsilon_asked(model, unit):
    fit = model(epsilon=0.9, delta=0.0, unit=unit).fit(X, THREE)
    assert 0.99 * 0.9 <= fit.privacy_.epsilon(0.0) <= 0.9
    assert fit.coef_.shape == (3, 3)
    assert fit.intercept_.shape == (3,)
    assert fit.classes_.tolist() == ["high", "low", "mid"]


def test_all_classes_together_cost_the_epsilon_asked_with_gaussian_noise():
    fit = LogisticRegression(epsilon=0.9, delta=1e-6).fit(X, THREE)
    assert 0.99 * 0.9 <= fit.privacy_.epsilon(1e-6) <= 0.9
    assert fit.release_.is_private


@rehearsal
@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC])
def test_each_class_has_the_noise_of_its_share(model):
    # Rows of zeros: all that is seen is noise, and the first class draws first.
    nothing = np.zeros((9, 3))
    parameters = {"delta": 0.0, "fit_intercept": False, "random_state": 7, **penalty(model, 9.0)}
    three = model(epsilon=3.0, classes=[0, 1, 2], **parameters).fit(nothing, np.arange(9) % 3)
    two = model(epsilon=1.0, classes=[0, 1], **parameters).fit(nothing, np.arange(9) % 2)
    np.testing.assert_allclose(three.coef_[0], two.coef_[0], rtol=1e-3)
    assert np.abs(three.coef_[1] - three.coef_[0]).min() > 1e-3
    assert np.abs(three.coef_[2] - three.coef_[1]).min() > 1e-3


@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC])
def test_without_noise_each_class_is_told_from_the_rest(model):
    exact = {"epsilon": math.inf, "max_rows": 1000, **penalty(model, 0.7)}
    together = model(**exact).fit(X, THREE)
    for number, label in enumerate(together.classes_):
        alone = model(**exact).fit(X, label == THREE)
        np.testing.assert_allclose(together.coef_[number], alone.coef_[0], rtol=0, atol=1e-8)
        np.testing.assert_allclose(together.intercept_[number], alone.intercept_[0], atol=1e-8)
    assert together.score(X, THREE) > 0.7


@every_classifier
def test_margins_choose_the_class(model):
    fit = model(delta=0.0, epsilon=30.0).fit(X, THREE)
    margins = fit.decision_function(X)
    np.testing.assert_allclose(margins, X @ fit.coef_.T + fit.intercept_)
    assert fit.predict(X).tolist() == fit.classes_[margins.argmax(axis=1)].tolist()
    assert fit.score(X, THREE) == accuracy_score(THREE, fit.predict(X))


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier])
def test_probabilities_sum_to_one(model):
    fit = model(delta=0.0, epsilon=30.0).fit(X, THREE)
    chances = fit.predict_proba(X)
    assert chances.shape == (len(X), 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert fit.classes_[chances.argmax(axis=1)].tolist() == fit.predict(X).tolist()


def test_hopeless_margins_still_make_probabilities():
    fit = LogisticRegression(delta=0.0, epsilon=30.0).fit(X, THREE)
    fit.coef_, fit.intercept_ = np.zeros((3, 3)), np.full(3, -1e6)
    np.testing.assert_allclose(fit.predict_proba(X[:2]), 1 / 3)


def test_declared_classes_that_never_occur_are_classes():
    fit = LogisticRegression(delta=0.0, classes=["low", "mid", "high", "top"]).fit(X, THREE)
    assert fit.classes_.tolist() == ["high", "low", "mid", "top"]
    assert fit.coef_.shape == (4, 3)
    assert "classes" not in fit.privacy_.sentence()


@rehearsal
def test_a_label_that_is_not_declared_is_a_fixed_record_whatever_it_is():
    parameters = {"delta": 0.0, "classes": ["high", "low", "mid"], "random_state": 4}
    models = []
    for odd in ("other", "zzz"):
        labels = THREE.copy().astype("U9")
        labels[:30] = odd
        rows = X.copy()
        rows[:30] = 0.1 if odd == "zzz" else 0.7
        models.append(LogisticRegression(**parameters).fit(rows, labels))
    np.testing.assert_array_equal(coefficients(models[0]), coefficients(models[1]))


def test_numbers_and_truth_values_are_labels_too():
    for labels in (np.digitize(SIGNAL, [0.0]), SIGNAL > 0, (SIGNAL > 0).astype(float)):
        fit = LogisticRegression(epsilon=math.inf, max_rows=1000).fit(X, labels)
        assert fit.classes_.dtype == labels.dtype
        assert fit.score(X, labels) > 0.8
    assert fitted(LogisticRegression, delta=0.0).classes_.dtype.kind == "U"
