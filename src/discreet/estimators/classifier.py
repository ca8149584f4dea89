"""Linear models of classes."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators.class_model import ClassModel, ProbabilityModel
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.losses import Logistic, Loss, MarginLogistic
from discreet.mechanisms.signal_rules import Settings, SignalRules, find_settings
from discreet.mechanisms.summing.score_counts import CELLS, ScoreCounts
from discreet.policy.task import Asked, Standardising
from discreet.privacy import Budget, unit_named
from discreet.questions import OneVsRest

LARGE_SCORE = 100.0
"""Typical scores are far smaller, unless classes are separated."""


@with_fields
class LinearClassifierBase(ClassModel, LinearEstimator):
    """Two classes by one problem, more one-vs-rest or by softmax, within one budget."""

    learns = frozenset(["coef_", "intercept_", "classes_", "multiclass_"])

    C: float | None = None

    coef_: Array = field(init=False)
    intercept_: Vector = field(init=False)

    def _ridge(self) -> float | None:
        if self.C is None:
            return None
        return 1 / _checks.positive_number(C=self.C)

    def _blocks(self, count: int) -> list[Any]:
        return list(self.classes_.tolist())

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        if isinstance(target, ClassTarget):
            self.classes_ = target.classes
        self.multiclass_ = None
        if isinstance(asked.question, OneVsRest):
            self.multiclass_ = "softmax" if asked.is_softmax else "one_vs_rest"
        self.coef_, self.intercept_ = self._coefficients(asked)


class ProbabilisticClassifier(ProbabilityModel, LinearClassifierBase):
    """A linear model whose margins stand for probabilities."""

    @property
    def settings_(self) -> Settings | None:
        """What noisy sums settled of the objective; None where nothing waited for them."""
        check_is_fitted(self)
        return find_settings(self.released_model(), self.coef_.shape[-1] + 1)

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        super()._keep(asked, target)
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

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        LinearClassifierBase._keep(self, asked, target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
