r"""Scores of two classes, all of them functions of one noisy histogram: class by score.

Intervals are for the score of the model as it is, not as it is after binning. Only pairs of rows of
one bin can be in another order than is known, so the area under the ROC curve lies between what
they give if none and if all of them are in order. Halves of a bin match the log loss of rows in the
mean; of what else is a mean over rows, the chord between the ends of a bin is off by a gap whose
least and greatest values are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from discreet._types import Array, Booleans, Integers, Vector
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.mechanisms.summing.score_cells import losses_at
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import LEAD, Limits, PairMean, Ratio
from discreet.metrics.private_scores import USUAL_LEVEL, PrivateScore, Scores, is_about_sample
from discreet.metrics.proportions import limits_of_share
from discreet.metrics.score_bins import ScoreBins
from discreet.record import Release

CONFUSION_METRICS = (
    *("accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1"),
    "prevalence",
)
"""What four counts tell: which rows are of the second class, and which are predicted to be."""

PROBABILITY_METRICS = ("log_loss", "brier", "calibration_in_the_large")
"""What needs probabilities, and halves of bins."""

RANK_METRICS = ("roc_auc",)
"""What needs bins that are narrow where scores are many."""

BINARY_METRICS = (*CONFUSION_METRICS, *RANK_METRICS, *PROBABILITY_METRICS)

MOST_POINTS, MOST_GROUPS = 32, 16
"""Of curves by edges, and of the calibration curve: bands hold for all points at once."""

GAP_POINTS = 65
GAP_SLACK = 1e-6, 0.02
"""Points of a bin at which a gap is looked up, and what it may exceed them by: so much, and such a
part of itself. Between points of the widest bin there is, it rises by a hundredth at most."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a curve, and bands that hold all of them at once.

    Parameters
    ----------
    x, y
        The points; y is NaN where there are too few rows to say anything.
    x_limits, y_limits
        Low and high ends, a line for each point; None where nothing is uncertain.
    level
        The chance with which all of them hold together.

    Examples
    --------
    >>> Curve(np.zeros(1), np.ones(1), None, np.array([[0.9, 1.0]]), 0.95).y_limits.shape
    (1, 2)
    """

    x: Vector
    y: Vector
    x_limits: Array | None
    y_limits: Array
    level: float


class BinaryScores(Scores):
    """Scores of a classifier of two classes.

    Parameters
    ----------
    released
        The noisy counts, the last numbers of the value: rows that could not be scored, then the
        first class bin by bin (half by half), then the second.
    noise
        The law of the noise.
    bins
        The bins of the score.
    names
        The scores that were asked for.
    has_halves
        Whether bins are counted in halves, which scores of probabilities need.
    on_training_rows
        Whether the model was fitted on the rows.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    counts
        The noisy counts as released; the first is that of rows that could not be scored.
    noise
        The law of their noise.
    bins
        The grid.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Guarantee, Pure
    >>> counts = np.array([0.0, 80.0, 20.0, 10.0, 90.0])
    >>> made = Release(counts, Guarantee(Pure(1.0), AddRemoveOne()), "noisy_histogram", 0, "0.1")
    >>> noise, bins = CountNoise("laplace", 1.0), ScoreBins.of_count(2)
    >>> scores = BinaryScores(made, noise, bins, ("accuracy",))
    >>> scores["accuracy"].value, scores["roc_auc"].value
    (0.85, 0.85)
    """

    def __init__(
        self,
        released: Release,
        noise: CountNoise,
        bins: ScoreBins,
        names: tuple[str, ...],
        *,
        has_halves: bool = False,
        on_training_rows: bool = False,
    ) -> None:
        self.bins, self.has_halves = bins, has_halves
        self._halves = 1 + has_halves
        counts = np.asarray(released.value)[-(1 + 2 * bins.total * self._halves) :]
        super().__init__(released, counts, noise, names, on_training_rows=on_training_rows)
        self._cells = counts[1:]
        self._projected = project_counts(self._cells)

    @property
    def available(self) -> tuple[str, ...]:
        if self.has_halves:
            return BINARY_METRICS
        return tuple(name for name in BINARY_METRICS if name not in PROBABILITY_METRICS)

    @property
    def confusion_matrix(self) -> Array:
        """Rows of each class (lines) that are predicted to be of each class, made consistent."""
        negatives, positives = self._split(self._projected)
        above = np.repeat(self.bins.is_above, self._halves)
        return np.array(
            [[part[~above].sum(), part[above].sum()] for part in (negatives, positives)]
        )

    def roc_curve(self, level: float = USUAL_LEVEL, of: str | None = None) -> Curve:
        """Return false positive rates (x) and true positive rates (y) above edges.

        Of many edges some are taken. Between two points the curve is in the rectangle of both.

        Parameters
        ----------
        level
            The chance with which all intervals hold together.
        of
            As in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        return self._curve("false_positive_rate", "recall", level, of)

    def precision_recall_curve(self, level: float = USUAL_LEVEL, of: str | None = None) -> Curve:
        """Return recalls (x) and precisions (y) above edges; of many, some.

        Parameters
        ----------
        level
            The chance with which all intervals hold together.
        of
            As in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        return self._curve("recall", "precision", level, of)

    def calibration_curve(self, level: float = USUAL_LEVEL, of: str | None = None) -> Curve:
        """Return predicted probabilities (x) and how often the second class came (y), by bins.

        Neighbouring bins are put together. The limits of x are the ends of what is put together;
        where rows are too few, y is NaN.

        Parameters
        ----------
        level
            The chance with which all intervals hold together.
        of
            As in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        is_sample = is_about_sample(of, on_training_rows=self.on_training_rows)
        total = self.bins.total
        cuts = np.unique(np.linspace(0, total, min(total, MOST_GROUPS) + 1).round().astype(int))
        each = 1 - (1 - level) / (cuts.size - 1)
        places, values, limits = np.arange(total), [], []
        for first, last in pairwise(cuts.tolist()):
            inside = (places >= first) & (places < last)
            shares = self._proportion(
                self._stack(np.zeros_like(inside), inside), self._stack(inside, inside)
            )
            low, high, _ = self._limits_of_share(shares, each, is_sample)
            values.append(shares.of(self._projected) if self._is_seen(shares) else np.nan)
            limits.append((low, high))
        lows, highs = self.bins.ends
        ends = np.column_stack([expit(lows[cuts[:-1]]), expit(highs[cuts[1:] - 1])])
        y, y_limits = _within(values, limits)
        return Curve(ends.mean(axis=1), y, ends, y_limits, level)

    def plot_roc(self, level: float = USUAL_LEVEL, axes: Any = None) -> Any:
        """Draw the ROC curve with its bands; needs matplotlib (extra ``plot``)."""
        from discreet.metrics.curve_plot import plot_curve

        curve = self.roc_curve(level)
        return plot_curve(curve, "false positive rate", "true positive rate", axes)

    def plot_calibration(self, level: float = USUAL_LEVEL, axes: Any = None) -> Any:
        """Draw how often the second class came, by its predicted probability, with bands."""
        from discreet.metrics.curve_plot import plot_curve

        curve = self.calibration_curve(level)
        return plot_curve(curve, "predicted probability", "observed frequency", axes)

    def _curve(self, x: str, y: str, level: float, of: str | None) -> Curve:
        is_sample = is_about_sample(of, on_training_rows=self.on_training_rows)
        edges = self._some_edges()
        each = 1 - (1 - level) / (2 * edges.size)
        made = []
        for name in (x, y):
            values, limits = [], []
            for edge in edges:
                shares = self._confusion(name, self.bins.ends[0] >= edge)
                values.append(shares.of(self._projected))
                limits.append(self._limits_of_share(shares, each, is_sample)[:2])
            made.append(_within(values, limits))
        (x_values, x_limits), (y_values, y_limits) = made
        return Curve(x_values, y_values, x_limits, y_limits, level)

    def _some_edges(self) -> Vector:
        """Return the threshold and others, as many as a curve has points: chosen by place alone."""
        edges = self.bins.edges
        places = np.linspace(0, edges.size - 1, min(edges.size, MOST_POINTS)).round().astype(int)
        return np.unique(np.append(edges[places], self.bins.boundary))

    def _split(self, cells: Vector) -> tuple[Vector, Vector]:
        return cells[: cells.size // 2], cells[cells.size // 2 :]

    def _stack(self, negatives: Vector | Booleans, positives: Vector | Booleans) -> Vector:
        """Return what a row of each cell is worth, given that of each bin of either class."""
        return np.repeat(np.concatenate([negatives, positives]).astype(np.float64), self._halves)

    @staticmethod
    def _proportion(right: Vector, among: Vector) -> Ratio:
        return Ratio(right, among, 0.0, 1.0)

    def _confusion(self, name: str, above: Booleans) -> Ratio:
        """Return a score of the confusion matrix as a ratio of counts."""
        none, every = np.zeros_like(above), np.ones_like(above)
        stack = self._stack
        parts = {
            "accuracy": (stack(~above, above), stack(every, every)),
            "precision": (stack(none, above), stack(above, above)),
            "recall": (stack(none, above), stack(none, every)),
            "specificity": (stack(~above, none), stack(every, none)),
            "false_positive_rate": (stack(above, none), stack(every, none)),
            "prevalence": (stack(none, every), stack(every, every)),
            "jaccard": (stack(none, above), stack(above, every)),
        }
        return self._proportion(*parts[name])

    def _is_seen(self, shares: Ratio) -> bool:
        """Say whether the rows that a share is of can be told from noise."""
        spread = np.sqrt(self.noise.variance * (shares.lower**2).sum())
        return bool(shares.lower @ self._cells > LEAD * spread)

    def _limits_of_share(self, shares: Ratio, level: float, is_sample: bool) -> Limits:
        return limits_of_share(shares, self._cells, self.noise, level, is_sample=is_sample)

    def _score(self, name: str) -> PrivateScore:
        if name in (*RANK_METRICS, "balanced_accuracy"):
            return self._score_of_pairs(name)
        if name == "f1":
            return self._score_of_f1()
        if name in PROBABILITY_METRICS:
            return self._score_of_mean(name)
        shares = self._confusion(name, self.bins.is_above)

        def limits(level: float, is_sample: bool) -> Limits:
            return self._limits_of_share(shares, level, is_sample)

        return self._make_score(name, shares.of(self._projected), limits)

    def _score_of_mean(self, name: str) -> PrivateScore:
        least, most = self._mean_between(name)
        ends = [mean.of(self._projected) for mean in (least, most)]

        def limits(level: float, is_sample: bool) -> Limits:
            both = [
                mean.limits(self._cells, self.noise, level, is_sample=is_sample)
                for mean in (least, most)
            ]
            return _bracket(*both)

        half = (ends[1] - ends[0]) / 2
        return self._make_score(name, ends[0] + half, limits, half)

    def _score_of_f1(self) -> PrivateScore:
        """Return F1 = 2J / (1 + J), which rises with J, the share of hits among hits and errors."""
        shares = self._confusion("jaccard", self.bins.is_above)

        def limits(level: float, is_sample: bool) -> Limits:
            low, high, reason = self._limits_of_share(shares, level, is_sample)
            return Limits(2 * low / (1 + low), 2 * high / (1 + high), reason)

        share = shares.of(self._projected)
        return self._make_score("f1", 2 * share / (1 + share), limits)

    def _mean_between(self, name: str) -> tuple[Ratio, Ratio]:
        """Return means over rows that are at most and at least the one that is asked for."""
        of_row = _MEANS[name]
        parts = [_values_at_ends(of_row, label, self.bins) for label in (0, 1)]
        at_ends = np.concatenate([part.at_ends for part in parts])
        coins = np.concatenate([part.coins for part in parts])
        every, high = np.ones(at_ends.size), of_row.high
        if name == "log_loss":
            high = float(at_ends.max())
        greatest, least = (
            Ratio(at_ends - np.concatenate([part.gaps[place] for part in parts]), every,
                  of_row.low, high, coins)
            for place in (1, 0)
        )  # fmt: skip
        return greatest, least

    @cached_property
    def _ranks(self) -> Integers:
        return np.repeat(np.arange(self.bins.total), self._halves)

    def _score_of_pairs(self, name: str) -> PrivateScore:
        negatives, positives = self._split(self._cells)
        some = self._split(self._projected)
        if name == "balanced_accuracy":  # the area under the curve of predictions
            ranks = np.repeat(self.bins.is_above.astype(np.int64), self._halves)
            none = all_of_one = PairMean(ranks)
        else:
            none, all_of_one = (PairMean(self._ranks, tie) for tie in (0.0, 1.0))

        def limits(level: float, is_sample: bool) -> Limits:
            both = [
                mean.limits(positives, negatives, self.noise, level, is_sample=is_sample)
                for mean in (none, all_of_one)
            ]
            return _bracket(*both)

        ends = [mean.of(some[1], some[0]) for mean in (none, all_of_one)]
        half = (ends[1] - ends[0]) / 2
        return self._make_score(name, ends[0] + half, limits, half)


class _MeanOfRows(NamedTuple):
    """What a row is worth by its class and log-odds, monotone in them, and the range of a mean."""

    of: Callable[[int, Vector], Vector]
    low: float
    high: float


_MEANS = {
    "log_loss": _MeanOfRows(lambda label, z: losses_at(z)[label], 0.0, np.inf),
    "brier": _MeanOfRows(lambda label, z: (label - expit(z)) ** 2, 0.0, 1.0),
    "calibration_in_the_large": _MeanOfRows(lambda label, z: label - expit(z), -1.0, 1.0),
}


class _AtEnds(NamedTuple):
    """Of each cell of a class: its worth, the variance of a coin, the least and greatest gap."""

    at_ends: Vector
    coins: Vector
    gaps: tuple[Vector, Vector]


def _values_at_ends(mean: _MeanOfRows, label: int, bins: ScoreBins) -> _AtEnds:
    """Return what cells of a class are worth, and how far the chord between ends can be off."""
    low, high = bins.ends
    worth = np.stack([mean.of(label, low), mean.of(label, high)])
    share = np.linspace(0, 1, GAP_POINTS)[:, None]
    losses = [losses_at(ends)[label] for ends in (low, high)]
    between = (1 - share) * losses[0] + share * losses[1]
    inside = np.log(np.expm1(between)) * (-1 if label else 1)
    gap = (1 - share) * worth[0] + share * worth[1] - mean.of(label, inside)
    gap[[0, -1]] = 0.0
    far = mean.of(label, np.array([-np.inf, np.inf]))  # rows beyond the outer ends count as there
    gap[0, 0], gap[-1, -1] = worth[0, 0] - far[0], worth[1, -1] - far[1]
    slack = GAP_SLACK[0] + GAP_SLACK[1] * np.abs(gap).max(axis=0)
    if mean is _MEANS["log_loss"]:  # matched by the coins
        gap, slack = np.zeros_like(gap), np.zeros_like(slack)
    return _AtEnds(
        worth.T.ravel(),
        np.repeat((worth[1] - worth[0]) ** 2 / 4, 2),
        (np.repeat(gap.min(axis=0) - slack, 2), np.repeat(gap.max(axis=0) + slack, 2)),
    )


def _bracket(lower: Limits, upper: Limits) -> Limits:
    """Return the low end of one interval and the high end of the other."""
    low, high = lower.low, upper.high
    if low > high:  # counts below zero turn the order around
        low, high = min(lower.low, upper.low), max(lower.high, upper.high)
    return Limits(low, high, lower.reason or upper.reason)


def _within(values: list[float], limits: list[tuple[float, float]]) -> tuple[Vector, Array]:
    """Return values clipped to their limits, and the limits."""
    ends = np.array(limits)
    return np.clip(values, ends[:, 0], ends[:, 1]), ends
