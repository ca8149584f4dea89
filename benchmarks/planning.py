"""Predictions of ``discreet.planning`` against accuracy measured on real tables.

Run with ``python benchmarks/planning.py --data FOLDER`` beside the data sets of ``tables.py``. The
signal is the accuracy that the same model reaches on the real table without privacy: the question
is whether the cost of privacy is predicted, not whether the data are.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
from probability_scores import Scores, score_model

import tables
from discreet import LinearClassifier, LinearRegressor
from discreet.planning import Planner, PublicFacts

EPSILONS = (0.1, 1.0)
DELTA = 1e-9
CLASSES = ("adult", "bank")
NUMBERS = ("california_housing",)


def measured(make, table: tables.Declared, fits: int) -> np.ndarray:
    """Return a line for each fit: accuracy, AUC and so on, or R2 alone."""
    train, test = table.part(table.train), table.part(table.test)
    y, truth = table.y[table.train], table.y[table.test]
    models = [make().fit(train, y) for _ in range(fits)]
    if isinstance(models[0], LinearClassifier):
        return np.array([score_model(model, test, truth) for model in models])
    return np.array([[model.score(test, truth)] for model in models])


def compare(folder: Path, fits: int, draws: int) -> None:
    """Print one line for each epsilon: predicted, measured."""
    options: dict = {}
    if folder.name in CLASSES:
        table = tables.classes(folder, grouped=False)
        options["classes"] = [False, True]
        kind = LinearClassifier
    else:
        table, ends = tables.numbers(folder)
        options["target_range"] = ends
        kind = LinearRegressor

    def make(epsilon: float):
        return kind(epsilon, DELTA, columns=table.columns, **options)

    without = float(measured(lambda: make(math.inf), table, 1)[0, 0])
    facts = PublicFacts(
        table.columns,
        delta=DELTA,
        signal=without,
        majority=float(max(np.mean(table.y), 1 - np.mean(table.y)))
        if kind is LinearClassifier
        else None,
        **options,
    )
    start = time.perf_counter()
    prediction = Planner(facts, draws=draws).predict(EPSILONS, n=[len(table.train)])
    spent = time.perf_counter() - start
    for cell in prediction:
        found = measured(lambda e=cell.epsilon: make(e), table, fits)
        mean, error = found.mean(axis=0), found[:, 0].std(ddof=1) / math.sqrt(fits)
        print(
            f"{folder.name:<20} n {len(table.train):>7,}  features {facts.width:>4}  epsilon "
            f"{cell.epsilon:>4g}  predicted {cell.mean:.4f} +- {cell.spread:.4f}  measured "
            f"{mean[0]:.4f} +- {error:.4f}  without {without:.4f}"
        )
        if cell.auc is not None:
            told = Scores(*mean)
            print(
                f"{'':<20} predicted, measured: AUC {cell.auc:.4f}, {told.auc:.4f}; log loss "
                f"{cell.log_loss:.4f}, {told.log_loss:.4f}"
            )
    print(f"{'':<20} prediction took {spent:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="")
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    for name in (*CLASSES, *NUMBERS):
        if options.only in name:
            compare(options.data / name, options.fits, options.draws)


if __name__ == "__main__":
    main()
