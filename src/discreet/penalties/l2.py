"""The ridge penalty, alone or added to another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.geometry.limits import UNIT
from discreet.penalties.base import Penalty, underflow


@dataclass(frozen=True)
class L2(Penalty):
    r"""Half the squared Euclidean norm, times a weight.

    .. math:: P(w) = \frac{a}{2} \lVert w \rVert_2^2

    Parameters
    ----------
    weight : float
        The weight a, zero or more.

    Notes
    -----
    The prox solves a u + (u - w) / step = 0: it is w / (1 + a step).

    Examples
    --------
    >>> ridge = L2(weight=3.0)
    >>> ridge.value(np.array([1.0, 2.0]))
    7.5
    >>> ridge.prox(np.array([1.0, 2.0]), step=1.0)
    array([0.25, 0.5 ])
    """

    is_smooth: ClassVar[bool] = True

    weight: float

    def __post_init__(self) -> None:
        _checks.not_negative(weight=self.weight)
        object.__setattr__(self, "weight", float(self.weight))

    @np.errstate(over="ignore")
    def value(self, w: Vector) -> float:
        return float(np.dot(self.weight / 2 * w, w))

    def gradient(self, w: Vector) -> Vector:
        return self.weight * w

    @property
    def strong_convexity(self) -> float:
        return self.weight

    def _prox(self, w: Vector, step: float) -> Vector:
        return w / (1 + self.weight * step)

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        return np.eye(w.size) / (1 + self.weight * step)

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        # Roundings: two in the divisor, which errs no more, relatively, than the step does; one in
        # the division, and underflow.
        return (4 * UNIT + 2 * step_error) * size + underflow(dimension)


@dataclass(frozen=True)
class WithRidge(Penalty):
    r"""Another penalty Q plus half the squared Euclidean norm, times a weight.

    .. math:: P(w) = Q(w) + \frac{a}{2} \lVert w \rVert_2^2

    Parameters
    ----------
    penalty : Penalty
        The penalty Q.
    weight : float
        The weight a, zero or more.

    Notes
    -----
    Completing the square, with t = 1 + a step,

    .. math:: \frac{a}{2} \lVert u \rVert^2 + \frac{1}{2 \, \text{step}} \lVert u - w \rVert^2
        = \frac{t}{2 \, \text{step}} \lVert u - w/t \rVert^2 + \text{constant},

    so the prox is that of Q at w/t with the step step/t.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> ridge_in_ball = WithRidge(Indicator(L2Ball(1.0)), weight=3.0)
    >>> ridge_in_ball.strong_convexity
    3.0
    >>> ridge_in_ball.prox(np.array([2.0, 0.0]), step=1.0)
    array([0.5, 0. ])
    """

    penalty: Penalty
    weight: float

    def __post_init__(self) -> None:
        _checks.instance(Penalty, penalty=self.penalty)
        _checks.not_negative(weight=self.weight)
        object.__setattr__(self, "weight", float(self.weight))

    def value(self, w: Vector) -> float:
        return self.penalty.value(w) + self._ridge.value(w)

    def gradient(self, w: Vector) -> Vector:
        return self.penalty.gradient(w) + self._ridge.gradient(w)

    def radius(self, dimension: int) -> float:
        return self.penalty.radius(dimension)

    def nearest(self, w: Vector) -> Vector:
        return self.penalty.nearest(w)

    @property
    def strong_convexity(self) -> float:
        own = self.penalty.strong_convexity
        # Sensitivities divide by this number, so a sum that may be rounded is rounded down.
        return math.nextafter(own + self.weight, 0.0) if own and self.weight else own + self.weight

    @property
    def is_smooth(self) -> bool:
        return self.penalty.is_smooth

    @property
    def _ridge(self) -> L2:
        return L2(self.weight)

    def _prox(self, w: Vector, step: float) -> Vector:
        shrink = 1 + self.weight * step
        return self.penalty.prox(w / shrink, step / shrink)

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        shrink = 1 + self.weight * step
        return self.penalty.prox_derivative(w / shrink, step / shrink) / shrink

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        # What happens to w/t, which Q's prox does not enlarge, and the error of Q's prox. Both w/t
        # and step/t err by three roundings, and no more than the step does besides.
        before = self._ridge.prox_error(size, dimension, step_error)
        after = self.penalty.prox_error(size + before, dimension, 4 * UNIT + 2 * step_error)
        return before + after
