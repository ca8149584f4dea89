"""How often intervals of private scores cover, by simulation: ``make score-coverage``.

Two laws of scores (balanced; 12 % positives and miscalibrated), rows drawn independently, counts
with integer Laplace noise; the truth is the score of the binned population. Of numbers one law: a
target with an R² of 0.6 whose standard deviation is a fifth of its range; the truth is that of the
population, not binned. Options: the number of draws, and the numbers of rows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from discreet.metrics import BinaryScores, CountNoise, NumberScores, ScoreBins, Scores
from discreet.metrics.errors_of_numbers import ErrorCells
from discreet.metrics.score_bins import bins_for
from discreet.privacy import AddRemoveOne, Guarantee, Pure
from discreet.questions import Interval
from discreet.record import Release

NAMES = ("accuracy", "precision", "recall", "f1", "log_loss", "brier", "roc_auc",
         "balanced_accuracy")  # fmt: skip
LAWS = {"balanced": (0.8, 0.2, 0.0, 1.8), "rare": (1.0, -0.3, -2.2, 1.3)}
"""Slope and shift of the true log-odds in the score; mean and deviation of the score."""

NUMBER_NAMES = ("mse", "mae", "r2")
RANGE = Interval(-1.0, 1.0)
DEVIATION, EXPLAINED = 0.4, 0.6
"""The standard deviation of the target on that range, and the share of its variance predicted."""

LEVEL = 0.95
QUIET = CountNoise("none", 0.0)


@dataclass(frozen=True)
class Coverage:
    """What became of one score in one setting."""

    law: str
    rows: int
    epsilon: float
    bins: int
    name: str
    covered: float
    refused: float
    width: float
    plain_width: float

    def line(self) -> str:
        """Return a line of the table."""
        ratio = self.width / self.plain_width
        return (
            f"| {self.law} | {self.rows:,} | {self.epsilon:g} | {self.bins} | {self.name} | "
            f"{self.covered:.3f} | {100 * self.refused:.0f} % | {self.width:.4f} | {ratio:.2f} |"
        )


def scores_of(cells: np.ndarray, noise: CountNoise, bins: ScoreBins) -> BinaryScores:
    """Return the scores of counts of cells."""
    made = Release(np.append(0.0, cells), Guarantee(Pure(1.0), AddRemoveOne()),
                   "noisy_histogram", 0, "0")  # fmt: skip
    return BinaryScores(made, noise, bins, NAMES)


def population(bins: ScoreBins, law: str) -> np.ndarray:
    """Return the chance of each cell."""
    slope, shift, mean, deviation = LAWS[law]
    scores = mean + deviation * ndtri((np.arange(200_000) + 0.5) / 200_000)
    truth = expit(slope * scores + shift)
    places = np.searchsorted(bins.edges, scores)
    parts = [np.bincount(places, weights, bins.total) for weights in (1 - truth, truth)]
    return np.concatenate(parts) / scores.size


def coverage(law: str, rows: int, epsilon: float, draws: int, seed: int = 7) -> list[Coverage]:
    """Simulate one setting."""
    bins = ScoreBins(bins_for(rows, epsilon))
    cells, noise = population(bins, law), CountNoise("laplace", 1 / epsilon)
    truth = scores_of(1e12 * cells, QUIET, bins)
    plain = scores_of(rows * cells, QUIET, bins)
    draw = np.random.default_rng(seed)
    seen: dict[str, list[Outcome]] = {name: [] for name in NAMES}
    for _ in range(draws):
        counts = draw.multinomial(rows, cells) + integers(draw, 1 / epsilon, cells.size)
        note(seen, scores_of(counts.astype(float), noise, bins), truth)
    return [
        summary(law, rows, epsilon, bins.total, name, outcomes, plain[name].interval(LEVEL))
        for name, outcomes in seen.items()
    ]


def coverage_of_numbers(rows: int, epsilon: float, draws: int, seed: int = 7) -> list[Coverage]:
    """Simulate one setting of a regressor, by rows: errors and targets go together."""
    draw = np.random.default_rng(seed)
    said, targets = numbers(draw, 1_000_000)
    errors = np.abs(said - targets)
    truth = {"mse": np.mean(errors**2), "mae": errors.mean()}
    truth["r2"] = 1 - truth["mse"] / targets.var()
    noise, plain = CountNoise("laplace", 2 / epsilon), number_scores(rows, draw, QUIET)
    seen: dict[str, list[Outcome]] = {name: [] for name in NUMBER_NAMES}
    for _ in range(draws):
        note(seen, number_scores(rows, draw, noise), truth)
    return [
        summary("numbers", rows, epsilon, 17, name, outcomes, plain[name].interval(LEVEL))
        for name, outcomes in seen.items()
    ]


def numbers(draw: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions and targets."""
    said = DEVIATION * math.sqrt(EXPLAINED) * draw.normal(size=rows)
    left = DEVIATION * math.sqrt(1 - EXPLAINED) * draw.normal(size=rows)
    return np.clip(said, -1, 1), np.clip(said + left, -1, 1)


def number_scores(rows: int, draw: np.random.Generator, noise: CountNoise) -> NumberScores:
    """Return the scores of rows that are drawn."""
    said, targets = numbers(draw, rows)
    join = ErrorCells(RANGE, True, rehearsal=int(draw.integers(2**31)))
    placed = join(said[:, None], targets).astype(int)
    columns = zip(placed.T, join.cells, strict=True)
    counts = np.concatenate([np.bincount(column, minlength=size) for column, size in columns])
    if noise.variance:
        counts = counts + integers(draw, noise.scale, counts.size)
    made = Release(counts.astype(float), Guarantee(Pure(1.0), AddRemoveOne()),
                   "noisy_histogram", 0, "0")  # fmt: skip
    return NumberScores(made, noise, RANGE, NUMBER_NAMES)


def integers(draw: np.random.Generator, scale: float, count: int) -> np.ndarray:
    """Return integers of the discrete Laplace law."""
    stop = 1 - math.exp(-1 / scale)
    return draw.geometric(stop, count) - draw.geometric(stop, count)


Outcome = tuple[bool, bool, float]
"""Whether an interval covers, whether it was refused, and its width."""


def note(seen: dict[str, list[Outcome]], scores: Scores, truth: Mapping[str, Any]) -> None:
    """Write down what became of each score."""
    for name, outcomes in seen.items():
        low, high, reason = scores[name].limits(LEVEL, False)
        known = float(getattr(truth[name], "value", truth[name]))
        outcomes.append((low <= known <= high, bool(reason), high - low))


def summary(
    law: str,
    rows: int,
    epsilon: float,
    bins: int,
    name: str,
    outcomes: list[Outcome],
    plain: tuple[float, float],
) -> Coverage:
    """Return a line of the table."""
    covered, refused, widths = zip(*outcomes, strict=True)
    return Coverage(law, rows, epsilon, bins, name, float(np.mean(covered)),
                    float(np.mean(refused)), float(np.median(widths)),
                    plain[1] - plain[0])  # fmt: skip


HEADER = (
    "| law | rows | epsilon | bins | score | covered | no interval | median width | over that "
    "without noise |\n|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000, 50_000])
    options = parser.parse_args()
    print(HEADER)
    for law in LAWS:
        for rows in options.rows:
            for epsilon in (0.1, 1.0):
                for line in coverage(law, rows, epsilon, options.draws):
                    print(line.line(), flush=True)
    for rows in options.rows:
        for epsilon in (0.1, 1.0):
            for line in coverage_of_numbers(rows, epsilon, options.draws):
                print(line.line(), flush=True)


if __name__ == "__main__":
    main()
