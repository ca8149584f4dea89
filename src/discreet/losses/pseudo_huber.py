"""The pseudo-Huber loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
from discreet.geometry import limits
from discreet.geometry.limits import round_up
from discreet.losses.base import Loss

_JOINT_SMOOTHNESS = round_up(0.75 * math.sqrt(3))


@dataclass(frozen=True)
class PseudoHuber(Loss):
    r"""A smooth Huber loss, quadratic for small residuals and linear for large, for any labels.

    .. math:: \ell(y, z) = k^2 \left(\sqrt{1 + r^2 / k^2} - 1\right) \qquad r = z - y

    Parameters
    ----------
    threshold : float
        The largest slope k, between 1e-100 and 1e100.

    Notes
    -----
    Put r = k tan t. The slope is k sin t, the curvature :math:`\cos^3 t` and the third derivative
    :math:`-(3/k) \sin t \cos^4 t`. As labels are free, slope k is approached and curvature 1
    attained at any reach.

    Joint smoothness: :math:`\cos^3 t / (1 - \sin t) = \cos t \, (1 + \sin t)`, largest at
    sin t = 1/2, so kappa0 = :math:`3 \sqrt 3 / 4` = 1.29904.

    Self-concordance: the third derivative is (3/k) sin t cos t = (3/2k) sin 2t times the
    curvature, so M = 3/(2k), attained at r = k.

    The formulas are evaluated with :math:`\sqrt{k^2 + r^2}` by ``hypot``, free of overflow, and the
    value as :math:`k |r| \cdot |r| / (k + \sqrt{k^2 + r^2})`, free of cancellation.

    Examples
    --------
    >>> round(float(PseudoHuber(threshold=3.0).value(0.0, 4.0)), 12)
    6.0
    >>> round(float(PseudoHuber(threshold=3.0).slope(0.0, 4.0)), 12)
    2.4
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False

    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", limits.size(threshold=self.threshold))

    @np.errstate(over="ignore")
    def value(self, y: Array, z: Array) -> Array:
        distance = np.abs(z - y)
        share = distance / (self.threshold + np.hypot(self.threshold, distance))
        values: Array = self.threshold * distance * share
        return values

    def slope(self, y: Array, z: Array) -> Array:
        residual = z - y
        slopes: Array = self.threshold * (residual / np.hypot(self.threshold, residual))
        return slopes

    def curvature(self, y: Array, z: Array) -> Array:
        cosine = self.threshold / np.hypot(self.threshold, z - y)
        curvatures: Array = cosine**3
        return curvatures

    @property
    def joint_smoothness(self) -> float:
        return _JOINT_SMOOTHNESS

    @property
    def self_concordance(self) -> float:
        return round_up(1.5 / self.threshold)

    def _lipschitz(self, reach: float) -> float:
        return self.threshold

    def _smoothness(self, reach: float) -> float:
        return 1.0
