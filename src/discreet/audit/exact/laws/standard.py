"""Noise of scale one, as a law on the line and on the plane.

Gaussian, Laplace and radial noise: distribution function and density.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy.special import ndtr

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.exact.laws.base import ROUNDING
from discreet.errors import InputTypeError
from discreet.mechanisms.minimising.linear_term import (
    GaussianTerm,
    LaplaceTerm,
    LinearTerm,
    RadialTerm,
)


class StandardNoise(ABC):
    """Symmetric noise of scale one.

    Its distribution function on the line, and its density on the plane.
    """

    reach: float  # beyond it, on the line, masses do not matter
    planar_reach: float  # the same on the plane, where cells are dearer

    @abstractmethod
    def cdf(self, z: Vector) -> Vector:
        """Return the probability of values up to z, to full precision for negative z."""

    @abstractmethod
    def density(self, z: Vector) -> Vector:
        """Return the density on the line; it falls with abs(z)."""

    @abstractmethod
    def planar_log_density(self, points: Array) -> Vector:
        """Return the logarithm of the density on the plane."""

    def masses(self, ends: Vector, slack: Vector) -> tuple[Vector, Vector]:
        """Return the mass between successive ends, tails included, and bounds on their errors.

        ``slack`` bounds the error of each end. A difference is taken on the side of zero where
        both values are small.
        """
        low, high = np.append(-np.inf, ends), np.append(ends, np.inf)
        is_upper = low > 0
        left, right = np.where(is_upper, -high, low), np.where(is_upper, -low, high)
        masses = np.maximum(self.cdf(right) - self.cdf(left), 0.0)
        nearest = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        slips = np.append(slack, 0.0) + np.append(0.0, slack)
        # A cell so far out that its end may lie a little nearer than computed: double.
        errors = 2 * self.density(nearest) * slips + 16 * ROUNDING * self.cdf(right)
        return masses, errors


class _Gaussian(StandardNoise):
    reach = 13.0
    planar_reach = 7.5

    def cdf(self, z: Vector) -> Vector:
        return np.asarray(ndtr(z), dtype=np.float64)

    def density(self, z: Vector) -> Vector:
        value: Vector = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
        return value

    def planar_log_density(self, points: Array) -> Vector:
        value: Vector = -0.5 * (points**2).sum(axis=1) - math.log(2 * math.pi)
        return value


class _Laplace(StandardNoise):
    reach = 40.0
    planar_reach = 14.0

    def cdf(self, z: Vector) -> Vector:
        half = np.exp(-np.abs(z)) / 2
        return np.where(z <= 0, half, 1 - half)

    def density(self, z: Vector) -> Vector:
        value: Vector = np.exp(-np.abs(z)) / 2
        return value

    def planar_log_density(self, points: Array) -> Vector:
        value: Vector = -np.abs(points).sum(axis=1) - math.log(4)
        return value


class _Radial(_Laplace):
    """On the line it is Laplace noise."""

    def planar_log_density(self, points: Array) -> Vector:
        value: Vector = -np.hypot(points[:, 0], points[:, 1]) - math.log(2 * math.pi)
        return value


_NAMED: dict[str, StandardNoise] = {
    "gaussian": _Gaussian(),
    "laplace": _Laplace(),
    "radial": _Radial(),
}
_NAMES: dict[type[LinearTerm], str] = {
    GaussianTerm: "gaussian",
    LaplaceTerm: "laplace",
    RadialTerm: "radial",
}


def noise_named(law: str) -> StandardNoise:
    """Return the noise of a name."""
    _checks.one_of(_NAMED, law=law)
    return _NAMED[law]


def noise_of(term: LinearTerm) -> StandardNoise:
    """Return the noise of a linear term, at scale one."""
    _checks.instance(LinearTerm, term=term)
    if type(term) not in _NAMES:
        raise InputTypeError(f"the law of a {type(term).__name__} is not known here.")
    _checks.positive(scale=term.scale)
    return _NAMED[_NAMES[type(term)]]
