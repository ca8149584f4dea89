"""Private logistic regression: scikit-learn's manners, and privacy's."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet import Budget, MemoryLedger
from discreet.errors import (
    BudgetExceeded,
    CalibrationError,
    InputError,
    InputTypeError,
    RehearsalWarning,
)
from discreet.linear_model import LogisticRegression

GENERATOR = np.random.default_rng(3)
X = GENERATOR.standard_normal((4000, 4))
X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
Y = np.where(X @ [3.0, -2.0, 1.0, 0.0] + 0.5 * GENERATOR.standard_normal(4000) > 0.2, "yes", "no")
quiet = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_fit_costs_at_most_the_epsilon_asked_and_almost_all_of_it(unit, delta):
    model = LogisticRegression(epsilon=0.7, delta=delta, unit=unit, data_norm=1.0).fit(X, Y)
    assert 0.999 * 0.7 <= model.privacy_.epsilon(delta) <= 0.7 * (1 + 1e-12)
    assert model.privacy_.unit.name == unit
    assert model.release_.is_private


def test_an_infinite_epsilon_is_ordinary_logistic_regression():
    private = LogisticRegression(epsilon=math.inf, C=2.0, fit_intercept=False, data_norm=1.0).fit(
        X, Y
    )
    plain = Plain(C=2.0, fit_intercept=False, tol=1e-12, solver="newton-cholesky").fit(X, Y)
    np.testing.assert_allclose(private.coef_, plain.coef_, atol=1e-7)
    assert not private.release_.is_private
    column = np.column_stack([X, np.full(len(X), 0.5)])  # the intercept is such a column
    extended = Plain(C=2.0, fit_intercept=False, tol=1e-12, solver="newton-cholesky").fit(column, Y)
    private = LogisticRegression(epsilon=math.inf, C=2.0, data_norm=1.0).fit(X, Y)
    np.testing.assert_allclose(private.coef_[0], extended.coef_[0, :-1], atol=1e-7)
    np.testing.assert_allclose(private.intercept_[0], 0.5 * extended.coef_[0, -1], atol=1e-7)


@quiet
def test_it_learns():
    # Fixed rehearsal noise.
    best = Plain(solver="newton-cholesky").fit(X, Y).score(X, Y)
    for unit in ("add_remove", "replace"):
        model = LogisticRegression(
            epsilon=1.0, delta=1e-6, unit=unit, rehearsal=1, data_norm=1.0
        ).fit(X, Y)
        assert model.score(X, Y) > best - 0.02


@quiet
def test_sparse_and_dense_rows_give_the_same_model():
    dense = LogisticRegression(rehearsal=5, data_norm=1.0).fit(X, Y)
    thin = LogisticRegression(rehearsal=5, data_norm=1.0).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)


def test_system_noise_differs_between_fits_and_parallel_folds():
    models = [LogisticRegression(data_norm=1.0).fit(X, Y) for _ in range(3)]
    assert len({model.coef_.tobytes() for model in models}) == 3
    alike = [(np.arange(len(X)), np.arange(len(X)))] * 4
    folds = cross_validate(
        LogisticRegression(data_norm=1.0), X, Y, cv=alike, n_jobs=2, return_estimator=True
    )
    assert len({model.coef_.tobytes() for model in folds["estimator"]}) == 4


def test_only_public_things_hang_on_a_fitted_model():
    model = LogisticRegression(data_norm=1.0).fit(X, Y)
    fitted = {name for name in vars(model) if name.endswith("_")}
    expected = {"coef_", "intercept_", "classes_", "multiclass_", "n_features_in_"}
    assert fitted == expected | {"release_", "privacy_"}


@quiet
def test_a_seed_makes_a_rehearsal_and_says_so():
    with pytest.warns(RehearsalWarning):
        model = LogisticRegression(rehearsal=0, data_norm=1.0).fit(X, Y)
    assert not model.release_.is_private
    assert model.privacy_.epsilon(0.1) == math.inf


def test_found_classes_are_named_in_the_guarantee_and_declared_ones_are_not():
    found = LogisticRegression(data_norm=1.0).fit(X, Y)
    declared = LogisticRegression(classes=["no", "yes"], data_norm=1.0).fit(X, Y)
    assert "classes" in found.privacy_.sentence()
    assert "classes" not in declared.privacy_.sentence()


def test_labels_outside_the_declared_classes_are_no_error():
    odd = Y.astype(object).copy()
    odd[:5] = "maybe"
    model = LogisticRegression(classes=["no", "yes"], data_norm=1.0).fit(X, odd.astype(str))
    assert model.classes_.tolist() == ["no", "yes"]


def test_rows_beyond_the_bound_and_not_numbers_are_no_error():
    hostile = X.copy()
    hostile[0], hostile[1, 2], hostile[2, 0] = 1e6, np.nan, np.inf
    assert np.isfinite(LogisticRegression(data_norm=1.0).fit(hostile, Y).coef_).all()


def test_a_ledger_pays_for_every_fit_and_refuses_when_it_is_empty():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    model = LogisticRegression(epsilon=0.4, delta=1e-9, ledger=ledger, data_norm=1.0)
    clone(model).fit(X, Y)
    assert len(ledger.history()) == 1
    grid = GridSearchCV(model, {"C": [0.1, 1.0, 10.0]}, cv=3, error_score="raise")
    with pytest.raises(BudgetExceeded):
        grid.fit(X, Y)
    assert ledger.spent(1e-6) <= 1.0


def test_it_lives_in_a_pipeline_and_survives_pickling():
    pipeline = make_pipeline(FunctionTransformer(), LogisticRegression(data_norm=1.0)).fit(X, Y)
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
    assert again[-1].privacy_ == pipeline[-1].privacy_


def test_probabilities_belong_to_the_margins():
    model = LogisticRegression(data_norm=1.0).fit(X, Y)
    chances = model.predict_proba(X[:50])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(chances), model.predict_log_proba(X[:50]))
    assert ((chances[:, 1] > 0.5) == (model.predict(X[:50]) == "yes")).all()


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"epsilon": 0.0}, InputError, "epsilon"),
        ({"epsilon": math.nan}, InputError, "epsilon"),
        ({"delta": 1.0}, InputError, "delta"),
        ({"data_norm": -1.0}, InputError, "data_norm"),
        ({"unit": "household"}, InputError, "unit"),
        ({"C": 0.0}, InputError, "C must be"),
        ({"mechanism": "magic"}, InputError, "mechanism"),
        ({"rehearsal": "seed"}, InputTypeError, "rehearsal"),
        ({"classes": ["no"]}, InputError, "two classes"),
        ({"max_rows": 0}, InputError, "max_rows"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_charged(wrong, error, says):
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(error, match=says):
        LogisticRegression(ledger=ledger, **({"data_norm": 1.0} | wrong)).fit(X, Y)
    assert ledger.history() == ()


def test_one_class_is_refused():
    with pytest.raises(InputError, match="two classes"):
        LogisticRegression(data_norm=1.0).fit(X, np.zeros(4000))


def test_a_penalty_too_weak_for_privacy_says_what_would_do():
    with pytest.raises(CalibrationError, match="too weak") as caught:
        LogisticRegression(C=1e3, epsilon=0.5, data_norm=1.0).fit(X, Y)
    strength = float(re.search(r"C at most ([\d.e+-]+)", str(caught.value))[1].rstrip("."))
    assert LogisticRegression(C=strength, epsilon=0.5, data_norm=1.0).fit(X, Y).release_.is_private


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, 50), (200, 1)])
@pytest.mark.parametrize("C", [None, 1e-6, 1.0])
def test_odd_shapes_and_penalties_give_a_private_model(shape, C):
    rows = np.ones(shape)
    labels = np.arange(shape[0]) % 2
    model = LogisticRegression(C=C, classes=[0, 1], epsilon=2.0, data_norm=1.0).fit(rows, labels)
    assert np.isfinite(model.coef_).all()
