"""Huber's loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
from discreet.geometry import limits
from discreet.losses.base import Loss


@dataclass(frozen=True)
class Huber(Loss):
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

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False

    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", limits.size(threshold=self.threshold))

    @np.errstate(over="ignore")
    def value(self, y: Array, z: Array) -> Array:
        slope = self.slope(y, z)
        return slope * (z - y - slope / 2)

    def slope(self, y: Array, z: Array) -> Array:
        return np.clip(z - y, -self.threshold, self.threshold)

    def curvature(self, y: Array, z: Array) -> Array:
        return np.where(np.abs(z - y) <= self.threshold, 1.0, 0.0)

    def _lipschitz(self, reach: float) -> float:
        return self.threshold

    def _smoothness(self, reach: float) -> float:
        return 1.0
