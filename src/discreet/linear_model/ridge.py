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
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon.
    data_norm
        The declared bound on the Euclidean norm of a row; longer rows are clipped to it. Choose
        it without looking at the data; there is no default.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        The ledger that is charged; None charges none, which ``privacy_`` says.
    target_range
        The declared range of targets; others are clipped to it. There is no default: a fit refuses
        to guess it.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2`, the intercept's
        coefficient included. By default the weakest that costs no privacy. What is too weak for the
        budget is raised to the least it allows, and ``release_.reason`` says so.
    fit_intercept
        Whether there is a constant column; it is inside the row norm and penalised. Targets are
        counted from the middle of their range then.
    domain
        A convex set that the coefficients must lie in, the intercept's own included.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it.
    max_rows
        A public bound on the number of rows, if that number is private.
    intervals
        Whether a part of the budget pays for the standard errors of coefficients, so that
        ``confidence_interval`` and ``summary`` can answer. It needs ``delta > 0`` and no domain.
    mechanism
        ``"auto"``, ``"sufficient_statistics"``, ``"objective_perturbation"`` or
        ``"output_perturbation"``; the last two need a domain.
    rehearsal
        None for privacy. A whole number seeds the noise, for tests and simulations: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

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
