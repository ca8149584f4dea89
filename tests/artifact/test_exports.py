"""Models for readers of skops and ONNX predict as ours do."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import skops.io

from discreet.additive import AdditiveClassifier, AdditiveRegressor
from discreet.artifact import to_onnx, to_skops
from discreet.errors import InputError, InputTypeError
from discreet.linear_model import (
    LinearClassifier,
    LinearRegressor,
    LogisticRegression,
    LowRankRegressor,
    PoissonRegressor,
    Ridge,
    SimplexRegression,
)
from discreet.location import Median
from discreet.preprocessing import BoundedScaler, Category, Numeric
from discreet.privacy import Guarantee
from discreet.svm import LinearSVC
from support.estimators import declare

GENERATOR = np.random.default_rng(8)
X = GENERATOR.uniform(-1, 1, size=(200, 3)) / 2
SIGNAL = X @ [0.9, -0.6, 0.2]
TWO = np.where(SIGNAL > 0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.2, 0.2])
FRAME = pd.DataFrame(
    {
        "age": X[:, 0] * 150 + 50,
        "ward": GENERATOR.choice(["a", "b", "elsewhere"], size=200),
        "grade": GENERATOR.choice([1.0, 2.0, 3.0, np.nan], size=200),
    }
)
FRAME.loc[3, "age"], FRAME.loc[4, "age"] = np.nan, np.inf
COLUMNS = {
    "age": Numeric(0, 100, fill=30),
    "ward": Category(["a", "b", "c"]),
    "grade": Category([1, 2, 3]),
}

PLAIN = {
    "logistic": lambda: LogisticRegression(delta=0, data_norm=1.0).fit(X, TWO),
    "logistic, three classes": lambda: LogisticRegression(delta=0, data_norm=1.0).fit(X, THREE),
    "logistic, truth values": lambda: LogisticRegression(delta=0, data_norm=1.0).fit(X, SIGNAL > 0),
    "classifier": lambda: LinearClassifier(delta=0, data_norm=1.0).fit(X, TWO),
    "classifier, curve": lambda: LinearClassifier(data_norm=1.0).fit(X, TWO),
    "classifier, three classes": lambda: LinearClassifier(delta=0, data_norm=1.0).fit(X, THREE),
    "classifier, three classes at once": lambda: LinearClassifier(data_norm=1.0).fit(X, THREE),
    "logistic, three classes at once": lambda: LogisticRegression(
        mechanism="noisy_gradient", data_norm=1.0
    ).fit(X, THREE),
    "support vectors": lambda: LinearSVC(delta=0, data_norm=1.0).fit(X, TWO),
    "ridge": lambda: Ridge(data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL),
    "simplex": lambda: SimplexRegression(
        max_rows=1000, entry_bound=1.0, target_range=(-1.0, 1.0)
    ).fit(X, SIGNAL),
    "low rank": lambda: LowRankRegressor(data_norm=1.0, target_norm=1.0).fit(
        X, np.column_stack([SIGNAL, -SIGNAL])
    ),
    "low rank, one target": lambda: LowRankRegressor(data_norm=1.0, target_norm=1.0).fit(X, SIGNAL),
    "poisson": lambda: PoissonRegressor(delta=0, data_norm=1.0, max_count=10.0).fit(X, THREE),
}


@cache
def fitted(name):
    return PLAIN[name]()


@cache
def of_columns(model, delta):
    target = TWO if model is LinearClassifier else SIGNAL
    return declare(model, columns=COLUMNS, delta=delta).fit(FRAME, target)


def run(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def check(found, model, table):
    wanted = model.predict(table)
    if found["prediction"].dtype.kind == "f":
        np.testing.assert_allclose(found["prediction"], wanted, rtol=1e-12, atol=1e-14)
    else:
        assert np.array_equal(found["prediction"], wanted)
    if hasattr(model, "decision_function"):
        margins = model.decision_function(table)
        np.testing.assert_allclose(found["margins"], margins, rtol=1e-12, atol=1e-12)
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        chances, margins = model.predict_proba(table), model.decision_function(table)
        # Where all chances of one-vs-rest underflow, runtimes differ in when they are zero.
        sure = np.ones(len(chances), bool) if margins.ndim == 1 else margins.max(axis=1) > -700
        assert sure.any()
        np.testing.assert_allclose(
            found["probabilities"][sure], chances[sure], rtol=1e-12, atol=1e-14
        )


@pytest.mark.parametrize("name", PLAIN)
def test_onnx_predicts_alike(name, tmp_path):
    model = fitted(name)
    path = to_onnx(model, tmp_path / "model.onnx")
    check(run(path, {"X": X}), model, X)
    check(run(path, {"X": 1e3 * X}), model, 1e3 * X)
    said = {prop.key: prop.value for prop in onnx.load(path).metadata_props}
    assert Guarantee.from_json(said["guarantee"]) == model.privacy_
    assert json.loads(said["guarantee"])["unit"] == "add_remove"


@pytest.mark.parametrize("model", [LinearClassifier, LinearRegressor])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_onnx_holds_the_declared_columns(model, delta, tmp_path):
    model = of_columns(model, delta)
    path = to_onnx(model, tmp_path / "model.onnx")
    inputs = {
        "age": FRAME[["age"]].to_numpy(),
        "ward": FRAME[["ward"]].to_numpy(dtype=object),
        "grade": FRAME[["grade"]].to_numpy(),
    }
    check(run(path, inputs), model, FRAME)


@pytest.mark.parametrize("interactions", [False, True], ids=["single", "pairs"])
@pytest.mark.parametrize("kind", [AdditiveClassifier, AdditiveRegressor])
def test_onnx_looks_the_shapes_of_columns_up(kind, interactions, tmp_path):
    columns = COLUMNS | {"height": Numeric(-1, 2), "stays": Numeric(-3, 8, whole=True)}
    rng = np.random.default_rng(0)
    frame = FRAME.assign(height=rng.uniform(-2, 3, size=200))
    frame.loc[:5, "height"] = [np.nan, np.inf, -np.inf, 2.0, -1.0, -1 + 3 * 77 / 256]
    frame["stays"] = rng.integers(-4, 10, size=200) + rng.choice([0.0, 0.5, -0.49], size=200)
    frame.loc[:5, "stays"] = [np.nan, np.inf, -np.inf, -2.5, np.nextafter(2.5, 0), 2.5]
    target = TWO if kind is AdditiveClassifier else SIGNAL
    model = declare(kind, epsilon=5.0, columns=columns, interactions=interactions)
    copies = 20 if interactions else 1  # of 200 rows pairs cannot be told
    model.fit(pd.concat([frame] * copies), np.tile(target, copies))
    assert bool(model.interactions_) == interactions
    path = to_onnx(model, tmp_path / "model.onnx")
    inputs = {
        name: frame[[name]].to_numpy(dtype=object if name == "ward" else float) for name in columns
    }
    check(run(path, inputs), model, frame)


def test_long_rows_are_shortened_in_the_graph(tmp_path):
    wide = {"columns": [Numeric(-1, 1)] * 3}
    model = LinearRegressor(delta=0, **wide, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL)
    rows = np.array([[1.0, 1.0, -1.0], [9.0, -9.0, 0.1], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    path = to_onnx(model, tmp_path / "model.onnx")
    inputs = {f"column_{j + 1}": rows[:, [j]] for j in range(3)}
    check(run(path, inputs), model, rows)
    linear = rows.clip(-1, 1) @ model.coef_ + model.intercept_
    assert abs(linear - model.predict(rows))[0] > 1e-6


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "poisson"])
def test_skops_predicts_alike_and_asks_for_no_trust(name, tmp_path):
    model = fitted(name)
    path = to_skops(model, tmp_path / "model.skops")
    assert skops.io.get_untrusted_types(file=path) == []
    plain = skops.io.load(path)
    assert type(plain).__module__.startswith("sklearn.")
    if hasattr(model, "classes_"):
        assert np.array_equal(plain.predict(X), model.predict(X))
        margins = plain.decision_function(X)
        np.testing.assert_allclose(margins, model.decision_function(X), rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_allclose(plain.predict(X), model.predict(X), rtol=1e-12, atol=1e-14)
    if name == "logistic":
        np.testing.assert_allclose(plain.predict_proba(X), model.predict_proba(X), rtol=1e-9)


def test_skops_of_declared_columns_takes_them_encoded(tmp_path):
    model = of_columns(LinearClassifier, 0.0)
    plain = skops.io.load(to_skops(model, tmp_path / "model.skops"))
    encoded = BoundedScaler(COLUMNS).plain(FRAME)
    assert np.array_equal(plain.predict(encoded), model.predict(FRAME))


def test_names_of_columns_stay_with_the_plain_model(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = Ridge(data_norm=1.0, target_range=(-1.0, 1.0)).fit(frame, SIGNAL)
    plain = skops.io.load(to_skops(model, tmp_path / "model.skops"))
    np.testing.assert_allclose(plain.predict(frame), model.predict(frame), rtol=1e-12)
    assert plain.feature_names_in_.tolist() == ["a", "b", "c"]


def test_what_cannot_be_exported_is_refused_before_a_file_is_made(tmp_path):
    regressor = of_columns(LinearRegressor, 0.0)
    for export, model, says in [
        (to_skops, fitted("poisson"), "PoissonRegressor"),
        (to_skops, regressor, "clips"),
        (to_skops, Median(bounds=(-1.0, 1.0)).fit(X), "linear models"),
        (to_onnx, Median(bounds=(-1.0, 1.0)).fit(X), "linear models"),
        (to_onnx, Ridge(data_norm=1.0, target_range=(-1.0, 1.0)), "not fitted"),
        (to_onnx, mixed(), "one of them"),
        (to_onnx, named("prediction"), "no place"),
    ]:
        with pytest.raises(InputError, match=says):
            export(model, tmp_path / "model")
    with pytest.raises(InputTypeError, match="own models"):
        to_onnx(3, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def mixed():
    columns = [Category(["a", 1]), Numeric(0, 1)]
    return LinearClassifier(columns=columns, delta=0).fit([["a", 0.1], [1, 0.2]], [0, 1])


def named(name):
    frame = pd.DataFrame({name: [0.1, 0.2]})
    return LinearClassifier(columns={name: Numeric(0, 1)}, delta=0).fit(frame, [0, 1])


@pytest.mark.parametrize("export", [to_skops, to_onnx])
def test_exports_overwrite_nothing(export, tmp_path):
    path = tmp_path / "model"
    path.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        export(fitted("ridge"), path)
    assert path.read_text() == "mine"
    with pytest.raises(InputError, match="could not be written"):
        export(fitted("ridge"), tmp_path / "no" / "such" / "folder")


@pytest.mark.parametrize("export", [to_skops, to_onnx])
def test_a_missing_package_is_named(export, tmp_path, monkeypatch):
    for package in ("skops", "onnx"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(InputError, match=r"discreet\[export\]"):
        export(fitted("ridge"), tmp_path / "model")
