"""The pinball loss, with its kink or rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.limits import round_up
from discreet.losses.base import Loss


@dataclass(frozen=True)
class Pinball(Loss):
    r"""Pinball (quantile) loss: its best constant prediction is a quantile of the labels.

    .. math:: \ell(y, z) = \max(\tau (y - z), (1 - \tau) (z - y))

    Parameters
    ----------
    quantile : float
        The quantile tau, strictly between 0 and 1; 1/2 is half the absolute loss.

    Notes
    -----
    The slope is 1 - tau above the label, -tau below it and, as a subgradient, 0 at it: at most
    max(tau, 1 - tau), attained at any reach as labels are free. The kink leaves no bound on the
    curvature, which is 0 elsewhere.

    References
    ----------
    Koenker, Bassett (1978), Regression quantiles.

    Examples
    --------
    >>> Pinball(quantile=0.75).value(0.0, np.array([-1.0, 1.0]))
    array([0.75, 0.25])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False

    quantile: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantile", check_quantile(self.quantile))

    def value(self, y: Array, z: Array) -> Array:
        residual = z - y
        values: Array = np.maximum((1 - self.quantile) * residual, -self.quantile * residual)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        residual = z - y
        return np.where(residual > 0, 1 - self.quantile, np.where(residual < 0, -self.quantile, 0))

    def curvature(self, y: Array, z: Array) -> Array:
        return np.zeros_like(z - y)

    def _lipschitz(self, reach: float) -> float:
        return max(self.quantile, 1 - self.quantile)

    def _smoothness(self, reach: float) -> float:
        return math.inf


def check_quantile(quantile: float) -> float:
    """Return the quantile, refusing it unless strictly between 0 and 1."""
    _checks.fraction(quantile=quantile)
    if quantile in (0, 1):
        raise InputError(f"quantile must lie strictly between 0 and 1; got {quantile}.")
    return float(quantile)


@dataclass(frozen=True)
class SmoothedPinball(Loss):
    r"""Pinball loss made quadratic within h/2 of its kink, for any labels.

    .. math::

        \ell(y, z) = \max(\tau (y - z), (1 - \tau) (z - y)) + \max(h/2 - |z - y|, 0)^2 / (2h)

    Parameters
    ----------
    quantile : float
        The quantile tau, strictly between 0 and 1.
    width : float
        The width h of the quadratic part, between 1e-100 and 1e100.

    Notes
    -----
    The slope rises linearly from -tau at z = y - h/2 to 1 - tau at z = y + h/2, so it is at most
    max(tau, 1 - tau), attained at any reach as labels are free, and the curvature on the way is
    1/h. At the end of the rise the slope is already largest, so there is no joint smoothness, and
    the curvature jumps, so there is no self-concordance.

    The loss exceeds the pinball loss by at most h/8, and only within h/2 of the label.

    Examples
    --------
    >>> loss = SmoothedPinball(quantile=0.75, width=0.4)
    >>> loss.value(0.0, np.array([-1.0, 0.0, 1.0]))
    array([0.75, 0.05, 0.25])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = False

    quantile: float
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantile", check_quantile(self.quantile))
        object.__setattr__(self, "width", limits.size(width=self.width))

    def value(self, y: Array, z: Array) -> Array:
        bend = np.maximum(self.width / 2 - np.abs(z - y), 0.0)
        values: Array = Pinball(self.quantile).value(y, z) + bend**2 / (2 * self.width)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        risen = np.clip(z - y + self.width / 2, 0.0, self.width) / self.width
        return risen - self.quantile

    def curvature(self, y: Array, z: Array) -> Array:
        return np.where(np.abs(z - y) <= self.width / 2, 1 / self.width, 0.0)

    def _lipschitz(self, reach: float) -> float:
        return max(self.quantile, 1 - self.quantile)

    def _smoothness(self, reach: float) -> float:
        return round_up(1 / self.width)
