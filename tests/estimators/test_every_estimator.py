"""What holds for every linear estimator: its parameters, its attributes, its guarantee."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import discreet
from discreet import Budget, MemoryLedger
from discreet.errors import BudgetExceeded
from discreet.linear_model import LogisticRegression, PoissonRegressor, Ridge
from discreet.svm import LinearSVC
from support.estimators import (
    CLASSIFIERS,
    MIXERS,
    REGRESSORS,
    SPARSE,
    TWO,
    WITH_COLUMNS,
    X,
    coefficients,
    declare,
    every_classifier,
    every_estimator,
    every_model,
    every_regressor,
    fitted,
    rehearsal,
    target,
)

FIRST = ["epsilon", "delta"]
LAST = ["unit", "ledger", "max_rows", "rehearsal", "verbose"]
PUBLIC = {"coef_", "intercept_", "n_features_in_", "release_", "privacy_"}


def attributes(model):
    return set(vars(model)) - set(model.get_params())


def same_predictions(some, others):
    if some.dtype.kind == "f":
        return np.allclose(some, others, rtol=1e-12)
    return some.tolist() == others.tolist()


@every_model
def test_parameters_come_in_one_order_with_one_set_of_defaults(model):
    parameters = inspect.signature(model).parameters
    assert list(parameters)[:2] == FIRST
    assert list(parameters)[-5:] == LAST
    defaults = {name: parameters[name].default for name in FIRST + LAST}
    assert defaults == {
        "epsilon": 1.0, "delta": 1e-9, "unit": "add_remove", "ledger": None, "max_rows": None,
        "rehearsal": None, "verbose": 0,
    }  # fmt: skip


@every_model
def test_every_parameter_is_documented(model):
    words = inspect.getdoc(model)
    assert [name for name in inspect.signature(model).parameters if name not in words] == []


def test_the_two_headline_models_stand_at_the_top():
    assert discreet.LinearClassifier is discreet.linear_model.LinearClassifier
    assert discreet.LinearRegressor is discreet.linear_model.LinearRegressor


@every_model
@pytest.mark.parametrize(
    "setting",
    [
        {"delta": 0.0},
        {"delta": 0.0, "unit": "replace", "epsilon": 0.3},
        {"delta": 1e-9},
    ],
    ids=str,
)
def test_a_fit_costs_the_epsilon_asked_and_no_more(model, setting):
    fit = fitted(model, **setting)
    asked = setting.get("epsilon", 1.0)
    assert 0.999 * asked <= fit.privacy_.epsilon(setting["delta"]) <= asked
    assert fit.privacy_.unit.name == setting.get("unit", "add_remove")
    assert fit.release_.is_private
    assert fit.privacy_ == fit.release_.guarantee


@every_model
def test_only_public_things_hang_on_a_fitted_model(model):
    expected = PUBLIC | ({"classes_", "multiclass_"} if model in CLASSIFIERS else set())
    expected |= {"margin_", "probability_curve_"} if model is discreet.LinearClassifier else set()
    expected |= {"ranges_"} if model in WITH_COLUMNS else set()
    assert attributes(fitted(model, delta=0.0)) == expected


@every_model
def test_a_frame_adds_its_names_and_nothing_else(model):
    pd = pytest.importorskip("pandas")
    named = declare(model, delta=0.0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), target(model))
    more = attributes(named) - attributes(fitted(model, delta=0.0))
    assert more == {"feature_names_in_"}
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    assert named.n_features_in_ == 3


@rehearsal
@every_model
def test_every_kind_of_table_gives_the_same_model(model):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    y, names = target(model), ["a", "b", "c"]
    parameters = {"delta": 0.0, "epsilon": 20.0, "rehearsal": 5}
    dense = declare(model, **parameters).fit(X, y)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), X.tolist()):
        other = declare(model, **parameters).fit(table, y)
        np.testing.assert_array_equal(coefficients(other), coefficients(dense))
        assert same_predictions(other.predict(table), dense.predict(X))
    thin = declare(model, **parameters).fit(sparse.csr_array(X), y)
    # Sums in another order; the difference is far below the noise.
    np.testing.assert_allclose(coefficients(thin), coefficients(dense), rtol=0, atol=1e-6)
    assert same_predictions(thin.predict(sparse.csr_array(X)), thin.predict(X))


@every_model
def test_labels_of_a_series_are_labels(model):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    parameters = {"epsilon": math.inf}
    plain = fitted(model, **parameters)
    for series in (pd.Series(target(model)), pl.Series(target(model))):
        other = declare(model, **parameters).fit(X, series)
        np.testing.assert_array_equal(coefficients(other), coefficients(plain))


@every_classifier
def test_decisions_follow_the_margins(model):
    fit = fitted(model, delta=0.0)
    margins = fit.decision_function(X)
    np.testing.assert_allclose(margins, X @ fit.coef_[0] + fit.intercept_[0])
    assert fit.predict(X).tolist() == np.where(margins > 0, "yes", "no").tolist()
    assert fit.score(X, TWO) == np.mean(fit.predict(X) == TWO)
    assert fit.coef_.shape == (1, 3)
    assert fit.intercept_.shape == (1,)
    assert fit.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("model", [m for m in CLASSIFIERS if m is not LinearSVC])
def test_probabilities_sum_to_one_and_grow_with_the_margin(model):
    fit = fitted(model, delta=0.0)
    chances = fit.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    growing = chances[np.argsort(fit.decision_function(X)), 1]
    assert np.all(np.diff(growing) >= -1e-15)  # exp may falter in its last place
    np.testing.assert_allclose(np.exp(fit.predict_log_proba(X)), chances)
    assert ((chances[:, 1] > 0.5) == (fit.predict(X) == "yes")).all()


def test_support_vectors_have_no_probabilities():
    assert not hasattr(LinearSVC, "predict_proba")


@every_regressor
def test_predictions_follow_the_margins(model):
    fit = fitted(model, delta=0.0)
    margins = X @ fit.coef_ + fit.intercept_
    expected = np.exp(margins) if model is PoissonRegressor else margins
    np.testing.assert_allclose(fit.predict(X), expected)
    assert fit.coef_.shape == (3,)
    assert isinstance(fit.intercept_, float)
    assert np.isfinite(fit.score(X, target(model)))


@every_estimator
def test_without_an_intercept_it_is_zero(model):
    fit = fitted(model, delta=0.0, fit_intercept=False)
    assert np.all(fit.intercept_ == 0.0)


@rehearsal
@pytest.mark.parametrize("model", [LogisticRegression, Ridge])
def test_a_seed_repeats_a_fit_and_another_does_not(model):
    one, again, other = (
        coefficients(declare(model, delta=0.0, rehearsal=seed).fit(X, target(model)))
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).all()


@every_model
def test_clones_and_pickles_keep_parameters_and_model(model):
    fit = fitted(model, delta=0.0)
    assert clone(fit).get_params() == fit.get_params()
    assert attributes(clone(fit)) == set()
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(coefficients(again), coefficients(fit))
    np.testing.assert_array_equal(again.predict(X), fit.predict(X))
    assert again.privacy_ == fit.privacy_
    assert again.release_.to_json() == fit.release_.to_json()


@every_model
def test_fitting_again_forgets_the_first_fit(model):
    pd = pytest.importorskip("pandas")
    fit = declare(model, delta=0.0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), target(model))
    first = fit.release_
    fit.fit(X[:, :2], target(model))
    assert fit.n_features_in_ == 2
    assert fit.coef_.shape[-1] == 2
    assert not hasattr(fit, "feature_names_in_")
    assert fit.release_ is not first


@every_model
def test_a_refused_fit_leaves_no_model(model):
    ledger = MemoryLedger(Budget(0.5))
    fit = declare(model, delta=0.0, epsilon=1.0, ledger=ledger)
    with pytest.raises(BudgetExceeded):
        fit.fit(X, target(model))
    assert ledger.history() == ()
    with pytest.raises(NotFittedError):
        fit.predict(X)


@pytest.mark.parametrize("model", [LogisticRegression, Ridge])
def test_the_guarantee_is_printed_on_request(model, capsys):
    declare(model, delta=0.0).fit(X, target(model))
    assert capsys.readouterr().out == ""
    fit = declare(model, delta=0.0, verbose=1).fit(X, target(model))
    assert capsys.readouterr().out.strip() == fit.privacy_.sentence()


def test_the_lists_of_estimators_are_complete():
    public = {*discreet.linear_model.__all__, *discreet.svm.__all__}
    # Of several targets, and of few columns: test_low_rank_regressor.py, test_sparse_models.py.
    own_tests = {"LowRankRegressor", *(model.__name__ for model in SPARSE)}
    listed = {model.__name__ for model in (*CLASSIFIERS, *REGRESSORS, *MIXERS)}
    assert listed | own_tests == public
