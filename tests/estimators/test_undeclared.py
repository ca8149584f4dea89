"""What is not declared is not guessed: a refusal before the charge that says what to declare."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from discreet import Budget, LinearClassifier, LinearRegressor, MemoryLedger
from discreet.errors import InputError
from discreet.estimators.registry import all_estimators
from discreet.linear_model import LogisticRegression, SimplexRegression
from discreet.preprocessing import BoundedScaler, Category, Numeric
from support.estimators import declare, labels_for, make

GENERATOR = np.random.default_rng(3)
RAW = GENERATOR.uniform(0, 200, size=(300, 8))
DECLARING = [kind for kind in all_estimators() if kind.must_declare]


def refusal(model, rows, labels):
    """Return what a fit says that is refused, having charged nothing."""
    model.ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(InputError) as caught:
        model.fit(rows, labels)
    assert model.ledger.history() == ()
    return str(caught.value)


@pytest.mark.parametrize("kind", DECLARING)
def test_a_fit_of_nothing_declared_is_refused_before_the_charge(kind):
    said = refusal(kind(), RAW, labels_for(kind))
    assert all(any(way in said for way in ways) for ways in kind.must_declare)
    assert said.startswith(f"{kind.__name__} must be told ")


@pytest.mark.parametrize("kind", DECLARING)
def test_the_call_that_a_refusal_shows_declares_all_that_is_missing(kind):
    call = refusal(kind(), RAW, labels_for(kind)).split("as in ")[1].removesuffix(".")
    shown = eval(call, {kind.__name__: kind, "Numeric": Numeric, "Category": Category})
    assert all(any(getattr(shown, way) is not None for way in ways) for ways in kind.must_declare)


@pytest.mark.parametrize("kind", DECLARING)
def test_each_thing_that_is_missing_is_asked_for_by_itself(kind):
    for ways in kind.must_declare:
        model = make(kind).set_params(**dict.fromkeys(ways))
        said = refusal(model, RAW, labels_for(kind))
        others = [way for other in kind.must_declare if other != ways for way in other]
        assert all(way in said for way in ways)
        assert not any(way in said for way in others)


def test_columns_stand_for_a_norm_and_a_range_of_entries_too():
    columns = [Numeric(0, 200)] * 8
    y = RAW[:, 0] > 100
    assert LinearClassifier(columns=columns, classes=[False, True]).fit(RAW, y).release_
    assert LinearRegressor(columns=columns, target_range=(0, 200)).fit(RAW, RAW[:, 0]).release_
    model = SimplexRegression(data_range=(0, 200), target_range=(0, 200), max_rows=1000)
    assert model.fit(RAW, RAW[:, 0]).release_


def test_a_scaler_hands_rows_on_that_the_next_step_does_not_shorten():
    # In [-1, 1] eight columns have norm 2.83; a bound of one would shorten nearly all rows.
    columns = [Numeric(0, 200)] * 8
    y = (RAW @ np.arange(8) > 2800) ^ (np.arange(len(RAW)) % 7 == 0)  # not separated
    scaled = BoundedScaler(columns)
    longest = np.linalg.norm(scaled.transform(np.full((1, 8), 200.0)))
    assert 1 - 1e-12 < longest <= 1
    exact = {"epsilon": math.inf, "classes": [False, True], "max_rows": 1000}
    pipeline = make_pipeline(scaled, LogisticRegression(data_norm=1.0, **exact)).fit(RAW, y)
    in_box = BoundedScaler(columns, data_norm=None)
    wide = LogisticRegression(data_norm=in_box.row_norm(), **exact).fit(in_box.transform(RAW), y)
    np.testing.assert_allclose(
        scaled.fold(pipeline[-1].coef_, pipeline[-1].intercept_)[0],
        in_box.fold(wide.coef_, wide.intercept_)[0],
        rtol=1e-6,
    )


def test_declare_of_the_tests_leaves_given_parameters_alone():
    assert declare(LogisticRegression, 1.0, 1e-6, data_norm=7.0).data_norm == 7.0
    assert declare(LinearRegressor, columns=[Numeric(0, 1)]).data_norm is None
