"""Accuracy, AUC, log loss and Brier score under other units, pure budgets and other mechanisms.

Run with ``make budgets`` beside a folder of data sets (``--data``; by default ``../shared/data``);
see ``tables.py`` for what is in it. Nothing is tuned: every model has its defaults, and learns from
declared columns or from rows of declared norm, all rows for training. ``goal`` is what a prototype
reached before the library existed, less 0.3 points of accuracy. What is said of probabilities
stands in the line below that of accuracy: AUC, log loss and Brier score, means over the same fits.
``--compare`` asks instead whether "auto" chooses the best mechanism.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from probability_scores import Scores, score_model

import tables
from discreet import LinearClassifier
from discreet.linear_model import LogisticRegression

CLASSES = ("adult", "bank", "codrna", "a9a", "covtype", "acs_income", "kddcup99_10pct")
MECHANISMS = ("auto", "objective_perturbation", "output_perturbation")
REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


@dataclass(frozen=True)
class Method:
    """A model with its defaults but for budget and unit."""

    name: str
    make: Callable[[float, tables.Declared], Any]
    grouped: bool = False


def _logistic(epsilon: float, table: tables.Declared) -> LogisticRegression:
    delta = 1 / len(table.train) ** 2
    return LogisticRegression(epsilon, delta, classes=[False, True], data_norm=1.0)


def _classifier(delta: float, unit: str = "add_remove") -> Callable[[float, tables.Declared], Any]:
    def make(epsilon: float, table: tables.Declared) -> LinearClassifier:
        return LinearClassifier(
            epsilon,
            delta,
            data_norm=table.data_norm,
            unit=unit,
            columns=table.columns,
            classes=[False, True],
        )

    return make


METHODS = (
    Method("LogisticRegression, delta 1/n^2", _logistic),
    Method("LinearClassifier, delta 1e-9", _classifier(1e-9)),
    Method("LinearClassifier, replace, delta 1e-9", _classifier(1e-9, "replace")),
    Method("LinearClassifier, pure", _classifier(0.0), grouped=True),
    Method("LinearClassifier, replace, pure", _classifier(0.0, "replace"), grouped=True),
)


def scores(make: Callable[[], Any], table: tables.Declared, fits: int) -> np.ndarray:
    """Fit several times and score each on the rows kept for testing."""
    train, test = table.part(table.train), table.part(table.test)
    y, truth = table.y[table.train], table.y[table.test]
    return np.array([make().fit(train, y).score(test, truth) for _ in range(fits)])


def all_scores(make: Callable[[], Any], table: tables.Declared, fits: int) -> np.ndarray:
    """Fit a classifier several times; return all scores of each on the rows kept for testing."""
    train, test = table.part(table.train), table.part(table.test)
    y, truth = table.y[table.train], table.y[table.test]
    return np.array([score_model(make().fit(train, y), test, truth) for _ in range(fits)])


def compare(name: str, folder: Path, fits: int) -> list[bool]:
    """Say, cell by cell, whether auto is within one standard error of the best mechanism."""
    verdicts = []
    for kind, grouped, delta in (
        (LinearClassifier, False, 1e-9),
        (LinearClassifier, True, 0.0),
        (LogisticRegression, False, 1e-9),
    ):
        table = tables.classes(folder, grouped=grouped)
        if kind is LogisticRegression:
            table = tables.matrix(table)
        for epsilon in tables.EPSILONS:
            means, errors = {}, {}
            for mechanism in MECHANISMS:

                def make(k=kind, e=epsilon, d=delta, m=mechanism, t=table):
                    options = {"classes": [False, True], "mechanism": m}
                    if k is LinearClassifier:
                        options |= {"columns": t.columns, "data_norm": t.data_norm}
                    return k(e, d, **options)

                cell = scores(make, table, fits)
                means[mechanism] = cell.mean()
                errors[mechanism] = cell.std(ddof=1) / math.sqrt(fits)
            best = max(means, key=lambda m: means[m])
            slack = math.hypot(errors["auto"], errors[best])
            verdicts.append(bool(means["auto"] >= means[best] - slack))
            told = "  ".join(f"{m} {mean:.4f}" for m, mean in means.items())
            print(f"  {kind.__name__:<19} {delta:<6g} {epsilon:<4g} {told}", flush=True)
    print(f"  {name}: auto is best, or within one standard error, in {sum(verdicts)} of", end=" ")
    print(len(verdicts), flush=True)
    return verdicts


def report(name: str, method: str, cells: list[np.ndarray]) -> None:
    goals = REFERENCE.get(method, {}).get(name, [None] * len(cells))
    print(f"  {method:<40}", end="")
    for cell, goal in zip(cells, goals, strict=True):
        error = cell.std() / math.sqrt(cell.size)
        mark = (
            " "
            if goal is None
            else "+"
            if cell.mean() >= goal
            else "~"
            if (cell.mean() + error >= goal)
            else "-"
        )
        print(f"  {cell.mean():.4f} ±{error:.4f}{mark}", end="")
    print(flush=True)


def report_probabilities(cells: list[np.ndarray]) -> None:
    """Print AUC, log loss and Brier score below accuracies."""
    print(f"  {'  AUC, log loss, Brier':<40}", end="")
    for cell in cells:
        mean = Scores(*cell.mean(axis=0))
        print(f"  {mean.auc:.4f} {mean.log_loss:.4f} {mean.brier:.4f}", end="")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--only", nargs="*", help="some of the data sets")
    parser.add_argument("--methods", nargs="*", help="some of the methods, by how they begin")
    parser.add_argument("--compare", action="store_true", help="auto against each mechanism")
    options = parser.parse_args()
    if options.compare:
        chosen_names = options.only or CLASSES
        cells = [v for n in chosen_names for v in compare(n, options.data / n, options.fits)]
        print(f"auto: {sum(cells)} of {len(cells)} cells")
        return
    print(
        "+ reaches the goal, ~ within one standard error, - below. Columns: epsilon",
        *tables.EPSILONS,
    )

    def wanted(name: str) -> bool:
        return (options.data / name).is_dir() and (not options.only or name in options.only)

    def chosen(method: str) -> bool:
        return not options.methods or any(method.startswith(m) for m in options.methods)

    for name in filter(wanted, CLASSES):
        print(name)
        for method in METHODS:
            if not chosen(method.name):
                continue
            table = tables.classes(options.data / name, grouped=method.grouped)
            if method.make is _logistic:
                table = tables.matrix(table)
            cells = [
                all_scores(lambda e=e, t=table, m=method: m.make(e, t), table, options.fits)
                for e in tables.EPSILONS
            ]
            report(name, method.name, [Scores(*cell.T).accuracy for cell in cells])
            report_probabilities(cells)


if __name__ == "__main__":
    main()
