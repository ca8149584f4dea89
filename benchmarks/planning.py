"""Predictions of ``discreet.planning`` against scores measured on real tables.

Run with ``python benchmarks/planning.py --data FOLDER`` beside the data sets of ``tables.py``; it
prints the table of ``docs/planning.md``. The signal is the score that the same model reaches on the
real table without privacy: the question is whether the cost of privacy is predicted, not whether
the data are. Each table is fitted as it is (up to 40,000 rows) and cut to 2,000 rows drawn anew for
each fit, where privacy costs more. With ``--model additive`` (up to 20,000 rows) the costs of AUC
and what a linear model reaches are compared as well.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import tables
from discreet import AdditiveClassifier, AdditiveRegressor, LinearClassifier, LinearRegressor
from discreet.planning import Planner, PublicFacts

EPSILONS = (0.1, 1.0)
DELTA = 1e-9
CLASSES = ("adult", "bank", "compas", "codrna", "covtype", "credit_default", "elec2")
NUMBERS = ("california_housing", "wine_quality", "abalone", "diamonds")
MOST, FEW = 40_000, 2_000
CURVED = ("credit_default", "adult", "elec2", "covtype", "compas", "california_housing")
CURVED_EPSILONS, MOST_CURVED = (0.3, 1.0), 20_000
CLOSE = 0.005
"""A mean of so few fits is taken to be inside a range that it misses by less."""


def declare(folder: Path) -> tuple[tables.Declared, type, dict]:
    """Return a table, the estimator for it, and what is declared about its target."""
    if folder.name in CLASSES:
        table = tables.classes(folder, grouped=True).cap(MOST, MOST)
        return table, LinearClassifier, {"classes": [False, True]}
    table, ends = tables.numbers(folder)
    return table, LinearRegressor, {"target_range": tuple(map(float, ends))}


def compare(folder: Path, fits: int, draws: int) -> list[tuple[float, float, float]]:
    """Print a line for each number of rows and epsilon; return low ends, measured and high ends."""
    table, kind, options = declare(folder)
    test, truth = table.part(table.test), table.y[table.test]
    generator = np.random.default_rng(1)

    def measure(epsilon: float, count: int) -> float:
        rows = generator.permutation(table.train)[:count]
        model = kind(epsilon, DELTA, columns=table.columns, **options)
        return float(model.fit(table.part(rows), table.y[rows]).score(test, truth))

    without = measure(math.inf, len(table.train))
    share = {"majority": float(max(np.mean(table.y), 1 - np.mean(table.y)))}
    facts = PublicFacts(
        table.columns,
        delta=DELTA,
        signal=without,
        **options,
        **(share if kind is LinearClassifier else {}),
    )
    found = []
    for cell in Planner(facts, draws=draws).predict(EPSILONS, n=sorted({FEW, len(table.train)})):
        scores = [measure(cell.epsilon, cell.n) for _ in range(fits)]
        mean, error = np.mean(scores), np.std(scores, ddof=1) / math.sqrt(fits)
        print(
            f"| {folder.name} | {cell.n:,} | {cell.epsilon:g} | {cell.in_words(' to ')} | "
            f"{mean:.3f} ± {error:.3f} | {without:.3f} |",
            flush=True,
        )
        found.append((cell.low, float(mean), cell.high))
    return found


def compare_additive(folder: Path, fits: int, draws: int) -> list[tuple[float, float, float]]:
    """Do the same for an additive model, and for the linear one beside it."""
    table, linear, options = declare(folder)
    table = table.cap(MOST_CURVED, MOST_CURVED)
    has_classes = linear is LinearClassifier
    kind = AdditiveClassifier if has_classes else AdditiveRegressor
    X, y, truth = table.part(table.train), table.y[table.train], table.y[table.test]
    test = table.part(table.test)

    def measure(model: type, epsilon: float) -> np.ndarray:
        told = {"expected_rows": len(y)} if has_classes else {}
        fitted = model(epsilon, DELTA, columns=table.columns, **options, **told).fit(X, y)
        auc = roc_auc_score(truth, fitted.predict_proba(test)[:, 1]) if has_classes else math.nan
        return np.array([fitted.score(test, truth), auc])

    without, straight = measure(kind, math.inf), measure(linear, math.inf)
    share = {"majority": float(max(np.mean(table.y), 1 - np.mean(table.y)))} if has_classes else {}
    facts = PublicFacts(
        table.columns, delta=DELTA, signal=without[0], estimator=kind(), **options, **share
    )
    found = []
    for cell in Planner(facts, draws=draws).predict(CURVED_EPSILONS, n=[len(y)]):
        score, auc = np.mean([measure(kind, cell.epsilon) for _ in range(fits)], axis=0)
        low, high = cell.auc_ends or (math.nan, math.nan)
        best = math.nan if cell.auc_without_privacy is None else cell.auc_without_privacy
        print(
            f"| {folder.name} | {cell.n:,} | {cell.epsilon:g} | {cell.in_words(' to ')} | "
            f"{score:.3f} | {without[0]:.3f} | {best - high:z.3f} to {best - low:z.3f} | "
            f"{without[1] - auc:z.3f} | {cell.linear.without_privacy:.3f} | {straight[0]:.3f} |",
            flush=True,
        )
        found.append((cell.low, float(score), cell.high))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="")
    parser.add_argument("--fits", type=int, default=6)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--model", choices=("linear", "additive"), default="linear")
    options = parser.parse_args()
    is_linear = options.model == "linear"
    heads = ["data", "rows", "epsilon", "predicted", "measured", "without privacy"]
    heads += [] if is_linear else ["cost of AUC, predicted", "measured", "linear", "measured"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    names = [n for n in ((*CLASSES, *NUMBERS) if is_linear else CURVED) if options.only in n]
    look = compare if is_linear else compare_additive
    found = [line for n in names for line in look(options.data / n, options.fits, options.draws)]
    below = sum(mean < low - CLOSE for low, mean, _ in found)
    above = sum(mean > high + CLOSE for _, mean, high in found)
    worst = max(low - mean for low, mean, _ in found)
    print(
        f"\n{len(found)} cells: {below} measured below the range (by {max(worst, 0):.3f} at most), "
        f"{above} above it."
    )


if __name__ == "__main__":
    main()
