"""Hinge losses, with the kink or without it."""

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
class Hinge(Loss):
    r"""Hinge loss of support vector machines, for labels in {-1, +1}.

    .. math:: \ell(y, z) = \max(1 - yz, 0)

    Notes
    -----
    The slope is -y below yz = 1 and 0 from there on, so the loss is 1-Lipschitz at any reach.
    The kink at yz = 1 leaves no bound on the curvature, which is 0 elsewhere.

    Examples
    --------
    >>> Hinge().value(1.0, np.array([-1.0, 0.5, 3.0]))
    array([2. , 0.5, 0. ])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True

    def value(self, y: Array, z: Array) -> Array:
        values: Array = np.maximum(1.0 - y * z, 0.0)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return np.where(y * z < 1.0, -y, 0.0)

    def curvature(self, y: Array, z: Array) -> Array:
        return np.zeros_like(y * z)

    def _lipschitz(self, reach: float) -> float:
        return 1.0

    def _smoothness(self, reach: float) -> float:
        return math.inf


@dataclass(frozen=True)
class SmoothedHinge(Loss):
    r"""Hinge loss made quadratic just below its kink, for labels in {-1, +1}.

    .. math::

        \ell(y, z) = \begin{cases}
            0 & yz \ge 1 \\
            (1 - yz)^2 / (2s) & 1 - s < yz < 1 \\
            1 - yz - s/2 & yz \le 1 - s
        \end{cases}

    Parameters
    ----------
    width : float
        The width s of the quadratic part, between 1e-100 and 1e100.

    Notes
    -----
    The absolute slope (1 - yz) / s, kept within [0, 1], is largest at yz = -reach, and is 1 there
    unless s > 1 + reach. The curvature is 1/s on the quadratic part, which begins at yz = 1 - s; at
    that point the slope is already 1, so there is no joint smoothness, and the curvature jumps, so
    there is no self-concordance.

    Unlike :class:`HuberHinge` it costs nothing from yz = 1 on; it lies below the hinge, by at most
    s/2.

    References
    ----------
    Shalev-Shwartz, Zhang (2013), Stochastic dual coordinate ascent methods.

    Examples
    --------
    >>> SmoothedHinge(width=1.0).value(1.0, np.array([-1.0, 0.5, 1.0]))
    array([1.5  , 0.125, 0.   ])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True

    width: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", limits.size(width=self.width))

    def value(self, y: Array, z: Array) -> Array:
        shortfall = 1.0 - y * z
        bend = np.clip(shortfall, 0.0, self.width)
        values: Array = bend**2 / (2 * self.width) + np.maximum(shortfall - self.width, 0.0)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return -y * (np.clip(1.0 - y * z, 0.0, self.width) / self.width)

    def curvature(self, y: Array, z: Array) -> Array:
        shortfall = 1.0 - y * z
        bends = (shortfall >= 0.0) & (shortfall <= self.width)
        return np.where(bends, 1 / self.width, 0.0)

    def _lipschitz(self, reach: float) -> float:
        return min(1.0, round_up((1.0 + reach) / self.width))

    def _smoothness(self, reach: float) -> float:
        bends = 1.0 - reach <= self.width
        return round_up(1 / self.width) if bends else 0.0


@dataclass(frozen=True)
class HuberHinge(Loss):
    r"""Hinge loss made quadratic within h of its kink, for labels in {-1, +1}.

    .. math::

        \ell(y, z) = \begin{cases}
            0 & yz > 1 + h \\
            (1 + h - yz)^2 / (4h) & |1 - yz| \le h \\
            1 - yz & yz < 1 - h
        \end{cases}

    Parameters
    ----------
    width : float
        The half-width h of the quadratic part, between 1e-100 and 1e100.

    Notes
    -----
    The absolute slope (1 + h - yz) / (2h), kept within [0, 1], is largest at yz = -reach, and is 1
    there unless h > 1 + reach. The curvature is 1/(2h) on the quadratic part, which begins at
    yz = 1 - h; at that point the slope is already 1, so there is no joint smoothness, and the
    curvature jumps, so there is no self-concordance.

    The loss exceeds the hinge by :math:`\max(h - |1 - yz|, 0)^2 / (4h)`, at most h/4.

    References
    ----------
    Chaudhuri, Monteleoni, Sarwate (2011), Differentially private empirical risk minimization.

    Examples
    --------
    >>> HuberHinge(width=0.5).value(1.0, np.array([0.0, 1.0, 2.0]))
    array([1.   , 0.125, 0.   ])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True

    width: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", limits.size(width=self.width))

    def value(self, y: Array, z: Array) -> Array:
        shortfall = 1.0 - y * z
        bend = np.maximum(self.width - np.abs(shortfall), 0.0)
        values: Array = np.maximum(shortfall, 0.0) + bend**2 / (4 * self.width)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        shortfall = 1.0 - y * z
        return -y * (np.clip(shortfall + self.width, 0.0, 2 * self.width) / (2 * self.width))

    def curvature(self, y: Array, z: Array) -> Array:
        shortfall = 1.0 - y * z
        return np.where(np.abs(shortfall) <= self.width, 1 / (2 * self.width), 0.0)

    def _lipschitz(self, reach: float) -> float:
        return min(1.0, round_up((1.0 + reach + self.width) / (2 * self.width)))

    def _smoothness(self, reach: float) -> float:
        bends = 1.0 - reach <= self.width
        return round_up(1 / (2 * self.width)) if bends else 0.0
