"""Is one released model better than another? A private paired test on the same rows.

Only rows that one model gets right and the other wrong tell them apart (McNemar). Their two noisy
counts, and the rest, are one histogram.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrc

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data.stored import RowPlace
from discreet.errors import InputError, InputTypeError
from discreet.estimators.targets import ClassTarget
from discreet.ledger import AbstractLedger
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.metrics.count_noise import LOST, CountNoise, NoiseTable
from discreet.metrics.inversion import Limits, Ratio
from discreet.metrics.private_scores import USUAL_LEVEL, is_about_sample
from discreet.metrics.row_outputs import ModelOutputs, outputs_of
from discreet.metrics.scored_table import accept_table
from discreet.metrics.scoring import charging_of, facts_about_labels
from discreet.privacy import Guarantee, Unit
from discreet.record import Release

MISSED = 0.001
"""The chance with which the bound on the number of discordant rows may fail; part of a p-value."""

ROWS_TOGETHER = (
    "a p-value is of rows that are independent, and rows of a person are not; compare models on "
    "one record of each: contributions='cap', rows_per_person=1. The interval holds."
)

ALTERNATIVES = ("greater", "less", "two-sided")


@dataclass(frozen=True, eq=False)
class PairedCells:
    """The cell of a row: not scored, alike, only the first model right, only the second right."""

    first: ModelOutputs
    second: ModelOutputs

    def __call__(self, outputs: Array, labels: Vector, place: RowPlace) -> Array:
        width = self.first.width
        said = self.first.predictions(outputs[:, :width])
        other = self.second.predictions(outputs[:, width:])
        cells = 1.0 + (said == labels) * 1.0 * (other != labels)
        cells += 2.0 * (said != labels) * (other == labels)
        unknown = np.isnan(said) | np.isnan(other) | np.isnan(labels)
        return np.where(unknown, 0.0, cells)[:, None]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How much more often the second of two models is right than the first, on the same rows.

    Parameters
    ----------
    release_
        Noisy counts: rows that could not be scored, rows that do not tell the models apart, rows
        that only the first gets right, rows that only the second does.
    noise
        The law of the noise on a count.
    on_training_rows
        Whether a model was fitted on the rows, or chosen by them.

    Attributes
    ----------
    gain
        The accuracy of the second model less that of the first.
    p_value
        Of the claim that the second is no better.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> counts = np.array([0.0, 900.0, 30.0, 70.0])
    >>> made = Release(counts, Guarantee(Pure(1.0), AddRemoveOne()), "noisy_histogram", 0, "0.1")
    >>> found = Comparison(made, CountNoise("laplace", 1.0))
    >>> found.gain, found.p_value < 0.01
    (0.04, True)
    """

    release_: Release
    noise: CountNoise
    on_training_rows: bool = False

    @property
    def privacy_(self) -> Guarantee:
        """What is promised about the release."""
        return self.release_.guarantee

    @property
    def counts(self) -> Vector:
        """The counts as released."""
        return np.asarray(self.release_.value)

    @property
    def gain(self) -> float:
        """The accuracy of the second model less that of the first, within the 95 % interval."""
        found = _GAIN.of(project_counts(self.counts[1:]))
        low, high = self.interval()
        return min(max(found, low), high)

    def interval(self, level: float = USUAL_LEVEL, of: str | None = None) -> tuple[float, float]:
        """Return an interval for the gain.

        Parameters
        ----------
        level
            The chance with which it covers.
        of
            ``"population"`` or ``"sample"``, as in :meth:`discreet.metrics.PrivateScore.interval`.
        """
        found = self._limits(level, of)
        return found.low, found.high

    def reason(self, level: float = USUAL_LEVEL, of: str | None = None) -> str:
        """Say why an interval is the whole range; nothing if it is not."""
        return self._limits(level, of).reason

    def _limits(self, level: float, of: str | None) -> Limits:
        _checks.fraction(level=level)
        is_sample = is_about_sample(of, on_training_rows=self.on_training_rows)
        return _GAIN.limits(self.counts[1:], self.noise, level, is_sample=is_sample)

    @property
    def p_value(self) -> float:
        """The p-value of the claim that the second model is no better than the first."""
        return self.p_value_against("greater")

    def p_value_against(self, alternative: str, missed: float = MISSED) -> float:
        """Return a p-value that is valid for every number of rows and of discordant rows.

        Parameters
        ----------
        alternative
            ``"greater"`` (the second is better), ``"less"`` or ``"two-sided"``.
        missed
            How often the bound on the number of discordant rows may fail. No p-value is below it;
            with several looks at a level alpha / k take alpha / (50 k), before looking.
        """
        _checks.one_of(ALTERNATIVES, alternative=alternative)
        _checks.fraction(missed=missed)
        if self.on_training_rows:
            raise InputError("rows that a model was fitted on cannot test it; use other rows.")
        if self.noise.together is not None:
            raise InputError(ROWS_TOGETHER)
        first, second = (round(float(count)) for count in self.counts[2:4])
        if alternative == "two-sided":
            each = [_p_value(first, second, self.noise, missed),
                    _p_value(second, first, self.noise, missed)]  # fmt: skip
            return min(1.0, 2 * min(each))
        if alternative == "less":
            first, second = second, first
        return _p_value(first, second, self.noise, missed)

    def __repr__(self) -> str:
        low, high = self.interval()
        has_test = not self.on_training_rows and self.noise.together is None
        tested = f"; p-value {self.p_value:.2g} against no gain" if has_test else ""
        return (
            f"Comparison: the second model is right {100 * self.gain:+.2g} points more often "
            f"({100 * low:+.2g} to {100 * high:+.2g}{tested}). {self.privacy_.sentence()}"
        )


_GAIN = Ratio(np.array([0.0, -1.0, 1.0]), np.ones(3), -1.0, 1.0)


def _p_value(first: int, second: int, noise: CountNoise, missed: float) -> float:
    r"""Return the chance of as large a lead, if each discordant row is a fair coin.

    The number m of discordant rows is bounded with confidence, and the largest chance below the
    bound is at the bound or one below: two fair steps more spread the lead out, and the noise is
    symmetric and unimodal.
    """
    lead = second - first
    if lead <= 0:
        return 1.0
    both = noise.sum_of(2)
    most = max(first + second + both.reach(missed), 0)
    worst = max(_chance_of_lead(lead, rows, both) for rows in {most, max(most - 1, 0)})
    return min(1.0, missed + worst)


def _chance_of_lead(lead: int, rows: int, noise: NoiseTable) -> float:
    """Return the chance that 2 Bin(rows, 1/2) - rows plus noise is at least the lead."""
    wanted = -((rows + noise.places - lead) // 2) + rows  # heads, at least
    chances = np.where(wanted <= 0, 1.0, 0.0)
    inside = (wanted >= 1) & (wanted <= rows)
    chances[inside] = bdtrc(wanted[inside] - 1, rows, 0.5)
    return float(noise.chances @ chances) + LOST


def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any = None,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    target: str | None = None,
    purpose: str = "",
    on_training_rows: bool = False,
    max_rows: int | None = None,
    rehearsal: int | None = None,
) -> Comparison:
    """Compare two released classifiers on the same private rows; the ledger is charged first.

    Parameters
    ----------
    first, second
        Fitted classifiers of the same classes, both public.
    X, y
        Rows and labels, as for :func:`private_score`.
    epsilon, delta
        What the release may spend.
    unit
        Who is protected: ``"add_remove"`` or ``"replace"``.
    ledger
        The ledger that is charged; None charges none.
    target
        The column of a stored table that holds the labels.
    purpose
        What the ledger writes beside the charge; ``"compare_models"`` if left out.
    on_training_rows
        Whether a model was fitted on these rows, or chosen by them.
    max_rows
        A public bound on the number of rows.
    rehearsal
        A whole number for seeded noise, which is not private; None for real noise.

    Returns
    -------
    Comparison
        The gain of the second over the first, its interval and an exact p-value.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = (X[:, 0] > 0).astype(int)
    >>> constant, fitted = (model.fit(X, y) for model in (DummyClassifier(), LogisticRegression()))
    >>> compare_models(constant, fitted, X, y, epsilon=2.0).p_value < 0.05
    True
    """
    models = outputs_of(first), outputs_of(second)
    charging = charging_of(epsilon, delta, unit, ledger, rehearsal, max_rows,
                           purpose or "compare_models")  # fmt: skip
    _checks.instance(bool, on_training_rows=on_training_rows)
    if not all(hasattr(one.model, "classes_") for one in models):
        raise InputTypeError("both models must be classifiers; score regressors one by one.")
    if not np.array_equal(models[0].classes, models[1].classes):
        raise InputError("the models must have the same classes, in the same order.")
    label = ClassTarget(models[0].classes, is_found=False)
    table = accept_table(models, label, X, y, target)
    noise = charging.law(1)
    released = charging.release(table, (4,), PairedCells(*models), facts_about_labels(label))
    return Comparison(released, noise, on_training_rows)
