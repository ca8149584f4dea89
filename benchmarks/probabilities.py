"""Calibration of ``LinearClassifier`` before and after: the loss's own link, a line, the curve.

Run with ``python benchmarks/probabilities.py --data FOLDER``; see ``tables.py`` for what is in it.
All three use delta = 1e-9 and records that come and go. The link of the loss and the line are read
off the same fits, which spend nothing on counts of scores; the curve has fits of its own, with the
same rehearsal noise. Writes lines of a Markdown table.
"""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from probability_scores import Scores, score_model

import tables
from discreet import LinearClassifier
from discreet.errors import RehearsalWarning

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
    options = parser.parse_args()
    warnings.simplefilter("ignore", RehearsalWarning)
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
