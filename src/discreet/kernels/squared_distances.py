"""Kernels of squared distances, which one product of matrices makes for all pairs of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.norms import pairwise_sums
from discreet.kernels.base import ELEMENTARY, Domain, Kernel, UnitKernel
from discreet.kernels.column_distances import (
    relative_exponent_error,
    squared_difference,
    sum_over_columns,
)
from discreet.kernels.exact_products import multiply_alone


def negative_squared_distances(rows: Array, points: Array, scale: float) -> Array:
    r"""Return :math:`-s \lVert x - z \rVert^2`, never above zero.

    The squares are two more columns of the product: [2sx, -s|x|^2, 1] times [z, 1, -s|z|^2].

    Examples
    --------
    >>> negative_squared_distances(np.array([[1.0]]), np.array([[3.0], [1.0]]), scale=0.5)
    array([[-2.,  0.]])
    """
    ones = (np.ones(len(one), dtype=one.dtype) for one in (rows, points))
    left = np.column_stack([2 * scale * rows, -scale * squares(rows), next(ones)])
    right = np.column_stack([points, next(ones), -scale * squares(points)])
    product: Array = left @ right.T
    np.minimum(product, 0.0, out=product)
    return product


def negative_squared_distances_alone(
    rows: Array, points: Array, scale: float, largest: float
) -> Array:
    r"""Return :math:`-s \lVert x - z \rVert^2`, each line a function of its row x alone."""
    product = multiply_alone(rows, np.ascontiguousarray(points.T), largest)
    product *= 2
    product -= pairwise_sums(rows * rows)[:, None]
    product -= pairwise_sums(points * points)
    product *= scale
    return np.minimum(product, 0.0, out=product)


def squares(rows: Array) -> Vector:
    """Return the squared norm of each row."""
    found: Vector = np.einsum("ij,ij->i", rows, rows)
    return found


def squared_distance_error(bounds: Domain, scale: float) -> float:
    """Bound the error of one entry of :func:`negative_squared_distances`.

    A product of p + 2 terms whose absolute values add up to 4 s r^2 errs by p + 2 roundings of
    that; each term has been rounded p + 3 times before, if it is a square, and twice otherwise.
    """
    roundings, reach = 2 * bounds.n_features + 8, bounds.row_norm()
    return 1.01 * roundings * limits.UNIT * 4 * scale * reach * reach


ROUGHLY = 1024.0
"""Exponents that are differences of numbers up to this have three digits in half precision."""


@dataclass(frozen=True)
class RBF(UnitKernel):
    r"""The radial basis function kernel, also called Gaussian or squared exponential.

    .. math:: K(x, z) = e^{-\gamma \lVert x - z \rVert^2}

    Parameters
    ----------
    gamma
        How fast it falls with the squared distance; public, or tuned with budget.

    Examples
    --------
    >>> RBF(gamma=0.5).evaluate([[0.0], [1.0]], [[1.0]]).round(4)
    array([[0.6065],
           [1.    ]])
    """

    def _evaluate(self, rows: Array, points: Array) -> Array:
        exponents = negative_squared_distances(rows, points, self.gamma)
        return np.exp(exponents, out=exponents)

    def evaluate_roughly(self, rows: Array, points: Array) -> Any:
        largest = max(float(squares(one).max(initial=0.0)) for one in (rows, points))
        if not self.gamma * largest <= ROUGHLY:
            return super().evaluate_roughly(rows, points)
        here: Any = rows.astype(np.float32)
        there: Any = points.astype(np.float32)
        exponents = negative_squared_distances(here, there, self.gamma)
        return np.exp(exponents, out=exponents)

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        exponents = negative_squared_distances_alone(rows, points, self.gamma, largest)
        return np.exp(exponents, out=exponents)

    def _error(self, bounds: Domain) -> float:
        return squared_distance_error(bounds, self.gamma) + ELEMENTARY


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
