"""Private kernel classification by features on public points."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.landmark_model import LANDMARKS, LandmarkModel
from discreet.estimators.margin_classifier import MarginClassifier


@with_fields
class LandmarkClassifier(LandmarkModel, MarginClassifier):
    r"""A classifier of any kernel, by its features on public points.

    .. math:: \psi(x) = S_r^{-1/2} U_r^T K(Z, x), \qquad K(Z, Z) = U S U^T

    Rows become the coordinates of their feature vectors in the span of public landmarks Z
    (Nystroem's method), clipped to a norm each by itself; what learns from them is the private
    linear classifier of :class:`~discreet.LinearClassifier`, with the same rules, margin,
    calibration, classes and guarantee. A fitted model holds public points and coefficients alone.

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
    landmarks
        Public points: a table as for ``fit``, of 1 to 4096 rows that have nothing to do with the
        private ones; or how many synthetic ones to take, quasi-random points of the declared
        domain. None for 200 of these. Rows that are to be protected must never be landmarks: that
        they are public is part of what the guarantee rests on.
    kernel
        A kernel of :mod:`discreet.kernels`, in the box of declared columns or in the units of rows
        of numbers. None for an RBF kernel whose gamma is one over the number of declared columns,
        or over the square of ``data_norm``.
    n_components
        At most how many directions are kept, those in which the landmarks spread most. None for
        all.
    radius
        What the norm of features is clipped to, each row by itself, in ``fit`` and ``predict``
        alike. None for the root of the largest K(z, z) at a landmark: one for an RBF kernel.
    method
        ``"nystroem"``: a linear model of features on the landmarks, by far the more accurate.
        ``"projected"``: an exact kernel model of two classes is fitted, and its projection on the
        span of the landmarks is released with noise that does not grow with their number; for
        comparison, and where features are too many to learn from. It needs ``max_rows`` of at most
        a million (50,000 are practical), a positive delta, and no weights.
    margin
        What the loss asks for; zero is logistic regression. None for the rule, by how much noise
        there is, as for :class:`~discreet.LinearClassifier`.
    C
        Inverse regularisation strength in the standardised frame, where rows have norm at most
        one; of a projected model, in the kernel's norm. None for the rule.
    calibration
        ``"curve"`` spends 3 % of the budget on counts of scores, of which probabilities of two
        classes are made, if enough rows are expected; ``"none"`` does not, nor does a projected
        model.
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
        ``"output_perturbation"`` or ``"noisy_gradient"``; of a projected model ``"auto"`` or
        ``"projected_kernel"``.
    rehearsal
        None for privacy. A whole number seeds the noise, for tests and simulations: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

    Attributes
    ----------
    coef_, intercept_
        Of the features, by how much the landmarks spread.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        How three or more classes were learnt: ``"softmax"`` or ``"one_vs_rest"``. None for two.
    probability_curve_, margin_, settings_
        As of :class:`~discreet.LinearClassifier`.
    landmarks_
        The public landmarks, as rows are encoded.
    components_
        What entries K(x, z), with both points clipped to ``radius`` in a projected model, are
        multiplied by: a line for each landmark.
    release_, privacy_
        The release and its guarantee.

    See Also
    --------
    discreet.kernel.FourierClassifier : Features of shift-invariant kernels without landmarks.

    References
    ----------
    Williams & Seeger (2001); Jain & Thakurta (2013), whose public points these are.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.kernels import RBF
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(5000, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6  # no line tells them apart
    >>> model = LandmarkClassifier(
    ...     columns=[(-1, 1)] * 2, landmarks=30, kernel=RBF(1.0), classes=[False, True]
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.landmarks_.shape
    (True, (30, 2))
    """

    learns = MarginClassifier.learns | LANDMARKS
