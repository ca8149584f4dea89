"""Kernel solvers with certificates beside scikit-learn's, in one run: processor time, and ratios.

``python benchmarks/kernel_solvers.py`` fits 20,000 rows; ``--rows 2000`` is quick, and ``--rows
50000 --alone hinge`` fits ours only, in blocks, and says how much memory it took. A hinge stands
beside ``SVC``, whose intercept is not penalised; Huber's loss, of which nearly all residuals are in
the quadratic part, beside ``KernelRidge``. Ours end with a certificate, theirs at their own
tolerance. ``OMP_NUM_THREADS`` and ``OPENBLAS_NUM_THREADS`` hold for both; ``SVC`` has one thread.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any, NamedTuple

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


class Taken(NamedTuple):
    """How long something takes: on the processor, of that in the program itself, and by a clock."""

    processor: float
    user: float
    clock: float

    def __str__(self) -> str:
        return f"{self.processor:6.1f} s (user {self.user:.1f}, clock {self.clock:.1f})"


def measure(work: Callable[[], Any]) -> tuple[Taken, Any]:
    """Return how long something takes, and what it returns."""
    start, user = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    result = work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    own = after.ru_utime - user.ru_utime
    spent = Taken(own + after.ru_stime - user.ru_stime, own, time.perf_counter() - start)
    return spent, result


def fit_ours(loss: Loss, X: Any, y: Any, ridge: float) -> tuple[Taken, Any, KernelAccuracy]:
    kernel = BoundedKernel(RBF(GAMMA), 1.0)
    entry = kernel.error(Bounds(L2Ball(4.0), COLUMNS))
    accuracy = KernelAccuracy(loss, kernel, ridge, entry, len(X), max_label=3.0)
    spent, fit = measure(lambda: fit_in_rkhs(accuracy, X, y))
    return spent, fit, accuracy


def compare(rows: int, names: list[str], *, is_alone: bool) -> None:
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
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name:9} {rows:,} rows: {ours}, within {share:.2%} of a record, "
            f"{len(fit.points):,} points; at most {memory:.2f} GiB until now",
            flush=True,
        )
        if peer is not None and not is_alone:
            other, _ = measure(lambda peer=peer, y=y: peer.fit(X, y))
            ratios = ", ".join(f"{a / b:.2f}" for a, b in zip(ours, other, strict=True))
            print(
                f"  {type(peer).__name__:17} {other}; ratios {ratios} (goal {GOAL:g})", flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--alone", action="store_true", help="without scikit-learn's")
    parser.add_argument("names", nargs="*", default=["hinge", "huber", "logistic"])
    given = parser.parse_args()
    compare(given.rows, given.names, is_alone=given.alone)
