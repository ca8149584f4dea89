"""How often intervals of private scores cover the exact score: ``make score-coverage``.

Laws of scores: log-odds are normal, the truth is a straight line in them. Rows are drawn
independently, and scored as ``private_score`` does, add/remove, with integer Laplace noise. The
score of these rows, and that of the population, are those of the model as it is, without bins. Of
numbers one law: a target with an R² of 0.6 whose standard deviation is a fifth of its range.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri
from sklearn.metrics import roc_auc_score

from discreet.data import Rows
from discreet.data.stored import RowPlace
from discreet.ledger import NoLedger
from discreet.mechanisms import FollowingHistogram
from discreet.mechanisms.summing.score_cells import LIMIT, losses_at, place_rows
from discreet.metrics import BinaryScores, CountNoise, NumberScores, ScoreBins, Scores
from discreet.metrics.errors_of_numbers import ErrorCells
from discreet.metrics.score_bins import FEW_BINS, cells_of_first
from discreet.metrics.scored_table import RowCoins
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, NoPrivacy, Pure
from discreet.questions import FollowingCounts, Interval
from discreet.record import Release

NAMES = ("accuracy", "recall", "log_loss", "brier", "roc_auc")
LAWS = {
    "balanced": (0.8, 0.2, 0.0, 1.8),
    "rare": (1.0, 0.0, -2.15, 0.45),
    "very rare": (1.0, 0.0, -4.9, 0.9),
    "overconfident": (0.35, -0.45, -1.0, 2.5),
    "alike": (15.0, 30.8, -2.2, 0.03),
}
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
    bins: float
    name: str
    covered: float
    covered_population: float
    refused: float
    width: float
    plain_width: float

    def line(self) -> str:
        """Return a line of the table."""
        ratio = self.width / self.plain_width
        return (
            f"| {self.law} | {self.rows:,} | {self.epsilon:g} | {self.bins:.0f} | {self.name} | "
            f"{self.covered:.3f} | {self.covered_population:.3f} | {100 * self.refused:.0f} % | "
            f"{self.width:.4f} | {ratio:.2f} |"
        )


def draw_rows(draw: np.random.Generator, law: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and log-odds."""
    slope, shift, mean, deviation = LAWS[law]
    scores = mean + deviation * draw.normal(size=rows)
    return (draw.uniform(size=rows) < expit(slope * scores + shift)).astype(int), scores


def exact_scores(y: np.ndarray, z: np.ndarray) -> dict[str, float]:
    """Return the scores of rows, without bins; probabilities are brought within the ends."""
    inside, said = np.clip(z, -LIMIT, LIMIT), z > 0
    return {
        "accuracy": float(np.mean(said == y)),
        "recall": float(said[y == 1].mean()) if y.any() else math.nan,
        "log_loss": float(losses_at(inside)[y, np.arange(y.size)].mean()),
        "brier": float(np.mean((y - expit(inside)) ** 2)),
        "roc_auc": float(roc_auc_score(y, z)) if 0 < y.sum() < y.size else math.nan,
    }


def population_scores(law: str) -> dict[str, float]:
    """Return the exact scores of a law, on a fine grid of its quantiles."""
    slope, shift, mean, deviation = LAWS[law]
    z = mean + deviation * ndtri((np.arange(200_000) + 0.5) / 200_000)
    chance = expit(slope * z + shift)
    inside, share = np.clip(z, -LIMIT, LIMIT), chance.mean()
    losses, below = losses_at(inside), np.cumsum(1 - chance) - (1 - chance) / 2
    return {
        "accuracy": float(np.mean(np.where(z > 0, chance, 1 - chance))),
        "recall": float(chance[z > 0].sum() / chance.sum()),
        "log_loss": float(np.mean((1 - chance) * losses[0] + chance * losses[1])),
        "brier": float(np.mean((1 - chance) * expit(inside) ** 2 + chance * expit(-inside) ** 2)),
        "roc_auc": float(chance @ below / (z.size**2 * share * (1 - share))),
    }


def scores_of(
    y: np.ndarray, z: np.ndarray, hint: int, epsilon: float, seed: int
) -> tuple[BinaryScores, int]:
    """Return the scores of rows as they are released, and how many bins there are."""
    coins = RowCoins(seed.to_bytes(32, "little")).toss(RowPlace(), y.size)
    given, cells = np.column_stack([y + 1, z, coins]), cells_of_first(hint, epsilon)
    guarantee = Guarantee(Pure(1.0), AddRemoveOne())
    if cells is None:
        bins, noise = ScoreBins.of_count(FEW_BINS), CountNoise("laplace", 1 / epsilon)
        size = 1 + 4 * bins.total
        counts = np.bincount(place_rows(bins.edges, given, has_halves=True), minlength=size)
        value = (counts + integers(np.random.default_rng(seed), noise.scale, size)).astype(float)
    else:
        question = FollowingCounts(cells)
        plan = FollowingHistogram().plan(question, Budget(epsilon), AddRemoveOne())
        sealed = Rows(given, bounds=question.bounds)
        free = NoLedger().charge(Guarantee(NoPrivacy(), sealed.unit), purpose="simulation")
        value = plan.run(sealed.open(free), RehearsalNoise(seed))
        bins, noise = ScoreBins(value[: value.size // 5 - 1]), CountNoise.of_plan(plan)
    made = Release(value, guarantee, "following_histogram", 0, "0")
    return BinaryScores(made, noise, bins, NAMES, has_halves=True), bins.total


def coverage(law: str, rows: int, epsilon: float, draws: int, seed: int = 7) -> list[Coverage]:
    """Simulate one setting."""
    draw, truth = np.random.default_rng(seed), population_scores(law)
    plain, _ = scores_of(*draw_rows(draw, law, rows), rows, math.inf, seed)
    seen: dict[str, list[Outcome]] = {name: [] for name in NAMES}
    totals = []
    for number in range(draws):
        y, z = draw_rows(draw, law, rows)
        scores, bins = scores_of(y, z, rows, epsilon, 1000 * seed + number)
        totals.append(bins)
        note(seen, scores, truth, exact_scores(y, z))
    return [
        summary(law, rows, epsilon, float(np.mean(totals)), name, outcomes,
                plain[name].interval(LEVEL))
        for name, outcomes in seen.items()
    ]  # fmt: skip


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
        note(seen, number_scores(rows, draw, noise), truth, dict.fromkeys(truth, math.nan))
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
    join = ErrorCells(RANGE, RowCoins(draw.bytes(32)), with_targets=True)
    placed = join(said[:, None], targets, RowPlace()).astype(int)
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


Outcome = tuple[float, bool, bool, float]
"""Whether an interval of these rows covers (NaN if they have no such score), whether one of the
population does, whether it was refused, and its width."""


def note(
    seen: dict[str, list[Outcome]],
    scores: Scores,
    population: Mapping[str, float],
    sample: Mapping[str, float],
) -> None:
    """Write down what became of each score."""
    for name, outcomes in seen.items():
        low, high, reason = scores[name].limits(LEVEL, False)
        ends, own = scores[name].limits(LEVEL, True), sample[name]
        is_own = math.nan if math.isnan(own) else ends.low - 1e-9 <= own <= ends.high + 1e-9
        outcomes.append((is_own, low <= population[name] <= high, bool(reason), high - low))


def summary(
    law: str,
    rows: int,
    epsilon: float,
    bins: float,
    name: str,
    outcomes: list[Outcome],
    plain: tuple[float, float],
) -> Coverage:
    """Return a line of the table."""
    own, covered, refused, widths = np.array(outcomes, dtype=float).T
    known = own[np.isfinite(own)]
    return Coverage(law, rows, epsilon, bins, name,
                    float(known.mean()) if known.size else math.nan, float(covered.mean()),
                    float(refused.mean()), float(np.median(widths)),
                    plain[1] - plain[0])  # fmt: skip


HEADER = (
    "| law | rows | epsilon | bins | score | covered, these rows | covered, population | "
    "no interval | median width | over that without noise |\n" + "|---" * 10 + "|"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5000, 20_000])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0, 3.0])
    parser.add_argument("--laws", nargs="+", choices=[*LAWS, "numbers"], default=[*LAWS, "numbers"])
    options = parser.parse_args()
    print(HEADER)
    for law in options.laws:
        for rows in options.rows:
            for epsilon in options.epsilons:
                if law == "numbers":
                    lines = coverage_of_numbers(rows, epsilon, options.draws)
                else:
                    lines = coverage(law, rows, epsilon, options.draws)
                for line in lines:
                    print(line.line(), flush=True)


if __name__ == "__main__":
    main()
