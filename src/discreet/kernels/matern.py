"""The Matern kernels of half-integer smoothness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.kernels.base import ELEMENTARY, Domain, Kernel
from discreet.kernels.column_distances import squared_difference, sum_over_columns
from discreet.kernels.laplacian import relative_exponent_error
from discreet.kernels.squared_distances import (
    negative_squared_distances,
    negative_squared_distances_alone,
    squared_distance_error,
)

SMOOTHNESS = (0.5, 1.5, 2.5)
FARTHEST = 1000.0
"""The exponential of so much is zero, and its square is none too large."""


@dataclass(frozen=True)
class Matern(Kernel):
    r"""The Matern kernel of smoothness 1/2, 3/2 or 5/2.

    .. math:: K(x, z) = e^{-t}, \quad (1 + t) e^{-t}, \quad (1 + t + t^2/3) e^{-t},
        \qquad t = \sqrt{2 \nu} \, \lVert x - z \rVert / \ell

    Parameters
    ----------
    nu
        The smoothness: 0.5 (the exponential kernel), 1.5 or 2.5.
    length
        The distance that counts as one; public, or tuned with budget.

    Examples
    --------
    >>> Matern(nu=1.5, length=2.0).evaluate([[0.0]], [[0.0], [2.0]]).round(4)
    array([[1.    , 0.4834]])
    """

    nu: float = 1.5
    length: float = 1.0

    def __post_init__(self) -> None:
        _checks.finite(nu=self.nu)
        if self.nu not in SMOOTHNESS:
            raise InputError(f"nu must be 0.5, 1.5 or 2.5; got {self.nu}.")
        object.__setattr__(self, "nu", float(self.nu))
        object.__setattr__(self, "length", limits.size(length=self.length))

    def _evaluate(self, rows: Array, points: Array) -> Array:
        return self._decay(self._scaled_distances(rows, points))

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        if self.nu == 0.5:
            return self._evaluate(rows, points)
        scale = self._squared_scale
        return self._decay(np.sqrt(-negative_squared_distances_alone(rows, points, scale, largest)))

    def _decay(self, distances: Array) -> Array:
        t = np.minimum(distances, FARTHEST)
        decay = np.exp(-t)
        if self.nu == 0.5:
            return decay
        factor = 1 + t if self.nu == 1.5 else 1 + t + t * t / 3
        decay *= factor
        return decay

    def _scaled_distances(self, rows: Array, points: Array) -> Array:
        """Return t; the kernel with a corner at zero needs distances of small relative error."""
        if self.nu == 0.5:
            squared = sum_over_columns(rows, points, squared_difference)
            return np.sqrt(squared) / self.length
        return np.sqrt(-negative_squared_distances(rows, points, self._squared_scale))

    @property
    def _squared_scale(self) -> float:
        return 2 * self.nu / self.length / self.length

    def _diagonal(self, rows: Array) -> Vector:
        return np.ones(len(rows))

    def _error(self, bounds: Domain) -> float:
        r"""As a function of :math:`t^2` the smoother kernels are never steeper than 1/2 and 1/6.

        Given t, a relative error of 4 roundings each in t, factor and exponential changes
        :math:`(1 + t + t^2/3) e^{-t} \le 1` by at most sixteen of them.
        """
        if self.nu == 0.5:
            return relative_exponent_error(bounds.n_features + 8)
        steepest = 1 / 2 if self.nu == 1.5 else 1 / 6
        given = 16 * ELEMENTARY
        return steepest * squared_distance_error(bounds, self._squared_scale) + given
