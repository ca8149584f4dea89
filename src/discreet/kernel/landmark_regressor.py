"""Private kernel regression by features on public points."""

from __future__ import annotations

from typing import ClassVar

from discreet.estimators.declaring import Declarations
from discreet.estimators.fields import with_fields
from discreet.estimators.landmark_model import LANDMARKS, LandmarkModel
from discreet.estimators.robust_regressor import RobustRegressor
from discreet.losses import Huber, Loss


@with_fields
class LandmarkRegressor(LandmarkModel, RobustRegressor):
    r"""A regression of any kernel, by its features on public points.

    Rows become Nystroem features on public landmarks (:class:`LandmarkClassifier`), clipped to a
    norm each by itself; what learns from them is the private linear regression of
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
        ``"projected"``: an exact kernel model is fitted, by Huber's loss, and its projection on the
        span of the landmarks is released with noise that does not grow with their number; for
        comparison, and where features are too many to learn from. It needs ``max_rows`` of at most
        a million (50,000 are practical), a positive delta, and no weights.
    target_range
        The declared range of targets; others are clipped to it. There is no default: a fit refuses
        to guess it.
    threshold
        The residual at which the loss turns from a parabola to a line, in units of the target. By
        default a quarter of half the range.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` on the coefficients of
        features. By default the weakest that costs no privacy; what is too weak for the budget is
        raised. Of a projected model, on its squared norm in the kernel's space, by a rule of its
        own.
    fit_intercept
        Whether there is an intercept. Targets are counted from the middle of their range then.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"`` or
        ``"output_perturbation"``; of a projected model ``"auto"`` or ``"projected_kernel"``.
    rehearsal
        None for privacy. A whole number seeds the noise, for tests and simulations: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

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

    must_declare: ClassVar[Declarations] = (("columns", "data_norm"), ("target_range",))

    def exact_loss(self) -> Loss:
        return Huber(self.steepest_slope())
