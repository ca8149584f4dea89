"""The hinge loss with its kink rounded on one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
from discreet.geometry import limits
from discreet.geometry.limits import round_up
from discreet.losses.base import Loss


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
