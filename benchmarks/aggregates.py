"""Averages of blocks on real tables, beside the library's own models and models without privacy.

``python benchmarks/aggregates.py FOLDER`` with a folder of tables, which are not in the repository.
Columns are brought to [-1, 1] by declared ranges; two thirds of the rows are learnt from.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score

from discreet import LinearClassifier, LinearRegressor
from discreet.errors import RehearsalWarning
from discreet.model_selection import SampleAndAggregate

SEEDS = 3
EPSILONS = (1.0, 3.0)
MANY = 2000
TABLES = {"codrna": None, "california_housing": (0.0, 5.5)}
"""Tables of numbers, and the range of their targets, in 100,000; None for two classes."""


def read(folder: Path, target_range: Any) -> tuple[Any, Any]:
    frame = pd.read_parquet(folder / "data.parquet")
    y = frame.pop("target").to_numpy()
    X = frame.select_dtypes("number").to_numpy(np.float64)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    X = np.nan_to_num(2 * (X - low) / np.where(high > low, high - low, 1.0) - 1)
    return X, y == np.unique(y)[-1] if target_range is None else y.astype(np.float64) / 1e5


def models(epsilon: float, target_range: Any, width: int, seed: int) -> dict[str, Any]:
    common: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-6, "rehearsal": seed}
    columns = [(-1.0, 1.0)] * width
    if target_range is None:
        own: Any = LinearClassifier(columns=columns, classes=[False, True], **common)
        of_block: Any = LogisticRegression(max_iter=200)
        common["classes"] = [False, True]
    else:
        own = LinearRegressor(columns=columns, target_range=target_range, **common)
        of_block, common["target_range"] = LinearRegression(), target_range
    return {
        "library": own,
        "mean": SampleAndAggregate(of_block, bounds=(-10, 10), **common),
        "mean, many blocks": SampleAndAggregate(of_block, bounds=(-10, 10), blocks=MANY, **common),
        "winsorised": SampleAndAggregate(
            of_block, bounds=(-100, 100), aggregate="winsorised", **common
        ),
    }


def score(model: Any, X: Any, y: Any, target_range: Any) -> float:
    if target_range is None:
        return float(roc_auc_score(y, model.decision_function(X)))
    return float(r2_score(y, np.clip(model.predict(X), *target_range)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore", RehearsalWarning)
    print(
        "| table | epsilon | without privacy | library | mean | many blocks | winsorised | blocks |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, target_range in TABLES.items():
        X, y = read(folder / name, target_range)
        order = np.random.default_rng(0).permutation(len(X))
        train, test = np.split(order, [2 * len(order) // 3])
        plain = LogisticRegression(max_iter=500) if target_range is None else LinearRegression()
        best = score(plain.fit(X[train], y[train]), X[test], y[test], target_range)
        for epsilon in EPSILONS:
            found: dict[str, list[float]] = {}
            blocks: dict[str, str] = {}
            for seed in range(SEEDS):
                for kind, model in models(epsilon, target_range, X.shape[1], seed).items():
                    model.fit(X[train], y[train])
                    found.setdefault(kind, []).append(score(model, X[test], y[test], target_range))
                    facts = {fact.what: fact.words for fact in model.release_.facts}
                    blocks[kind] = facts.get("blocks", "")
            told = " | ".join(f"{np.mean(found[kind]):.3f}" for kind in found)
            many = ", ".join(filter(None, blocks.values()))
            print(f"| {name}, {len(train):,} x {X.shape[1]} | {epsilon:g} | {best:.3f} | {told} | "
                  f"{many} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
