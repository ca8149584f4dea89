"""Several classes: all at once by softmax, against one-vs-rest.

Accuracy, AUC (the one-vs-rest mean), log loss and Brier score.

Run with ``python benchmarks/several_classes.py --data FOLDER``. Both are ``LinearClassifier`` with
its defaults at delta = 1e-9 on declared columns, and differ in ``mechanism`` alone: "auto" learns
classes at once, "private_standardisation" one-vs-rest; more than 512 columns are not
standardised, and "objective_perturbation" does that. Targets of tables that have none with several
classes are a column of theirs, or thirds of a number; mnist is shrunk to 7 x 7 pixels, or to 14 x
14 with its own split, or not at all; words of news20 are hashed to 1024 columns, roots of counts,
rows of norm one, with its own split. ``--rows`` learns from so many of the rows for training.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from probability_scores import Scores, score_model
from scipy import sparse

import tables
from discreet import LinearClassifier
from discreet.preprocessing import Numeric

MOST_STANDARDISED = 512


def _models(width: int) -> dict[str, str]:
    alone = "private_standardisation" if width <= MOST_STANDARDISED else "objective_perturbation"
    return {"softmax": "auto", "one-vs-rest": alone}


def _target(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    return frame.drop(columns="target"), frame["target"].to_numpy()


def _column(name: str) -> Callable[[pd.DataFrame], tuple[pd.DataFrame, np.ndarray]]:
    return lambda frame: (frame.drop(columns=name), frame[name].astype(str).to_numpy())


def _parts(*edges: float) -> Callable[[pd.DataFrame], tuple[pd.DataFrame, np.ndarray]]:
    def cut(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
        X, y = _target(frame)
        return X, np.digitize(y, edges)

    return cut


def _pooled(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = _target(frame)
    small = X.to_numpy(dtype=np.float64).reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49)
    return pd.DataFrame(small, columns=[f"pixel{i}" for i in range(49)]), y


def _table(
    place: str, make: Callable[[pd.DataFrame], tuple[pd.DataFrame, np.ndarray]]
) -> Callable[[Path], tables.Declared]:
    def load(folder: Path) -> tables.Declared:
        X, y = make(pd.read_parquet(folder / place / "data.parquet"))
        return tables.Declared(*tables._with_columns(X, y), *tables.split(len(X)))

    return load


def _digits(side: int) -> Callable[[Path], tables.Declared]:
    def load(folder: Path) -> tables.Declared:
        X, y = _target(pd.read_parquet(folder / "mnist" / "data.parquet"))
        size = 28 // side
        pixels = X.to_numpy(dtype=np.float64).reshape(-1, side, size, side, size)
        pixels = pixels.mean(axis=(2, 4)).reshape(-1, side**2)
        columns = [Numeric(0, 255)] * side**2
        return tables.Declared(pixels, y, columns, *_usual_split(len(y), 60_000))

    return load


def _hashed_words(folder: Path, width: int = 1024) -> tables.Declared:
    words = sparse.csr_array(sparse.load_npz(folder / "news20" / "X.npz")).astype(np.float64)
    y = np.load(folder / "news20" / "y.npy")
    count = words.shape[1]
    buckets = [zlib.crc32(str(word).encode()) % width for word in range(count)]
    shared = sparse.csr_array((np.ones(count), (np.arange(count), buckets)), (count, width))
    X = (words @ shared).sqrt()
    norms = np.sqrt(np.maximum(X.multiply(X).sum(axis=1), 1e-12))
    X = sparse.csr_array(sparse.diags_array(1 / norms) @ X)
    return tables.Declared(X, y, None, *_usual_split(len(y), 11_314))


def _usual_split(count: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(first), np.arange(first, count)


TABLES: dict[str, Callable[[Path], tables.Declared]] = {
    "covtype": _table("covtype", _target),
    "mnist": _table("mnist", _pooled),
    "diamonds, cut": _table("diamonds", _column("cut")),
    "california, ocean": _table("california_housing", _column("ocean_proximity")),
    "wine, quality": _table("wine_quality", _parts(6, 7)),
    "abalone, rings": _table("abalone", _parts(9, 11)),
    "mnist, 14 x 14": _digits(14),
    "mnist, 28 x 28": _digits(28),
    "news20, hashed": _hashed_words,
}


def load(name: str, folder: Path) -> tables.Declared:
    """Return a table with several classes."""
    return TABLES[name](folder)


def compare(name: str, folder: Path, epsilons: list[float], fits: int, rows: int | None) -> None:
    """Print the scores and seconds of both, cell by cell."""
    table = load(name, folder)
    train, labels = table.train[:rows], np.unique(table.y)
    X, y = table.part(train), table.y[train]
    test, truth = table.part(table.test), table.y[table.test]
    most = pd.Series(truth).value_counts(normalize=True).max()
    print(f"{name}: {len(train):,} rows, {labels.size} classes, largest {most:.4f}")
    for epsilon in epsilons:
        for label, mechanism in _models(X.shape[1]).items():
            if not math.isfinite(epsilon) and label == "softmax":
                continue
            scores, start = [], time.process_time()
            for _ in range(fits if math.isfinite(epsilon) else 1):
                norm = 1.0 if table.columns is None else None
                model = LinearClassifier(
                    epsilon, data_norm=norm, columns=table.columns, classes=labels,
                    mechanism=mechanism,
                ).fit(X, y)  # fmt: skip
                scores.append(score_model(model, test, truth))
            took, mean = (time.process_time() - start) / len(scores), Scores(*np.mean(scores, 0))
            spread = Scores(*np.std(scores, 0, ddof=min(1, len(scores) - 1))).accuracy
            error = spread / math.sqrt(len(scores))
            print(f"  {epsilon:<4g} {label:<20} {mean.accuracy:.4f} ±{error:.4f}"
                  f"  AUC {mean.auc:.4f}  log loss {mean.log_loss:.4f}  Brier {mean.brier:.4f}"
                  f"  {took:.1f} s", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(TABLES))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--epsilons", type=float, nargs="*", default=tables.EPSILONS)
    parser.add_argument("--fits", type=int, default=8)
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    for name in options.names:
        compare(name, options.data, options.epsilons, options.fits, options.rows)


if __name__ == "__main__":
    main()
