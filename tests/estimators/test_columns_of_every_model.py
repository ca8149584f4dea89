"""The textbook's models take declared columns as the headline models do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.ledger import MemoryLedger
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from discreet.preprocessing import BoundedScaler, Category, Numeric
from discreet.privacy import Budget
from discreet.questions import Bounds
from support.estimators import coefficients, rehearsal

MODELS = (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
every = pytest.mark.parametrize("model", MODELS, ids=lambda kind: kind.__name__)
deltas = pytest.mark.parametrize("delta", [0.0, 1e-6])

N = 400
COLUMNS = {"age": Numeric(18, 100), "ward": Category(["a", "b"])}
_GENERATOR = np.random.default_rng(3)
CELLS = {"age": _GENERATOR.uniform(20, 90, N), "ward": _GENERATOR.choice(["a", "b", "c"], N)}
SCORE = (CELLS["age"] - 55) / 35 + (CELLS["ward"] == "a") - 0.5


def labels(model):
    if model is LogisticRegression:
        return SCORE > 0
    return np.rint(SCORE + 2) if model is PoissonRegressor else SCORE


def make(model, columns=COLUMNS, **more):
    extra = {"target_range": (-2.0, 2.0)}
    if model is LogisticRegression:
        extra = {"classes": [False, True]}
    elif model is PoissonRegressor:
        extra = {}
    return model(**{"columns": columns, **extra, "epsilon": 2.0, "rehearsal": 5, **more})


def frame(pd):
    return pd.DataFrame(CELLS)


def array():
    return np.column_stack([CELLS[name].astype(object) for name in CELLS])


@rehearsal
@deltas
@every
def test_frames_arrays_and_files_give_the_same_model(model, delta, tmp_path):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    y = labels(model)
    fit = make(model, delta=delta).fit(frame(pd), y)
    listed = make(model, list(COLUMNS.values()), delta=delta).fit(array(), y)
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({**CELLS, "y": y}), path)
    stored = make(model, delta=delta, max_rows=1000).fit(str(path), target="y")
    held = make(model, delta=delta, max_rows=1000).fit(frame(pd), y)
    assert coefficients(fit).tolist() == coefficients(listed).tolist()
    assert coefficients(stored).tolist() == coefficients(held).tolist()
    assert np.shape(fit.coef_)[-1] == 3
    assert fit.get_feature_names_out().tolist() == ["age", "ward_a", "ward_b"]
    assert fit.predict(frame(pd)).tolist() == listed.predict(array()).tolist()


@rehearsal
@deltas
@every
def test_noise_is_made_for_the_norm_that_follows_from_the_columns(model, delta):
    fit = make(model, list(COLUMNS.values()), delta=delta)
    scaler = BoundedScaler(list(COLUMNS.values()), centre_categories=delta > 0, data_norm=None)
    features = fit.feature_map()
    found = Bounds(features.region, n_features=3).row_norm()
    assert scaler.row_norm() <= found < 1.00001 * scaler.row_norm()


@every
def test_coefficients_are_in_the_users_own_units(model):
    fit = make(model, epsilon=math.inf, delta=1e-6, rehearsal=None, max_rows=1000)
    more = {} if model in (LogisticRegression, PoissonRegressor) else {"alpha": 1e-6}
    fit = fit.set_params(**more).fit(frame(pytest.importorskip("pandas")), labels(model))
    slopes = fit.coefficients()
    assert slopes["ward_a"] > slopes["ward_b"]
    assert slopes["age"] == pytest.approx(1 / 35, rel=0.1) or model not in (Ridge, HuberRegressor)


@every
def test_ranges_that_nobody_declared_are_refused_before_anything_is_paid(model):
    ledger = MemoryLedger(Budget(9, 0.5))
    columns = [Numeric(None, None, public_bounds=(0, 1000)), COLUMNS["ward"]]
    fit = make(model, columns, rehearsal=None, ledger=ledger)
    with pytest.raises(InputError, match="finds no ranges"):
        fit.fit(array(), labels(model))
    assert ledger.history() == ()


@pytest.mark.parametrize("model", [LogisticRegression, PoissonRegressor, Ridge])
def test_intervals_of_a_category_are_refused_before_anything_is_paid(model):
    ledger = MemoryLedger(Budget(9, 0.5))
    fit = make(model, delta=1e-6, rehearsal=None, ledger=ledger, intervals=True)
    with pytest.raises(InputError, match="columns of numbers"):
        fit.fit(frame(pytest.importorskip("pandas")), labels(model))
    assert ledger.history() == ()


@rehearsal
def test_intervals_of_declared_numbers_are_in_their_units():
    generator = np.random.default_rng(0)
    X = generator.uniform([0, 100], [10, 200], size=(40_000, 2))
    y = 0.2 * X[:, 0] - 0.01 * X[:, 1] + 0.3 * generator.normal(size=len(X))
    model = Ridge(
        5.0, 1e-6, columns=[(0, 10), (100, 200)], target_range=(-3, 3), intervals=True, rehearsal=2
    ).fit(X, y)
    (low, high), (least, most) = model.confidence_interval(level=0.999)
    assert low < 0.2 < high
    assert least < -0.01 < most
    assert max(high - low, 10 * (most - least)) < 0.1
    assert [row.name for row in model.summary()] == ["x0", "x1", "intercept"]
