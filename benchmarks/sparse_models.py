"""Sparse private models on real tables, beside models without selection and without privacy.

``python benchmarks/sparse_models.py FOLDER`` with a folder of tables, which are not in the
repository. Entries are brought to [-1, 1] by public functions of each entry alone: counts of words
are clipped to one, measurements go through a logarithm. Areas under the curve and accuracies are of
a fifth of the rows, held out; repeatable noise, means over seeds. ``--speed`` times Frank-Wolfe on
a synthetic table of a million sparse columns, against steps that recompute everything.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score

from discreet import LinearClassifier
from discreet.errors import RehearsalWarning
from discreet.feature_selection import PeelingSupport
from discreet.linear_model import FrankWolfeClassifier, FrankWolfeLasso, SparseClassifier
from discreet.mechanisms.frank_wolfe import draw_signed, weight_of_corners
from discreet.mechanisms.summing.rounded_slopes import KeptSums, RoundedSlopes
from discreet.noise import RehearsalNoise

SEEDS, SIZE, EPSILONS, DELTA = 2, 10, (1.0, 3.0), 1e-6

TABLES = (
    "sms_spam", "madelon", "colon_alon", "breast_gravier", "kddcup04_bio", "review_polarity",
    "arcene", "leukemia_golub", "assist2015", "news20",
)  # fmt: skip

LARGEST = {"colon_alon": 1e5, "leukemia_golub": 1e5, "arcene": 1e3, "kddcup04_bio": 1e5}
"""What measurements are declared to be at most; their logarithms are learnt from."""

MIDDLE = {"madelon": (500.0, 250.0), "breast_gravier": (0.0, 2.0)}
"""The middle of a declared range, and half its width."""

SCARCE = 50_000
"""Of larger tables, so many rows are drawn."""

Outcome = tuple[float, float]


def read(folder: Path) -> tuple[Any, Any]:
    """Return rows with entries in [-1, 1], and whether each is of the second class."""
    name = folder.name
    if (folder / "X.npz").exists():
        X: Any = sparse.csr_array(sparse.load_npz(folder / "X.npz"))
        X.data = np.clip(X.data.astype(np.float64), -1.0, 1.0)
        y = np.load(folder / "y.npy")
        y = np.isin(y, range(1, 6)) if name == "news20" else y == 1
    else:
        frame = pd.read_parquet(folder / "data.parquet")
        y = frame.pop("target").to_numpy() == 1
        X = frame.drop(columns=["group_id"], errors="ignore").to_numpy(np.float64)
        if name in MIDDLE:
            middle, half = MIDDLE[name]
            X = (X - middle) / half
        else:
            X = np.sign(X) * np.log1p(np.abs(X)) / math.log1p(LARGEST.get(name, 1e5))
        X = np.clip(X, -1.0, 1.0)
    if X.shape[0] > SCARCE:
        kept = np.random.default_rng(1).permutation(X.shape[0])[:SCARCE]
        X, y = X[kept], y[kept]
    return X, y


def models(epsilon: float, seed: int, X: Any) -> dict[str, Callable[[], Any]]:
    """Return what is compared, by name; each is made when it is its turn."""
    rows = X.shape[0]
    common = {"epsilon": epsilon, "delta": DELTA, "rehearsal": seed, "classes": [False, True]}
    length = math.sqrt(X.nnz / rows) if sparse.issparse(X) else math.sqrt(X.shape[1])
    return {
        "sparse": lambda: SparseClassifier(
            **common, data_range=limits_of(X), n_features_to_select=SIZE, expected_rows=rows
        ),
        "Frank-Wolfe": lambda: FrankWolfeClassifier(**common, entry_bound=1.0, expected_rows=rows),
        "linear": lambda: LinearClassifier(**common, data_norm=length, expected_rows=rows),
    }


def limits_of(X: Any) -> tuple[float, float]:
    """Return the declared range: counts of words are not negative."""
    return (0.0, 1.0) if sparse.issparse(X) else (-1.0, 1.0)


def judge(model: Any, X: Any, y: Any) -> Outcome:
    """Return the area under the curve, and the accuracy, of a fitted model."""
    return (
        float(roc_auc_score(y, model.decision_function(X))),
        float(accuracy_score(y, model.predict(X))),
    )


def lasso(X: Any, y: Any) -> Any:
    """Return a logistic lasso without privacy."""
    return LogisticRegression(l1_ratio=1.0, solver="liblinear", C=1.0, max_iter=100).fit(X, y)


def peel_and_fit(
    epsilon: float, seed: int, train: tuple[Any, Any], test: tuple[Any, Any]
) -> Outcome:
    """Choose columns with the whole budget, and fit a model on them without noise."""
    selector = PeelingSupport(SIZE, epsilon=epsilon, delta=DELTA, rehearsal=seed,
                              data_range=limits_of(train[0]), classes=[False, True])  # fmt: skip
    chosen = np.sort(selector.fit(*train).selected_)
    model = LogisticRegression(max_iter=500).fit(train[0][:, chosen], train[1])
    return judge(model, test[0][:, chosen], test[1])


def measure(folder: Path, seeds: int = SEEDS) -> None:
    """Print a line for each model and epsilon."""
    X, y = read(folder)
    order = np.random.default_rng(0).permutation(X.shape[0])
    cut = int(0.8 * len(order))
    train, test = (X[order[:cut]], y[order[:cut]]), (X[order[cut:]], y[order[cut:]])
    common = max(test[1].mean(), 1 - test[1].mean())
    print(f"{folder.name}: {X.shape[0]:,} rows, {X.shape[1]:,} columns; "
          f"commonest class {common:.3f}")  # fmt: skip
    report("lasso, not private", [judge(lasso(*train), *test)])
    for epsilon in EPSILONS:
        found = [peel_and_fit(epsilon, seed, train, test) for seed in range(seeds)]
        report(f"epsilon {epsilon:g}, peeling, then not private", found)
        for name in models(epsilon, 0, X):
            fits = [models(epsilon, seed, train[0])[name]().fit(*train) for seed in range(seeds)]
            report(f"epsilon {epsilon:g}, {name}", [judge(fit, *test) for fit in fits])


def report(name: str, found: list[Outcome]) -> None:
    """Print means over seeds."""
    area, accuracy = np.mean(found, axis=0)
    print(f"  {name:<40} auc {area:.3f}  accuracy {accuracy:.3f}", flush=True)


def synthetic(rows: int, columns: int, entries: int) -> tuple[Any, Any]:
    """Return sparse rows, and targets that few columns make."""
    generator = np.random.default_rng(0)
    places = generator.integers(0, columns, (rows, entries))
    told = generator.random(rows) < 0.1  # each of ten columns is in a hundredth of the rows
    places[told, 0] = generator.integers(0, 10, told.sum())
    values = generator.uniform(-1, 1, rows * entries)
    X: Any = sparse.csr_array((values, (np.repeat(np.arange(rows), entries), places.ravel())),
                              shape=(rows, columns))  # fmt: skip
    X.sum_duplicates()
    weights = np.zeros(columns)
    weights[:10] = np.resize([1.0, -1.0], 10)
    return X, np.clip(X @ weights, -1.0, 1.0)


def walk_on(plan: Any, sums: Any, noise: Any) -> Any:
    """Make the steps of a plan from sums that are kept."""
    corners = np.zeros(plan.steps)
    for step in range(1, plan.steps + 1):
        place, sign = draw_signed(-sums.totals(), plan.rate, noise)
        corners[step - 1] = sign * (place + 1)
        sums.move(place, sign * (step + 1), weight_of_corners(plan.question.radius, step))
    return corners


def walk_anew(plan: Any, table: Any, y: Any, noise: Any, draw: Callable[..., Any]) -> Any:
    """Make every step from dense vectors: all margins, all slopes, all scores."""
    rounding = RoundedSlopes(plan.question)
    point, unit, corners = np.zeros(table.shape[1]), 1.0, np.zeros(plan.steps)
    for step in range(1, plan.steps + 1):
        slopes = rounding.round_slopes(y, (table @ point) * (unit * rounding.entry))
        place, sign = draw(-(table.T @ slopes).astype(np.int64), plan.rate, noise)
        corners[step - 1] = sign * (place + 1)
        point[place] += sign * (step + 1)
        unit = weight_of_corners(plan.question.radius, step)
    return corners


def draw_from_all(scores: Any, rate: Any, noise: Any) -> tuple[int, int]:
    """Draw with an exponential of every candidate."""
    behind = np.concatenate([scores.max() - scores, scores.max() + scores])
    behind -= behind.min()
    which = int(noise.candidates(np.ones_like(behind), behind, rate)[0][0])
    return which % scores.size, 1 - 2 * (which // scores.size)


def race(
    rows: int = 100_000, columns: int = 1_000_000, entries: int = 100, steps: int = 10
) -> bool:
    """Time Frank-Wolfe against steps that recompute everything; say whether answers agree.

    Seconds are of the processor. Of a fit, all count; of steps, what is done once, reading and
    rounding, does not.
    """
    X, y = synthetic(rows, columns, entries)
    model = FrankWolfeLasso(1.0, DELTA, entry_bound=1.0, target_range=(-1, 1), l1_radius=5.0,
                            expected_rows=rows, fit_intercept=False, rehearsal=1)  # fmt: skip
    whole, fitted = clock(lambda: model.set_params(max_iter=steps).fit(X, y))
    plan = plan_of(model, X)
    rounding = RoundedSlopes(plan.question)
    table = rounding.round_rows(X.copy())
    sums = KeptSums(rounding, table, y)
    sums.totals()
    seconds, kept = clock(lambda: walk_on(plan, sums, RehearsalNoise(1)))
    each = seconds / steps
    print(f"{rows:,} x {columns:,}, {entries} entries a row, {steps} steps: {whole:.2f} s in all, "
          f"{each * 1e3:.1f} ms a step")  # fmt: skip
    answers = []
    for name, draw in (("same draw", draw_signed), ("an exponential of each", draw_from_all)):
        walk = partial(walk_anew, plan, table, y, RehearsalNoise(1), draw)
        seconds, answer = clock(walk)
        answers.append(answer)
        slow = seconds / steps
        print(f"  all recomputed, {name}: {slow * 1e3:.1f} ms a step, {slow / each:.1f} times as "
              "much", flush=True)  # fmt: skip
    dense = clock(lambda: table[: max(rows // 100, 1)].toarray().sum(axis=0))[0]
    print(f"  one sum of a hundredth of the rows as a dense array: {dense:.2f} s")
    is_same = all(np.array_equal(fitted.release_.value, one) for one in (kept, answers[0]))
    print(f"  same answer with the same noise: {is_same}")
    return is_same


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds of the processor something takes, and what it returns."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def plan_of(model: FrankWolfeLasso, X: Any) -> Any:
    """Return the plan that a fit of these rows had."""
    fit = model.fit_of(X.shape[1], model.row_limit)
    asked = model._ask(fit)
    return asked.mechanism.plan(asked.question, fit.budget, fit.unit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*", default=list(TABLES))
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", RehearsalWarning)
    if given.speed:
        race()
    if given.folder is not None:
        for table in given.names:
            measure(given.folder / table)
