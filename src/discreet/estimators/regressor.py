"""Linear models of numbers."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet import _checks
from discreet._types import Vector
from discreet.data.given_column import GivenColumn
from discreet.estimators.base import fit_with_weights
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import NumberTarget, interval_of
from discreet.losses import Loss, PseudoHuber
from discreet.policy.task import Asked
from discreet.questions import Interval


@with_fields
class LinearRegressorBase(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """Targets are clipped to their declared range, and counted from its middle."""

    # scikit-learn tries any alpha on a regressor; one that is too weak for the budget is raised.
    _raises_ridge = True

    must_declare: ClassVar[Declarations] = (("columns", "data_norm"), ("target_range",))

    alpha: float | None = None
    target_range: tuple[float, float] | None = None
    max_weight: float | None = None

    fit = fit_with_weights  # type: ignore[assignment]

    coef_: Vector = field(init=False)
    intercept_: Any = field(init=False)

    def _ridge(self) -> float | None:
        return None if self.alpha is None else _checks.positive_number(alpha=self.alpha)

    def _check(self) -> None:
        self._target(None)

    def _range(self) -> Interval:
        """Return the declared range of targets."""
        return interval_of(target_range=self.target_range)

    def _target(self, y: GivenColumn | None) -> NumberTarget:
        """Count targets from the middle of their range, if there is an intercept to put it into."""
        interval = self._range()
        middle = (interval.low + interval.high) / 2 if self.fit_intercept else 0.0
        return NumberTarget(interval, middle)

    def _target_origin(self) -> float:
        return self._target(None).origin

    def _keep(self, asked: Asked, fit: Fit) -> None:
        coef, intercept = self._coefficients(asked, fit.features, self._target_origin())
        self.coef_, self.intercept_ = coef[0], float(intercept[0])

    @row_by_row
    def predict(self, X: Any) -> Vector:
        """Return the predicted target of each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        return np.asarray(self._margins(X)[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


@with_fields
class RobustRegressor(LinearRegressorBase):
    """A regression whose loss turns from a parabola to a line, an eighth of the range by default.

    :class:`~discreet.linear_model.LinearRegressor` is one, and so are the regressors of
    ``discreet.kernel``.
    """

    threshold: float | None = None

    def steepest_slope(self) -> float:
        """Return the residual at which the loss turns to a line, which is its largest slope."""
        interval = self._range()
        usual = (interval.high - interval.low) / 8
        return usual if self.threshold is None else self.threshold

    def margin_loss(self) -> Loss:
        return PseudoHuber(self.steepest_slope())
