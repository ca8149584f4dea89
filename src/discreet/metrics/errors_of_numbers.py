r"""Scores of regressors: a noisy histogram of absolute errors, rounded at random.

With t the absolute error over the width of the declared range, a row goes to one of the two
neighbouring nodes 0, 2^{-15/2}, ..., 2^{-1/2}, 1 at random, so that its mean square is that of t:
the mean squared error is unbiased. The coins are secret (``RowCoins``): coins that somebody
knew would be handed on when a record is removed. If R² is asked for, targets are counted in a
second histogram.

The coefficient of determination R² is found from histograms of errors and of targets. Beside the
errors, targets are counted on evenly spaced nodes, rounded at random to one of the two
neighbours so that their mean is right; the variance then is too large by at most a quarter of the
squared step, for which the interval allows. With :math:`k = 1 - R^2` the statistic
:math:`T(k) = k \sum_c (y_c - \bar y)^2 \tilde M_c - \sum_c t_c^2 \tilde N_c` has mean zero at the
true k. How errors go together with targets is not released, so the standard deviations of the two
sums are added, which is the worst that can be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Vector
from discreet.data.stored import RowPlace
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import (
    LEAD,
    ROWS_OF_RATIOS,
    TOO_FEW,
    Limits,
    Ratio,
    Statistic,
    hull,
    variance_of_rows,
)
from discreet.metrics.private_scores import PrivateScore, Scores
from discreet.metrics.scored_table import RowCoins
from discreet.questions import Interval
from discreet.record import Release

NODES = np.concatenate([[0.0], 2.0 ** (-np.arange(15, -1, -1) / 2)])
ERROR_METRICS = ("mse", "rmse", "mae")
NUMBER_METRICS = (*ERROR_METRICS, "r2")

SHORT, SHORT_AT_ZERO = 1.015, 0.0014
"""Absolute errors come out too small: by this factor, and by this share of the range, at most."""


@dataclass(frozen=True)
class ErrorCells:
    """The cell of a row: zero if it cannot be scored, then a node near its absolute error."""

    interval: Interval
    coins: RowCoins
    with_targets: bool = False

    def __call__(self, outputs: Array, labels: Vector, place: RowPlace) -> Array:
        low, high = self.interval.low, self.interval.high
        said = outputs[:, 0]
        unknown = np.isnan(said) | np.isnan(labels)
        clipped = np.clip(labels, low, high)
        errors = np.abs(clipped - np.clip(said, low, high)) / (high - low)
        errors = np.where(unknown, 0.0, np.minimum(errors, 1.0))
        above = np.clip(np.searchsorted(NODES, errors, side="right"), 1, NODES.size - 1)
        floor, ceiling = NODES[above - 1] ** 2, NODES[above] ** 2
        chance = (errors**2 - floor) / (ceiling - floor)
        coins = self.coins.toss(place, len(said))
        cells = [above + (coins < chance)]
        if self.with_targets:  # the same coins: each sum is right in the mean, which is enough
            shares = np.where(unknown, 0.0, np.clip((clipped - low) / (high - low), 0.0, 1.0))
            cells.append(1 + place_targets(shares, coins))
        return np.column_stack([np.where(unknown, 0.0, listed) for listed in cells])

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells there are, with the one for rows that cannot be scored."""
        return (1 + NODES.size, *([1 + TARGET_NODES.size] if self.with_targets else []))


class NumberScores(Scores):
    """Scores of a regressor, in the units of the target.

    Parameters
    ----------
    released
        Noisy counts: rows that could not be scored, then rows by their absolute error. For R² the
        same again by target.
    noise
        The law of the noise.
    interval
        The declared range of the target.
    names
        The scores that were asked for.
    on_training_rows
        Whether the model was fitted on the rows.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    counts
        The noisy counts by absolute error.
    errors
        The absolute error that each stands for.
    target_counts, targets
        The noisy counts by target, and the target that each stands for; None without R².

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Guarantee, Pure
    >>> counts = np.zeros(18)
    >>> counts[[1, 17]] = 75.0, 25.0
    >>> made = Release(counts, Guarantee(Pure(1.0), AddRemoveOne()), "noisy_histogram", 0, "0.1")
    >>> scores = NumberScores(made, CountNoise("none", 0.0), Interval(0, 2), ("mse",))
    >>> scores["mse"].value, scores["rmse"].value
    (1.0, 1.0)
    """

    def __init__(
        self,
        released: Release,
        noise: CountNoise,
        interval: Interval,
        names: tuple[str, ...],
        *,
        on_training_rows: bool = False,
    ) -> None:
        value = np.asarray(released.value)
        counts, others = value[1 : 1 + NODES.size], value[2 + NODES.size :]
        super().__init__(released, counts, noise, names, on_training_rows=on_training_rows)
        self.interval = interval
        self.errors = NODES * (interval.high - interval.low)
        self.target_counts = others if others.size else None
        places = interval.low + TARGET_NODES * (interval.high - interval.low)
        self.targets = places if others.size else None

    @property
    def available(self) -> tuple[str, ...]:
        return ERROR_METRICS if self.target_counts is None else NUMBER_METRICS

    def _score(self, name: str) -> PrivateScore:
        if name == "r2" and self.target_counts is not None:
            found = Determination(NODES**2, self.counts, self.target_counts, self.noise)
            return self._make_score(
                name, found.value, lambda level, _: found.limits(level), found.allowance
            )
        width = self.interval.high - self.interval.low
        worth = NODES if name == "mae" else NODES**2
        mean = Ratio(worth, np.ones(NODES.size), 0.0, 1.0)
        value = mean.of(project_counts(self.counts))

        def limits(level: float, is_sample: bool) -> Limits:
            # Of these rows the coins are one more doubt, of which the population's variance holds.
            low, high, reason = mean.limits(self.counts, self.noise, level)
            return self._in_units(name, low, high, width, reason)

        estimate = self._in_units(name, value, value, width, "").low
        return self._make_score(name, estimate, limits)

    @staticmethod
    def _in_units(name: str, low: float, high: float, width: float, reason: str) -> Limits:
        if name == "mae":
            most = min(1.0, high * SHORT + SHORT_AT_ZERO)
            return Limits(low * width, most * width, reason)
        if name == "mse":
            return Limits(low * width**2, high * width**2, reason)
        return Limits(math.sqrt(low) * width, math.sqrt(high) * width, reason)


STEPS = 32
TARGET_NODES = np.linspace(0.0, 1.0, STEPS + 1)
MOST_EXCESS = 0.25 / STEPS**2
"""What rounding at random adds to the variance of targets, at most; nothing at least."""

LEAST = -1.0
"""R² is told as this number if it is less."""

TOO_ALIKE = "targets hardly vary over the declared range: nothing is known"
BELOW = "-1 or less: the errors are more than twice as large as the spread of targets, squared"


def place_targets(shares: Vector, coins: Vector) -> Vector:
    """Return a node near each target, by its place; means are those of the targets.

    Examples
    --------
    >>> place_targets(np.array([0.0, 0.51, 1.0]), np.array([0.0, 0.2, 0.9]))
    array([ 0., 17., 32.])
    """
    floors = np.floor(shares * STEPS)
    placed: Vector = floors + (coins < shares * STEPS - floors)
    return placed


@dataclass(frozen=True, eq=False)
class Determination:
    """R² from noisy counts.

    Examples
    --------
    >>> targets = np.zeros(33)
    >>> targets[[8, 24]] = 500.0  # a quarter and three quarters of the range
    >>> errors = np.array([750.0, 250.0])  # none, or an eighth of the range
    >>> found = Determination(np.array([0, 1 / 64]), errors, targets, CountNoise("none", 0.0))
    >>> round(found.value, 2)
    0.94
    """

    squares: Vector
    errors: Vector
    targets: Vector
    noise: CountNoise

    @property
    def value(self) -> float:
        """The estimate, with half of what rounding may add to the variance of targets."""
        found = self._estimate(MOST_EXCESS / 2)
        return LEAST if found is None else min(max(found, LEAST), 1.0)

    @property
    def allowance(self) -> float:
        """How far rounding of the targets may have moved the estimate; intervals hold it."""
        ends = [self._estimate(excess) for excess in (0.0, MOST_EXCESS)]
        known = [LEAST if end is None else max(end, LEAST) for end in ends]
        return (known[0] - known[1]) / 2

    def _estimate(self, excess: float) -> float | None:
        """Return R² of consistent counts; None if the targets do not vary."""
        targets, errors = project_counts(self.targets), project_counts(self.errors)
        shares = targets / targets.sum()
        spread = float(shares @ (TARGET_NODES - shares @ TARGET_NODES) ** 2) - excess
        return None if spread <= 0 else 1 - float(self.squares @ errors / errors.sum()) / spread

    def limits(self, level: float) -> Limits:
        """Return the interval for R², or for -1 if it is less."""
        variance = self.noise.variance
        for counts in (self.errors, self.targets):
            if not counts.sum() > LEAD * np.sqrt(variance * counts.size):
                return Limits(LEAST, 1.0, TOO_FEW)
        away = (TARGET_NODES - self._mean) ** 2
        least = LEAD * np.sqrt(variance * (away**2).sum()) + MOST_EXCESS * self.targets.sum()
        if not self._spread > least:
            return Limits(LEAST, 1.0, TOO_ALIKE)
        ends = [self._limits_with(excess, level) for excess in (MOST_EXCESS, 0.0)]
        if ends[1].reason:
            return ends[1]
        return Limits(LEAST if ends[0].reason else ends[0].low, ends[1].high)

    @property
    def _mean(self) -> float:
        return float(np.clip(self.targets @ TARGET_NODES / self.targets.sum(), 0.0, 1.0))

    @property
    def _spread(self) -> float:
        """The sum of squares about the mean; noise in the mean would make it too small."""
        away = (TARGET_NODES - self._mean) ** 2
        return float(self.targets @ away + self.noise.variance * away.sum() / self.targets.sum())

    def _limits_with(self, excess: float, level: float) -> Limits:
        """Return the interval if rounding adds so much to the variance of targets."""

        def statistic(values: Vector) -> Statistic:
            return self._statistic(1 - values, excess)

        worst = statistic(np.array([LEAST]))
        if worst.value[0] < 0 and not worst.is_accepted(level)[0]:
            return Limits(LEAST, LEAST, BELOW)
        return hull(statistic, level, LEAST, 1.0)

    def _statistic(self, k: Vector, excess: float) -> Statistic:
        away = (TARGET_NODES - self._mean) ** 2 - excess
        spread = self._spread - excess * self.targets.sum()
        value = k * spread - self.squares @ self.errors
        deviation = sum(
            factor * np.sqrt(self._variance_of_rows(weights, counts))
            for factor, weights, counts in (
                (k, away, self.targets),
                (1.0, self.squares, self.errors),
            )
        )
        variance = deviation**2 + self.noise.variance * (
            k**2 * (away**2).sum() + (self.squares**2).sum()
        )
        cumulant = self.noise.cumulant * (k**4 * (away**4).sum() + (self.squares**4).sum())
        return Statistic(value, np.asarray(variance), np.asarray(cumulant))

    def _variance_of_rows(self, weights: Vector, counts: Vector) -> float:
        """Return a bound on the variance of a sum over rows that are drawn, about its mean."""
        centre = np.clip(weights @ counts / counts.sum(), weights.min(), weights.max())
        return float(
            variance_of_rows((weights - centre)[None], counts, self.noise, ROWS_OF_RATIOS)[0]
        )
