"""Searches over parameters: one release, one charge, no score, and refusals before anything."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import loguniform
from sklearn.base import clone, is_classifier, is_regressor

from discreet.artifact import load, save
from discreet.errors import CalibrationError, DiscreetError, InputError, InputTypeError
from discreet.ledger import MemoryLedger
from discreet.linear_model import (
    FrankWolfeClassifier,
    LinearClassifier,
    LinearRegressor,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    SparseClassifier,
)
from discreet.mechanisms.held_out_errors import count_errors
from discreet.model_selection import PrivateRandomizedSearch, PrivateSearchCV
from discreet.policy.search_method import METHODS, SearchFacts, choose_method
from discreet.preprocessing import Category, Numeric
from discreet.privacy import AddRemoveOne, Budget, TrialLaw
from discreet.report import card
from discreet.svm import LinearSVC

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

GENERATOR = np.random.default_rng(3)
X = GENERATOR.uniform(-1, 1, size=(1200, 3))
SIGNAL = X @ [0.9, -0.5, 0.1]
Y = np.where(SIGNAL + 0.05 * GENERATOR.standard_normal(1200) > 0, "yes", "no")
CLASSES = ["no", "yes"]
MODEL = LogisticRegression(data_norm=1.5, classes=CLASSES)
GRID = {"C": [1e-4, 1e-2]}
SMALL = {"rehearsal": 3, "expected_rows": 1200}


def search(estimator=MODEL, grid=GRID, epsilon=3.0, delta=1e-6, **options):
    return PrivateSearchCV(estimator, grid, epsilon=epsilon, delta=delta, **{**SMALL, **options})


@cache
def fitted(method, unit):
    return search(method=method, unit=unit).fit(X, Y)


every_method = pytest.mark.parametrize("method", METHODS)
every_way = pytest.mark.parametrize(
    ("method", "unit"), [*((method, "add_remove") for method in METHODS), ("split", "replace")]
)


@every_way
def test_a_search_chooses_and_fits(method, unit):
    found = fitted(method, unit)
    assert found.method_ == method
    assert found.best_params_ == found.candidates_[found.best_index_]
    assert type(found.best_estimator_) is LogisticRegression
    assert found.best_params_["C"] == found.best_estimator_.C
    assert found.score(X, Y) > 0.8
    assert set(found.predict(X[:20])) <= set(CLASSES)
    assert found.predict_proba(X[:5]).shape == (5, 2)
    assert is_classifier(found)
    assert not is_regressor(found)


@every_method
def test_the_promise_is_that_of_everything_together(method):
    found = search(method=method, rehearsal=None).fit(X, Y)
    assert 0.99 * 3.0 <= found.privacy_.epsilon(1e-6) <= 3.0
    assert found.best_estimator_.privacy_ == found.privacy_
    assert found.best_estimator_.release_.guarantee == found.privacy_
    assert "chosen among 2" in " ".join(fact.words for fact in found.release_.facts)


def test_a_ledger_is_charged_once_for_everything():
    ledger = MemoryLedger(Budget(3.5, 1e-5), "add_remove")
    found = search(ledger=ledger, method="compose", rehearsal=None).fit(X, Y, purpose="tuning")
    (entry,) = ledger.history()
    assert entry.purpose == "tuning"
    assert ledger.spent(1e-5) <= 3.0
    assert found.best_estimator_.ledger is None
    assert found.release_.receipt_number == entry.number
    with pytest.raises(DiscreetError):
        search(ledger=ledger, rehearsal=None).fit(X, Y)
    assert len(ledger.history()) == 1


@every_method
def test_no_score_and_no_number_of_trials_is_left_anywhere(method):
    found = fitted(method, "add_remove")
    names = {*vars(found), *vars(found.best_estimator_), *json.loads(found.release_.to_json())}
    assert not any("score" in name or "errors" in name for name in names)
    assert not any("trial" in name for name in names - {"trials"})
    # The released value: which candidate, how many lines, and the coefficients of one model.
    assert len(found.release_.value) == 2 + 4
    assert sorted(found.learns - set(vars(found))) == []


def test_the_errors_that_decide_are_those_of_the_predictions():
    # Rows within the bound, so that clipping changes nothing.
    from support.opened import open_rows

    found = fitted("compose", "add_remove")
    model, inside = found.best_estimator_, X / 2
    fit = found.fit_of(3, found.row_limit)
    asked = found._ask(replace(fit, budget=Budget(3.0, 1e-6), unit=AddRemoveOne()))
    bounds = asked.question.candidates[0].question.bounds
    signs = np.where(Y == "yes", 1.0, -1.0)
    rows = open_rows(inside, signs, bounds=bounds, unit="add_remove")
    value = np.atleast_2d(np.asarray(model.release_.value))
    assert count_errors(rows, value, bounds.labels) == (model.predict(inside) != Y).sum()


def columns(high):
    return {"age": Numeric(0, high), "ward": Category(["a", "b"])}


FRAME = pd.DataFrame({"age": 50 + 40 * X[:, 0], "ward": np.where(X[:, 1] > 0, "a", "b")})
DECLARED = LinearClassifier(columns=columns(100), classes=CLASSES)


@every_method
def test_ranges_margins_and_penalties_are_tuned(method):
    grid = {"columns": [columns(100), columns(5000)], "margin": [0.0, None]}
    found = search(DECLARED, grid, method=method, epsilon=8.0).fit(FRAME, Y)
    assert len(found.candidates_) == 4
    assert found.score(FRAME, Y) > 0.75
    facts = {fact.what: fact.words for fact in found.release_.facts}
    assert "0 to 100" in facts["column age"]
    assert "0 to 5000" in facts["column age"]


def test_ranges_that_a_fit_finds_are_a_candidate_too():
    sought = columns(100) | {"age": Numeric(None, None, public_bounds=(0, 5000))}
    grid = {"columns": [sought, columns(5000)]}
    found = search(DECLARED, grid, method="split", epsilon=20.0, delta=1e-5).fit(FRAME, Y)
    assert found.score(FRAME, Y) > 0.6


def test_estimators_themselves_and_mechanisms_are_tuned():
    svm = LinearSVC(data_norm=1.5, classes=CLASSES)
    grid = [
        {"estimator": [svm], "C": [1e-3]},
        {"mechanism": ["output_perturbation", "objective_perturbation"], "C": [1e-3]},
    ]
    found = search(grid=grid, method="split").fit(X, Y)
    assert len(found.candidates_) == 3
    assert found.score(X, Y) > 0.7


def test_three_classes_and_numbers_are_tuned():
    three = np.digitize(SIGNAL, [-0.3, 0.3])
    model = LogisticRegression(data_norm=1.5, classes=[0, 1, 2])
    found = search(model, GRID, method="compose", epsilon=10.0).fit(X, three)
    assert found.score(X, three) > 0.5
    ridge = Ridge(data_norm=1.5, target_range=(-1.5, 1.5))
    numbers = search(ridge, {"alpha": [1.0, 10.0]}, epsilon=20.0, method="split").fit(X, SIGNAL)
    assert is_regressor(numbers)
    assert numbers.score(X, SIGNAL) > 0.3


def test_the_number_of_features_is_tuned():
    wide = np.hstack([X, GENERATOR.uniform(-1, 1, size=(1200, 9))])
    few = {"n_features_to_select": [1, 2]}
    model = SparseClassifier(entry_bound=1.0, classes=CLASSES)
    found = search(model, few, method="split", epsilon=60.0, delta=0.0).fit(wide, Y)
    chosen = found.best_estimator_
    assert chosen.n_features_selected_ == found.best_params_["n_features_to_select"] == 2
    assert set(chosen.get_support(indices=True)) == {0, 1}
    assert found.score(wide, Y) > 0.85
    three = np.digitize(SIGNAL, [-0.3, 0.3])
    model = SparseClassifier(entry_bound=1.0, classes=[0, 1, 2])
    found = search(model, few, method="split", epsilon=90.0, delta=0.0).fit(wide, three)
    assert found.score(wide, three) > 0.6


def test_arrays_sparse_tables_and_files_give_the_same_model(tmp_path):
    dense = search(method="compose").fit(X, Y)
    thin = search(method="compose").fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(thin.best_estimator_.coef_, dense.best_estimator_.coef_, atol=1e-8)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=Y)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    stored = search(method="compose").fit(path, target="label")
    np.testing.assert_allclose(stored.best_estimator_.coef_, dense.best_estimator_.coef_, atol=1e-8)
    assert stored.best_estimator_.feature_names_in_.tolist() == ["a", "b", "c"]


@every_way
def test_few_rows_leave_parts_empty_and_nothing_fails(method, unit):
    found = search(grid={"C": [1e-4, 1e-3, 1e-2]}, method=method, unit=unit, rehearsal=None)
    for count in (1, 4):
        assert found.fit(X[:count], Y[:count]).best_index_ in (0, 1, 2)


def test_odd_cells_decide_nothing():
    odd, labels = X.copy(), Y.astype(object)
    odd[0], odd[1, 0], labels[2] = np.nan, np.inf, "never heard of"
    assert search(rehearsal=None).fit(odd, labels).best_index_ in (0, 1)


def test_without_privacy_the_best_candidate_is_chosen():
    grid = {"C": [1e-9, 1.0]}
    assert search(grid=grid, epsilon=math.inf, rehearsal=None).fit(X, Y).best_index_ == 1


def test_a_random_search_draws_its_candidates_in_public():
    options = {"epsilon": 3.0, "delta": 1e-6, "random_state": 1, **SMALL}
    given = {"C": loguniform(1e-5, 1e-2)}
    one, again = (PrivateRandomizedSearch(MODEL, given, 3, **options).fit(X, Y) for _ in "ab")
    assert one.candidates_ == again.candidates_
    assert len(one.candidates_) == 3
    with pytest.raises(InputError, match="n_iter"):
        PrivateRandomizedSearch(MODEL, given, 1).fit(X, Y)


def test_a_chosen_model_is_stored_and_has_a_card(tmp_path):
    found = fitted("split", "add_remove")
    save(found.best_estimator_, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.coef_, found.best_estimator_.coef_)
    assert again.privacy_ == found.privacy_
    assert "chosen among 2" in card(again.release_).text
    copied = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copied.predict(X[:9]), found.predict(X[:9]))
    assert clone(found).get_params()["param_grid"] == GRID


QUANTILES = QuantileRegressor(data_norm=1.0, target_range=(0, 1))
PAID = MemoryLedger(Budget(100.0, 1e-3), "add_remove")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"grid": {"C": [1e-2]}}, InputError, "at least two candidates"),
        ({"grid": {"C": []}}, InputError, "param_grid must be a dict"),
        ({"grid": []}, InputError, "at least two candidates"),
        ({"grid": {"D": [1, 2]}}, InputError, r"no parameter \['D'\]"),
        ({"grid": {"C": 3}}, InputError, "param_grid must be a dict"),
        ({"grid": {"epsilon": [1, 2]}}, InputError, "epsilon is not tuned"),
        ({"grid": {"classes": [[0, 1], [1, 0]]}}, InputError, "classes is not tuned"),
        ({"grid": None}, InputError, "must be told param_grid"),
        ({"estimator": None}, InputError, "must be told estimator"),
        ({"estimator": LogisticRegression}, InputTypeError, "must be an estimator"),
        ({"estimator": LogisticRegression()}, InputError, "candidate 0.*columns.* or data_norm"),
        ({"estimator": clone(MODEL).set_params(ledger=PAID)}, InputError, "ledger of its own"),
        ({"estimator": clone(MODEL).set_params(rehearsal=1)}, InputError, "rehearsal to"),
        ({"estimator": clone(MODEL).set_params(max_weight=2.0)}, InputError, "every row once"),
        ({"estimator": PoissonRegressor(data_norm=1.0)}, InputError, "is neither"),
        ({"estimator": QUANTILES, "grid": {"alpha": [1.0, 9.0]}}, InputError, "is neither"),
        ({"estimator": FrankWolfeClassifier(entry_bound=1.0)}, InputError, "steps of its fit"),
        ({"method": "grid"}, InputError, "method must be one of"),
        ({"method": "repeat", "shape": 2.0}, InputError, "between 0 and 1"),
        ({"method": "repeat", "trials": 0.5}, InputError, "above 1"),
        ({"method": "repeat", "shape": None, "delta": 0.0}, CalibrationError, "no pure guarantee"),
        ({"grid": {"C": [1e-3, 1e9]}}, CalibrationError, "candidate 1.*too weak"),
        ({"grid": {"C": [1e-3, -1.0]}}, InputError, "C must be a positive number"),
        ({"grid": {"columns": [[Numeric(0, 1)], [Numeric(0, 1)] * 2]},
          "estimator": LinearClassifier(data_norm=1.0, classes=CLASSES)}, InputError, "columns"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_before_the_charge(given, error, words):
    ledger = MemoryLedger(Budget(10.0, 1e-3), "add_remove")
    given = {"rehearsal": None, "ledger": ledger, **given}
    with pytest.raises(error, match=words):
        search(**given).fit(X, Y)
    assert ledger.history() == ()


def test_weights_are_refused_with_a_reason():
    with pytest.raises(InputError, match="counts every row once"):
        search().fit(X, Y, sample_weight=np.ones(1200))


def test_candidates_that_count_targets_differently_are_refused():
    model = LinearRegressor(data_norm=1.5, target_range=(0.0, 3.0))
    with pytest.raises(InputError, match="same labels"):
        search(model, {"fit_intercept": [True, False]}).fit(X, SIGNAL)


def test_a_search_without_trials_says_so():
    found = search(method="repeat", shape=None, trials=1.01)
    seeds = (found.set_params(rehearsal=seed).fit(X[:3], Y[:3]) for seed in range(40))
    empty = next(one for one in seeds if one.best_index_ == -1)
    assert empty.best_estimator_ is None
    with pytest.raises(InputError, match="no trial"):
        empty.predict(X)


def facts(rows, candidates=4, **options):
    law = TrialLaw.with_mean(max(candidates, 2))
    return SearchFacts(candidates, 12, rows, Budget(1.0, 1e-9), AddRemoveOne(), law, **options)


def test_predicted_regret_falls_with_rows_and_rises_with_candidates():
    for method in METHODS:
        few, many = facts(2000).regret(method), facts(200_000).regret(method)
        assert 0 < many < few
        assert facts(50_000, 32).regret(method) > facts(50_000, 2).regret(method)


def test_the_method_with_the_least_predicted_regret_is_taken_and_the_release_says_why():
    best, reason = choose_method("auto", facts(20_000))
    assert best == min(METHODS, key=facts(20_000).regret)
    assert "predicted regret" in reason
    assert choose_method("repeat", facts(20_000)) == ("repeat", "")
    found = search(method="auto").fit(X, Y)
    assert "predicted regret" in found.release_.reason
