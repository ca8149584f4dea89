"""How often private confidence intervals cover, beside the textbook sandwich on the same rows.

Rows are drawn anew for every fit: four normal columns of correlation one half, clipped at 3, and an
intercept. The truth is that of the clipped rows, from a fit without noise on many rows. Noise is
that of rehearsals.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit

from discreet._types import Array, Vector
from discreet.errors import IntervalRefused
from discreet.linear_model import LogisticRegression, PoissonRegressor, Ridge

TRUTH = np.array([0.6, -0.4, 0.3, 0.0, -0.5])
"""Slopes and, last, the intercept; halved for counts and for numbers."""

DELTA = 1e-6
MARGIN = 2.0
STEPS = 25
Draw = np.random.Generator


@dataclass(frozen=True)
class World:
    """A kind of model, how its labels are drawn, and its loss."""

    name: str
    model: Callable[..., Any]
    labels: Callable[[Draw, Vector, Array, bool], Vector]
    slopes: Callable[[Vector, Vector], tuple[Vector, Vector]]
    options: dict[str, Any]
    scale: float = 1.0

    @property
    def truth(self) -> Vector:
        return self.scale * TRUTH

    def draw(self, draw: Draw, count: int, is_odd: bool) -> tuple[Array, Vector]:
        """Draw rows and labels; odd ones are not of the model's kind."""
        X = draw.normal(size=(count, TRUTH.size - 1))
        for column in range(1, X.shape[1]):
            X[:, column] = 0.5 * X[:, column - 1] + np.sqrt(0.75) * X[:, column]
        np.clip(X, -3, 3, out=X)
        margins = X @ self.truth[:-1] + self.truth[-1]
        if is_odd:
            bent = 0.5 * (np.square(X[:, 0]) - 1) + 0.5 * X[:, 0] * X[:, 1]
            margins = margins + self.scale * bent
        return X, self.labels(draw, margins, X, is_odd)

    def rows(self, X: Array) -> Array:
        """Return rows as they are clipped, with a constant column."""
        radius = self.options["data_norm"]
        short = X * np.minimum(1.0, radius / np.linalg.norm(X, axis=1))[:, None]
        return np.column_stack([short, np.ones(len(X))])


def draw_classes(draw: Draw, margins: Vector, X: Array, is_odd: bool) -> Vector:
    chances = expit(margins)
    return draw.random(len(X)) < (0.1 + 0.8 * chances if is_odd else chances)


def draw_numbers(draw: Draw, margins: Vector, X: Array, is_odd: bool) -> Vector:
    spread = 0.3 * (0.5 + np.abs(X[:, 0]) if is_odd else np.ones(len(X)))
    return np.clip(margins + spread * draw.normal(size=len(X)), -3, 3)


def draw_counts(draw: Draw, margins: Vector, X: Array, is_odd: bool) -> Vector:
    means = np.exp(np.clip(margins, -MARGIN, 1.8))
    if is_odd:
        means = means * draw.gamma(2.0, 0.5, size=len(X))
    return np.minimum(draw.poisson(means), 10).astype(np.float64)


def bend_counts(y: Vector, margins: Vector) -> tuple[Vector, Vector]:
    means = np.exp(np.clip(margins, -MARGIN, MARGIN))
    return means - y, np.where(np.abs(margins) <= MARGIN, means, 0.0)


WORLDS = {
    world.name: world
    for world in (
        World("logistic", LogisticRegression, draw_classes,
              lambda y, z: (expit(z) - y, expit(z) * expit(-z)),
              {"data_norm": 6.0, "classes": [False, True]}),
        World("least squares", Ridge, draw_numbers, lambda y, z: (z - y, np.ones(z.size)),
              {"data_norm": 5.0, "target_range": (-3.0, 3.0)}, 0.5),
        World("counts", PoissonRegressor, draw_counts, bend_counts,
              {"data_norm": 3.5, "max_count": 10.0, "max_margin": MARGIN}, 0.5),
    )
}  # fmt: skip


def minimise(world: World, rows: Array, y: Vector, start: Vector) -> Vector:
    """Return the coefficients without noise or ridge, by Newton's method."""
    point = start
    for _ in range(STEPS):
        slopes, bends = world.slopes(y, rows @ point)
        step = np.linalg.solve((rows * bends[:, None]).T @ rows, rows.T @ slopes)
        point = point - step
        if np.abs(step).max() < 1e-10:
            break
    return point


def textbook(world: World, rows: Array, y: Vector) -> tuple[Vector, Vector]:
    """Return coefficients and standard errors of the sandwich, without privacy."""
    point = minimise(world, rows, y, world.truth)
    slopes, bends = world.slopes(y, rows @ point)
    inverse = np.linalg.inv((rows * bends[:, None]).T @ rows)
    outer = (rows * np.square(slopes)[:, None]).T @ rows
    return point, np.sqrt(np.diag(inverse @ outer @ inverse))


@dataclass
class Tally:
    """What became of one budget."""

    refused: int = 0
    covered: list[Any] = field(default_factory=list)
    widths: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        tried = self.refused + len(self.covered)
        if not self.covered:
            return f"refused in all of {tried}"
        share = np.mean(self.covered)
        worst = np.mean(self.covered, axis=0).min()
        error = np.sqrt(share * (1 - share) / np.size(self.covered))
        wide = np.median(self.widths)
        return (
            f"{share:.3f} (± {error:.3f}; worst coefficient {worst:.3f}), x{wide:.2f}, "
            f"refused {self.refused} of {tried}"
        )


def cover(
    world: World, *, count: int, draws: int, epsilons: tuple[float, ...], is_odd: bool, many: int
) -> dict[str, Tally]:
    """Fit again and again, and count how often the intervals of 95 % cover.

    Parameters
    ----------
    world
        The kind of model.
    count
        Rows of each fit.
    draws
        How many tables.
    epsilons
        The budgets; each table is fitted once with each of them.
    is_odd
        Whether labels are not of the model's kind.
    many
        Rows of the fit that stands for the truth.
    """
    X, y = world.draw(np.random.default_rng(99), many, is_odd)
    truth = minimise(world, world.rows(X), y, world.truth)
    draw = np.random.default_rng(count + is_odd)
    tallies = {f"epsilon {epsilon:g}": Tally() for epsilon in epsilons}
    control = tallies["no privacy"] = Tally()
    for seed in range(draws):
        X, y = world.draw(draw, count, is_odd)
        point, errors = textbook(world, world.rows(X), y)
        control.covered.append(np.abs(point - truth) <= 1.96 * errors)
        control.widths.append(np.ones(truth.size))
        for epsilon in epsilons:
            model = world.model(
                epsilon=epsilon, delta=DELTA, intervals=True, rehearsal=seed, **world.options
            )
            tally = tallies[f"epsilon {epsilon:g}"]
            try:
                limits = model.fit(X, y).confidence_interval(intercept=True)
            except IntervalRefused:
                tally.refused += 1
                continue
            tally.covered.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
            tally.widths.append(np.ptp(limits, axis=1) / (2 * 1.96 * errors))
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=WORLDS, action="append")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=150)
    parser.add_argument("--many", type=int, default=1_500_000)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.world or WORLDS:
        for is_odd in (False, True):
            print(f"{name}, {asked.rows:,} rows, {'mis' if is_odd else 'well '}specified")
            found = cover(
                WORLDS[name],
                count=asked.rows,
                draws=asked.draws,
                epsilons=tuple(asked.epsilon),
                is_odd=is_odd,
                many=asked.many,
            )
            for budget, tally in found.items():
                print(f"  {budget}: {tally}", flush=True)


if __name__ == "__main__":
    main()
