"""The ridge penalty."""

from __future__ import annotations

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
        """Count roundings: two in the divisor, one in the division, and underflow.

        The divisor 1 + a step errs no more, relatively, than the step does.

        Parameters
        ----------
        size, dimension, step_error
            As for :meth:`Penalty.prox_error`.
        """
        return (4 * UNIT + 2 * step_error) * size + underflow(dimension)
