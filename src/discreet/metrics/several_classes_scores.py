"""Scores of three or more classes: the confusion matrix, and a histogram for the log loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from discreet._types import Array, Booleans, Vector
from discreet.data.stored import RowPlace
from discreet.errors import InputError
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.mechanisms.summing.score_cells import losses_at, place_rows
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import Limits, Ratio
from discreet.metrics.private_scores import PrivateScore, Scores
from discreet.metrics.proportions import limits_of_share
from discreet.metrics.row_outputs import ModelOutputs
from discreet.metrics.score_bins import ScoreBins
from discreet.metrics.scored_table import RowCoins
from discreet.record import Release

CLASS_METRICS = ("precision", "recall", "f1")
MACRO_METRICS = tuple(f"{name}_macro" for name in CLASS_METRICS)
SEVERAL_METRICS = ("accuracy", "balanced_accuracy", *MACRO_METRICS, "log_loss")


class SeveralCells:
    """The cells of a row: in the confusion matrix, and by the log-odds of its own class."""

    def __init__(self, outputs: ModelOutputs, bins: ScoreBins | None, coins: RowCoins) -> None:
        self._outputs, self._bins, self._coins = outputs, bins, coins

    def __call__(self, outputs: Array, labels: Vector, place: RowPlace) -> Array:
        said = self._outputs.predictions(outputs)
        unknown = np.isnan(said) | np.isnan(labels)
        true = np.where(unknown, 0.0, labels)
        confusion = np.where(unknown, 0.0, 1 + true * self._outputs.width + said)
        if self._bins is None:
            return confusion[:, None]
        own = np.full(len(outputs), np.nan)
        for row in np.flatnonzero(~unknown):  # one by one: see row_outputs
            own[row] = self._outputs.chances(outputs[row])[int(true[row])]
        unknown = ~((own >= 0) & (own <= 1))
        odds = np.where(unknown, 0.0, logit(np.where(unknown, 0.5, own)))
        first = np.column_stack([~unknown, odds, self._coins.toss(place, len(own))])
        return np.column_stack([confusion, place_rows(self._bins.edges, first, has_halves=True)])


class SeveralScores(Scores):
    """Scores of a classifier of three or more classes.

    Parameters
    ----------
    released
        Noisy counts: rows that could not be scored, the confusion matrix line by line, and, if
        the log loss was asked for, rows by the log-odds of their own class, half by half.
    noise
        The law of the noise.
    classes
        The classes, in order.
    bins
        Of the log-odds; None if they were not counted.
    names
        The scores that were asked for.
    on_training_rows
        Whether the model was fitted on the rows.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    counts
        The noisy counts of the confusion matrix, line by line.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Guarantee, Pure
    >>> counts = np.array([0, 80, 10, 10, 5, 90, 5, 20, 0, 80], dtype=float)
    >>> made = Release(counts, Guarantee(Pure(1.0), AddRemoveOne()), "noisy_histogram", 0, "0.1")
    >>> noise = CountNoise("laplace", 1.0)
    >>> scores = SeveralScores(made, noise, np.array(["a", "b", "c"]), None, ("accuracy",))
    >>> round(scores["accuracy"].value, 3), round(scores.of_class("b", "recall").value, 3)
    (0.833, 0.9)
    """

    def __init__(
        self,
        released: Release,
        noise: CountNoise,
        classes: Any,
        bins: ScoreBins | None,
        names: tuple[str, ...],
        *,
        on_training_rows: bool = False,
    ) -> None:
        size = len(classes) ** 2
        value = np.asarray(released.value)
        super().__init__(
            released, value[1 : 1 + size], noise, names, on_training_rows=on_training_rows
        )
        self.classes, self.bins = classes, bins
        self._own = value[2 + size :]
        self._projected = project_counts(self.counts)

    @property
    def available(self) -> tuple[str, ...]:
        return SEVERAL_METRICS if self.bins is not None else SEVERAL_METRICS[:-1]

    @property
    def confusion_matrix(self) -> Array:
        """Rows of each class (lines) by what they are predicted to be, made consistent."""
        return self._projected.reshape(len(self.classes), -1)

    def of_class(self, label: Any, name: str) -> PrivateScore:
        """Return the precision, recall or F1 of one class.

        Parameters
        ----------
        label
            The class.
        name
            ``"precision"``, ``"recall"`` or ``"f1"``.
        """
        known = list(np.asarray(self.classes).tolist())
        if label not in known:
            raise InputError(f"label must be one of {', '.join(map(str, known))}; got {label!r}.")
        if name not in CLASS_METRICS:
            raise InputError(f"name must be one of {', '.join(CLASS_METRICS)}; got {name!r}.")
        place = known.index(label)

        def limits(level: float, is_sample: bool) -> Limits:
            return self._limits_of_class(place, name, level, is_sample)

        return self._make_score(name, self._value_of_class(place, name), limits)

    def _share(self, place: int, name: str) -> Ratio:
        """Return a score of a class as a share of counts; F1 by its odds."""
        lines, columns = np.divmod(np.arange(self.counts.size), len(self.classes))
        is_true, is_said = lines == place, columns == place
        among: dict[str, Booleans] = {
            "precision": is_said,
            "recall": is_true,
            "f1": is_true | is_said,
        }
        return Ratio((is_true & is_said).astype(float), among[name].astype(float), 0.0, 1.0)

    def _value_of_class(self, place: int, name: str) -> float:
        share = self._share(place, name).of(self._projected)
        return 2 * share / (1 + share) if name == "f1" else share

    def _limits_of_class(self, place: int, name: str, level: float, is_sample: bool) -> Limits:
        share = self._share(place, name)
        found = limits_of_share(share, self.counts, self.noise, level, is_sample=is_sample)
        if name != "f1":
            return found
        low, high, reason = found
        return Limits(2 * low / (1 + low), 2 * high / (1 + high), reason)

    def _score(self, name: str) -> PrivateScore:
        if name == "log_loss" and self.bins is not None:
            return self._score_of_log_loss(self.bins)
        if name == "accuracy":
            lines, columns = np.divmod(np.arange(self.counts.size), len(self.classes))
            right = Ratio((lines == columns).astype(float), np.ones(self.counts.size), 0.0, 1.0)
            return self._make_score(
                name,
                right.of(self._projected),
                lambda level, is_sample: limits_of_share(
                    right, self.counts, self.noise, level, is_sample=is_sample
                ),
            )
        return self._score_of_macro(name)

    def _score_of_macro(self, name: str) -> PrivateScore:
        """Return a mean over classes: the mean of their intervals, each at a higher level."""
        one = "recall" if name == "balanced_accuracy" else name.removesuffix("_macro")
        places = range(len(self.classes))

        def limits(level: float, is_sample: bool) -> Limits:
            each = 1 - (1 - level) / len(self.classes)
            found = [self._limits_of_class(place, one, each, is_sample) for place in places]
            low, high = np.mean([part[:2] for part in found], axis=0)
            reason = next((part.reason for part in found if part.reason), "")
            return Limits(float(low), float(high), reason)

        value = float(np.mean([self._value_of_class(place, one) for place in places]))
        return self._make_score(name, value, limits)

    def _score_of_log_loss(self, bins: ScoreBins) -> PrivateScore:
        losses = np.stack([losses_at(ends)[1] for ends in bins.ends], axis=1)
        coins = np.repeat((losses[:, 1] - losses[:, 0]) ** 2 / 4, 2)
        mean = Ratio(losses.ravel(), np.ones(losses.size), 0.0, float(losses.max()), coins)
        return self._make_score(
            "log_loss",
            mean.of(project_counts(self._own)),
            lambda level, is_sample: mean.limits(self._own, self.noise, level, is_sample=is_sample),
        )
