r"""Confidence intervals for coefficients, from released numbers alone.

A sandwich covariance that knows the noise of everything it is made of. With :math:`\tilde H` and
:math:`\tilde J` the released second moments (noise of deviation :math:`s_H`, :math:`s_J` beside the
diagonal), :math:`\sigma` the noise of the slope and :math:`\Lambda` the ridge of the fit,

.. math::

    d = \Lambda \tilde H^{-1} \tilde\theta, \quad
    C = (\tilde H - (\sqrt2 s_H + r_H) I)^{-1}, \quad
    M = \tilde J + (\sigma^2 + s_J/\sqrt2 + r_J) I + s_H^2 (\|d\|^2 I + d d')

the coefficients without ridge are near :math:`\tilde\theta + d`, with covariance
:math:`C M C`; a Student quantile with Satterthwaite's degrees of freedom pays for the noise in
H and J, and :math:`r_H, r_J` are what rounding can have taken from the sums, at most. Least squares
from noisy X'X and X'y are the same, with :math:`d = \tilde\theta`.

References
----------
Huber (1967), White (1980) for the sandwich; Satterthwaite (1946).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from discreet._types import Array, Vector
from discreet.errors import IntervalRefused
from discreet.mechanisms.released_sandwich import ReleasedSandwich

GUARD = 0.5
"""How many deviations of its own noise are added to a quadratic form of J."""

LEAD, LEAST = 2.5, 5.0
"""The least eigenvalue of H, in deviations of its noise: 2.5 for each root of a column, or 5."""

FARTHEST = 0.75
"""How far the ridge may have pulled a margin: beyond, one step does not undo it."""

SURE = 1.6448536269514722
"""The normal quantile of a one-sided limit of 95 %."""

FEW_SHORTENED = 0.01
"""The share of clipped rows up to which intervals are those of the rows as they were."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of several combinations of coefficients, ridge taken out."""

    centres: Vector
    errors: Vector
    freedom: Vector

    def intervals(self, level: float) -> Array:
        """Return a lower and an upper limit for each combination."""
        quantiles = stdtrit(np.minimum(self.freedom, 1e6), (1 + level) / 2)
        return np.column_stack(
            [self.centres - quantiles * self.errors, self.centres + quantiles * self.errors]
        )


def estimate(released: ReleasedSandwich, combinations: Array) -> Estimates:
    """Return estimates of combinations, one a row, of coefficients in the frame of a fit.

    Raises :class:`~discreet.errors.IntervalRefused` where the released numbers cannot carry one.
    """
    levels, identity = released.levels, np.eye(released.width)
    _check_curvature(released)
    inverse = np.linalg.inv(released.curvature)
    lever = inverse @ released.product
    variances = levels.mask**2 * np.square(combinations).sum(axis=1)
    if levels.is_quadratic:
        # Errors in variables, to second order.
        off = levels.curvature**2 * inverse @ (np.trace(inverse) * lever + inverse @ lever)
        lever = centre = lever - off
    else:
        centre = released.coefficients + lever
        far = levels.row_norm * float(np.linalg.norm(lever))
        _check_distance(far)
        variances = variances + np.square(far / 2 * (combinations @ lever))
    noise = levels.slope**2 + GUARD * math.sqrt(2) * levels.outer
    noise += released.rows * levels.outer_rounding
    about = float(lever @ lever) * identity + np.outer(lever, lever)
    middle = released.outer + noise * identity + levels.curvature**2 * about
    middle = _raise_eigenvalues(middle, levels.slope**2)
    less = math.sqrt(2) * levels.curvature + released.rows * levels.curvature_rounding
    bread = np.linalg.inv(released.curvature - less * identity)
    slices = combinations @ bread
    spread = slices @ middle @ bread
    variances = variances + (spread * combinations).sum(axis=1)
    return Estimates(
        combinations @ centre,
        np.sqrt(variances),
        _freedom(variances, slices, spread, levels.outer, levels.curvature),
    )


def _freedom(
    variances: Vector, slices: Array, spread: Array, outer: float, curvature: float
) -> Vector:
    """Return Satterthwaite's degrees of freedom, at least one."""
    squares = np.square(slices).sum(axis=1)
    crossed = np.square(spread).sum(axis=1) * squares + np.square((spread * slices).sum(axis=1))
    uncertain = 2 * outer**2 * np.square(squares) + 4 * curvature**2 * crossed
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(2 * np.square(variances) / uncertain, 1.0))


def _raise_eigenvalues(matrix: Array, least: float) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)


def _check_curvature(released: ReleasedSandwich) -> None:
    values = np.linalg.eigvalsh(released.curvature)
    noise = released.levels.curvature
    needed = max(noise * max(LEAD * math.sqrt(released.width), LEAST), 1e-12 * float(values[-1]))
    needed += 2 * released.rows * released.levels.curvature_rounding
    if not values[0] >= needed or not values[0] > 0:
        raise IntervalRefused(
            "too few rows for an interval at this budget: the least curvature of the data was "
            f"released as {values[0]:.3g}, and {needed:.3g} is needed beside its noise. Use more "
            "rows, fewer columns or a larger epsilon; the coefficients stand."
        )


def _check_distance(far: float) -> None:
    if not far <= FARTHEST:
        raise IntervalRefused(
            f"the ridge may have moved margins by {far:.2g}, and beyond {FARTHEST} one step does "
            "not undo that. Use more rows, a larger epsilon or a weaker penalty; the coefficients "
            "stand."
        )


def most_shortened(released: ReleasedSandwich) -> float:
    """Return an upper limit, sure to 95 %, of the share of rows that were clipped."""
    total = released.rows
    most = max(released.shortened, 0.0) + SURE * released.levels.counts
    return min(most / total, 1.0)
