"""Private kernel regression by features on public points."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.regressor import RobustRegressor
from discreet.kernel.landmark_model import LANDMARKS, LandmarkModel
from discreet.losses import Huber, Loss


@with_fields
class LandmarkRegressor(LandmarkModel, RobustRegressor):
    r"""A regression of any kernel, by its features on public points.

    Rows become Nystroem features on public landmarks (:class:`LandmarkClassifier`), clipped to a
    norm each by itself; what learns from them is the private linear regression of
    :class:`~discreet.LinearRegressor`, with the same loss and guarantee.

    Parameters
    ----------
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` on the coefficients of
        features. By default the weakest that costs no privacy; what is too weak for the budget is
        raised. Of a projected model, on its squared norm in the kernel's space, by a rule of its
        own.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"`` or
        ``"output_perturbation"``; of a projected model ``"auto"`` or ``"projected_kernel"``.

    Attributes
    ----------
    coef_, intercept_
        Of the features, by how much the landmarks spread.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    landmarks_
        The public landmarks, as rows are encoded.
    components_
        What entries K(x, z), with both points clipped to ``radius`` in a projected model, are
        multiplied by: a line for each landmark.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Williams & Seeger (2001), Nystroem features; Jain & Thakurta (2013), public points.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.kernels import Laplacian
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(5000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = LandmarkRegressor(
    ...     columns=[(-3, 3)], target_range=(-1, 1), landmarks=20, kernel=Laplacian(2.0)
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.8), model.landmarks_.shape
    (True, (20, 1))
    """

    learns = RobustRegressor.learns | LANDMARKS

    def exact_loss(self) -> Loss:
        return Huber(self.steepest_slope())
