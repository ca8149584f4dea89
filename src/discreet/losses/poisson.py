"""The Poisson loss, made linear where it would grow too fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.limits import round_up
from discreet.losses.base import Loss

_FARTHEST = 230.0


@dataclass(frozen=True)
class Poisson(Loss):
    r"""Poisson loss with tangents beyond a reach, for labels from 0 to Y.

    .. math::

        \ell(y, z) = e^c - yc + (e^c - y)(z - c)
        \qquad c = \min(\max(z, -U), U)

    Parameters
    ----------
    label_bound : float
        The largest count Y, between 1e-100 and 1e100.
    reach : float
        The margin U up to which the loss is :math:`e^z - yz`, at most 230.

    Notes
    -----
    **The tangents change the loss.** The exponential has no bounded slope, so beyond U the loss
    goes on in a straight line. Fitted margins within U are not affected; others are those of
    another model. For y below :math:`e^{-U}` the loss decreases without end as z falls.

    With V = min(reach, U) the slope :math:`e^c - y` lies between :math:`e^{-V} - Y` and
    :math:`e^V`, so it is at most :math:`\max(e^V, Y - e^{-V})`. The curvature :math:`e^z` is at
    most :math:`e^V` and drops to 0 beyond U, where the slope can be largest: there is neither
    joint smoothness nor self-concordance.

    Examples
    --------
    >>> loss = Poisson(label_bound=10.0, reach=2.0)
    >>> float(loss.value(3.0, 0.0))
    1.0
    >>> loss.slope(0.0, np.array([2.0, 5.0])).round(2)
    array([7.39, 7.39])
    """

    is_classifier: ClassVar[bool] = False

    label_bound: float
    reach: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_bound", limits.size(label_bound=self.label_bound))
        object.__setattr__(self, "reach", limits.size(reach=self.reach))
        if self.reach > _FARTHEST:
            raise InputError(
                f"reach must be at most {_FARTHEST:g}, so that its exponential is a usable "
                f"number; got {self.reach}."
            )

    @np.errstate(over="ignore")
    def value(self, y: Array, z: Array) -> Array:
        inner = self._within_reach(z)
        values: Array = np.exp(inner) - y * inner + self.slope(y, z) * (z - inner)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        slopes: Array = np.exp(self._within_reach(z)) - y
        return slopes

    def curvature(self, y: Array, z: Array) -> Array:
        curved = np.abs(z) <= self.reach
        return np.where(curved, np.exp(self._within_reach(z)), np.zeros_like(y))

    @property
    def label_range(self) -> tuple[float, float]:
        return 0.0, self.label_bound

    def _lipschitz(self, reach: float) -> float:
        margin = min(reach, self.reach)
        return round_up(max(math.exp(margin), self.label_bound - math.exp(-margin)))

    def _smoothness(self, reach: float) -> float:
        return round_up(math.exp(min(reach, self.reach)))

    def _within_reach(self, z: Array) -> Array:
        return np.clip(z, -self.reach, self.reach)
