"""Every coefficient has a name, and is found by it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from discreet import LinearClassifier
from discreet.artifact import load, save
from discreet.errors import InputError
from discreet.linear_model import LogisticRegression, LowRankRegressor, Ridge, SimplexRegression
from discreet.preprocessing import Category, Numeric

COLUMNS = {"age": Numeric(18, 100), "ward": Category(["a", "b", "c"])}


@pytest.fixture
def frame():
    generator = np.random.default_rng(0)
    age, ward = generator.uniform(18, 100, 300), generator.choice(["a", "b", "c"], 300)
    return pd.DataFrame({"age": age, "ward": ward})


def test_levels_of_encoded_columns_are_named_and_values_are_those_of_coef(frame):
    y = (frame["age"] > 60).to_numpy()
    model = LinearClassifier(math.inf, columns=COLUMNS, classes=[False, True], C=1.0).fit(frame, y)
    names = ["age", "ward_a", "ward_b", "ward_c"]
    assert model.get_feature_names_out().tolist() == names
    found = model.coefficients()
    assert list(found) == [*names, "(intercept)"]
    assert list(found.values()) == [*model.coef_[0], model.intercept_[0]]
    row = {"age": 47.0, "ward": "b"}
    margin = found["age"] * row["age"] + found["ward_b"] + found["(intercept)"]
    assert model.decision_function(pd.DataFrame([row]))[0] == pytest.approx(margin)


def test_several_classes_have_a_table_each(frame):
    y = np.array(["low", "middle", "high"])[np.digitize(frame["age"], [40, 70])]
    model = LinearClassifier(math.inf, columns=COLUMNS, classes=["low", "middle", "high"])
    found = model.fit(frame, y).coefficients()
    assert list(found) == list(model.classes_)
    for place, name in enumerate(model.classes_):
        assert found[name]["age"] == model.coef_[place, 0]
        assert found[name]["(intercept)"] == model.intercept_[place]


def test_columns_without_names_are_numbered_and_may_be_named():
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))
    model = Ridge(math.inf, data_norm=1.0, target_range=(-1, 1)).fit(X, X[:, 0])
    assert list(model.coefficients()) == ["x0", "x1", "(intercept)"]
    assert model.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]
    with pytest.raises(InputError, match="2 names"):
        model.get_feature_names_out(["a"])
    named = Ridge(math.inf, data_norm=1.0, target_range=(-1, 1))
    named.fit(pd.DataFrame(X, columns=["left", "right"]), X[:, 0])
    assert list(named.coefficients()) == ["left", "right", "(intercept)"]
    with pytest.raises(InputError, match="feature_names_in_"):
        named.get_feature_names_out(["right", "left"])


def test_other_models_with_coefficients_name_them_too():
    X = np.random.default_rng(0).uniform(0, 0.5, (60, 2))
    several = LowRankRegressor(math.inf, data_norm=1.0, target_norm=1.0).fit(X, X)
    assert list(several.coefficients()) == [0, 1]
    assert several.coefficients()[1]["x0"] == several.coef_[1, 0]
    weights = SimplexRegression(math.inf, data_range=(0, 1), target_range=(0, 1))
    assert list(weights.fit(X, X[:, 0]).coefficients()) == ["x0", "x1", "(intercept)"]


def test_names_that_come_twice_are_refused_and_not_overwritten(frame):
    clash = {"ward": Category(["a", "b"]), "ward_a": Numeric(18, 100)}
    table = pd.DataFrame({"ward": frame["ward"], "ward_a": frame["age"]})
    model = LinearClassifier(math.inf, columns=clash, classes=[0, 1], C=1.0)
    model.fit(table, (frame["age"] > 50).astype(int))
    with pytest.raises(InputError, match="ward_a"):
        model.coefficients()


def test_a_model_that_is_not_fitted_has_no_names_yet():
    with pytest.raises(NotFittedError):
        LogisticRegression().coefficients()


def test_a_stored_model_keeps_its_names(frame, tmp_path):
    y = (frame["age"] > 60).to_numpy()
    model = LinearClassifier(1.0, columns=COLUMNS, classes=[False, True]).fit(frame, y)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").coefficients() == model.coefficients()
