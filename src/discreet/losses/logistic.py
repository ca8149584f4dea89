"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from discreet._types import Array
from discreet.geometry.limits import round_up
from discreet.losses.base import ProbabilisticLoss


@dataclass(frozen=True)
class Logistic(ProbabilisticLoss):
    r"""Logistic loss for labels in {-1, +1}.

    .. math:: \ell(y, z) = \log(1 + e^{-yz})

    Notes
    -----
    With s the logistic function, the absolute slope is s(-yz), largest at yz = -reach and below 1;
    the curvature s(1 - s) peaks at z = 0 with value 1/4.

    Joint smoothness: s(1 - s) <= 1 - s, so kappa0 = 1, approached as yz goes to minus infinity.

    Self-concordance: the third derivative is s(1 - s)(1 - 2s) in absolute value, so M = 1.

    References
    ----------
    Bach (2010), Self-concordant analysis for logistic regression.

    Examples
    --------
    >>> float(Logistic().slope(1.0, 0.0))
    -0.5
    >>> float(Logistic().probability(0.0))
    0.5
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True
    joint_smoothness: ClassVar[float] = 1.0
    self_concordance: ClassVar[float] = 1.0

    def value(self, y: Array, z: Array) -> Array:
        values: Array = np.logaddexp(0.0, -y * z)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return -y * expit(-y * z)

    def curvature(self, y: Array, z: Array) -> Array:
        return expit(y * z) * expit(-y * z)

    def probability(self, z: Array) -> Array:
        return expit(z)

    def slope_and_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        with np.errstate(over="ignore"):
            steepness = np.reciprocal(1 + np.exp(y * z))
        return -y * steepness, steepness * (1 - steepness)

    def _lipschitz(self, reach: float) -> float:
        return min(1.0, round_up(float(expit(reach))))

    def _smoothness(self, reach: float) -> float:
        return 0.25
