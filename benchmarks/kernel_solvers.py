"""Kernel solvers with certificates beside scikit-learn's, in one run: processor time, and ratios.

``python benchmarks/kernel_solvers.py`` fits 20,000 rows; ``--rows 2000`` is quick. A hinge stands
beside ``SVC``, whose intercept is not penalised; Huber's loss, of which nearly all residuals are in
the quadratic part, beside ``KernelRidge``. Ours end with a certificate, theirs at their own
tolerance.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel
from discreet.losses import Hinge, Huber, Logistic, Loss
from discreet.questions import Bounds
from discreet.solvers import KernelAccuracy, fit_in_rkhs

COLUMNS, GAMMA, GOAL = 10, 0.1, 2.0
RIDGE_SHARE = 1e-3
"""Of the number of rows: a ridge as private models have."""


def draw_rows(count: int) -> tuple[Any, Any, Any]:
    """Return rows in a ball, a label of two classes, and a number."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(count, COLUMNS))
    X /= np.maximum(1, np.linalg.norm(X, axis=1) / 4)[:, None]
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    classes = np.where(signal + 0.5 * generator.normal(size=count) > 0, 1.0, -1.0)
    return X, classes, np.clip(signal + 0.3 * generator.normal(size=count), -3, 3)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time that something takes, and what it returns."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def fit_ours(loss: Loss, X: Any, y: Any, ridge: float) -> tuple[float, Any, KernelAccuracy]:
    kernel = BoundedKernel(RBF(GAMMA), 1.0)
    entry = kernel.error(Bounds(L2Ball(4.0), COLUMNS))
    accuracy = KernelAccuracy(loss, kernel, ridge, entry, len(X), max_label=3.0)
    spent, fit = seconds(lambda: fit_in_rkhs(accuracy, X, y))
    return spent, fit, accuracy


def compare(rows: int, names: list[str]) -> None:
    X, classes, numbers = draw_rows(rows)
    ridge = RIDGE_SHARE * rows
    theirs: dict[str, Any] = {
        "hinge": (Hinge(), classes, SVC(C=1 / ridge, gamma=GAMMA)),
        "huber": (Huber(3.0), numbers, KernelRidge(alpha=ridge, kernel="rbf", gamma=GAMMA)),
        "logistic": (Logistic(), classes, None),
    }
    for name in names:
        loss, y, peer = theirs[name]
        ours, fit, accuracy = fit_ours(loss, X, y, ridge)
        share = accuracy.tolerance / accuracy.influence
        line = f"{name:9} {rows:,} rows: {ours:7.1f} s, certified within {share:.2%} of a record"
        if peer is not None:
            other, _ = seconds(lambda peer=peer, y=y: peer.fit(X, y))
            line += f"; {type(peer).__name__} {other:7.1f} s, ratio {ours / other:.2f}"
            line += f" (goal {GOAL:g}); {len(fit.points):,} points"
        print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("names", nargs="*", default=["hinge", "huber", "logistic"])
    given = parser.parse_args()
    compare(given.rows, given.names)
