"""Linear models of classes."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators import predicting
from discreet.estimators.base import fit_with_weights
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.targets import ClassTarget, class_target
from discreet.losses import Logistic, Loss, MarginLogistic
from discreet.mechanisms.signal_rules import Settings, SignalRules, find_settings
from discreet.mechanisms.summing.score_counts import CELLS, ScoreCounts
from discreet.policy.task import Asked, Standardising
from discreet.questions import OneVsRest

LARGE_SCORE = 100.0
"""Typical scores are far smaller, unless classes are separated."""


@with_fields
class LinearClassifierBase(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """Two classes by one problem, more one-vs-rest or by softmax, within one budget."""

    learns = frozenset(["coef_", "intercept_", "classes_", "multiclass_"])

    C: float | None = None
    classes: Any = None
    max_weight: float | None = None

    fit = fit_with_weights  # type: ignore[assignment]

    coef_: Array = field(init=False)
    intercept_: Vector = field(init=False)
    classes_: Any = field(init=False)
    multiclass_: str | None = field(init=False)

    def _ridge(self) -> float | None:
        if self.C is None:
            return None
        return 1 / _checks.positive_number(C=self.C)

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        return class_target(self.classes, y)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        if isinstance(fit.target, ClassTarget):
            self.classes_ = fit.target.classes
        self.multiclass_ = None
        if isinstance(asked.question, OneVsRest):
            self.multiclass_ = "softmax" if asked.is_softmax else "one_vs_rest"
        self.coef_, self.intercept_ = self._coefficients(asked, fit.features)

    decision_function = predicting.decision_function
    predict = predicting.predict

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


class ProbabilisticClassifier(LinearClassifierBase):
    """A linear model whose margins stand for probabilities."""

    @property
    def settings_(self) -> Settings | None:
        """What noisy sums settled of the objective; None where nothing waited for them."""
        check_is_fitted(self)
        return find_settings(self.released_model(), self.coef_.shape[-1] + 1)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        super()._keep(asked, fit)
        settings = self.settings_
        if settings is None or settings.noise_to_signal > 0:
            return
        bounds = asked.question.bounds
        value = np.atleast_2d(self.release_.value)[:, : bounds.width]
        largest = float(np.linalg.norm(value, axis=1).max()) * bounds.row_norm()
        if largest * settings.typical_share > LARGE_SCORE:
            warnings.warn(
                f"scores can be as large as {largest:.3g}: the classes are linearly separable, or "
                "nearly, and without noise there is hardly any regularisation. Declare C.",
                ConvergenceWarning,
                stacklevel=7,
            )

    def fitted_loss(self) -> Loss:
        """Return the loss that the model was fitted with, margin and all."""
        return self.margin_loss()

    def probability_curve(self) -> ProbabilityCurve | None:
        """Return what makes probabilities of the margins of two classes; None for the loss."""
        return None

    predict_proba = predicting.predict_proba
    predict_log_proba = predicting.predict_log_proba


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

    def _standardising(self, features: FeatureMap) -> Standardising:
        entries = features.entries
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

    def _keep(self, asked: Asked, fit: Fit) -> None:
        super()._keep(asked, fit)
        settings, stated = self.settings_, self.margin_loss()
        self.margin_ = stated.margin if settings is None else settings.margin
        curve = self._make_curve(asked, fit, self.margin_) if self.classes_.size == 2 else None
        self.probability_curve_ = None if curve is None else curve.points

    def _make_curve(self, asked: Asked, fit: Fit, margin: float) -> ProbabilityCurve:
        """Return the curve of the counts that were released, or the usual line without any."""
        bounds, coefficients = asked.question.bounds, self._coefficient_count(asked)
        counted = self.released_model()[coefficients : coefficients + CELLS]
        if counted.size < CELLS:
            return ProbabilityCurve.usual(margin)
        planned = ScoreCounts.within_budget(fit.budget, fit.unit, bounds)
        return ProbabilityCurve.of_counts(counted, planned.variance, margin)

    def probability_curve(self) -> ProbabilityCurve | None:
        points = self.probability_curve_
        return None if points is None else ProbabilityCurve(points)


@with_fields
class TwoClassModel(ProbabilisticClassifier):
    """A logistic model of two classes whose objective is known before any noise is drawn."""

    C: ClassVar[None] = None  # type: ignore[misc]

    def margin_loss(self) -> Loss:
        return Logistic()

    @property
    def settings_(self) -> None:
        """None: nothing of the objective waits for noisy sums."""
        return

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        target = super()._target(y)
        if target.classes.size > 2:  # in the words of scikit-learn
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. "
                f"Use SparseClassifier in place of {type(self).__name__}."
            )
        return target

    def _keep(self, asked: Asked, fit: Fit) -> None:
        LinearClassifierBase._keep(self, asked, fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
