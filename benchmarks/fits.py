"""How fast private fits are, as ratios to scikit-learn in the same run.

Run with ``make bench``; ``--quick`` takes smaller sizes. Planning is part of a fit; what a plan
costs when it is made for the first time is printed too, for fits with the same parameters share it.
``--data`` names a folder with the 20 newsgroups as ``news20/X.npz`` and ``y.npy``; without it that
part is left out.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as Plain
from speed import report

from discreet import Budget, Rows, rehearse
from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.linear_model import LogisticRegression
from discreet.losses import Logistic
from discreet.mechanisms import ObjectivePerturbation
from discreet.questions.problem import Problem


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turns(*actions: Callable[[], object], rounds: int = 3) -> list[float]:
    """Return the best time of each, measured in turns."""
    taken = np.array([[seconds(action) for action in actions] for _ in range(rounds)])
    return taken.min(axis=0).tolist()


def rows_and_labels(count: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((count, width))
    X /= np.linalg.norm(X, axis=1)[:, None]
    margins = X @ generator.standard_normal(width) * 3
    return X, (margins + 0.5 * generator.logistic(size=count) > 0).astype(int)


def gradient_norm(model: Plain, X: object, y: np.ndarray, strength: float) -> float:
    """Return the norm of the gradient of the summed objective where a model stopped."""
    slopes = expit(model.decision_function(X)) - y
    inner = X.T @ slopes + model.coef_[0] / strength
    return math.hypot(np.linalg.norm(inner), slopes.sum() if model.fit_intercept else 0.0)


def dense(count: int, width: int) -> None:
    print(f"Dense logistic regression, {count:,} x {width}")
    X, y = rows_and_labels(count, width)
    private = LogisticRegression(1.0, 1e-9, classes=[0, 1], fit_intercept=False, data_norm=1.0)
    print(f"  first fit, with its plan: {seconds(lambda: private.fit(X, y)):.2f} s")
    strength = 1 / (1.2 * (1 + 2.0**-20) ** 2)
    wanted = 1e-6
    exact = Plain(C=strength, fit_intercept=False, tol=1e-10, max_iter=1000)
    newton = Plain(
        C=strength, fit_intercept=False, tol=1e-10, max_iter=100, solver="newton-cholesky"
    )
    usual = Plain(C=strength, fit_intercept=False)
    solvers = {"lbfgs": exact, "newton-cholesky": newton}
    for name, solver in solvers.items():
        reached = gradient_norm(solver.fit(X, y), X, y, strength)
        print(f"  {name} at tol 1e-10 ends at a gradient of {reached:.1e}; ours at {wanted:g}")
    ours, *exactly, default = in_turns(
        lambda: private.fit(X, y),
        *(lambda s=s: s.fit(X, y) for s in solvers.values()),
        lambda: usual.fit(X, y),
    )
    report("against the fastest of these", ours / min(exactly), 1.0)
    report("against its default setting", ours / default, 1.0)


def newsgroups(folder: Path) -> None:
    if not (folder / "news20" / "X.npz").exists():
        print("20 newsgroups: no data at hand, left out")
        return
    X = sparse.csr_array(sparse.load_npz(folder / "news20" / "X.npz"), dtype=np.float64)
    y = (np.load(folder / "news20" / "y.npy") == 0).astype(int)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_array(sparse.diags_array(1 / np.maximum(norms, 1e-12)) @ X)
    print(f"20 newsgroups, one class against the rest, {X.shape[0]:,} x {X.shape[1]:,} sparse")
    private = LogisticRegression(1.0, 1e-9, classes=[0, 1], fit_intercept=False, data_norm=1.0)
    print(f"  first fit, with its plan: {seconds(lambda: private.fit(X, y)):.2f} s")
    strength = 1 / (1.2 * (1 + 2.0**-20) ** 2)
    exact = Plain(C=strength, fit_intercept=False, tol=1e-10, max_iter=1000)
    conjugate = Plain(C=strength, fit_intercept=False, tol=1e-10, max_iter=1000, solver="newton-cg")
    default = Plain(C=strength, fit_intercept=False)
    for solver in (exact, conjugate):
        print(f"  gradient {gradient_norm(solver.fit(X, y), X, y, strength):.1e}")
    ours, *theirs, usual = in_turns(
        *(lambda m=m: m.fit(X, y) for m in (private, exact, conjugate, default))
    )
    report("against the fastest to the same gradient", ours / min(theirs), 2.0)
    report("against its default setting", ours / usual, 2.0)


def many_draws(folds: int, draws: int) -> None:
    print(f"{folds} folds x {draws} draws of noise, 14 000 x 10, against as many fits")
    X, y = rows_and_labels(14_000, 10)
    bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=14_000)
    problem = Problem(Logistic(), bounds, ridge=140.0)
    rows = Rows(X, 2.0 * y - 1, bounds=bounds, unit="replace")
    plain = Plain(C=1 / 140.0, fit_intercept=False)

    def study() -> None:
        for fold in range(folds):
            rehearse(
                ObjectivePerturbation("radial"),
                problem,
                rows,
                budget=Budget(0.1),
                draws=draws,
                seed=draws * fold,
            )

    ours, one = in_turns(study, lambda: [plain.fit(X, y) for _ in range(20)])
    ratio = one / 20 * folds * draws / ours
    verdict = "met" if ratio >= 20 else "MISSED"
    print(f"  {'faster by':<58} {ratio:>7.1f}x   goal 20x  {verdict}")


def growth(counts: list[int]) -> None:
    print("Growth with the number of rows, 50 columns")
    private = LogisticRegression(1.0, 1e-9, classes=[0, 1], data_norm=1.0)
    times = []
    for count in counts:
        X, y = rows_and_labels(count, 50)
        private.fit(X, y)
        times.append(min(seconds(lambda X=X, y=y: private.fit(X, y)) for _ in range(5)))
        print(f"  {count:>10,} rows  {times[-1]:.3f} s")
    slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
    report("slope of log time against log rows", float(slope), 1.05, "")


def wide(count: int, width: int) -> None:
    print(f"Wide rows: {count:,} rows of 100 non-zeros among {width:,} columns")
    generator = np.random.default_rng(0)
    places = np.sort(generator.integers(0, width, size=(count, 100), dtype=np.int32), axis=1)
    starts = np.arange(0, 100 * count + 1, 100, dtype=np.int32)
    X = sparse.csr_array((np.full(100 * count, 0.1), places.ravel(), starts), shape=(count, width))
    y = generator.integers(0, 2, size=count)
    model = LogisticRegression(
        1.0, 1e-9, classes=[0, 1], mechanism="objective_perturbation", data_norm=1.0
    )
    took = seconds(lambda: model.fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {took:.0f} s, all {model.coef_.size:,} coefficients released")
    report("largest resident memory", peak, 8.0, " GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    quick = options.quick
    if not quick:
        wide(100_000, 20_000_000)  # first: the largest resident memory is that of the process
    dense(30_000 if quick else 300_000, 100)
    many_draws(1 if quick else 5, 50 if quick else 200)
    if quick:
        return
    newsgroups(options.data)
    growth([100_000, 300_000, 1_000_000, 3_000_000])


if __name__ == "__main__":
    main()
