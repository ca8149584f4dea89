"""Private regression that outliers cannot pull far."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.losses import Huber, Loss


@with_fields
class HuberRegressor(LinearRegressorBase):
    r"""Regression with the Huber loss, differentially private.

    It minimises the Huber loss of the residuals summed over rows plus :math:`\alpha \|w\|^2/2`. No
    residual pulls harder than ``threshold``, so neither does any record.

    Parameters
    ----------
    threshold
        The residual beyond which the loss goes on in a straight line, in units of the target. By
        default a quarter of half the range.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2`, the intercept's
        coefficient included. By default the curvature of one row costs a tenth of epsilon. What is
        too weak for the budget is raised to the least it allows, and ``release_.reason`` says so.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Huber (1964); Chaudhuri & Monteleoni (2008); Chaudhuri, Monteleoni & Sarwate (2011); Kifer,
    Smith & Thakurta (2012).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3)) / np.sqrt(3)
    >>> y = X[:, 0] - X[:, 1]
    >>> model = HuberRegressor(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, target_range=(-2, 2)
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)
    """

    threshold: float | None = None

    def margin_loss(self) -> Loss:
        interval = self._range()
        usual = (interval.high - interval.low) / 8
        return Huber(usual if self.threshold is None else self.threshold)
