"""Private least squares with few and small coefficients."""

from __future__ import annotations

from discreet import _checks
from discreet.estimators.fields import with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.losses import Loss, Squared
from discreet.policy.task import AbsoluteValues


@with_fields
class ElasticNet(LinearRegressorBase):
    r"""Least squares with l1 and l2 penalties (elastic net), differentially private.

    It minimises half the squared residuals summed over rows plus
    :math:`\alpha \rho \|w\|_1 + \alpha (1 - \rho) \|w\|^2/2`, :math:`\rho` the ``l1_ratio``. The
    objective is a sum: its :math:`\alpha` is that of :class:`sklearn.linear_model.ElasticNet` times
    the number of rows, which may be private. Noise goes on X'X and X'y, from which the answer is
    algebra, or in a bounded domain on the objective, whichever is expected to err less;
    ``release_.reason`` says so.

    Parameters
    ----------
    alpha
        Regularisation strength. By default as strong as the noise. Noise on the objective needs
        some ridge: too little for the budget is raised, and ``release_.reason`` says so.
    l1_ratio
        The share of the absolute values in the penalty, between 0 and 1.
    fit_intercept
        Whether there is a constant column; it is inside the row norm. Its coefficient is spared the
        absolute values, not the ridge. Targets are counted from the middle of their range then.
    domain
        A convex set that the coefficients must lie in, the intercept's own included: a ball, a box,
        or a simplex.
    mechanism
        ``"auto"``, ``"sufficient_statistics"``, ``"objective_perturbation"``,
        ``"output_perturbation"`` or ``"noisy_gradient"``; all but the first two need a domain.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Zou & Hastie (2005), the elastic net; Vu & Slavkovic (2009); Wang (2018), AdaSSP; Kifer, Smith &
    Thakurta (2012).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(50_000, 20)) / np.sqrt(20)
    >>> y = X[:, 0] - X[:, 1]
    >>> model = ElasticNet(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, target_range=(-2, 2)
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)
    """

    l1_ratio: float = 0.5

    def margin_loss(self) -> Loss:
        return Squared(self._target(None).labels.magnitude)

    def _ridge(self) -> float | None:
        super()._ridge()  # checks alpha
        return None

    def _absolute(self) -> AbsoluteValues:
        _checks.fraction(l1_ratio=self.l1_ratio)
        return AbsoluteValues(self.alpha, share=float(self.l1_ratio))
