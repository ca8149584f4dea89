"""Scores of two classes, all of them functions of one noisy histogram: class by score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import Limits, PairMean, Ratio
from discreet.metrics.private_scores import USUAL_LEVEL, PrivateScore, Scores, is_about_sample
from discreet.metrics.projection import project_counts
from discreet.metrics.proportions import limits_of_share
from discreet.metrics.score_bins import ScoreBins
from discreet.record import Release

CONFUSION_METRICS = (
    *("accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1"),
    "prevalence",
)
"""What four counts tell: which rows are of the second class, and which are predicted to be."""

PROBABILITY_METRICS = ("log_loss", "brier", "calibration_in_the_large")
"""What needs probabilities."""

BINARY_METRICS = (*CONFUSION_METRICS, "roc_auc", *PROBABILITY_METRICS)


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a curve, and bands that hold all of them at once.

    Parameters
    ----------
    x, y
        The points.
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
        The noisy counts: rows that could not be scored, then the first class bin by bin, then the
        second.
    noise
        The law of the noise.
    bins
        The bins of the score.
    names
        The scores that were asked for.
    has_probabilities
        Whether scores are log-odds of probabilities.
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
    >>> scores = BinaryScores(made, CountNoise("laplace", 1.0), ScoreBins(2), ("accuracy",))
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
        has_probabilities: bool = True,
        on_training_rows: bool = False,
    ) -> None:
        super().__init__(
            released, np.asarray(released.value), noise, names, on_training_rows=on_training_rows
        )
        self.bins, self.has_probabilities = bins, has_probabilities
        self._cells = self.counts[1:]
        self._projected = project_counts(self._cells)

    @property
    def available(self) -> tuple[str, ...]:
        if self.has_probabilities:
            return BINARY_METRICS
        return tuple(name for name in BINARY_METRICS if name not in PROBABILITY_METRICS)

    @property
    def confusion_matrix(self) -> Array:
        """Rows of each class (lines) that are predicted to be of each class, made consistent."""
        negatives, positives = self._split(self._projected)
        above = self.bins.is_above
        return np.array(
            [[part[~above].sum(), part[above].sum()] for part in (negatives, positives)]
        )

    def roc_curve(self, level: float = USUAL_LEVEL, of: str | None = None) -> Curve:
        """Return false positive rates (x) and true positive rates (y) above each edge.

        Parameters
        ----------
        level
            The chance with which all intervals hold together.
        of
            As in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        return self._curve("false_positive_rate", "recall", level, of)

    def precision_recall_curve(self, level: float = USUAL_LEVEL, of: str | None = None) -> Curve:
        """Return recalls (x) and precisions (y) above each edge.

        Parameters
        ----------
        level
            The chance with which all intervals hold together.
        of
            As in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        return self._curve("recall", "precision", level, of)

    def calibration_curve(self, level: float = USUAL_LEVEL, of: str | None = None) -> Curve:
        """Return predicted probabilities (x) and how often the second class came (y), by bin.

        Parameters
        ----------
        level
            The chance with which all intervals hold together.
        of
            As in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        is_sample = is_about_sample(of, on_training_rows=self.on_training_rows)
        each = 1 - (1 - level) / self.bins.total
        values, limits = [], []
        for place in range(self.bins.total):
            inside = np.arange(self.bins.total) == place
            positive = self._stack(np.zeros_like(inside), inside)
            shares = self._proportion(positive, self._stack(inside, inside))
            values.append(shares.of(self._projected))
            limits.append(self._limits_of_share(shares, each, is_sample)[:2])
        return Curve(self.bins.probabilities, *_within(values, limits), level=level)

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
        edges = self.bins.edges
        each = 1 - (1 - level) / (2 * edges.size)
        made = []
        for name in (x, y):
            values, limits = [], []
            for edge in edges:
                shares = self._confusion(name, self.bins.nodes > edge)
                values.append(shares.of(self._projected))
                limits.append(self._limits_of_share(shares, each, is_sample)[:2])
            made.append(_within(values, limits))
        (x_values, _, x_limits), (y_values, _, y_limits) = made
        return Curve(x_values, y_values, x_limits, y_limits, level)

    def _split(self, cells: Vector) -> tuple[Vector, Vector]:
        return cells[: self.bins.total], cells[self.bins.total :]

    @staticmethod
    def _stack(negatives: Vector | Booleans, positives: Vector | Booleans) -> Vector:
        return np.concatenate([negatives, positives]).astype(np.float64)

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

    def _limits_of_share(self, shares: Ratio, level: float, is_sample: bool) -> Limits:
        return limits_of_share(shares, self._cells, self.noise, level, is_sample=is_sample)

    def _score(self, name: str) -> PrivateScore:
        if name in self._pair_means:
            return self._score_of_pairs(name)
        if name == "f1":
            return self._score_of_f1()
        if name in self._means:
            mean = self._means[name]
            return self._make_score(name, mean.of(self._projected), self._limits_of_mean(mean))
        shares = self._confusion(name, self.bins.is_above)

        def limits(level: float, is_sample: bool) -> Limits:
            return self._limits_of_share(shares, level, is_sample)

        return self._make_score(name, shares.of(self._projected), limits)

    def _limits_of_mean(self, mean: Ratio) -> Callable[[float, bool], Limits]:
        return lambda level, is_sample: mean.limits(
            self._cells, self.noise, level, is_sample=is_sample
        )

    def _score_of_f1(self) -> PrivateScore:
        """Return F1 = 2J / (1 + J), which rises with J, the share of hits among hits and errors."""
        shares = self._confusion("jaccard", self.bins.is_above)

        def limits(level: float, is_sample: bool) -> Limits:
            low, high, reason = self._limits_of_share(shares, level, is_sample)
            return Limits(2 * low / (1 + low), 2 * high / (1 + high), reason)

        share = shares.of(self._projected)
        return self._make_score("f1", 2 * share / (1 + share), limits)

    @cached_property
    def _means(self) -> dict[str, Ratio]:
        """Means over rows of what is known of a row from its cell."""
        nodes, chances = self.bins.nodes, self.bins.probabilities
        every = np.ones(2 * self.bins.total)
        losses = self._stack(np.logaddexp(0.0, nodes), np.logaddexp(0.0, -nodes))
        return {
            "log_loss": Ratio(losses, every, 0.0, float(losses.max())),
            "brier": Ratio(self._stack(chances**2, (1 - chances) ** 2), every, 0.0, 1.0),
            "calibration_in_the_large": Ratio(self._stack(-chances, 1 - chances), every, -1.0, 1.0),
        }

    @cached_property
    def _pair_means(self) -> dict[str, PairMean]:
        places, above = np.arange(self.bins.total), self.bins.is_above
        higher = (places[:, None] > places).astype(np.float64)
        tied = (places[:, None] == places).astype(np.float64)
        hits = above[:, None].astype(np.float64) + ~above
        return {"roc_auc": PairMean(higher + tied / 2), "balanced_accuracy": PairMean(hits / 2)}

    def _score_of_pairs(self, name: str) -> PrivateScore:
        mean = self._pair_means[name]
        negatives, positives = self._split(self._cells)
        some_negatives, some_positives = self._split(self._projected)

        def limits(level: float, is_sample: bool) -> Limits:
            return mean.limits(positives, negatives, self.noise, level, is_sample=is_sample)

        pairs = some_positives.sum() * some_negatives.sum()
        tied = float(some_positives @ some_negatives) / (2 * pairs) if pairs > 0 else 0.5
        allowance = tied if name == "roc_auc" else 0.0
        return self._make_score(name, mean.of(some_positives, some_negatives), limits, allowance)


def _within(values: list[float], limits: list[tuple[float, float]]) -> tuple[Vector, None, Array]:
    """Return values clipped to their limits, with nothing said of what they are of."""
    ends = np.array(limits)
    return np.clip(values, ends[:, 0], ends[:, 1]), None, ends
