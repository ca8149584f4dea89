"""``LinearClassifier``, ``LogisticRegression``: what noisy sums settle, and what is as stated."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from discreet import LinearClassifier
from discreet.artifact import load, save
from discreet.artifact.folder import _digest
from discreet.linear_model import LogisticRegression
from discreet.losses import MarginLogistic
from discreet.mechanisms.private_standardisation import GAUSSIAN_SHARE
from discreet.policy.choosing import RULED_SHARE, SMALL_SHARE, choose
from discreet.preprocessing import Numeric
from discreet.privacy import Budget, unit_named

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
COLUMNS = [Numeric(-3, 3)] * 4


def table(rows, seed=0):
    generator = np.random.default_rng(seed)
    X = np.clip(generator.standard_normal((rows, 4)), -3, 3)
    return X, (generator.random(rows) < expit(X @ [1.0, -0.8, 0.5, 0.0] - 0.5)).astype(int)


X, Y = table(3000)
THREE = Y + (X[:, 3] > 1)


def fit(y=Y, kind=LinearClassifier, **told):
    told = {"rehearsal": 1, "epsilon": 1.0} | told
    if kind is LinearClassifier:
        told = {"columns": COLUMNS, "classes": sorted(set(y.tolist()))} | told
    return kind(**told).fit(X, y)


def stated(kind=LinearClassifier, classes=2, n_features=4, max_rows=2**23, **told):
    """Return the mechanism and the question of a fit, of which no row is read."""
    told = {"columns": COLUMNS} | told if kind is LinearClassifier else told
    model = kind(**{"classes": list(range(classes))} | told)
    asked = choose(model._task(model.fit_of(n_features, max_rows)))
    return asked.mechanism, asked.question


def test_margin_ridge_and_length_are_settled_by_the_noisy_sums():
    model = fit()
    settings = model.settings_
    assert settings.rows == pytest.approx(3000, abs=300)
    assert settings.margin == pytest.approx(3 + 0.9 * math.log10(settings.noise_to_signal))
    assert model.margin_ == settings.margin
    assert model.fitted_loss() == MarginLogistic(settings.margin)
    assert f"margin {settings.margin:.3g}, ridge {settings.ridge:.3g}" in str(settings)
    assert "margin, ridge, length of rows by what the noisy sums say" in model.release_.reason
    assert model.release_.value[-5:].tolist() == [
        settings.rows, settings.noise_to_signal, settings.length, settings.margin, settings.ridge
    ]  # fmt: skip


def test_a_margin_and_a_penalty_of_ones_own_are_kept():
    for told in ({"margin": 0.5}, {"C": 0.1}, {"margin": 0.5, "C": 0.1}):
        settings = fit(**told).settings_
        if "margin" in told:
            assert settings.margin == fit(**told).margin_ == 0.5
        if "C" in told:
            assert settings.ridge == 10.0
    # A margin in the parameters of a fitted model is that of the next fit.
    model = fit()
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.set_params(margin=1.0).predict_proba(X), before)


@pytest.mark.parametrize(
    "told",
    [
        {"delta": 0.0},
        {"mechanism": "objective_perturbation"},
        {"fit_intercept": False},
        {"y": THREE},
    ],
    ids=repr,
)
def test_elsewhere_nothing_waits_and_the_margin_is_two(told):
    model = fit(**told)
    assert model.settings_ is None
    assert model.margin_ == 2.0


def test_each_class_against_the_rest_has_the_settled_margin_in_its_probabilities():
    model = fit(THREE, mechanism="private_standardisation")
    assert model.multiclass_ == "one_vs_rest"
    assert model.release_.value.shape == (3, 10)
    assert 0 < model.margin_ < 2
    chances = MarginLogistic(model.margin_).probability(model.decision_function(X))
    np.testing.assert_allclose(
        model.predict_proba(X), chances / chances.sum(axis=1, keepdims=True), rtol=1e-12
    )


def test_a_logistic_regression_keeps_its_loss():
    model = fit(kind=LogisticRegression, data_norm=6.0, classes=[0, 1])
    assert model.settings_.margin == 0.0
    assert model.settings_.ridge >= 1.4
    assert fit(kind=LogisticRegression, data_norm=6.0, C=0.02).settings_ is None
    mechanism, _ = stated(LogisticRegression, data_norm=6.0, intervals=True)
    assert (mechanism.share, mechanism.rules) == (GAUSSIAN_SHARE, None)


@pytest.mark.parametrize(
    ("told", "share", "ridge"),
    [
        ({"calibration": "none"}, RULED_SHARE, 1.4),
        ({}, RULED_SHARE, 1.4),  # nine percent with the counts
        ({"expected_rows": 3000}, SMALL_SHARE, 1.6),
        ({"expected_rows": 3001, "calibration": "none"}, RULED_SHARE, 1.4),
        ({"expected_rows": 300, "epsilon": 10.0}, SMALL_SHARE, 0.16),
        ({"expected_rows": 300, "epsilon": 10.1}, RULED_SHARE, 1.4 / 10.1),
        ({"unit": "replace"}, RULED_SHARE, 2.8),
        ({"unit": "replace", "max_rows": 1000}, SMALL_SHARE, 3.2),
        ({"max_weight": 3.0}, RULED_SHARE, 4.2),
    ],
    ids=repr,
)
def test_the_share_of_the_sums_and_the_free_ridge_that_goes_with_it(told, share, ridge):
    mechanism, question = stated(**told)
    assert mechanism.share == share
    assert question.ridge == pytest.approx(ridge, rel=1e-5)


def test_softmax_has_the_share_that_it_had():
    mechanism, _ = stated(classes=3)
    assert (mechanism.share, mechanism.rules) == (GAUSSIAN_SHARE, None)


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("told", [{}, {"expected_rows": 100}, {"calibration": "none"}], ids=repr)
def test_the_free_ridge_is_free(unit, told):
    # The noise is that of a Gaussian mechanism with what other releases leave of the budget.
    mechanism, question = stated(unit=unit, **told)
    plan = mechanism.plan(question, Budget(1.0, 1e-9), unit_named(unit))
    left = 1 - mechanism.share_beside - 0.0004
    alone = stated(unit=unit, calibration="none")[0].plan(
        question.restate(question.bounds), Budget(1.0, 1e-9), unit_named(unit)
    )
    first = alone.sums.profile.ideal.mu / math.sqrt(RULED_SHARE)
    spread = 2 if unit == "replace" else 1
    assert plan.second.scale <= 1.003 * spread / (first * math.sqrt(left))


def test_more_than_512_columns_are_not_centred_and_settled_all_the_same():
    generator = np.random.default_rng(0)
    wide = sparse.random_array((400, 600), density=0.02, rng=generator, format="csr")
    y = (wide @ generator.standard_normal(600) > 0).astype(int)
    model = LinearClassifier(
        data_norm=2.0, classes=[0, 1], mechanism="private_standardisation", rehearsal=0
    ).fit(wide, y)
    assert model.settings_.margin == 3.0
    assert model.coef_.shape == (1, 600)


def test_weights_are_counted_for_in_what_is_settled():
    weights = np.linspace(0, 3, len(X))
    told = {"columns": COLUMNS, "classes": [0, 1], "rehearsal": 1, "max_weight": 3.0}
    weighted = LinearClassifier(**told).fit(X, Y, sample_weight=weights).settings_
    # Three times the noise, and the number of rows counts each once.
    assert weighted.rows == pytest.approx(fit().settings_.rows, rel=1e-9)
    ratio = weighted.noise_to_signal / fit().settings_.noise_to_signal
    assert ratio == pytest.approx(3, rel=1e-3)
    assert weighted.ridge == pytest.approx(4.2, rel=1e-5)


# Stored models.


def test_a_stored_model_keeps_what_was_settled(tmp_path):
    for number, y in enumerate((Y, THREE)):
        model = fit(y, mechanism="private_standardisation")
        again = load(save(model, tmp_path / str(number)))
        assert again.settings_ == model.settings_
        assert again.margin_ == model.margin_
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_model_stored_before_margins_were_settled_predicts_as_it_did(tmp_path):
    model = fit(THREE, margin=2.0, mechanism="private_standardisation")
    folder = save(model, tmp_path / "model")
    document = json.loads((folder / "model.json").read_text())
    del document["learnt"]["margin_"]
    document["digest"] = _digest(document)
    (folder / "model.json").write_text(json.dumps(document))
    again = load(folder)
    assert again.margin_ is None
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
