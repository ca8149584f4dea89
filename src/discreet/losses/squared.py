"""The squared loss."""

from __future__ import annotations

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
