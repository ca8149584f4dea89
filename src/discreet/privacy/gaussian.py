r"""The Gaussian profile, accurate in the far tail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.privacy.profile import SAFETY, SMALLEST, Profile, orders_above_one

_NODES, _WEIGHTS = leggauss(12)

BEYOND = 1e6
"""Standard deviations after which a tail is zero in any arithmetic."""

HOPELESS = 1e4
"""A mu from which on delta counts as one: it is, to any precision, up to epsilon = 10**7."""


@dataclass(frozen=True)
class Gaussian(Profile):
    r"""Gaussian differential privacy: two normal laws of variance one whose means are ``mu`` apart.

    .. math:: \delta(\epsilon) = \Phi(\mu/2 - \epsilon/\mu) - e^\epsilon \Phi(-\mu/2 - \epsilon/\mu)

    Parameters
    ----------
    mu
        The l2 sensitivity over the standard deviation of the noise; positive.

    Notes
    -----
    With :math:`a = \epsilon/\mu - \mu/2`, :math:`b = a + \mu` and Mills' ratio
    :math:`R(x) = \Phi(-x)/\varphi(x)` this is :math:`\varphi(a) (R(a) - R(b))`, which does not
    cancel in the tail; for small mu the difference is integrated, since
    :math:`-R'(x) = 1 - x R(x)`.

    References
    ----------
    Balle, Wang (2018); Dong, Roth, Su (2019).

    Examples
    --------
    >>> round(Gaussian(1.0).delta(1.0), 6)
    0.126937
    >>> round(Gaussian(0.2).epsilon(1e-6), 4)
    0.8341
    """

    kind: ClassVar[str] = "gaussian"
    mu: float

    def __post_init__(self) -> None:
        _checks.positive(mu=self.mu)
        object.__setattr__(self, "mu", float(self.mu))

    def bound(self, epsilons: Vector) -> Vector:
        return gaussian_delta(epsilons, self.mu)

    def guess(self, delta: float) -> float:
        return gaussian_guess(self.mu, delta)

    def rdp(self, orders: ArrayLike) -> Vector:
        with np.errstate(over="ignore"):
            return orders_above_one(orders) * self.mu * self.mu / 2 * SAFETY


def gaussian_guess(mu: float, delta: float) -> float:
    """Return roughly the epsilon of a Gaussian pair at a small delta."""
    return mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))


def mills_ratio(x: Vector) -> Vector:
    """Return Phi(-x) / phi(x)."""
    from scipy.special import erfcx  # slow to import

    ratio: Vector = math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    return ratio


def gaussian_delta(epsilons: Vector, mu: float) -> Vector:
    """Return the Gaussian profile at epsilons >= 0, to about 12 digits, never zero."""
    from scipy.special import ndtr  # slow to import

    if mu > HOPELESS:
        return np.ones(epsilons.shape)
    near = np.minimum(epsilons / mu - mu / 2, BEYOND)
    inner = np.maximum(near, -1.0)
    density = np.exp(-0.5 * inner**2) / math.sqrt(2 * math.pi)
    if mu <= 1:
        x = inner[..., None] + mu * (1 + _NODES) / 2
        # One after the other: BLAS adds up otherwise for one level than for many.
        terms = (1 - x * mills_ratio(x)) * (_WEIGHTS * (mu / 2))
        difference = np.cumsum(terms, axis=-1)[..., -1]
    else:
        difference = mills_ratio(inner) - mills_ratio(inner + mu)
    # Far inside the bulk nothing cancels, and Mills' ratio would overflow.
    far = np.maximum(near + mu, 0.0)
    bulk = ndtr(-near) - np.exp(-0.5 * near**2) / math.sqrt(2 * math.pi) * mills_ratio(far)
    value: Vector = np.where(near < -1, bulk, density * np.maximum(difference, 0.0))
    return np.maximum(value, SMALLEST)
