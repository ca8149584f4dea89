"""The two headline models take tables as they are, and answer in the user's own units."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from discreet import Budget, LinearClassifier, LinearRegressor, MemoryLedger
from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric
from support.estimators import WITH_COLUMNS, coefficients, rehearsal

_GENERATOR = np.random.default_rng(4)
N = 300
COLUMNS = {
    "age": Numeric(18, 100, fill=40),
    "town": Category(["a", "b", "c"]),
    "pay": Numeric(-50, 900),
    "member": Category([False, True]),
}
CELLS = {
    "age": _GENERATOR.uniform(10, 110, N),  # some outside
    "town": _GENERATOR.choice(["a", "b", "c", "elsewhere"], N),
    "pay": np.where(_GENERATOR.uniform(size=N) < 0.1, np.nan, _GENERATOR.uniform(-50, 900, N)),
    "member": _GENERATOR.integers(0, 2, N).astype(bool),
}
SCORE = 0.02 * CELLS["age"] + (CELLS["town"] == "b") + 0.001 * np.nan_to_num(CELLS["pay"]) - 1.6
CLASSES = np.where(SCORE > 0, "ill", "well")
LEVELS = np.array(["low", "middle", "high"])[np.digitize(SCORE, [-0.5, 0.5])]
both = pytest.mark.parametrize("model", WITH_COLUMNS)


def array():
    return np.column_stack([CELLS[name].astype(object) for name in COLUMNS])


def labels(model):
    return SCORE if model is LinearRegressor else CLASSES


def settings(model, **more):
    extra = {"target_range": (-2.0, 2.0)} if model is LinearRegressor else {}
    return {"columns": COLUMNS, **extra, **more}


def frame(pd, **cells):
    return pd.DataFrame({**CELLS, **cells})


@rehearsal
@both
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_frames_of_both_kinds_and_arrays_give_the_same_model(model, delta):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    parameters = settings(model, delta=delta, rehearsal=3, epsilon=5.0)
    y = labels(model)
    pandas = model(**parameters).fit(frame(pd), y)
    shuffled = model(**parameters).fit(frame(pd)[["pay", "town", "member", "age"]], y)
    polars = model(**parameters).fit(pl.DataFrame(CELLS), y)
    listed = model(**{**parameters, "columns": list(COLUMNS.values())}).fit(array(), y)
    for other in (shuffled, polars, listed):
        np.testing.assert_array_equal(coefficients(other), coefficients(pandas))
    predicted = pandas.predict(frame(pd))
    for other, table in ((polars, pl.DataFrame(CELLS)), (listed, array())):
        np.testing.assert_array_equal(other.predict(table), predicted)
    assert pandas.feature_names_in_.tolist() == list(COLUMNS)
    assert pandas.n_features_in_ == polars.n_features_in_ == listed.n_features_in_ == 4
    assert not hasattr(listed, "feature_names_in_")


@pytest.mark.parametrize("setting", [{"delta": 0.0}, {"delta": 1e-6}, {"epsilon": math.inf}])
def test_coefficients_are_in_the_users_units(setting):
    fit = LinearClassifier(columns=list(COLUMNS.values()), **setting).fit(array(), CLASSES)
    inside = np.array([[30.0, "a", 100.0, True], [30.0, "b", 100.0, True]], dtype=object)
    assert fit.coef_.shape[-1] == 1 + 3 + 1 + 2
    margin = fit.decision_function(inside)
    coef, intercept = fit.coef_[0], fit.intercept_[0]
    by_hand = 30 * coef[0] + coef[[1, 2]] + 100 * coef[4] + coef[6] + intercept
    np.testing.assert_allclose(margin, by_hand)


@both
@pytest.mark.parametrize("setting", [{"delta": 0.0}, {"delta": 1e-6}, {"epsilon": math.inf}])
def test_predictions_are_those_of_the_encoded_model(model, setting):
    # What was released, applied to rows encoded and clipped as in the fit.
    fit = model(**settings(model, columns=list(COLUMNS.values()), **setting))
    fit.fit(array(), labels(model))
    features = fit.feature_map()
    encoded = features.scaler.transform(array())
    clipped = encoded * features.region.clip_rows(encoded)[1][:, None]
    rows = np.column_stack([clipped, np.full(N, features.constant)])
    margins = rows @ fit.release_.value[: rows.shape[1]]  # counts of scores come after them
    if model is LinearRegressor:
        assert (clipped != encoded).any()
        np.testing.assert_allclose(fit.predict(array()), margins, rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(fit.decision_function(array()), margins, rtol=1e-9, atol=1e-9)


@both
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_a_fit_costs_the_epsilon_asked_and_leaves_public_things(model, delta, unit):
    fit = model(**settings(model, columns=list(COLUMNS.values()), delta=delta, unit=unit))
    fit.fit(array(), labels(model))
    assert 0.999 <= fit.privacy_.epsilon(delta) <= 1.0
    expected = {"coef_", "intercept_", "n_features_in_", "ranges_", "release_", "privacy_"}
    if model is not LinearRegressor:
        expected |= {"classes_", "multiclass_"}
    if model is LinearClassifier:
        expected |= {"margin_", "probability_curve_"}
    assert set(vars(fit)) - set(fit.get_params()) == expected


@rehearsal
@both
def test_it_learns(model):
    # Fixed rehearsal noise.
    plenty = np.tile(array(), (20, 1))
    fit = model(**settings(model, columns=list(COLUMNS.values()), delta=1e-6, rehearsal=1))
    fit.fit(plenty, np.tile(labels(model), 20))
    assert fit.score(array(), labels(model)) > 0.85


@rehearsal
def test_several_classes_are_told_apart():
    # Fixed rehearsal noise.
    parameters = {"delta": 0.0, "epsilon": 60.0, "rehearsal": 1}
    fit = LinearClassifier(columns=list(COLUMNS.values()), **parameters).fit(array(), LEVELS)
    assert fit.coef_.shape == (3, 7)
    np.testing.assert_allclose(fit.predict_proba(array()).sum(axis=1), 1.0)
    assert fit.score(array(), LEVELS) > 0.6


@both
def test_hostile_cells_are_no_error(model):
    hostile = array()
    hostile[0], hostile[1] = [None] * 4, ["x", 5, "nan", "maybe"]
    hostile[2, 0], hostile[3, 2], hostile[4, 1] = math.inf, 1e308, object()
    ledger = MemoryLedger(Budget(1.0))
    columns = list(COLUMNS.values())
    fit = model(**settings(model, columns=columns, delta=0.0, ledger=ledger))
    fit.fit(hostile, labels(model))
    assert np.isfinite(fit.coef_).all()
    assert len(ledger.history()) == 1
    assert len(fit.predict(hostile)) == N
    if model is LinearRegressor:
        assert np.isfinite(fit.predict(hostile)).all()


@both
def test_listed_columns_of_a_frame_keep_the_order_of_the_fit(model):
    pd = pytest.importorskip("pandas")
    fit = model(**settings(model, columns=list(COLUMNS.values()), delta=0.0))
    fit.fit(frame(pd), labels(model))
    with pytest.raises(InputError, match="order"):
        fit.predict(frame(pd)[["pay", "town", "age", "member"]])
    named = model(**settings(model, delta=0.0)).fit(frame(pd), labels(model))
    np.testing.assert_array_equal(
        named.predict(frame(pd)[["pay", "town", "age", "member"]]), named.predict(frame(pd))
    )


@both
def test_predicting_from_other_columns_is_refused(model):
    pd = pytest.importorskip("pandas")
    fit = model(**settings(model, delta=0.0)).fit(frame(pd), labels(model))
    with pytest.raises(InputError, match="missing"):
        fit.predict(frame(pd).drop(columns="town"))
    with pytest.raises(InputError, match="as well"):
        fit.predict(frame(pd, more=np.zeros(N)))


@both
def test_clones_pickles_and_cross_validation_keep_the_declaration(model):
    pd = pytest.importorskip("pandas")
    fit = model(**settings(model, delta=0.0)).fit(frame(pd), labels(model))
    assert clone(fit).columns == COLUMNS
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.predict(frame(pd)), fit.predict(frame(pd)))
    scores = cross_val_score(clone(fit), frame(pd), labels(model), cv=3, error_score="raise")
    assert np.isfinite(scores).all()


@rehearsal
@both
def test_weights_count_beside_columns(model):
    parameters = settings(model, columns=list(COLUMNS.values()), max_weight=2.0)
    parameters |= {"epsilon": math.inf, "max_rows": 1000}
    weights = _GENERATOR.integers(0, 3, N).astype(float)
    weighted = model(**parameters).fit(array(), labels(model), sample_weight=weights)
    plain = model(**parameters).fit(array(), labels(model))
    assert np.abs(coefficients(weighted) - coefficients(plain)).max() > 1e-4


@both
def test_the_tags_say_that_missing_values_are_welcome(model):
    assert get_tags(model(columns=COLUMNS)).input_tags.allow_nan
