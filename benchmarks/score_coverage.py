"""How often intervals of private scores cover, by simulation: ``make score-coverage``.

Two laws of scores (balanced; 12 % positives and miscalibrated), rows drawn independently, counts
with integer Laplace noise; the truth is the score of the binned population. Options: the number of
draws, and the numbers of rows.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from discreet.metrics import BinaryScores, CountNoise, ScoreBins
from discreet.metrics.score_bins import bins_for
from discreet.privacy import AddRemoveOne, Guarantee, Pure
from discreet.record import Release

NAMES = ("accuracy", "precision", "recall", "f1", "log_loss", "brier", "roc_auc",
         "balanced_accuracy")  # fmt: skip
LAWS = {"balanced": (0.8, 0.2, 0.0, 1.8), "rare": (1.0, -0.3, -2.2, 1.3)}
"""Slope and shift of the true log-odds in the score; mean and deviation of the score."""

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
    stop = 1 - math.exp(-epsilon)
    seen: dict[str, list[tuple[bool, bool, float]]] = {name: [] for name in NAMES}
    for _ in range(draws):
        counts = draw.multinomial(rows, cells)
        counts = counts + draw.geometric(stop, cells.size) - draw.geometric(stop, cells.size)
        scores = scores_of(counts.astype(float), noise, bins)
        for name in NAMES:
            low, high, reason = scores[name].limits(LEVEL, False)
            seen[name].append((low <= truth[name].value <= high, bool(reason), high - low))
    found = []
    for name, outcomes in seen.items():
        covered, refused, widths = zip(*outcomes, strict=True)
        low, high = plain[name].interval(LEVEL)
        found.append(
            Coverage(law, rows, epsilon, bins.total, name, float(np.mean(covered)),
                     float(np.mean(refused)), float(np.median(widths)), high - low)
        )  # fmt: skip
    return found


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


if __name__ == "__main__":
    main()
