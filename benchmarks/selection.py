"""Private choices of columns on real tables: how good a model on the chosen columns can be.

``python benchmarks/selection.py FOLDER`` with a folder of tables, which are not in the repository.
The model on the chosen columns is a logistic regression without noise, on a test set: what is
measured is the choice alone. Ranges are declared as a user would, counts are clipped to one.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MaxAbsScaler

from discreet.errors import RehearsalWarning
from discreet.feature_selection import BlockVoteSupport, PeelingSupport

SEEDS = 5
SIZE = 10
EPSILONS = (1.0, 3.0)


def read(folder: Path) -> tuple[Any, Any, tuple[float, float]]:
    """Return rows, whether each is of the second class, and the declared range of entries."""
    if (folder / "X.npz").exists():
        X = sparse.csr_array(sparse.load_npz(folder / "X.npz"))
        X.data = np.minimum(X.data, 1).astype(np.float64)
        y = np.load(folder / "y.npy")
        return X, np.isin(y, range(1, 6)) if folder.name == "news20" else y == 1, (0.0, 1.0)
    frame = pd.read_parquet(folder / "data.parquet")
    y = frame.pop("target").to_numpy() == 1
    return frame.to_numpy(np.float64), y, (0.0, 1000.0 if folder.name == "madelon" else 20_000.0)


def worth(X: Any, y: Any, train: Any, test: Any, chosen: Any) -> float:
    """Return the area under the curve, on test rows, of a model on the chosen columns."""
    if len(chosen) == 0:
        return 0.5
    scaler = MaxAbsScaler().fit(X[train][:, chosen])
    model = LogisticRegression(max_iter=500).fit(scaler.transform(X[train][:, chosen]), y[train])
    return float(
        roc_auc_score(y[test], model.decision_function(scaler.transform(X[test][:, chosen])))
    )


def selectors(epsilon: float, size: int, limits: tuple[float, float], seed: int) -> dict[str, Any]:
    common = {"epsilon": epsilon, "delta": 1e-6, "data_range": limits, "rehearsal": seed,
              "classes": [False, True]}  # fmt: skip
    return {
        "peeling": PeelingSupport(size, **common),
        "votes, sets": BlockVoteSupport(min(size, 3), **common, vote="support"),
        "votes, columns": BlockVoteSupport(size, **common, vote="columns"),
    }


def measure(folder: Path) -> None:
    X, y, limits = read(folder)
    order = np.random.default_rng(0).permutation(X.shape[0])
    cut = int(0.8 * len(order))
    train, test = order[:cut], order[cut:]
    exact = PeelingSupport(SIZE, epsilon=np.inf, data_range=limits, classes=[False, True])
    best = exact.fit(X[train], y[train]).selected_
    print(f"{folder.name}: {X.shape[0]:,} rows, {X.shape[1]:,} columns; without noise "
          f"{worth(X, y, train, test, best):.3f}")  # fmt: skip
    for epsilon in EPSILONS:
        for name in selectors(epsilon, SIZE, limits, 0):
            found, stable, same = [], [], []
            for seed in range(SEEDS):
                chosen = selectors(epsilon, SIZE, limits, seed)[name].fit(X[train], y[train])
                found.append(worth(X, y, train, test, chosen.selected_))
                stable.append(chosen.is_stable_)
                same.append(len(set(chosen.selected_.tolist()) & set(best.tolist())))
            print(f"  epsilon {epsilon:g}  {name:<15} auc {np.mean(found):.3f}  of the {SIZE} best "
                  f"{np.mean(same):.1f}  answers {sum(stable)} of {SEEDS}", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=["madelon", "sms_spam", "news20", "colon_alon"])
    given = parser.parse_args()
    warnings.simplefilter("ignore", RehearsalWarning)
    for table in given.names:
        measure(given.folder / table)
