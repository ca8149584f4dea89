"""Private online least squares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.geometry import ConvexSet, L2Ball
from discreet.losses import Loss, Squared
from discreet.online.learner import OnlineLearner
from discreet.online.river_types import RiverRegressor
from discreet.questions import Bounds

FARTHEST = 2.0
"""How far typical rows can be predicted, in half ranges of the target, if no domain is declared."""


@with_fields
class LinearRegression(OnlineLearner, LinearRegressorBase, RiverRegressor):  # type: ignore[misc]
    r"""Least squares for a stream of records, differentially private.

    It learns from each record once, in their order, and can be asked at any time. All that it will
    ever say is paid for before the first record. Running sums of :math:`x x^\top` and :math:`x y`
    carry correlated noise, and every answer is the exact minimiser of what they say, so regret
    grows with the logarithm of the stream only; wide rows follow noisy gradients.

    Parameters
    ----------
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` over the whole stream. By
        default a trace.
    domain
        A ball that the coefficients of encoded columns stay in. None for one in which typical rows
        are predicted within twice the range.
    mechanism
        ``"auto"``, ``"online_quadratic"``, ``"follow_the_leader"``, ``"private_ocp"``,
        ``"implicit_gradient"`` or ``"gradient_ascent"``.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn; they follow the last answer.
    release_, privacy_
        The last answer as a release, and the guarantee of everything that is ever answered.

    References
    ----------
    Jain, Kothari & Thakurta (2012); Thakurta (2013), PhD thesis; Kairouz et al. (2021), DP-FTRL;
    Denisov et al. (2022).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(5000, 2))
    >>> y = 2 * X[:, 0] - X[:, 1] + generator.normal(size=5000) / 5
    >>> model = LinearRegression(
    ...     delta=1e-6, data_norm=1.5, target_range=(-4, 4), horizon=5000, batch=100
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.5), model.n_seen
    (True, 5000)
    """

    must_declare: ClassVar[Declarations] = (*OnlineLearner.must_declare, ("target_range",))

    def margin_loss(self) -> Loss:
        return Squared(self._target(None).labels.magnitude)

    def _usual_domain(self, bounds: Bounds) -> ConvexSet:
        """Return a ball: without one a squared loss has no bounded slope."""
        far = FARTHEST * self._target(None).labels.magnitude
        return L2Ball(far * math.sqrt(bounds.width) / bounds.row_norm())

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """Return the prediction for one record; the middle of the range before anything was learnt.

        Parameters
        ----------
        x
            Features by name.
        """
        return self._margin_of(x)
