"""Linear models of few columns: what each finds, keeps and refuses."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest

from discreet.errors import BudgetExceeded, InputError
from discreet.ledger import MemoryLedger
from discreet.linear_model import (
    FrankWolfeClassifier,
    FrankWolfeLasso,
    HardThresholding,
    HardThresholdingClassifier,
    SparseClassifier,
    SparseRegressor,
)
from discreet.privacy import Budget
from support.estimators import rehearsal

pytestmark = rehearsal

GENERATOR = np.random.default_rng(4)
X = GENERATOR.uniform(-1, 1, size=(4000, 60)) * (GENERATOR.random((4000, 60)) < 0.5)
SIGNAL = 0.6 * X[:, 3] - 0.4 * X[:, 7]
TWO = np.where(SIGNAL > 0, "yes", "no")
THREE = np.array(["high", "low", "mid"])[np.digitize(SIGNAL, [-0.1, 0.1])]
NUMBERS = {"epsilon": 3.0, "entry_bound": 1.0, "target_range": (-1, 1), "rehearsal": 1,
           "expected_rows": 4000}  # fmt: skip
CLASSES = {"epsilon": 3.0, "entry_bound": 1.0, "classes": ["no", "yes"], "rehearsal": 1,
           "expected_rows": 4000}  # fmt: skip

MODELS = {
    "Frank-Wolfe": (FrankWolfeLasso(l1_radius=1.0, **NUMBERS), SIGNAL, 0.7),
    "Frank-Wolfe, Huber": (FrankWolfeLasso(l1_radius=1.0, loss="huber", **NUMBERS), SIGNAL, 0.7),
    "Frank-Wolfe, classes": (FrankWolfeClassifier(**CLASSES), TWO, 0.85),
    "thresholding": (HardThresholding(n_features_to_select=2, **NUMBERS), SIGNAL, 0.7),
    "thresholding, classes": (
        HardThresholdingClassifier(n_features_to_select=2, **CLASSES),
        TWO,
        0.85,
    ),
    "select, numbers": (SparseRegressor(n_features_to_select=2, **NUMBERS), SIGNAL, 0.7),
    "select, classes": (SparseClassifier(n_features_to_select=2, **CLASSES), TWO, 0.85),
}
every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_it_finds_the_columns_and_sparse_rows_give_the_same_model(name):
    model, y, least = MODELS[name]
    model.fit(X, y)
    assert model.score(X, y) > least
    assert {3, 7} <= set(model.selected_.tolist())
    coef = model.coef_.ravel().copy()
    assert set(np.flatnonzero(coef)) <= set(model.get_support(indices=True).tolist())
    assert model.get_support().sum() == model.n_features_selected_
    again = model.fit(sparse.csr_array(X), y)
    # Sums are whole numbers; a second stage is a minimiser, equal within its certificate.
    exact = not name.startswith("select")
    np.testing.assert_allclose(again.coef_.ravel(), coef, rtol=0, atol=0 if exact else 1e-3)


@every_model
def test_one_fit_is_one_charge_of_the_whole_budget(name):
    model, y, _ = MODELS[name]
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    model = type(model)(**{**model.get_params(), "epsilon": 1.0, "rehearsal": None,
                           "ledger": ledger})  # fmt: skip
    model.fit(X[:300], y[:300])
    assert len(ledger.history()) == 1
    assert model.privacy_.epsilon(model.delta) == pytest.approx(1.0, rel=1e-3)
    with pytest.raises(BudgetExceeded):
        model.fit(X[:300], y[:300])


def test_several_classes_share_the_columns():
    model = SparseClassifier(**{**CLASSES, "classes": ["high", "low", "mid"]},
                             n_features_to_select=3).fit(X, THREE)  # fmt: skip
    assert model.score(X, THREE) > 0.6
    assert model.coef_.shape == (3, 60)
    assert (np.abs(model.coef_).sum(axis=0) > 0).sum() <= 3
    assert model.predict_proba(X[:5]).sum(axis=1) == pytest.approx(1)
    with pytest.raises(InputError, match="SparseClassifier"):
        FrankWolfeClassifier(entry_bound=1.0).fit(X, THREE)
    with pytest.raises(InputError, match="SparseClassifier"):
        HardThresholdingClassifier(entry_bound=1.0).fit(X, THREE)


def test_no_stable_answer_is_a_model_of_zeros_that_says_so():
    few = slice(0, 60)
    model = SparseClassifier(**CLASSES, selector=SelectKBest(k=2), n_features_to_select=2)
    model.fit(X[few], TWO[few])
    assert not model.is_stable_
    assert model.selected_.size == model.n_features_selected_ == 0
    assert not model.coef_.any()
    assert model.intercept_ == 0
    assert model.settings_ is None
    assert model.privacy_ is not None
    assert set(model.predict(X[:9])) <= {"no", "yes"}


def test_votes_of_blocks_choose_the_columns():
    model = SparseRegressor(**{**NUMBERS, "epsilon": 8.0}, selector=SelectKBest(score_func=_by_sum,
                            k=2), n_features_to_select=2, selection_share=0.6)  # fmt: skip
    model.fit(X, SIGNAL)
    assert model.is_stable_
    assert model.get_support(indices=True).tolist() == [3, 7]


def _by_sum(X, y):
    return np.abs(np.asarray(X).T @ y)


def test_declared_columns_give_coefficients_in_their_own_units():
    age = GENERATOR.uniform(20, 80, 4000)
    ward = GENERATOR.choice(["a", "b", "c"], 4000)
    table = pd.DataFrame({"age": age, "ward": ward, "noise": GENERATOR.uniform(0, 1, 4000)})
    y = np.where(age > 50, "ill", "well")
    common = {**CLASSES, "entry_bound": None, "classes": ["ill", "well"],
              "columns": {"age": (20, 80), "ward": ["a", "b", "c"], "noise": (0, 1)}}  # fmt: skip
    for model in (SparseClassifier(n_features_to_select=1, **common),
                  FrankWolfeClassifier(**common)):  # fmt: skip
        model.fit(table, y)
        assert model.score(table, y) > 0.9
        assert model.coef_.shape == (1, 5)
        assert 0 in model.selected_
        assert model.get_feature_names_out()[0] == "age"


def test_the_number_of_steps_does_not_follow_the_rows():
    # Their number is private, so a tenth of them has as many steps.
    common = {**CLASSES, "expected_rows": None}
    steps = {FrankWolfeClassifier(**common).fit(X[:n], TWO[:n]).n_iter_ for n in (400, 4000)}
    assert len(steps) == 1
    told = {**common, "unit": "replace"}
    few, many = (FrankWolfeClassifier(**told).fit(X[:n], TWO[:n]).n_iter_ for n in (400, 4000))
    assert few < many


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SparseClassifier(entry_bound=1.0, n_features_to_select=0), "n_features_to_select"),
        (SparseClassifier(entry_bound=1.0, n_features_to_select=61), "n_features=60"),
        (SparseClassifier(entry_bound=1.0, selection_share=1.0), "must be below 1"),
        (SparseClassifier(entry_bound=1.0, selector=3), "scikit-learn selector"),
        (SparseClassifier(n_features_to_select=2), "must be told columns"),
        (SparseClassifier(data_range=(1, 2)), "must contain zero"),
        (FrankWolfeClassifier(entry_bound=1.0, l1_radius=-1.0), "l1_radius"),
        (FrankWolfeClassifier(entry_bound=1.0, max_iter=0), "max_iter"),
        (FrankWolfeClassifier(entry_bound=1.0, expected_rows=0), "expected_rows"),
        (FrankWolfeClassifier(entry_bound=math.inf), "entry_bound"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_refused_before_the_charge(model, words):
    ledger = MemoryLedger(Budget(10.0, 1e-6))
    with pytest.raises((InputError, TypeError), match=words):
        model.set_params(ledger=ledger).fit(X, TWO)
    assert ledger.history() == ()
