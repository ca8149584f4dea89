"""Private quantile regression."""

from __future__ import annotations

from discreet import _checks
from discreet.estimators.fields import with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.losses import Loss, Pinball, SmoothedPinball


@with_fields
class QuantileRegressor(LinearRegressorBase):
    r"""Regression of a quantile with a smoothed pinball loss, differentially private.

    It minimises the pinball loss of the residuals, its kink rounded over a width of
    ``smoothing``, summed over rows, plus :math:`\alpha \|w\|^2/2`.

    Parameters
    ----------
    quantile
        Which quantile, strictly between zero and one.
    smoothing
        How wide the kink is rounded, in units of the target. By default a tenth of the range.
        With 0 the kink stays: the fit follows noisy gradients with ``delta > 0``, or is drawn from
        a ``domain`` without.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2`, the intercept's
        coefficient included. By default the curvature of one row costs a tenth of epsilon. What is
        too weak for the budget is raised to the least it allows, and ``release_.reason`` says so.
    mechanism
        ``"auto"``, ``"objective_perturbation"``, ``"output_perturbation"``,
        ``"noisy_gradient"``, ``"exponential_sampling"`` (pure epsilon in a ``domain`` for up to six
        coefficients) or ``"localization"``; without smoothing only
        noisy gradients and exponential sampling will do.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Koenker & Bassett (1978); Kifer, Smith & Thakurta (2012); Bassily, Smith & Thakurta (2014).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3)) / np.sqrt(3)
    >>> y = X[:, 0] + generator.uniform(-0.2, 0.2, size=20_000)
    >>> model = QuantileRegressor(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, target_range=(-1, 1), quantile=0.8
    ... ).fit(X, y)
    >>> bool(0.7 < (y < model.predict(X)).mean() < 0.9)
    True
    """

    quantile: float = 0.5
    smoothing: float | None = None

    def margin_loss(self) -> Loss:
        interval = self._range()
        if self.smoothing is None:
            return SmoothedPinball(self.quantile, (interval.high - interval.low) / 10)
        _checks.not_negative(smoothing=self.smoothing)
        if self.smoothing == 0:
            return Pinball(self.quantile)
        return SmoothedPinball(self.quantile, self.smoothing)
