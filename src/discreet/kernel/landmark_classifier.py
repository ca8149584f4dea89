"""Private kernel classification by features on public points."""

from __future__ import annotations

from discreet.estimators.classifier import MarginClassifier
from discreet.estimators.fields import with_fields
from discreet.kernel.landmark_model import LANDMARKS, LandmarkModel


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
    C
        Inverse regularisation strength in the standardised frame, where rows have norm at most
        one; of a projected model, in the kernel's norm. None for the rule.
    calibration
        ``"curve"`` spends 3 % of the budget on counts of scores, of which probabilities of two
        classes are made, if enough rows are expected; ``"none"`` does not, nor does a projected
        model.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"``,
        ``"output_perturbation"`` or ``"noisy_gradient"``; of a projected model ``"auto"`` or
        ``"projected_kernel"``.

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
