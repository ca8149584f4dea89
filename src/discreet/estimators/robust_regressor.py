"""Regressions by a smooth Huber loss, whose slope is bounded by a part of the range of targets."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.losses import Loss, PseudoHuber


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
