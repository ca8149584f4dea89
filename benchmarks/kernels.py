"""Kernel models against linear ones on real tables, private and not.

Run with ``python benchmarks/kernels.py --data FOLDER``; ``--resume`` goes on after a run that was
stopped, ``--report`` only prints what is there. All learn from the same rows with declared columns;
delta = 1e-9, a record added or removed, noise of rehearsals. ``FourierClassifier`` and
``FourierRegressor`` have their defaults (200 frequencies, gamma one over the number of columns).
Landmarks are 300 rows that are neither learnt from nor tested on, standing in for a public table of
the same kind; or 300 synthetic points of the declared domain. ``method="projected"`` fits an exact
model, in time that grows with the square of the rows, so it is compared with Nystroem features on
5000 rows. Without privacy, on the same encoded
columns: scikit-learn's ``SVC`` or ``KernelRidge`` on 5000 of the rows, since their time grows with
the square, and ``Nystroem`` with as many of the rows before a logistic or a ridge regression on all
rows. For these, gamma and the penalty are the best of twelve on a quarter of those 5000 rows.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from cells import OUTPUT, Cell, Cells, Measured
from probability_scores import score_model
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import tables
from discreet import LinearClassifier, LinearRegressor
from discreet.errors import RehearsalWarning
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.kernel import (
    FourierClassifier,
    FourierRegressor,
    LandmarkClassifier,
    LandmarkRegressor,
)

CLASSES = ("adult", "bank", "codrna", "covtype")
NUMBERS = ("california_housing",)
EPSILONS = (0.3, 1.0, 3.0)
DELTA = 1e-9
ROWS = 100_000
LANDMARKS = 300
SUBSAMPLE = 5000
LINEAR, FOURIER = "linear", "Fourier"
PUBLIC, SYNTHETIC = "landmarks, public rows", "landmarks, synthetic"
FEW, PROJECTED = "landmarks, 5000 rows", "landmarks, projected, 5000 rows"
SLOW, NYSTROEM = "SVC or KernelRidge, 5000 rows", "Nystroem"


def measure(name: str, folder: Path, cells: Cells, fits: int, only: list[str]) -> None:
    """Fit and score a table with every model and epsilon; ``only`` some of the models, if any."""
    is_number, interval = name in NUMBERS, None
    if is_number:
        table, interval = tables.numbers(folder / name)
    else:
        table = tables.classes(folder / name, grouped=True)
    # The last rows of the part for testing are nobody's: they stand in for a public table.
    public = table.part(table.test[-LANDMARKS:])
    table = replace(table, test=table.test[:-LANDMARKS]).cap(ROWS, 20_000)
    train, test = table.part(table.train), table.part(table.test)
    y, truth = table.y[table.train], table.y[table.test]
    print(f"{name}, {len(y):,} rows", flush=True)
    makers = models(table, public, interval)
    few = table.part(table.train[:SUBSAMPLE]), y[:SUBSAMPLE]
    for (model, make), epsilon in product(makers.items(), EPSILONS):
        if only and model not in only:
            continue
        rows = few if model in (FEW, PROJECTED) else (train, y)
        start = time.perf_counter()

        def fit(
            seed: int, make: Any = make, epsilon: float = epsilon, rows: Any = rows
        ) -> tuple[float, ...]:
            fitted = make(epsilon=epsilon, delta=DELTA, rehearsal=seed).fit(*rows)
            if is_number:
                return rmse(fitted, test, truth), float(fitted.score(test, truth))
            return tuple(score_model(fitted, test, truth)[:3])

        found = cells.fill(Cell(name, model, epsilon), fits, fit)
        seconds = time.perf_counter() - start
        print(f"  {model}, {epsilon}: {found.mean(axis=0).round(4)} {seconds:.0f} s", flush=True)
    encoder = DeclaredFeatures(table.columns).scaler
    encoded = [np.asarray(encoder.transform(part)) for part in (train, test, public)]
    for model, find in {SLOW: find_slow, NYSTROEM: find_nystroem}.items():
        if only and model not in only:
            continue
        start = time.perf_counter()

        def fit_plain(seed: int, find: Any = find) -> tuple[float, ...]:
            fitted = find(encoded[0], y, encoded[2], is_number=is_number)
            return score_plain(fitted, encoded[1], truth, is_number=is_number)

        found = cells.fill(Cell(name, model, math.inf), 1, fit_plain)
        seconds = time.perf_counter() - start
        print(f"  {model}: {found.mean(axis=0).round(4)} {seconds:.0f} s", flush=True)


def models(table: tables.Declared, public: Any, interval: Any) -> dict[str, Any]:
    """Return what makes each private model of ours."""

    def of(kind: Any, **own: Any) -> Any:
        told = {"classes": [False, True]} if interval is None else {"target_range": interval}
        return lambda **budget: kind(columns=table.columns, **told, **own, **budget)

    linear, fourier, landmark = (
        (LinearClassifier, FourierClassifier, LandmarkClassifier)
        if interval is None
        else (LinearRegressor, FourierRegressor, LandmarkRegressor)
    )
    return {
        LINEAR: of(linear),
        FOURIER: of(fourier),
        PUBLIC: of(landmark, landmarks=public),
        SYNTHETIC: of(landmark, landmarks=LANDMARKS),
        FEW: of(landmark, landmarks=public, max_rows=2 * SUBSAMPLE),
        PROJECTED: of(landmark, landmarks=public, max_rows=2 * SUBSAMPLE, method="projected"),
    }


def rmse(model: Any, X: Any, y: np.ndarray) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def score_plain(model: Any, X: np.ndarray, y: np.ndarray, *, is_number: bool) -> tuple[float, ...]:
    """Return the scores of a model without privacy; log loss only if it has probabilities."""
    if is_number:
        return rmse(model, X, y), float(model.score(X, y))
    if hasattr(model, "predict_proba"):
        return tuple(score_model(model, X, y)[:3])
    return float(model.score(X, y)), float(roc_auc_score(y, model.decision_function(X))), math.nan


def best_of(makers: list[Any], X: np.ndarray, y: np.ndarray) -> Any:
    """Return the maker whose model scores best on the last quarter of some rows."""
    cut = 3 * SUBSAMPLE // 4
    some, labels = X[:SUBSAMPLE], y[:SUBSAMPLE]
    scores = [
        make().fit(some[:cut], labels[:cut]).score(some[cut:], labels[cut:]) for make in makers
    ]
    return makers[int(np.argmax(scores))]


def find_slow(X: np.ndarray, y: np.ndarray, public: np.ndarray, *, is_number: bool) -> Any:
    """Return a kernel machine of scikit-learn on some of the rows."""
    total = float(X.var(axis=0).sum())
    makers = [
        (lambda g=g, C=C: KernelRidge(alpha=1 / C, kernel="rbf", gamma=g))
        if is_number
        else (lambda g=g, C=C: SVC(C=C, gamma=g))
        for g, C in product([0.1 / total, 0.3 / total, 1 / total, 3 / total], [1.0, 10.0, 100.0])
    ]
    return best_of(makers, X, y)().fit(X[:SUBSAMPLE], y[:SUBSAMPLE])


def find_nystroem(X: np.ndarray, y: np.ndarray, public: np.ndarray, *, is_number: bool) -> Any:
    """Return Nystroem features on as many landmarks, then a linear model of all rows."""
    total = float(X.var(axis=0).sum())

    def make(g: float, C: float) -> Any:
        last = Ridge(1 / C) if is_number else LogisticRegression(C=C, max_iter=300)
        return make_pipeline(Nystroem(gamma=g, n_components=LANDMARKS, random_state=0), last)

    settings = product([0.1 / total, 0.3 / total, 1 / total, 3 / total], [1.0, 10.0, 100.0])
    makers = [lambda g=g, C=C: make(g, C) for g, C in settings]
    return best_of(makers, X, y)().fit(X, y)


def page(cells: Cells) -> str:
    """Return the tables as Markdown, all scores of a model and an epsilon in one cell."""
    lines = []
    for names, scores in ((CLASSES, "accuracy, AUC, log loss"), (NUMBERS, "RMSE, R²")):
        lines += [f"| {scores} | | epsilon 0.3 | 1 | 3 | without privacy |", "|" + "---|" * 6]
        listed = (LINEAR, FOURIER, PUBLIC, SYNTHETIC, FEW, PROJECTED, SLOW, NYSTROEM)
        for name, model in product(names, listed):
            found = [cells.found.get(Cell(name, model, e), []) for e in (*EPSILONS, math.inf)]
            if any(found):
                lines.append(f"| {name} | {model} | {' | '.join(map(_state, found))} |")
        lines.append("")
    errors = [
        Measured.of(column).error
        for fits in cells.found.values()
        for column in zip(*fits, strict=True)
    ]
    small = max(error for error in errors if error < 1)
    return "\n".join([*lines, f"The largest standard error of a score, RMSE aside: {small:.4f}."])


def _state(fits: list[list[float]]) -> str:
    means = [float(np.mean(column)) for column in zip(*fits, strict=True)]
    return ", ".join(_shorten(mean) for mean in means if not math.isnan(mean))


def _shorten(mean: float) -> str:
    return f"{mean:,.0f}" if mean > 100 else f"{mean:.4f}".removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="some of the tables")
    parser.add_argument("--models", nargs="*", default=[], help="some of the models")
    parser.add_argument("--results", type=Path, default=OUTPUT / "kernels.jsonl")
    parser.add_argument("--resume", action="store_true", help="keep the cells that are there")
    parser.add_argument("--report", action="store_true", help="fit nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RehearsalWarning)
    if not (options.resume or options.report):
        options.results.unlink(missing_ok=True)
    cells = Cells(options.results)
    for name in [] if options.report else options.only or (*CLASSES, *NUMBERS):
        measure(name, options.data, cells, options.fits, options.models)
    print("\n" + page(cells))


if __name__ == "__main__":
    main()
