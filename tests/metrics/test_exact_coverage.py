"""Intervals hold the exact score, that of the model without bins, as often as they say."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn import metrics as plain

from discreet.linear_model import LogisticRegression, Ridge
from discreet.metrics import private_score
from discreet.metrics.inversion import PairMean

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

DRAWS, LEAST = 20, 16
"""Draws are fixed. At a coverage of 95 % fewer than 16 of 20 have a chance of 0.3 %."""


def _fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


GRID = np.linspace(-1, 1, 400)[:, None]
MODEL = _fitted(
    LogisticRegression(epsilon=math.inf, data_norm=2.0, C=1.0, classes=[0, 1]),
    GRID,
    (GRID[:, 0] + 0.4 * np.sin(50 * GRID[:, 0]) > 0).astype(int),
)


def _rows(seed, count=1500):
    """Eleven in a hundred are positive, and log-odds are calibrated, with a deviation of 0.45."""
    draw = np.random.default_rng(seed)
    z = -2.15 + 0.45 * draw.normal(size=count)
    X = ((z - MODEL.intercept_[0]) / MODEL.coef_[0, 0])[:, None]
    return X, (draw.uniform(size=count) < expit(z)).astype(int)


def test_scores_of_these_rows_are_covered_where_positives_are_rare():
    hits = dict.fromkeys(("roc_auc", "log_loss", "brier", "accuracy"), 0)
    for seed in range(DRAWS):
        X, y = _rows(seed)
        chances = MODEL.predict_proba(X)[:, 1]
        exact = {
            "roc_auc": plain.roc_auc_score(y, chances),
            "log_loss": plain.log_loss(y, chances),
            "brier": plain.brier_score_loss(y, chances),
            "accuracy": plain.accuracy_score(y, MODEL.predict(X)),
        }
        scores = private_score(MODEL, X, y, tuple(exact), epsilon=30.0, expected_rows=1500,
                               on_training_rows=True, rehearsal=seed)  # fmt: skip
        for line in scores.table():  # what a card and the command line print
            hits[line["score"]] += line["low"] <= exact[line["score"]] <= line["high"]
    assert min(hits.values()) >= LEAST


def test_an_area_without_its_allowance_is_not_covered():
    X, y = _rows(3, count=20_000)
    exact = plain.roc_auc_score(y, MODEL.decision_function(X))
    options = {"metrics": ["roc_auc", "brier"], "epsilon": math.inf, "expected_rows": 1}
    counted = private_score(MODEL, X, y, **options)
    few = private_score(
        MODEL, X, y, ["brier"], epsilon=math.inf, expected_rows=10**6
    )  # 32 fixed bins
    for scores in (counted, few):
        low, high = scores["roc_auc"].interval(of="sample")
        assert low <= exact <= high
    negatives, positives = few.counts[1:].reshape(2, -1, 2).sum(axis=2)
    middle = PairMean(np.arange(few.bins.total)).of(positives, negatives)
    assert abs(middle - exact) > 0.003
    assert few["roc_auc"].allowance > abs(middle - exact)


def test_errors_of_rows_that_are_alike_are_covered_from_files(tmp_path):
    # Four predictions, targets of zero and one: few kinds of rows, so few coins if shared.
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"a": draw.choice([-0.9, -0.2, 0.3, 0.8], 4000)})
    frame["y"] = (draw.uniform(size=4000) < 0.4 + 0.3 * frame["a"]).astype(float)
    model = _fitted(
        Ridge(epsilon=math.inf, data_norm=2.0, target_range=(0.0, 1.0)), frame[["a"]], frame["y"]
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    exact = np.mean((np.clip(model.predict(frame[["a"]]), 0, 1) - frame["y"]) ** 2)
    hits = 0
    for seed in range(DRAWS):
        scores = private_score(model, str(tmp_path), metrics=["mse"], target="y", epsilon=1.0,
                               on_training_rows=True, rehearsal=seed)  # fmt: skip
        low, high = scores["mse"].interval()
        hits += low <= exact <= high
    assert hits >= LEAST
