"""Private kernel regression by random Fourier features."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.regressor import RobustRegressor
from discreet.kernel.fourier_model import FourierModel


@with_fields
class FourierRegressor(FourierModel, RobustRegressor):
    r"""A regression of an RBF, Laplacian or Matern kernel, by random Fourier features.

    Rows become cosines and sines of public frequencies, of norm one whatever the row is
    (:class:`FourierClassifier`); what learns from them is the private linear regression of
    :class:`~discreet.LinearRegressor`, with the same loss and guarantee.

    Parameters
    ----------
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"`` or
        ``"output_perturbation"``.

    Attributes
    ----------
    coef_, intercept_
        Of the features, cosines before sines.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    gamma_
        How fast the kernel falls, as declared or by the rule.
    frequencies_
        The public frequencies, a line for each encoded column.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Rahimi & Recht (2007); Rubinstein, Bartlett, Huang & Taft (2009); Chaudhuri, Monteleoni &
    Sarwate (2011).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(5000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = FourierRegressor(
    ...     epsilon=1.0, columns=[(-3, 3)], target_range=(-1, 1), gamma=10.0, n_components=30
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.8), model.coef_.shape
    (True, (60,))
    """

    learns = RobustRegressor.learns
