r"""The coefficient of determination R², from histograms of errors and of targets.

Beside the errors, targets are counted on evenly spaced nodes, rounded at random to one of the two
neighbours so that their mean is right; the variance then is too large by at most a quarter of the
squared step, for which the interval allows. With :math:`k = 1 - R^2` the statistic
:math:`T(k) = k \sum_c (y_c - \bar y)^2 \tilde M_c - \sum_c t_c^2 \tilde N_c` has mean zero at the
true k. How errors go together with targets is not released, so the standard deviations of the two
sums are added, which is the worst that can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import (
    LEAD,
    ROWS_OF_RATIOS,
    TOO_FEW,
    Limits,
    Statistic,
    hull,
    variance_of_rows,
)

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
