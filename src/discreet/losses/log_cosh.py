"""The log-cosh loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
from discreet.geometry import limits
from discreet.geometry.limits import round_up
from discreet.losses.base import Loss


@dataclass(frozen=True)
class LogCosh(Loss):
    r"""A smooth Huber loss that turns linear exponentially fast, for any labels.

    .. math:: \ell(y, z) = k^2 \log \cosh(r / k) \qquad r = z - y

    Parameters
    ----------
    threshold : float
        The largest slope k, between 1e-100 and 1e100.

    Notes
    -----
    Put t = r/k. The slope is k tanh t, the curvature :math:`1 - \tanh^2 t`. As labels are free,
    slope k is approached and curvature 1 attained at any reach.

    Joint smoothness: :math:`1 - \tanh^2 t = (1 - |\tanh t|)(1 + |\tanh t|)`, so kappa0 = 2,
    approached as t grows.

    Self-concordance: the third derivative is -(2/k) tanh t times the curvature, so M = 2/k.

    The value is :math:`k^2 \log(1 + 2 \sinh^2(t/2))` for \|t\| up to 1 and
    :math:`k |r| + k^2 (\log(1 + e^{-2|t|}) - \log 2)` beyond: neither cancels nor overflows.

    Examples
    --------
    >>> round(float(LogCosh(threshold=1.0).value(0.0, 50.0)), 4)
    49.3069
    >>> float(LogCosh(threshold=2.0).slope(0.0, 100.0))
    2.0
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False
    joint_smoothness: ClassVar[float] = 2.0

    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", limits.size(threshold=self.threshold))

    @np.errstate(over="ignore")
    def value(self, y: Array, z: Array) -> Array:
        k, distance = self.threshold, np.abs(z - y)
        scaled = distance / k
        near = k**2 * np.log1p(2 * np.sinh(np.minimum(scaled, 1.0) / 2) ** 2)
        far = k * distance + k**2 * (np.log1p(np.exp(-2 * scaled)) - math.log(2))
        return np.where(scaled <= 1.0, near, far)

    @np.errstate(over="ignore")
    def slope(self, y: Array, z: Array) -> Array:
        slopes: Array = self.threshold * np.tanh((z - y) / self.threshold)
        return slopes

    @np.errstate(over="ignore")
    def curvature(self, y: Array, z: Array) -> Array:
        decay = np.exp(-2 * (np.abs(z - y) / self.threshold))
        curvatures: Array = 4 * decay / (1 + decay) ** 2
        return curvatures

    @property
    def self_concordance(self) -> float:
        return round_up(2 / self.threshold)

    def _lipschitz(self, reach: float) -> float:
        return self.threshold

    def _smoothness(self, reach: float) -> float:
        return 1.0
