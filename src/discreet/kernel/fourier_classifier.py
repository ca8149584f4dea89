"""Private kernel classification by random Fourier features."""

from __future__ import annotations

from discreet.estimators.classifier import MarginClassifier
from discreet.estimators.fields import with_fields
from discreet.kernel.fourier_model import FourierModel


@with_fields
class FourierClassifier(FourierModel, MarginClassifier):
    r"""A classifier of an RBF, Laplacian or Matern kernel, by random Fourier features.

    .. math:: \psi(x) = D^{-1/2} \, (\cos \omega_j^T x, \; \sin \omega_j^T x)_{j \le D}

    Rows become cosines and sines of public frequencies, of norm one whatever the row is; what
    learns from them is the private linear classifier of
    :class:`~discreet.LinearClassifier`, with the same rules, margin, calibration, classes and
    guarantee. Nothing but coefficients of features is released: predictions need no row of the
    fit, and there may be any number of them.

    Attributes
    ----------
    coef_, intercept_
        Of the features, cosines before sines.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        How three or more classes were learnt: ``"softmax"`` or ``"one_vs_rest"``. None for two.
    probability_curve_, margin_, settings_
        As of :class:`~discreet.LinearClassifier`.
    gamma_
        How fast the kernel falls, as declared or by the rule.
    frequencies_
        The public frequencies, a line for each encoded column.
    release_, privacy_
        The release and its guarantee.

    See Also
    --------
    discreet.kernel.LandmarkClassifier : Features from public points, for any kernel.

    References
    ----------
    Rahimi & Recht (2007); Rubinstein, Bartlett, Huang & Taft (2009); Chaudhuri, Monteleoni &
    Sarwate (2011).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(5000, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6  # no line tells them apart
    >>> model = FourierClassifier(
    ...     epsilon=1.0, columns=[(-1, 1)] * 2, n_components=30, classes=[False, True]
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.coef_.shape, model.gamma_
    (True, (1, 60), 0.5)
    """

    learns = MarginClassifier.learns
