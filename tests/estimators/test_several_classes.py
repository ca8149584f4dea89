"""Three classes or more: all at once or one problem each, and one budget for all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import accuracy_score

from discreet import LinearClassifier
from discreet.errors import CalibrationError
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger
from discreet.linear_model import LogisticRegression
from discreet.mechanisms import AcceleratedGradient, EachAgainstTheRest, NoisyGradient
from discreet.preprocessing import Numeric
from discreet.privacy import Budget
from discreet.svm import LinearSVC
from support.estimators import (
    SIGNAL,
    THREE,
    X,
    coefficients,
    declare,
    every_classifier,
    fitted,
    penalty,
    rehearsal,
)


@every_classifier
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_all_classes_together_cost_the_pure_epsilon_asked(model, unit):
    fit = declare(model, epsilon=0.9, delta=0.0, unit=unit).fit(X, THREE)
    assert 0.99 * 0.9 <= fit.privacy_.epsilon(0.0) <= 0.9
    assert fit.coef_.shape == (3, 3)
    assert fit.intercept_.shape == (3,)
    assert fit.classes_.tolist() == ["high", "low", "mid"]


def test_all_classes_together_cost_the_epsilon_asked_with_gaussian_noise():
    fit = LogisticRegression(epsilon=0.9, delta=1e-6, data_norm=1.0).fit(X, THREE)
    assert 0.99 * 0.9 <= fit.privacy_.epsilon(1e-6) <= 0.9
    assert fit.release_.is_private


@rehearsal
@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC])
def test_each_class_has_the_noise_of_its_share(model):
    # Rows of zeros: all that is seen is noise, and the first class draws first.
    nothing = np.zeros((9, 3))
    parameters = {"delta": 0.0, "fit_intercept": False, "rehearsal": 7, **penalty(model, 9.0)}
    three = declare(model, epsilon=3.0, classes=[0, 1, 2], **parameters).fit(
        nothing, np.arange(9) % 3
    )
    two = declare(model, epsilon=1.0, classes=[0, 1], **parameters).fit(nothing, np.arange(9) % 2)
    np.testing.assert_allclose(three.coef_[0], two.coef_[0], rtol=1e-3)
    assert np.abs(three.coef_[1] - three.coef_[0]).min() > 1e-3
    assert np.abs(three.coef_[2] - three.coef_[1]).min() > 1e-3


@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC])
def test_without_noise_each_class_is_told_from_the_rest(model):
    exact = {"epsilon": math.inf, "max_rows": 1000, **penalty(model, 0.7)}
    together = declare(model, **exact).fit(X, THREE)
    for number, label in enumerate(together.classes_):
        alone = declare(model, **exact).fit(X, label == THREE)
        np.testing.assert_allclose(together.coef_[number], alone.coef_[0], rtol=0, atol=1e-8)
        np.testing.assert_allclose(together.intercept_[number], alone.intercept_[0], atol=1e-8)
    assert together.score(X, THREE) > 0.7


@every_classifier
def test_margins_choose_the_class(model):
    fit = declare(model, delta=0.0, epsilon=30.0).fit(X, THREE)
    margins = fit.decision_function(X)
    np.testing.assert_allclose(margins, X @ fit.coef_.T + fit.intercept_)
    assert fit.predict(X).tolist() == fit.classes_[margins.argmax(axis=1)].tolist()
    assert fit.score(X, THREE) == accuracy_score(THREE, fit.predict(X))


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier])
def test_probabilities_sum_to_one(model):
    fit = declare(model, delta=0.0, epsilon=30.0).fit(X, THREE)
    chances = fit.predict_proba(X)
    assert chances.shape == (len(X), 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert fit.classes_[chances.argmax(axis=1)].tolist() == fit.predict(X).tolist()


def test_hopeless_margins_still_make_probabilities():
    fit = LogisticRegression(delta=0.0, epsilon=30.0, data_norm=1.0).fit(X, THREE)
    fit.coef_, fit.intercept_ = np.zeros((3, 3)), np.full(3, -1e6)
    np.testing.assert_allclose(fit.predict_proba(X[:2]), 1 / 3)


def test_declared_classes_that_never_occur_are_classes():
    fit = LogisticRegression(delta=0.0, classes=["low", "mid", "high", "top"], data_norm=1.0).fit(
        X, THREE
    )
    assert fit.classes_.tolist() == ["high", "low", "mid", "top"]
    assert fit.coef_.shape == (4, 3)
    assert "classes" not in fit.privacy_.sentence()


@rehearsal
def test_a_label_that_is_not_declared_is_a_fixed_record_whatever_it_is():
    parameters = {"delta": 0.0, "classes": ["high", "low", "mid"], "rehearsal": 4}
    models = []
    for odd in ("other", "zzz"):
        labels = THREE.copy().astype("U9")
        labels[:30] = odd
        rows = X.copy()
        rows[:30] = 0.1 if odd == "zzz" else 0.7
        models.append(LogisticRegression(**parameters, data_norm=1.0).fit(rows, labels))
    np.testing.assert_array_equal(coefficients(models[0]), coefficients(models[1]))


def test_numbers_and_truth_values_are_labels_too():
    for labels in (np.digitize(SIGNAL, [0.0]), SIGNAL > 0, (SIGNAL > 0).astype(float)):
        fit = LogisticRegression(epsilon=math.inf, max_rows=1000, data_norm=1.0).fit(X, labels)
        assert fit.classes_.dtype == labels.dtype
        assert fit.score(X, labels) > 0.8
    assert fitted(LogisticRegression, delta=0.0).classes_.dtype.kind == "U"


def many(count=6000, classes=4, seed=0):
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((count, 5))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1) / 2)[:, None]
    pull = rows @ generator.standard_normal((5, classes))
    return rows, (pull + 0.3 * generator.gumbel(size=pull.shape)).argmax(axis=1)


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_classes_learnt_at_once_cost_the_epsilon_asked(unit):
    fit = LinearClassifier(epsilon=0.9, delta=1e-6, unit=unit, data_norm=1.0).fit(X, THREE)
    assert fit.multiclass_ == "softmax"
    assert "all classes at once" in fit.release_.reason
    assert 0.99 * 0.9 <= fit.privacy_.epsilon(1e-6) <= 0.9
    assert fit.coef_.shape == (3, 3)
    assert fit.intercept_.shape == (3,)


@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_softmax_gives_margins_classes_and_probabilities(margin):
    rows, y = many()
    fit = LinearClassifier(1.0, data_norm=2.0, margin=margin, classes=range(4)).fit(rows, y)
    margins, chances = fit.decision_function(rows), fit.predict_proba(rows)
    assert fit.multiclass_ == "softmax"
    assert margins.shape == chances.shape == (6000, 4)
    np.testing.assert_allclose(margins, rows @ fit.coef_.T + fit.intercept_)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances.argmax(axis=1), fit.predict(rows))
    np.testing.assert_allclose(np.exp(fit.predict_log_proba(rows)), chances)
    assert fit.score(rows, y) > 0.7
    # They are no worse than to be believed: on average as likely as the classes are frequent.
    np.testing.assert_allclose(chances.mean(axis=0), np.bincount(y) / 6000, atol=0.06)
    if margin == 0:
        np.testing.assert_allclose(chances, softmax(margins, axis=1))


@rehearsal
def test_classes_at_once_are_told_apart_better_than_each_from_the_rest():
    rows, y = many(1500, classes=6, seed=3)
    scores = {
        mechanism: [
            LinearClassifier(
                0.5, data_norm=2.0, classes=range(6), mechanism=mechanism, rehearsal=seed
            )
            .fit(rows, y)
            .score(rows, y)
            for seed in range(3)
        ]
        for mechanism in ("auto", "private_standardisation")
    }
    assert np.mean(scores["auto"]) > np.mean(scores["private_standardisation"]) + 0.02


def test_without_noise_each_class_is_told_from_the_rest_if_that_is_asked_for():
    exact = {"epsilon": math.inf, "max_rows": 1000, "data_norm": 1.0}
    auto = LinearClassifier(**exact).fit(X, THREE)
    each = LinearClassifier(mechanism="private_standardisation", **exact).fit(X, THREE)
    assert (auto.multiclass_, each.multiclass_) == ("softmax", "one_vs_rest")


@rehearsal
def test_two_classes_are_one_problem_as_before():
    labels = np.where(SIGNAL > 0.05, "yes", "no")
    one, other = (
        LinearClassifier(rehearsal=3, mechanism=mechanism, data_norm=1.0).fit(X, labels)
        for mechanism in ("auto", "private_standardisation")
    )
    assert one.multiclass_ is None
    np.testing.assert_array_equal(coefficients(one), coefficients(other))


@pytest.mark.parametrize(
    "options",
    [
        {"delta": 0.0},
        {"delta": 0.0, "epsilon": math.inf},
        {"fit_intercept": False},
        {"domain": L2Ball(2.0)},
        {"mechanism": "private_standardisation"},
        {"mechanism": "objective_perturbation"},
        {"mechanism": "noisy_gradient", "domain": L2Ball(2.0)},
    ],
    ids=str,
)
def test_elsewhere_each_class_is_told_from_the_rest(options):
    assert asked(LinearClassifier(data_norm=1.0), 3, 3).is_softmax
    found = asked(LinearClassifier(**options, data_norm=1.0), 3, 3)
    assert not found.is_softmax
    chosen = found.mechanism
    assert EachAgainstTheRest in (type(chosen), type(getattr(chosen, "second", None)))


def asked(model, classes, width):
    """Return what a fit of so many classes and columns would ask."""
    return model._ask(clone(model).set_params(classes=range(classes)).fit_of(width, 100))


def test_few_coefficients_have_directions_of_their_own_and_many_have_momentum():
    model = LinearClassifier(data_norm=1.0)
    seconds = [asked(model, *shape).mechanism.second for shape in ((128, 3), (129, 3), (128, 4))]
    assert [type(one) for one in seconds] == [
        NoisyGradient,
        AcceleratedGradient,
        AcceleratedGradient,
    ]


def test_wide_rows_are_learnt_at_once_as_they_are():
    narrow, wide = (asked(LinearClassifier(data_norm=1.0), 20, width) for width in (512, 513))
    assert isinstance(narrow.mechanism.second, AcceleratedGradient)
    assert isinstance(wide.mechanism, AcceleratedGradient)
    assert narrow.is_softmax
    assert wide.is_softmax


def test_wide_declared_columns_are_dense_and_standardised():
    models = [LinearClassifier(columns=[Numeric(0, 255)] * width) for width in (784, 2047, 2048)]
    first, second, beyond = (asked(model, 10, len(model.columns)).mechanism for model in models)
    assert first.centred_width >= 785
    assert second.centred_width >= 2048
    assert isinstance(first.second, AcceleratedGradient)
    assert isinstance(beyond, AcceleratedGradient)
    assert asked(LinearClassifier(data_norm=1.0), 3, 3).mechanism.centred_width == 512


def test_the_most_coefficients_that_are_learnt_at_once():
    model = LinearClassifier(data_norm=1.0)
    assert asked(model, 20, 4999).is_softmax  # and an intercept: 100 000
    assert not asked(model, 20, 5000).is_softmax
    assert not asked(LinearClassifier(data_norm=1.0, delta=0.0), 20, 4999).is_softmax
    assert not asked(LinearClassifier(data_norm=1.0, domain=L2Ball(9.0)), 20, 4999).is_softmax


@rehearsal
def test_wide_sparse_classes_are_told_apart_better_than_each_from_the_rest():
    generator = np.random.default_rng(5)
    y = generator.integers(0, 6, 3000)
    words = (generator.integers(0, 90, (3000, 12)) + 100 * y[:, None]) % 600
    words[:, 4:] = generator.integers(0, 600, (3000, 8))
    rows = sparse.csr_array(
        (np.full(words.size, 12**-0.5), (np.repeat(np.arange(3000), 12), words.ravel())),
        shape=(3000, 600),
    )
    scores = {}
    for mechanism in ("auto", "objective_perturbation"):
        model = LinearClassifier(3.0, data_norm=1.0, classes=range(6), mechanism=mechanism,
                                 rehearsal=1).fit(rows, y)  # fmt: skip
        scores[model.multiclass_] = model.score(rows, y)
        assert model.coef_.shape == (6, 600)
    assert model.release_.mechanism == "one_vs_rest"
    assert scores["softmax"] > scores["one_vs_rest"] + 0.05


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier])
def test_softmax_by_name(model):
    rows, y = many()
    fit = declare(model, delta=1e-6, data_norm=2.0, mechanism="noisy_gradient").fit(rows, y)
    assert fit.multiclass_ == "softmax"
    assert fit.release_.mechanism == "noisy_gradient"
    assert fit.score(rows, y) > 0.7
    np.testing.assert_allclose(fit.predict_proba(rows).sum(axis=1), 1.0)


def test_a_hinge_has_no_softmax():
    fit = LinearSVC(delta=1e-6, loss="hinge", data_norm=1.0).fit(X, THREE)
    assert fit.release_.mechanism == "one_vs_rest"
    assert fit.multiclass_ == "one_vs_rest"


def test_softmax_without_a_delta_is_refused_before_anything_is_paid():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    model = LinearClassifier(delta=0.0, mechanism="noisy_gradient", ledger=ledger, data_norm=1.0)
    with pytest.raises(CalibrationError, match="delta > 0"):
        model.fit(X, THREE)
    assert ledger.history() == ()


def test_columns_as_declared_and_weights_go_along():
    rows, y = many(3000)
    columns = [Numeric(-2, 2)] * 5
    fit = LinearClassifier(3.0, columns=columns, max_weight=2.0).fit(
        rows, y, sample_weight=np.full(3000, 2.0)
    )
    assert fit.multiclass_ == "softmax"
    np.testing.assert_allclose(fit.decision_function(rows), rows @ fit.coef_.T + fit.intercept_)
    assert fit.score(rows, y) > 0.7
