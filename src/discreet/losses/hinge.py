"""The hinge loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
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
