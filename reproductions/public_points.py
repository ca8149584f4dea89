"""Kernels by public points, and regression in many columns: Jain and Thakurta (2013), figure 2.

A polynomial kernel of degree three on covtype, and linear regression in some 20,000 columns on
assist2015 in the place of KDD Cup 2010, against objective perturbation with gamma noise. Both use a
few rows of the part for testing as public points, as the paper's semi-interactive model does.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import Ridge

from discreet import LinearClassifier, LinearRegressor
from discreet.errors import RehearsalWarning
from discreet.kernel import LandmarkClassifier
from discreet.kernels import Linear, Polynomial
from discreet.preprocessing import Numeric
from discreet.preprocessing.landmark_map import LandmarkMap

DELTA = 1e-6
PENALTIES = (0.1, 1.0, 10.0, 100.0)
"""Of ridge regression without privacy: the best on a quarter of the rows."""


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, rows to test on, and public points, which are neither."""

    train: Any
    labels: np.ndarray
    test: Any
    truth: np.ndarray
    points: Any


def _cut(X: Any, y: np.ndarray, rows: int, tested: int, points: int) -> Split:
    order = np.random.default_rng(7).permutation(len(y))
    held, kept = order[: tested + points], order[tested + points :][:rows]
    test, public = held[:tested], held[tested:]
    return Split(X[kept], y[kept], X[test], y[test], X[public])


def read_covtype(
    folder: Path, rows: int = 75_000, points: int = 300
) -> tuple[Split, list[Numeric]]:
    """Return covtype, the commonest cover or another, with ranges of its columns."""
    frame = pd.read_parquet(folder / "covtype" / "data.parquet")
    y = frame.pop("target").to_numpy()
    X = frame.to_numpy(np.float64)
    values, counts = np.unique(y, return_counts=True)
    low, high = np.quantile(X, 0.01, axis=0), np.quantile(X, 0.99, axis=0)
    columns = [Numeric(a, max(b, a + 1)) for a, b in zip(low, high, strict=True)]
    tested = min(15_000, len(y) // 5)
    return _cut(X, y == values[counts.argmax()], rows, tested, points), columns


def read_answers(folder: Path, rows: int = 20_000, points: int = 200) -> Split:
    """Return assist2015: who answered which exercise, rows of norm one, and whether rightly."""
    X = sparse.csr_array(sparse.load_npz(folder / "assist2015" / "X.npz")).astype(np.float64)
    y = np.load(folder / "assist2015" / "y.npy").astype(np.float64)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_array(sparse.diags_array(1 / np.maximum(norms, 1e-12)) @ X)
    return _cut(X, y, rows, min(20_000, len(y) // 5), points)


def classify(split: Split, columns: list[Numeric], epsilons: Any, seeds: range) -> dict[str, Any]:
    """Return the accuracy of the polynomial kernel and of a linear model, mean over seeds."""
    kernel = Polynomial(degree=3, scale=1 / len(columns), offset=1.0)
    told: dict[str, Any] = {"delta": DELTA, "columns": columns, "classes": [False, True]}
    makers = {
        "polynomial kernel": lambda **more: LandmarkClassifier(
            landmarks=split.points, kernel=kernel, **told, **more
        ),
        "linear": lambda **more: LinearClassifier(**told, **more),
    }
    return {
        name: [_mean(make, epsilon, seeds, split, _accuracy) for epsilon in epsilons]
        for name, make in makers.items()
    }


def regress(split: Split, epsilons: Any, seeds: range) -> dict[str, Any]:
    """Return the root mean squared error of each regression, mean over seeds."""
    told: dict[str, Any] = {"data_norm": 1.0, "target_range": (0.0, 1.0)}
    # Answers are zeros and ones: beyond a residual of one the loss would follow their median.
    told |= {"mechanism": "objective_perturbation", "max_rows": 2**16, "threshold": 1.0}
    seen = see_from_points(split)
    makers = {
        "public points": (seen, lambda **more: LinearRegressor(delta=DELTA, **told, **more)),
        "all columns, gamma noise": (
            split,
            lambda **more: LinearRegressor(delta=0.0, **told, **more),
        ),
        "all columns, Gaussian noise": (
            split,
            lambda **more: LinearRegressor(delta=DELTA, **told, **more),
        ),
    }
    return {
        name: [_mean(make, epsilon, seeds, rows, _rmse) for epsilon in epsilons]
        for name, (rows, make) in makers.items()
    }


def see_from_points(split: Split) -> Split:
    """Return rows as features of the linear kernel on public points: what LandmarkRegressor maps.

    All rows at once by a sparse product, since they are the same for every fit.
    """
    points = split.points.toarray()
    directions = points.T @ LandmarkMap(Linear(), points).matrix
    return Split(
        split.train @ directions, split.labels, split.test @ directions, split.truth, points
    )


def least_squares(split: Split) -> float:
    """Return the error of ridge regression without privacy."""
    cut = 3 * split.train.shape[0] // 4

    def error(alpha: float) -> float:
        model = Ridge(alpha).fit(split.train[:cut], split.labels[:cut])
        return float(np.mean((model.predict(split.train[cut:]) - split.labels[cut:]) ** 2))

    return _rmse(Ridge(min(PENALTIES, key=error)).fit(split.train, split.labels), split)


def always_the_mean(split: Split) -> float:
    """Return the error of who always says the mean: what is learnt must be better."""
    return float(np.sqrt(np.mean((split.labels.mean() - split.truth) ** 2)))


def _accuracy(model: Any, split: Split) -> float:
    return float(model.score(split.test, split.truth))


def _rmse(model: Any, split: Split) -> float:
    return float(np.sqrt(np.mean((model.predict(split.test) - split.truth) ** 2)))


def _mean(make: Any, epsilon: float, seeds: range, split: Split, score: Any) -> float:
    found = []
    for seed in seeds if math.isfinite(epsilon) else seeds[:1]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RehearsalWarning)
            model = make(epsilon=epsilon, rehearsal=seed).fit(split.train, split.labels)
        found.append(score(model, split))
    return float(np.mean(found))
