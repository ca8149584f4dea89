"""The lasso and ridge penalties together: the penalty of an elastic net."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.penalties.base import Penalty
from discreet.penalties.l1 import L1, is_kept, soft_threshold
from discreet.penalties.l2 import L2


@dataclass(frozen=True)
class L1L2(Penalty):
    r"""Absolute values and squares, each with its own weight.

    .. math:: P(w) = a \lVert w \rVert_1 + \frac{b}{2} \lVert w \rVert_2^2

    Parameters
    ----------
    l1_weight, l2_weight : float
        The weights a and b, zero or more.

    Notes
    -----
    The prox moves every coefficient towards zero by a step, then divides it by 1 + b step.

    References
    ----------
    Zou, Hastie (2005), Regularization and variable selection via the elastic net.

    Examples
    --------
    >>> import numpy as np
    >>> net = L1L2(l1_weight=1.0, l2_weight=1.0)
    >>> net.value(np.array([1.0, -2.0]))
    5.5
    >>> net.prox(np.array([0.5, -2.0]), step=1.0)
    array([ 0. , -0.5])
    """

    l1_weight: float
    l2_weight: float

    def __post_init__(self) -> None:
        _checks.not_negative(l1_weight=self.l1_weight, l2_weight=self.l2_weight)
        object.__setattr__(self, "l1_weight", float(self.l1_weight))
        object.__setattr__(self, "l2_weight", float(self.l2_weight))

    def value(self, w: Vector) -> float:
        return L1(self.l1_weight).value(w) + L2(self.l2_weight).value(w)

    @property
    def strong_convexity(self) -> float:
        return self.l2_weight

    def _prox(self, w: Vector, step: float) -> Vector:
        return soft_threshold(w, self.l1_weight * step) / (1 + self.l2_weight * step)

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        kept = is_kept(w, self.l1_weight * step)
        return np.diag(kept / (1 + self.l2_weight * step))

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        """Add the two parts: the division only shrinks the error of the threshold.

        Parameters
        ----------
        size, dimension, step_error
            As for :meth:`Penalty.prox_error`.
        """
        lasso, ridge = L1(self.l1_weight), L2(self.l2_weight)
        return lasso.prox_error(size, dimension, step_error) + ridge.prox_error(
            size, dimension, step_error
        )
