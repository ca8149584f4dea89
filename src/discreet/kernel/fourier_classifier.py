"""Private kernel classification by random Fourier features."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.fourier_model import FourierModel
from discreet.estimators.margin_classifier import MarginClassifier


@with_fields
class FourierClassifier(FourierModel, MarginClassifier):
    r"""A classifier of an RBF, Laplacian or Matern kernel, by random Fourier features.

    .. math:: \psi(x) = D^{-1/2} \, (\cos \omega_j^T x, \; \sin \omega_j^T x)_{j \le D}

    Rows become cosines and sines of public frequencies, of norm one whatever the row is; what
    learns from them is the private linear classifier of
    :class:`~discreet.LinearClassifier`, with the same rules, margin, calibration, classes and
    guarantee. Nothing but coefficients of features is released: predictions need no row of the
    fit, and there may be any number of them.

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
    margin
        What the loss asks for; zero is logistic regression. None for the rule, by how much noise
        there is, as for :class:`~discreet.LinearClassifier`.
    C
        Inverse regularisation strength in the standardised frame, where rows have norm at most
        one. None for the rule.
    calibration
        ``"curve"`` spends 3 % of the budget on counts of scores, of which probabilities of two
        classes are made, if enough rows are expected; ``"none"`` does not.
    expected_rows
        Roughly how many rows there will be, declared and not counted.
    fit_intercept
        Whether there is an intercept; without one features cannot be standardised.
    classes
        The classes, declared. Without it the labels found are taken as public, and the guarantee
        says so. However many there are, they share the one budget.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"``,
        ``"output_perturbation"`` or ``"noisy_gradient"``.
    rehearsal
        None for privacy. A whole number seeds the noise, for tests and simulations: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

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
