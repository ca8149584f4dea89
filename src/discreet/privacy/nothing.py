"""The profile of a release that protects nobody."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._types import Vector
from discreet.privacy.profile import Profile, orders_above_one


@dataclass(frozen=True)
class NoPrivacy(Profile):
    """No guarantee: an infinite epsilon was asked for, or the noise was seeded.

    Examples
    --------
    >>> NoPrivacy().epsilon(1e-6), NoPrivacy().delta(10.0)
    (inf, 1.0)
    """

    is_private: ClassVar[bool] = False

    kind: ClassVar[str] = "no_privacy"

    def __post_init__(self) -> None:
        """There is nothing to check."""

    def bound(self, epsilons: Vector) -> Vector:
        return np.ones(epsilons.shape)

    def rdp(self, orders: ArrayLike) -> Vector:
        return np.full(orders_above_one(orders).shape, math.inf)
