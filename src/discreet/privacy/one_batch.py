r"""Delta of one noisy sum over a random batch, in closed form.

With :math:`\delta_m` the Gaussian profile, q the chance of a record to be in the batch and m its
norm over the noise:

- a record is there or not: :math:`q \, \delta_m(\ln(1 + (e^\epsilon - 1)/q))` one way and
  :math:`q e^{\epsilon - e} \delta_m(e)`, :math:`e = -\ln(1 - (1 - e^{-\epsilon})/q)` the other;
- a record is replaced, each in the batch by itself with chance q: likelihoods are e**epsilon apart
  at x, with :math:`m x = \epsilon/2 + \mathrm{arsinh}(\sinh(\epsilon/2) e^{m^2/2} (1 - q)/q)`, and
  splitting the tail beyond x along that equation leaves two Gaussian profiles;
- a record is replaced, batches of a fixed size: as the first, with 2 m.

Nothing is subtracted from anything near it, so small deltas are as exact as large ones.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from discreet._types import Vector
from discreet.privacy.gaussian import HOPELESS, Gaussian
from discreet.privacy.profile import SMALLEST


def added_deltas(epsilons: Vector, shift: float, rate: float) -> Vector:
    """Return delta at epsilons >= 0 of a batch that may hold one more record, against the other.

    It is never below :func:`removed_deltas`.
    """
    with np.errstate(over="ignore"):
        inner = np.log1p(np.expm1(epsilons) / rate)
    inner = np.where(np.isfinite(inner), inner, epsilons - math.log(rate))
    return rate * Gaussian(shift).deltas(inner)


def removed_deltas(epsilons: Vector, shift: float, rate: float) -> Vector:
    """Return delta at epsilons >= 0 in the reverse order; zero from ``-ln(1 - rate)`` on."""
    if rate == 1:
        return Gaussian(shift).deltas(epsilons)
    gone = -np.expm1(-epsilons) / rate
    end, rest = _end_of_support(rate)
    before_end = (end - epsilons) + rest  # near the end the difference of floats is exact
    is_inside = before_end > 0
    near = np.where(is_inside, np.minimum(before_end, 40.0), 1.0)  # the end lies below 37
    inner = np.where(
        gone < 0.5,
        -np.log1p(-np.minimum(gone, 0.5)),
        math.log(rate) - math.log1p(-rate) - np.log(np.expm1(near)),
    )
    deltas = rate * np.exp(np.minimum(epsilons - inner, 0.0)) * Gaussian(shift).deltas(inner)
    return np.where(is_inside, np.maximum(deltas, SMALLEST), 0.0)


@lru_cache
def _end_of_support(rate: float) -> tuple[float, float]:
    """Return -ln(1 - rate) as a float, and what is missing from it, rounded up."""
    exact = Decimal(float(rate))
    with localcontext(prec=60 - exact.adjusted()):  # one minus a small rate is long
        end = -(1 - exact).ln()
        rest = float(end - Decimal(float(end)))
    return float(end), math.nextafter(rest, math.inf)


def replaced_deltas(epsilons: Vector, shift: float, rate: float) -> Vector:
    """Return delta at epsilons >= 0 of batches whose records are there independently."""
    if rate == 1:
        return Gaussian(2 * shift).deltas(epsilons)
    if shift > HOPELESS:  # the batches agree except with chance ``rate``
        return np.full(epsilons.shape, rate)
    half, rise = epsilons / 2, shift**2 / 2
    with np.errstate(divide="ignore"):
        # The logarithm of sinh, which overflows, and of what arsinh is taken of, but for the rise.
        log_sinh = half + np.log(-np.expm1(-epsilons)) - math.log(2)
        argument = log_sinh + math.log1p(-rate) - math.log(rate)
    turn = np.where(
        argument + rise < 300,
        np.arcsinh(np.exp(np.minimum(argument + rise, 300.0))) - rise,
        argument + math.log(2),
    )
    near = half + turn  # shift times x, but for the rise, which would cancel
    far = 2 * (near + rise)
    with np.errstate(divide="ignore"):
        log_missed = epsilons + np.log(-np.expm1(-epsilons))
    absent = (1 - rate) * np.exp(log_missed - near) * Gaussian(shift).deltas(near)
    opposite = rate * np.exp(epsilons - far) * Gaussian(2 * shift).deltas(far)
    return np.minimum(absent + opposite, 1.0)
