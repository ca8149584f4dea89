"""Losses of the distance between label and margin: squared, and those that turn linear."""

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
class Squared(Loss):
    r"""Half the squared residual, for labels of magnitude at most Y.

    .. math:: \ell(y, z) = (z - y)^2 / 2

    Parameters
    ----------
    label_bound : float
        The bound Y on labels, between 1e-100 and 1e100.

    Notes
    -----
    The slope z - y is at most reach + Y, attained by z = reach and y = -Y: it is bounded only if
    coefficients are, so use a bounded domain, or :class:`PseudoHuber` without one. The curvature
    is 1, also where the slope is largest, so there is no joint smoothness. The third derivative
    vanishes: M = 0.

    Examples
    --------
    >>> float(Squared(label_bound=1.0).value(1.0, 4.0))
    4.5
    >>> Squared(label_bound=1.0).lipschitz(reach=float("inf"))
    inf
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False
    self_concordance: ClassVar[float] = 0.0

    label_bound: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_bound", limits.size(label_bound=self.label_bound))

    @np.errstate(over="ignore")
    def value(self, y: Array, z: Array) -> Array:
        values: Array = 0.5 * np.square(z - y)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return z - y

    def curvature(self, y: Array, z: Array) -> Array:
        return np.ones_like(z - y)

    @property
    def label_range(self) -> tuple[float, float]:
        return -self.label_bound, self.label_bound

    def _lipschitz(self, reach: float) -> float:
        return round_up(reach + self.label_bound)

    def _smoothness(self, reach: float) -> float:
        return 1.0


@dataclass(frozen=True)
class _RobustLoss(Loss):
    """A loss of the residual with slopes up to the threshold and curvatures up to one."""

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False

    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", limits.size(threshold=self.threshold))

    def _lipschitz(self, reach: float) -> float:
        return self.threshold

    def _smoothness(self, reach: float) -> float:
        return 1.0


@dataclass(frozen=True)
class Huber(_RobustLoss):
    r"""Squared loss for residuals up to k, absolute loss beyond, for any labels.

    .. math::

        \ell(y, z) = \begin{cases}
            r^2 / 2 & |r| \le k \\
            k |r| - k^2 / 2 & |r| > k
        \end{cases}
        \qquad r = z - y

    Parameters
    ----------
    threshold : float
        The residual k at which the loss turns linear, between 1e-100 and 1e100.

    Notes
    -----
    The slope is r kept within [-k, k]; as labels are free, k is attained at any reach. The
    curvature is 1 for residuals up to k, where the slope is already k, so there is no joint
    smoothness, and it jumps there, so there is no self-concordance.

    References
    ----------
    Huber (1964), Robust estimation of a location parameter.

    Examples
    --------
    >>> Huber(threshold=1.0).slope(0.0, np.array([-5.0, 0.5, 2.0]))
    array([-1. ,  0.5,  1. ])
    """

    @np.errstate(over="ignore")
    def value(self, y: Array, z: Array) -> Array:
        slope = self.slope(y, z)
        return slope * (z - y - slope / 2)

    def slope(self, y: Array, z: Array) -> Array:
        return np.clip(z - y, -self.threshold, self.threshold)

    def curvature(self, y: Array, z: Array) -> Array:
        return np.where(np.abs(z - y) <= self.threshold, 1.0, 0.0)


@dataclass(frozen=True)
class PseudoHuber(_RobustLoss):
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

    joint_smoothness: ClassVar[float] = round_up(0.75 * math.sqrt(3))

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
    def self_concordance(self) -> float:
        return round_up(1.5 / self.threshold)


@dataclass(frozen=True)
class LogCosh(_RobustLoss):
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

    joint_smoothness: ClassVar[float] = 2.0

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
