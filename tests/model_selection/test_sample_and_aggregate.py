"""Averages of any estimator or function over blocks of rows."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import (
    LassoCV,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from discreet import Budget, MemoryLedger
from discreet.errors import InputError, InputTypeError
from discreet.linear_model import LinearRegressor
from discreet.model_selection import SampleAndAggregate
from discreet.preprocessing import Numeric
from support.estimators import rehearsal

GENERATOR = np.random.default_rng(5)
X = GENERATOR.uniform(-1, 1, (6000, 4))
SIGNAL = X @ [1.0, -0.5, 0.0, 0.25] + 0.3 + 0.1 * GENERATOR.standard_normal(6000)
THREE = np.array(["high", "low", "mid"])[np.digitize(SIGNAL, [0.0, 0.6])]
NUMBERS = {"bounds": (-2, 2), "target_range": (-3, 3), "rehearsal": 1, "blocks": 200}


@rehearsal
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("aggregate", ["mean", "winsorised"])
def test_averages_of_a_regression_predict(unit, aggregate):
    model = SampleAndAggregate(
        LinearRegression(), epsilon=4.0, unit=unit, aggregate=aggregate, **NUMBERS
    )
    model.fit(X, SIGNAL)
    np.testing.assert_allclose(model.coef_, [1.0, -0.5, 0.0, 0.25], atol=0.25)
    np.testing.assert_allclose(model.predict(X[:9]), X[:9] @ model.coef_ + model.intercept_)
    assert model.estimate_.tolist() == [*model.coef_, model.intercept_]
    assert hasattr(model, "quartiles_") == (aggregate == "winsorised")
    assert not hasattr(model, "decision_function")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[:9]), model.predict(X[:9]))


@rehearsal
def test_classes_are_decided_by_averaged_margins():
    two = SampleAndAggregate(
        LogisticRegression(), epsilon=4.0, bounds=(-5, 5), blocks=100, rehearsal=2
    )
    two.fit(X, SIGNAL > 0.3)
    assert two.coef_.shape == (1, 4)
    assert np.mean(two.predict(X) == (SIGNAL > 0.3)) > 0.85
    assert ((two.decision_function(X) > 0) == two.predict(X)).all()
    three = clone(two).set_params(classes=["low", "high", "mid"], epsilon=20.0).fit(X, THREE)
    assert three.coef_.shape == (3, 4)
    assert three.classes_.tolist() == ["high", "low", "mid"]
    assert np.mean(three.predict(X) == THREE) > 0.7


@rehearsal
def test_columns_are_encoded_for_blocks_and_coefficients_are_in_their_own_units():
    frame = pd.DataFrame({"age": 50 + 30 * X[:, 0], "ward": np.where(X[:, 1] > 0, "a", "b")})
    y = 0.02 * (frame["age"] - 50) + (frame["ward"] == "a")
    model = SampleAndAggregate(
        Ridge(1e-3), epsilon=20.0, columns={"age": (20, 80), "ward": ["a", "b"]}, **NUMBERS
    ).fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), y, atol=0.1)
    assert abs(model.coef_[0] - 0.02) < 0.005


def quartiles(X, y):
    return np.quantile(X, [0.25, 0.75])


def labels_too(X, y):
    return [np.mean(y)]


@rehearsal
def test_a_function_is_given_labels_only_if_they_are_declared():
    model = SampleAndAggregate(
        quartiles, epsilon=4.0, bounds=([-1, 0], [0, 1]), outputs=2, rehearsal=1
    )
    np.testing.assert_allclose(model.fit(X).estimate_, [-0.5, 0.5], atol=0.2)
    assert not hasattr(model, "predict")
    told = SampleAndAggregate(
        labels_too, epsilon=4.0, bounds=(-1, 1), target_range=(-2, 2), rehearsal=1
    )
    assert abs(told.fit(X, SIGNAL).estimate_[0] - SIGNAL.mean()) < 0.2
    with pytest.raises(InputError, match="y"):
        told.fit(X)


def always_fails(X, y):
    raise ValueError(f"a cell: {X[0, 0]}")


@rehearsal
def test_a_block_that_fails_or_misses_a_class_counts_as_the_middle():
    model = SampleAndAggregate(
        always_fails, epsilon=1e6, delta=0.0, bounds=(2, 4), rehearsal=1
    ).fit(X)
    np.testing.assert_allclose(model.estimate_, [3.0], atol=1e-3)
    one_class = SampleAndAggregate(
        LogisticRegression(),
        epsilon=1e6,
        delta=0.0,
        bounds=(-5, 5),
        classes=["a", "b"],
        rehearsal=1,
    )
    np.testing.assert_allclose(one_class.fit(X, ["a"] * len(X)).coef_, 0.0, atol=1e-3)
    # Fewer rows than blocks: most are empty, and none is an error.
    assert np.isfinite(SampleAndAggregate(Ridge(), **NUMBERS).fit(X[:3], SIGNAL[:3]).coef_).all()
    bad = X.copy()
    bad[::7] = np.nan
    assert np.isfinite(SampleAndAggregate(Ridge(), **NUMBERS).fit(bad, SIGNAL).coef_).all()


def test_one_charge_is_made_and_a_wrong_parameter_makes_none():
    ledger = MemoryLedger(Budget(2.0, 1e-6))
    model = SampleAndAggregate(
        Ridge(), epsilon=1.0, bounds=(-2, 2), target_range=(-3, 3), blocks=20, ledger=ledger
    )
    model.fit(X[:400], SIGNAL[:400])
    assert len(ledger.history()) == 1
    assert model.privacy_.epsilon(1e-9) <= 1.0
    facts = {fact.what: fact.words for fact in model.release_.facts}
    assert facts["blocks"] == "20"
    for change, says in (
        ({"estimator": None}, "estimator"),
        ({"estimator": 3}, "a function"),
        ({"estimator": KNeighborsRegressor()}, "has no coef_"),
        ({"columns": {"a": Numeric(None, None, public_bounds=(0, 9))}}, "finds no ranges"),
        ({"estimator": LinearRegressor(data_norm=1.0)}, "pays for every block"),
        ({"estimator": make_pipeline(LinearRegressor(data_norm=1.0))}, "pays for every block"),
        ({"bounds": None}, "bounds"),
        ({"bounds": "wide"}, "a low number below"),
        ({"bounds": (2, -2)}, "a low number below"),
        ({"bounds": (-np.inf, 1)}, "a low number below"),
        ({"bounds": ([0, 0], [1, 1])}, "each of the 5 numbers"),
        ({"bounds": -1.0}, "bounds"),
        ({"blocks": 0}, "blocks"),
        ({"blocks": 2**24}, "at most"),
        ({"aggregate": "median"}, "aggregate"),
        ({"aggregate": "winsorised", "bounds": 2.0}, "declare a Box"),
        ({"outputs": 0}, "outputs"),
        ({"backend": "ants"}, "kind"),
        ({"backend": "dask"}, "needs a current Dask client"),
    ):
        with pytest.raises((InputError, InputTypeError), match=says):
            clone(model).set_params(ledger=ledger, **change).fit(X[:400], SIGNAL[:400])
    assert len(ledger.history()) == 1


@pytest.mark.parametrize("seed", [None, 0])
def test_splitters_without_randomness_or_with_a_seed_are_fine(seed):
    """And threads that a model asks joblib for would not be silent: none is started."""
    cv = KFold(2) if seed is None else ShuffleSplit(2, random_state=seed)
    estimator = LassoCV(n_jobs=2, max_iter=1, alphas=3, cv=cv)
    model = SampleAndAggregate(estimator, bounds=(-2, 2), target_range=(-5, 5), blocks=3)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X[:200], SIGNAL[:200])
    assert heard == []
