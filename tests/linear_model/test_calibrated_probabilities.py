"""Probabilities of ``LinearClassifier``: when scores are counted, what it costs, what it leaves."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from scipy.special import expit

from discreet import LinearClassifier, MemoryLedger
from discreet.artifact import load, save
from discreet.artifact.folder import _digest
from discreet.errors import InputError, RehearsalWarning
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.linear_model import LogisticRegression
from discreet.losses import MarginLogistic
from discreet.mechanisms.signal_rules import NAMES
from discreet.mechanisms.summing.score_counts import CELLS
from discreet.preprocessing import Numeric
from discreet.privacy import Budget, gaussian_multiplier

rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
COLUMNS = [Numeric(-3, 3)] * 4
EFFECTS = np.array([1.0, -0.8, 0.5, 0.0])


def table(rows, seed=0, shift=-1.0):
    generator = np.random.default_rng(seed)
    X = np.clip(generator.standard_normal((rows, 4)), -3, 3)
    return X, (generator.random(rows) < expit(X @ EFFECTS + shift)).astype(int)


def fit(X, y, **settings):
    settings = {"columns": COLUMNS, "classes": [0, 1], "rehearsal": 1} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        return LinearClassifier(**settings).fit(X, y)


def log_loss(model, X, y):
    chances = model.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(chances).mean()


X, Y = table(4000)


def is_counted(model):
    return model.release_.value.size > model.coef_.size + CELLS


@rehearsal
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_scores_are_counted_where_enough_rows_are_expected(unit, delta):
    counted = fit(X, Y, epsilon=4.0, delta=delta, unit=unit)
    assert counted.release_.value.size == 5 + CELLS + (len(NAMES) if delta > 0 else 0)
    assert "scores counted for 3% of the budget" in counted.release_.reason
    few = fit(X, Y, epsilon=4.0, delta=delta, unit=unit, expected_rows=100)
    assert not is_counted(few)
    assert "too few rows" in few.release_.reason
    none = fit(X, Y, epsilon=4.0, delta=delta, unit=unit, calibration="none")
    assert not is_counted(none)
    assert "counted" not in none.release_.reason
    for model in (few, none):
        usual = ProbabilityCurve.usual(model.margin_)
        np.testing.assert_array_equal(model.probability_curve_, usual.points)
        expected = expit(model.decision_function(X) / (1 + model.margin_ / 2))
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-12)


def test_the_rule_is_five_hundred_over_mu_if_records_come_and_go():
    enough = math.ceil(500 * gaussian_multiplier(Budget(1.0, 1e-9)))
    for n, is_enough in ((enough, True), (enough - 1, False)):
        assert is_counted(fit(X, Y, epsilon=1.0, delta=1e-9, expected_rows=n)) == is_enough


@rehearsal
def test_what_decides_is_public():
    # A private number of rows plays no part; a public one does.
    for rows in (10, 4000):
        assert is_counted(fit(X[:rows], Y[:rows], epsilon=1.0))
    assert not is_counted(fit(X[:10], Y[:10], epsilon=1.0, unit="replace"))
    assert is_counted(fit(X, Y, epsilon=4.0, delta=1e-6, unit="replace"))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"mechanism": "objective_perturbation"}, "not standardised"),
        ({"fit_intercept": False}, "not standardised"),
        ({"columns": None, "delta": 0.0, "data_norm": 6.0}, "not standardised"),
    ],
)
def test_where_nothing_is_standardised_the_usual_line_serves(settings, why):
    model = fit(X, Y, **settings)
    assert not is_counted(model)
    assert why in model.release_.reason
    np.testing.assert_array_equal(model.probability_curve_, ProbabilityCurve.usual(2.0).points)


@pytest.mark.parametrize("settings", [{}, {"delta": 0.0}, {"unit": "replace"}], ids=repr)
def test_the_whole_costs_what_was_asked_for(settings):
    settings = {"epsilon": 2.0, "delta": 1e-6} | settings
    ledger = MemoryLedger(Budget(5.0, 1e-5), settings.get("unit", "add_remove"))
    model = fit(X, Y, rehearsal=None, ledger=ledger, **settings)
    assert is_counted(model)
    assert 0.999 * 2.0 <= model.privacy_.epsilon(settings["delta"]) <= 2.0
    (entry,) = ledger.history()
    assert entry.guarantee == model.privacy_


@rehearsal
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_probabilities_are_closer_to_the_truth_and_classes_are_as_before(epsilon):
    X, y = table(20_000)
    fresh, labels = table(20_000, seed=1)
    truth = expit(fresh @ EFFECTS - 1.0)
    with_curve = fit(X, y, epsilon=epsilon, margin=2.0)
    margins = with_curve.decision_function(fresh)
    before, after = MarginLogistic(2.0).probability(margins), with_curve.predict_proba(fresh)[:, 1]
    assert np.mean((after - truth) ** 2) < 0.3 * np.mean((before - truth) ** 2)
    assert log_loss(with_curve, fresh, labels) < log_loss_of(before, labels)
    np.testing.assert_array_equal(with_curve.predict(fresh), (margins > 0).astype(int))
    np.testing.assert_array_equal(after > 0.5, margins > 0)
    np.testing.assert_array_equal(np.argsort(after), np.argsort(margins))


def log_loss_of(chances, labels):
    return -np.log(np.where(labels == 1, chances, 1 - chances)).mean()


@rehearsal
def test_without_noise_the_curve_is_the_limit_of_large_budgets():
    X, y = table(20_000)
    exact = fit(X, y, epsilon=math.inf).probability_curve_
    assert np.abs(fit(X, y, epsilon=20.0, delta=1e-3).probability_curve_ - exact).max() < 0.4
    inner = np.abs(exact[0]) < 4
    close = fit(X, y, epsilon=20.0, delta=1e-3).probability_curve_[:, inner]
    assert np.abs(close - exact[:, inner]).max() < 0.1


@rehearsal
def test_three_classes_keep_the_probabilities_of_the_loss():
    model = fit(X, Y + (X[:, 3] > 1), classes=[0, 1, 2])
    assert model.probability_curve_ is None
    assert "counted" not in model.release_.reason
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_logistic_regression_is_as_it_was():
    model = LogisticRegression(data_norm=6.0).fit(X, Y)
    expected = expit(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "settings", [{"calibration": "platt"}, {"expected_rows": 0}, {"expected_rows": 2.5}]
)
def test_what_is_no_calibration_is_refused(settings):
    with pytest.raises((InputError, TypeError), match=next(iter(settings))):
        fit(X, Y, **settings)


def test_a_fit_again_forgets_the_curve():
    model = fit(X, Y)
    assert model.probability_curve_.shape[1] > 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        model.set_params(calibration="none").fit(X, Y)
    assert model.probability_curve_.shape == (2, 3)


def test_rows_of_files_and_of_clusters_are_counted_alike(tmp_path):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=Y)
    frame.to_parquet(tmp_path / "rows.parquet")
    columns = dict(zip("abcd", COLUMNS, strict=True))
    here = fit(frame[list("abcd")], Y, columns=columns)
    settings = {"columns": columns, "classes": [0, 1], "rehearsal": 1}
    for there in (tmp_path / "rows.parquet", dd.from_pandas(frame, npartitions=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RehearsalWarning)
            model = LinearClassifier(**settings).fit(there, target="label")
        np.testing.assert_allclose(model.coef_, here.coef_, rtol=1e-6)
        # The same noise; a row at an edge may be in the next bin, as minimisers are not the same.
        apart = np.abs(model.release_.value - here.release_.value)[5:]
        assert apart.sum() < 4.1
        np.testing.assert_allclose(model.probability_curve_, here.probability_curve_, atol=0.02)


# Stored models.


def test_a_stored_model_keeps_its_curve(tmp_path):
    model = fit(X, Y)
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.probability_curve_, model.probability_curve_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def edit(folder, change):
    path = folder / "model.json"
    document = json.loads(path.read_text())
    change(document)
    document["digest"] = _digest(document)
    path.write_text(json.dumps(document))


def test_a_model_stored_before_there_were_curves_predicts_as_it_did(tmp_path):
    model = fit(X, Y + (X[:, 3] > 1), classes=[0, 1, 2])  # its curve is in the document: None
    folder = save(model, tmp_path / "model")

    def forget(document):
        del document["learnt"]["probability_curve_"]
        del document["arguments"]["calibration"], document["arguments"]["expected_rows"]

    edit(folder, forget)
    again = load(folder)
    assert again.probability_curve_ is None
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(load(save(again, tmp_path / "b")).coef_, model.coef_)


def test_without_a_curve_two_classes_have_the_probabilities_of_the_loss(tmp_path):
    model = fit(X, Y)
    model.probability_curve_ = None  # as models have that were stored before
    again = load(save(model, tmp_path / "model"))
    expected = MarginLogistic(model.margin_).probability(model.decision_function(X))
    np.testing.assert_array_equal(again.predict_proba(X)[:, 1], expected)


def test_a_curve_that_falls_is_not_loaded(tmp_path):
    model = fit(X, Y)
    model.probability_curve_ = model.probability_curve_[:, ::-1].copy()
    with pytest.raises(InputError, match="must rise"):
        load(save(model, tmp_path / "model"))
