"""Accuracy with default settings on real data sets, at fixed epsilon.

Run with ``make utility`` beside a folder of data sets (``--data``; by default ``../shared/data``),
each holding ``data.parquet`` with a column ``target``, or ``X.npz`` and ``y.npy``. Columns are
scaled by their 1 % and 99 % quantiles, as stand-ins for ranges that a user would declare. Nothing
is tuned.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Plain

from discreet.linear_model import LogisticRegression

NAMES = ("adult", "bank", "codrna", "a9a", "covtype", "acs_income", "kddcup99_10pct")
EPSILONS = (0.1, 0.3, 1.0, 3.0)


def features(frame: pd.DataFrame) -> np.ndarray:
    """Scale numbers to [0, 1], open up categories, and append a constant."""
    numbers = frame.select_dtypes("number").astype(float)
    low, high = numbers.quantile(0.01), numbers.quantile(0.99)
    scaled = (numbers.clip(low, high, axis=1) - low) / (high - low).replace(0, 1)
    parts = [scaled.fillna(0).to_numpy(), np.ones((len(frame), 1))]
    categories = frame.select_dtypes(exclude="number")
    if categories.shape[1]:
        parts.append(pd.get_dummies(categories).to_numpy(float))
    return np.hstack(parts)


def load(folder: Path):
    """Return rows of norm at most one, and whether each has the reference label."""
    if (folder / "X.npz").exists():
        X, y = sparse.load_npz(folder / "X.npz").tocsr(), np.load(folder / "y.npy")
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    else:
        frame = pd.read_parquet(folder / "data.parquet")
        y = frame.pop("target").to_numpy()
        X = features(frame)
        norms = np.linalg.norm(X, axis=1)
    values, counts = np.unique(y, return_counts=True)
    y = y == (values[np.argmax(counts)] if len(values) > 2 else values[-1])
    scale = np.minimum(1 / np.quantile(norms, 0.99), 1 / np.maximum(norms, 1e-12))
    X = (
        sparse.csr_array(sparse.diags_array(scale) @ X)
        if sparse.issparse(X)
        else X * scale[:, None]
    )
    return X, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=NAMES)
    options = parser.parse_args()
    print(f"{'data':<16}{'plain':>8}" + "".join(f"{f'eps {e:g}':>18}" for e in EPSILONS))
    for name in options.only:
        X, y = load(options.data / name)
        order = np.random.default_rng(7).permutation(X.shape[0])
        train, test = np.split(order, [int(0.8 * len(order))])
        plain = Plain(C=10.0, fit_intercept=False, max_iter=500).fit(X[train], y[train])
        print(f"{name:<16}{plain.score(X[test], y[test]):>8.4f}", end="", flush=True)
        for epsilon in EPSILONS:
            model = LogisticRegression(
                epsilon=epsilon,
                delta=1 / len(train) ** 2,
                fit_intercept=False,
                classes=[False, True],
            )
            scores = [
                model.fit(X[train], y[train]).score(X[test], y[test]) for _ in range(options.fits)
            ]
            error = np.std(scores) / np.sqrt(len(scores))
            print(f"{np.mean(scores):>10.4f} ±{error:.4f}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
