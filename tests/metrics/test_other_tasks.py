"""Several classes, and numbers."""

from __future__ import annotations

import math
import warnings

import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as plain

from discreet.data.stored import RowPlace
from discreet.errors import InputError
from discreet.linear_model import LogisticRegression, PoissonRegressor, Ridge
from discreet.metrics import private_score
from discreet.metrics.errors_of_numbers import NODES, ErrorCells
from discreet.metrics.scored_table import RowCoins
from discreet.questions import Interval

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


def _three(count=400):
    draw = np.random.default_rng(6)
    X = draw.standard_normal((count, 2))
    return X, np.array(["a", "b", "c"])[
        (X @ [[2, -1, 0], [0, 1, -2]] + draw.gumbel(size=(count, 3))).argmax(axis=1)
    ]


X, NAMES = _three()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    THREE = LogisticRegression(epsilon=8.0, delta=0.0, data_norm=3.0, classes=["a", "b", "c"])
    THREE.fit(X, NAMES)
    COSTS = X @ [0.3, -0.2] + 0.1
    NUMBERS = Ridge(epsilon=8.0, delta=0.0, data_norm=3.0, target_range=(-2.0, 2.0)).fit(X, COSTS)
EXACT = {"epsilon": math.inf, "expected_rows": 10**6}


def test_without_noise_scores_of_three_classes_are_scikit_learns():
    names = ("accuracy", "balanced_accuracy", "f1_macro", "precision_macro", "log_loss")
    scores, said = private_score(THREE, X, NAMES, names, **EXACT), THREE.predict(X)
    np.testing.assert_allclose(scores.confusion_matrix, plain.confusion_matrix(NAMES, said))
    expected = {
        "accuracy": plain.accuracy_score(NAMES, said),
        "balanced_accuracy": plain.balanced_accuracy_score(NAMES, said),
        "f1_macro": plain.f1_score(NAMES, said, average="macro"),
        "precision_macro": plain.precision_score(NAMES, said, average="macro"),
    }
    for name, value in expected.items():
        assert scores[name].value == pytest.approx(value)
        low, high = scores[name].interval()
        assert low < value < high
    assert scores.of_class("b", "recall").value == pytest.approx(
        plain.recall_score(NAMES, said, labels=["b"], average=None)[0]
    )
    loss = plain.log_loss(NAMES, THREE.predict_proba(X))
    low, high = scores["log_loss"].interval(1 - 1e-6, of="sample")  # of the coins
    assert low <= loss <= high < low + 0.2


def test_a_second_histogram_is_paid_for_with_noise():
    alone = private_score(THREE, X, NAMES, ["accuracy"], epsilon=1.0)
    both = private_score(THREE, X, NAMES, ["accuracy", "log_loss"], epsilon=1.0)
    assert both.noise.scale == pytest.approx(2 * alone.noise.scale)
    assert both.privacy_.epsilon(0.0) <= 1.0
    with pytest.raises(KeyError):
        alone["log_loss"]
    with pytest.raises(InputError, match="label must be"):
        alone.of_class("d", "recall")


def test_one_record_changes_one_cell_of_each_histogram():
    names = ["accuracy", "log_loss"]
    whole = private_score(THREE, X, NAMES, names, rehearsal=1, **EXACT).release_.value
    less = private_score(THREE, X[:-1], NAMES[:-1], names, rehearsal=1, **EXACT).release_.value
    assert np.abs(whole - less).sum() == 2


def test_errors_are_rounded_without_a_bias_of_their_squares():
    # Fixed coins: nothing here can flake; 5 standard errors are allowed.
    draw = np.random.default_rng(1)
    errors = draw.uniform(0, 1, 40_000) ** 3
    join = ErrorCells(Interval(0.0, 1.0), RowCoins(bytes(range(32))))
    cells = join(errors[:, None], np.zeros(errors.size), RowPlace())
    nodes = NODES[cells[:, 0].astype(int) - 1]
    spread = 5 * np.std(nodes**2 - errors**2) / math.sqrt(errors.size)
    assert abs((nodes**2 - errors**2).mean()) < spread
    short = errors.mean() - nodes.mean()
    assert -0.001 <= short <= 0.015 * errors.mean() + 0.0014
    below = np.searchsorted(NODES, errors, side="right") - 1
    assert ((nodes == NODES[below]) | (nodes == NODES[np.minimum(below + 1, 16)])).all()


def test_errors_of_a_regressor_are_near_their_true_means():
    scores = private_score(NUMBERS, X, COSTS, ["mse", "rmse", "mae"], **EXACT)
    said = np.clip(NUMBERS.predict(X), -2, 2)
    for name, value in [
        ("mse", np.mean((said - COSTS) ** 2)),
        ("mae", np.abs(said - COSTS).mean()),
        ("rmse", math.sqrt(np.mean((said - COSTS) ** 2))),
    ]:
        low, high = scores[name].interval(0.99)
        assert low <= value <= high
        assert low <= scores[name].value <= high
    assert scores.counts.sum() == len(X)


def test_coins_are_secret_and_change_one_cell_of_one_row():
    first, second = (private_score(NUMBERS, X, COSTS, **EXACT).counts for _ in range(2))
    assert not np.array_equal(first, second)
    labels = np.append(COSTS, np.nan)
    rows = np.vstack([X, X[:1]])
    assert private_score(NUMBERS, rows, labels, **EXACT).release_.value[0] == 1


def test_numbers_of_stored_tables_are_scored():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(cost=COSTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Ridge(epsilon=8.0, delta=0.0, data_norm=3.0, target_range=(-2.0, 2.0))
        model.fit(frame[["a", "b"]], COSTS)
    stored = dask.dataframe.from_pandas(frame, npartitions=2)
    found = private_score(model, stored, target="cost", epsilon=math.inf)
    assert found.counts.sum() == len(X)


def test_ranges_come_from_the_model_or_are_declared():
    counts = np.clip(np.rint(np.abs(X[:, 0]) * 2), 0, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoissonRegressor(epsilon=8.0, delta=0.0, data_norm=3.0, max_count=9)
        model.fit(X, counts)
    assert private_score(model, X, counts, rehearsal=1).interval == Interval(0.0, 9.0)
    declared = private_score(model, X, counts, target_range=(0, 20), rehearsal=1)
    assert declared.interval == Interval(0.0, 20.0)
    with pytest.raises(InputError, match="target_range"):
        private_score(THREE, X, NAMES, target_range=(0, 1))
    with pytest.raises(InputError, match="metrics must be among mse"):
        private_score(model, X, counts, ["accuracy"])


def test_without_r2_errors_alone_are_released():
    alone = private_score(NUMBERS, X, COSTS, epsilon=1.0)
    both = private_score(NUMBERS, X, COSTS, ["mse", "r2"], epsilon=1.0)
    assert alone.release_.value.size == 18
    assert both.release_.value.size == 18 + 34
    assert both.noise.scale == pytest.approx(2 * alone.noise.scale)
    assert both.privacy_.epsilon(0.0) <= 1.0
    with pytest.raises(KeyError, match="mse, rmse, mae"):
        alone["r2"]
