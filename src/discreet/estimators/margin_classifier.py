"""Classifiers whose loss asks for a margin, with every choice made for accuracy under privacy."""

from __future__ import annotations

from dataclasses import field

from discreet import _checks
from discreet._types import Array
from discreet.estimators.classifier import ProbabilisticClassifier
from discreet.estimators.fields import with_fields
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.targets import LearningTarget
from discreet.estimators.task import Asked, Standardising
from discreet.losses import Loss, MarginLogistic
from discreet.mechanisms.signal_rules import SignalRules
from discreet.mechanisms.summing.score_counts import CELLS, ScoreCounts
from discreet.privacy import Budget, unit_named

USUAL_MARGIN = 2.0
"""What the loss asks for where no rule settles it."""

CALIBRATIONS = ("curve", "none")
"""How probabilities of two classes are made of scores."""


@with_fields
class MarginClassifier(ProbabilisticClassifier):
    """Features standardised privately, then a loss that asks for a margin; scores are counted.

    :class:`~discreet.linear_model.LinearClassifier` is one, and so are the classifiers of
    ``discreet.kernel``, whose features are those of a kernel.
    """

    learns = ProbabilisticClassifier.learns | {"margin_", "probability_curve_"}

    margin: float | None = None
    calibration: str = "curve"
    expected_rows: int | None = None

    margin_: float | None = field(init=False)
    probability_curve_: Array | None = field(init=False)

    def _check(self) -> None:
        _checks.one_of(CALIBRATIONS, calibration=self.calibration)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)

    def margin_loss(self) -> MarginLogistic:
        return MarginLogistic(USUAL_MARGIN if self.margin is None else self.margin)

    def fitted_loss(self) -> Loss:
        # A model that was stored before margins were settled has the one it was made with.
        return self.margin_loss() if self.margin_ is None else MarginLogistic(self.margin_)

    def _standardising(self) -> Standardising:
        entries = self.feature_map().entries
        return Standardising(
            is_usual=entries is not None or bool(self.delta > 0),
            entry_bound=None if entries is None else entries.largest,
            indicators=None if entries is None else entries.indicators,
            centred_width=None if entries is None else entries.centred_width,
            learns_at_once=True,
            counts_scores=self.calibration == "curve",
            expected_rows=self.expected_rows,
            rules=SignalRules(settles_margin=self.margin is None, settles_ridge=self.C is None),
        )

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        super()._keep(asked, target)
        settings, stated = self.settings_, self.margin_loss()
        self.margin_ = stated.margin if settings is None else settings.margin
        curve = self._make_curve(asked, self.margin_) if self.classes_.size == 2 else None
        self.probability_curve_ = None if curve is None else curve.points

    def _make_curve(self, asked: Asked, margin: float) -> ProbabilityCurve:
        """Return the curve of the counts that were released, or the usual line without any."""
        bounds, coefficients = asked.question.bounds, self._coefficient_count(asked)
        counted = self.released_model()[coefficients : coefficients + CELLS]
        if counted.size < CELLS:
            return ProbabilityCurve.usual(margin)
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        planned = ScoreCounts.within_budget(budget, unit, bounds.max_rows)
        return ProbabilityCurve.of_counts(counted, planned.variance, margin)

    def probability_curve(self) -> ProbabilityCurve | None:
        points = self.probability_curve_
        return None if points is None else ProbabilityCurve(points)
