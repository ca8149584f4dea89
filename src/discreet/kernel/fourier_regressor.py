"""Private kernel regression by random Fourier features."""

from __future__ import annotations

from typing import ClassVar

from discreet.estimators.declaring import Declarations
from discreet.estimators.fields import with_fields
from discreet.estimators.fourier_model import FourierModel
from discreet.estimators.robust_regressor import RobustRegressor


@with_fields
class FourierRegressor(FourierModel, RobustRegressor):
    r"""A regression of an RBF, Laplacian or Matern kernel, by random Fourier features.

    Rows become cosines and sines of public frequencies, of norm one whatever the row is
    (:class:`FourierClassifier`); what learns from them is the private linear regression of
    :class:`~discreet.LinearRegressor`, with the same loss and guarantee.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon.
    data_norm
        The declared bound on the Euclidean norm of a row, if ``columns`` are not declared; longer
        rows are clipped to it. One of the two has to be declared.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        The ledger that is charged; None charges none, which ``privacy_`` says.
    columns
        What is declared about each column, as for
        :class:`~discreet.preprocessing.BoundedScaler`. Numbers are scaled to [-1, 1] by their
        declared ranges, levels are zeros and ones, and ``gamma`` is meant in that box. None for
        rows of numbers as they are.
    gamma
        How fast the kernel falls: in the box of declared columns, or in the units of rows of
        numbers. None for the rule: one over the number of declared columns, or over the square of
        ``data_norm``. It is public: take it from what you know, or tune it with
        :class:`~discreet.model_selection.PrivateSearchCV`.
    n_components
        How many frequencies; there are twice as many features.
    kernel
        ``"rbf"``, ``"laplacian"`` or ``"matern"``.
    nu
        The smoothness of the Matern kernel, whose length is the root of 1/(2 gamma).
    orthogonal
        Whether frequencies are orthogonal to one another, as many at a time as there are encoded
        columns; not for the Laplacian kernel.
    frequencies_draw
        Which draw of the frequencies: a whole number. They are public, and drawn without a look at
        the rows; the noise is drawn apart from them, and stays secret.
    target_range
        The declared range of targets; others are clipped to it. There is no default: a fit refuses
        to guess it.
    threshold
        The residual at which the loss turns from a parabola to a line, in units of the target. By
        default a quarter of half the range.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` on the coefficients of
        features. By default the weakest that costs no privacy; what is too weak for the budget is
        raised.
    fit_intercept
        Whether there is an intercept. Targets are counted from the middle of their range then.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"`` or
        ``"output_perturbation"``.
    rehearsal
        None for privacy. A whole number seeds the noise, for tests and simulations: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

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

    must_declare: ClassVar[Declarations] = (("columns", "data_norm"), ("target_range",))
