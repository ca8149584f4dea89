"""A constraint, written as a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet import _checks
from discreet._types import Array, Vector
from discreet.geometry import ConvexSet
from discreet.penalties.base import Penalty


@dataclass(frozen=True)
class Indicator(Penalty):
    r"""Zero inside a convex set and infinite outside.

    .. math:: P(w) = 0 \text{ if } w \in C, \quad \infty \text{ otherwise}

    Parameters
    ----------
    region : ConvexSet
        The set C; points within 1e-9 of its size count as inside.

    Notes
    -----
    The prox is the projection, at any step.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> inside_ball = Indicator(L2Ball(1.0))
    >>> inside_ball.value(np.array([3.0, 4.0]))
    inf
    >>> inside_ball.prox(np.array([3.0, 4.0]), step=7.0)
    array([0.6, 0.8])
    """

    strong_convexity: ClassVar[float] = 0.0

    region: ConvexSet

    def __post_init__(self) -> None:
        _checks.instance(ConvexSet, region=self.region)

    def value(self, w: Vector) -> float:
        return 0.0 if self.region.contains(w, tolerance=1e-9) else math.inf

    def radius(self, dimension: int) -> float:
        return self.region.reach(dimension)

    def nearest(self, w: Vector) -> Vector:
        return self.region.project(w)

    def _prox(self, w: Vector, step: float) -> Vector:
        return self.region.project(w)

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        return self.region.projection_derivative(w)

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        return self.region.projection_error(size, dimension)
