r"""Scores of regressors: a noisy histogram of absolute errors, rounded at random.

With t the absolute error over the width of the declared range, a row goes to one of the two
neighbouring nodes 0, 2^{-15/2}, ..., 2^{-1/2}, 1 at random, so that its mean square is that of t:
the mean squared error is unbiased. The coins are secret (``row_coins.py``): coins that somebody
knew would be handed on when a record is removed. If R² is asked for, targets are counted in a
second histogram (``determination.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Vector
from discreet.data.stored import RowPlace
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.determination import TARGET_NODES, Determination, place_targets
from discreet.metrics.inversion import Limits, Ratio
from discreet.metrics.private_scores import PrivateScore, Scores
from discreet.metrics.row_coins import RowCoins
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
