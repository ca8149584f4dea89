"""Renyi curves and concentrated privacy, and their way back to epsilon and delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.privacy.hull import Hull, lower_hull
from discreet.privacy.profile import SAFETY, SMALLEST, Profile, orders_above_one

ORDERS: Vector = 1 + np.geomspace(1e-3, 1e7, 481)
"""Renyi orders at which curves are kept; any set is sound, this one loses little."""

_FACTORS: Vector = np.geomspace(0.2, 50, 241)
_CLOSER = (np.arange(-120, 121, 30), np.arange(-24, 25, 6), np.arange(-5, 6))
"""Ways from the best place so far, each within a step of the one before."""


def renyi_delta(epsilons: Vector, orders: Vector, values: Vector) -> Vector:
    r"""Return the smallest delta that a Renyi curve gives at each epsilon.

    .. math:: \ln \delta = (\alpha - 1)(\epsilon_\alpha - \epsilon + \ln(1 - 1/\alpha)) - \ln\alpha

    at the best order (Canonne, Kamath, Steinke 2020, proposition 12). Every order gives a bound.
    """
    usable = np.isfinite(values)
    if not usable.any():
        return np.ones(epsilons.shape)
    orders, values = orders[usable], values[usable]
    fixed = (orders - 1) * (values + np.log1p(-1 / orders)) - np.log(orders)
    log_delta: Vector = (fixed - (orders - 1) * epsilons[..., None]).min(axis=-1)
    return np.maximum(np.exp(np.minimum(log_delta, 0.0)), SMALLEST)


def zero_concentrated_delta(epsilons: Vector, rho: float) -> Vector:
    """Return delta of rho-zCDP, over a fine grid of orders around the best one.

    The logarithm of delta is convex in the order, because its second derivative is
    2 rho + 1 / (order (order - 1)): the least of the grid lies where a coarser grid is least. As
    every order gives a bound, it would be one as well if rounding led elsewhere.
    """
    with np.errstate(over="ignore"):  # an infinite logarithm of delta is no bound, nothing worse
        above = np.clip((epsilons / rho - 1) / 2, 1e-3, 1e100)[..., None]
        place = np.full(above.shape, _FACTORS.size // 2)
        for steps in _CLOSER:
            places = np.clip(place + steps, 0, _FACTORS.size - 1)
            orders = 1 + above * _FACTORS[places]
            log_delta = (orders - 1) * (orders * rho - epsilons[..., None] + np.log1p(-1 / orders))
            log_delta -= np.log(orders)
            least = log_delta.argmin(axis=-1, keepdims=True)
            place = np.take_along_axis(places, least, axis=-1)
        best: Vector = np.take_along_axis(log_delta, least, axis=-1)[..., 0]
    return np.maximum(np.exp(np.minimum(best, 0.0)), SMALLEST)


@dataclass(frozen=True)
class ZeroConcentrated(Profile):
    r"""Renyi divergence at most ``rho`` times the order, for every order (zCDP).

    Parameters
    ----------
    rho
        The slope of the Renyi curve; positive. A Gaussian mechanism has ``mu**2 / 2``.

    Examples
    --------
    >>> round(ZeroConcentrated(0.02).epsilon(1e-6), 4)
    0.8999
    """

    kind: ClassVar[str] = "zero_concentrated"
    rho: float

    def __post_init__(self) -> None:
        _checks.positive(rho=self.rho)

    @cached_property
    def _hull(self) -> Hull:
        grid = np.linspace(0, self.rho + 60 * math.sqrt(self.rho), 600)
        direct = zero_concentrated_delta(grid, self.rho)
        return lower_hull(grid, np.minimum(1.0, direct * SAFETY))

    def bound(self, epsilons: Vector) -> Vector:
        return self._hull.below(epsilons, zero_concentrated_delta(epsilons, self.rho))

    def rdp(self, orders: ArrayLike) -> Vector:
        return orders_above_one(orders) * self.rho * SAFETY


@dataclass(frozen=True)
class Renyi(Profile):
    r"""Renyi differential privacy: a Renyi curve known at some orders.

    Between two orders, :math:`(\alpha - 1) \epsilon_\alpha` is convex, so its chord is a bound;
    below the first order the first value is one; above the last there is none.

    Parameters
    ----------
    orders
        Orders above one, increasing, as a tuple.
    values
        A bound on the Renyi divergence of each order, in nats; zero or positive.

    Examples
    --------
    >>> Renyi((2.0, 8.0), (0.1, 0.4)).rdp([1.5, 2.0, 5.0, 9.0]).round(3).tolist()
    [0.1, 0.1, 0.363, inf]
    """

    kind: ClassVar[str] = "renyi"
    orders: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _checks.instance(tuple, orders=self.orders, values=self.values)
        for order in self.orders:
            _checks.finite(order=order)
        for value in self.values:
            _checks.not_negative(value=value)
        object.__setattr__(self, "orders", tuple(map(float, self.orders)))
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        orders_above_one(self.orders)
        if len(self.orders) != len(self.values) or np.any(np.diff(self.orders) <= 0):
            raise InputError("a Renyi curve needs one value for each of its increasing orders.")

    def bound(self, epsilons: Vector) -> Vector:
        return renyi_delta(epsilons, np.array(self.orders), np.array(self.values))

    def rdp(self, orders: ArrayLike) -> Vector:
        wanted = orders_above_one(orders)
        known, values = np.array(self.orders), np.array(self.values)
        chord = np.interp(wanted - 1, known - 1, (known - 1) * values) / (wanted - 1) * SAFETY
        inside = np.where(np.isin(wanted, known), np.interp(wanted, known, values), chord)
        inside = np.where(wanted < known[0], values[0], inside)
        return np.where(wanted > known[-1], math.inf, inside)
