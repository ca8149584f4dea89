"""Private ridge regression."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.inference import InferentialEstimator
from discreet.estimators.regressor import LinearRegressorBase
from discreet.losses import Loss, Squared


@with_fields
class Ridge(LinearRegressorBase, InferentialEstimator):
    r"""Least squares with an l2 penalty (ridge regression), differentially private.

    It minimises half the squared residuals summed over rows plus :math:`\alpha \|w\|^2/2`. Without
    a domain the noise goes on X'X and X'y, and the solution is algebra on those; with one, it can
    also go on the objective. For the best private regression see
    :class:`discreet.LinearRegressor`.

    Parameters
    ----------
    mechanism
        ``"auto"``, ``"sufficient_statistics"``, ``"objective_perturbation"`` or
        ``"output_perturbation"``; the last two need a domain.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Vu & Slavkovic (2009); Wang (2018), AdaSSP; Kifer, Smith & Thakurta (2012).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3)) / np.sqrt(3)
    >>> y = X[:, 0] - X[:, 1]
    >>> model = Ridge(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, target_range=(-2, 2)
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)
    """

    def margin_loss(self) -> Loss:
        return Squared(self._target(None).labels.magnitude)
