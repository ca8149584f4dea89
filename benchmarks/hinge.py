"""Accuracy and AUC of the plain hinge by noisy gradients, against what one would use instead.

Run with ``python benchmarks/hinge.py --data FOLDER``. All three learn from the same rows, of norm
at most one, and keep the same budget, delta = 1/n^2: ``LinearSVC(loss="hinge")`` with its defaults;
``LinearSVC`` with its smooth loss, by objective perturbation; and noisy gradients as Opacus is
usually set up: Poisson batches, a fixed learning rate on the mean, the last point. Batches of 4096,
60 epochs and a rate of 8 were the best on credit_default, of 30 settings (batches of 256, 1024 and
4096, 5 to 60 epochs, rates of 0.5 to 32). Defaults of the first were chosen on credit_default,
elec2 and acs_income. None of these is in the table. A hinge gives no probabilities, so there is
neither log loss nor Brier score.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import tables
from discreet.mechanisms import NoisyGradient
from discreet.solvers import StepRule
from discreet.solvers.step_rules import Stiffness
from discreet.svm import LinearSVC

NAMES = ("adult", "bank", "codrna", "covtype")
BATCH, EPOCHS, RATE = 4096, 60, 8.0


@dataclass(frozen=True)
class Fixed(StepRule):
    """Steps of one size."""

    stiffness: float

    def start(self) -> Stiffness:
        return lambda gradient: self.stiffness


@dataclass(frozen=True)
class Usual(NoisyGradient):
    """Noisy gradients as deep networks are trained; it takes the number of rows as known."""

    rows: int = 1

    def _step_rule(self, problem, unit, sampling, noise):
        return Fixed(self.rows / RATE)


def usual(rows: int) -> Usual:
    return Usual(EPOCHS * rows // BATCH, BATCH / rows, average="last", rows=rows)


def models(epsilon: float, rows: int) -> dict[str, LinearSVC]:
    options = {"epsilon": epsilon, "delta": 1 / rows**2, "classes": [False, True]}
    return {
        "noisy gradients": LinearSVC(loss="hinge", **options, data_norm=1.0),
        "smooth loss": LinearSVC(**options, data_norm=1.0),
        "usual settings": LinearSVC(
            loss="hinge", mechanism=usual(rows), C=1e6, **options, data_norm=1.0
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=NAMES)
    parser.add_argument("--epsilons", nargs="*", type=float, default=tables.EPSILONS)
    parser.add_argument("--models", nargs="*", help="some of the models, by how they begin")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.only:
        table = tables.matrix(tables.classes(options.data / name))
        train, test = table.part(table.train), table.part(table.test)
        y, truth = table.y[table.train], table.y[table.test]
        print(f"{name}, {train.shape[0]:,} x {train.shape[1]}", flush=True)
        for epsilon in options.epsilons:
            print(f"  {epsilon:<4g}", end="")
            for label, model in models(epsilon, train.shape[0]).items():
                if options.models and not any(label.startswith(m) for m in options.models):
                    continue
                start = time.perf_counter()
                fitted = [clone(model).fit(train, y) for _ in range(options.fits)]
                took = (time.perf_counter() - start) / options.fits
                cell = [m.score(test, truth) for m in fitted]
                error = np.std(cell, ddof=1) / math.sqrt(options.fits)
                auc = np.mean([roc_auc_score(truth, m.decision_function(test)) for m in fitted])
                print(f"  {label} {np.mean(cell):.4f} ±{error:.4f}, AUC {auc:.4f}", end="")
                print(f" ({took:.1f} s)", end="")
                print(end="", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
