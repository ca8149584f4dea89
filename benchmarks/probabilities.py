"""Calibration of ``LinearClassifier`` before and after: the loss's own link, a line, the curve.

Run with ``python benchmarks/probabilities.py --data FOLDER``; see ``tables.py`` for what is in it.
All three use delta = 1e-9 and records that come and go. The link of the loss and the line are read
off the same fits, which spend nothing on counts of scores; the curve has fits of its own, with the
same rehearsal noise. Writes lines of a Markdown table. ``--made-up`` asks instead, of rows whose
log-odds are linear and known, how frequent the class is where its probability is said to be .01.
"""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from probability_scores import Scores, score_model
from scipy.special import expit

import tables
from discreet import LinearClassifier
from discreet.errors import RehearsalWarning
from discreet.preprocessing import Numeric

TABLES = ("adult", "bank", "credit_default", "codrna", "covtype")
EPSILONS = (0.1, 0.3, 1.0)
LINK, LINE, CURVE = "link of the loss (before)", 'line, `calibration="none"`', "**curve**"


def fit(table: tables.Declared, epsilon: float, calibration: str, seed: int, options: Any) -> Any:
    """Fit once with the noise of a rehearsal."""
    model = LinearClassifier(
        epsilon,
        options.delta,
        unit=options.unit,
        columns=table.columns,
        classes=[False, True],
        calibration=calibration,
        rehearsal=seed,
    )
    return model.fit(table.part(table.train), table.y[table.train])


WAYS = {LINK: "none", LINE: "none", CURVE: "curve"}
EFFECTS = np.resize([1.0, -0.8, 0.5, 0.3, 0.0], 9)
SAID, NEAR = 0.01, 0.002


def made_up(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of nine columns, and the chance of the second class of each."""
    X = np.clip(np.random.default_rng(seed).standard_normal((rows, EFFECTS.size)), -4, 4)
    return X, expit(X @ EFFECTS - 1.5)


def compare_with_truth(options: Any) -> None:
    """Print what is true where one in a hundred is said, and the log loss above the least."""
    X, chance = made_up(40_000, 0)
    y = np.random.default_rng(1).random(len(X)) < chance
    fresh, truth = made_up(200_000, 2)
    least = score_loss(truth, truth)
    columns = [Numeric(-4, 4)] * EFFECTS.size
    everything = np.arange(len(X))
    table = tables.Declared(X, y, columns, everything, everything)
    for epsilon in options.epsilons:
        for way, calibration in WAYS.items():
            told, excess = [], []
            for seed in range(options.fits):
                model = fit(table, epsilon, calibration, seed, options)
                if way == LINK:
                    model.probability_curve_ = None
                said = model.predict_proba(fresh)[:, 1]
                told.append(truth[np.abs(said - SAID) < NEAR].mean())
                excess.append(score_loss(truth, said) - least)
            print(f"{epsilon:<4g} {way:<28} where {SAID:.3f} is said {np.mean(told):.4f}, excess "
                  f"log loss {np.mean(excess):.4f}", flush=True)  # fmt: skip


def score_loss(chance: np.ndarray, said: np.ndarray) -> float:
    """Return the log loss that is expected of labels with these chances."""
    return float(-np.mean(chance * np.log(said) + (1 - chance) * np.log1p(-said)))


def measure(table: tables.Declared, epsilon: float, options: Any) -> dict[str, np.ndarray]:
    """Return the scores of each way of making probabilities, a line for each fit."""
    X, y = table.part(table.test), table.y[table.test]
    found: dict[str, list[Scores]] = {LINK: [], LINE: [], CURVE: []}
    for seed in range(options.fits if math.isfinite(epsilon) else 1):
        plain = fit(table, epsilon, "none", seed, options)
        found[LINE].append(score_model(plain, X, y))
        plain.probability_curve_ = None  # as before there were curves
        found[LINK].append(score_model(plain, X, y))
        found[CURVE].append(score_model(fit(table, epsilon, "curve", seed, options), X, y))
    return {name: np.array(lines) for name, lines in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(TABLES))
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--epsilons", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--fits", type=int, default=8)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--unit", default="add_remove")
    parser.add_argument("--made-up", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RehearsalWarning)
    if options.made_up:
        compare_with_truth(options)
        return
    print("| data | epsilon | probabilities | log loss | Brier | ECE | accuracy | AUC |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.names:
        table = tables.classes(options.data / name, grouped=options.delta == 0)
        for epsilon in options.epsilons:
            for way, lines in measure(table, epsilon, options).items():
                mean = Scores(*lines.mean(axis=0))
                error = lines.std(axis=0, ddof=min(1, len(lines) - 1)) / math.sqrt(len(lines))
                print(
                    f"| {name} | {epsilon:g} | {way} | {mean.log_loss:.4f} ± "
                    f"{Scores(*error).log_loss:.4f} | {mean.brier:.4f} | {mean.ece:.4f} | "
                    f"{mean.accuracy:.4f} | {mean.auc:.4f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
