"""Kernels of distances that are sums over columns, each pair of points by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array
from discreet.geometry import limits
from discreet.kernels.base import ELEMENTARY, Domain, UnitKernel


def sum_over_columns(rows: Array, points: Array, measure: Callable[[Array, Array], Array]) -> Array:
    """Return the sum over columns j of ``measure(x_j, z_j)``, for each pair of points."""
    total = np.zeros((len(rows), len(points)))
    for row_column, point_column in zip(rows.T, points.T, strict=True):
        total += measure(row_column[:, None], point_column[None, :])
    return total


def absolute_difference(x: Array, z: Array) -> Array:
    """Return |x - z|."""
    difference: Array = x - z
    return np.abs(difference, out=difference)


def squared_difference(x: Array, z: Array) -> Array:
    """Return the square of x - z."""
    difference: Array = x - z
    difference *= difference
    return difference


def relative_squared_difference(x: Array, z: Array) -> Array:
    """Return (x - z)^2 / (x + z) of numbers that are not negative, zero if both are."""
    total: Array = x + z
    return np.divide(squared_difference(x, z), total, out=np.zeros_like(total), where=total > 0)


@dataclass(frozen=True)
class Laplacian(UnitKernel):
    r"""The Laplacian kernel, of absolute differences.

    .. math:: K(x, z) = e^{-\gamma \lVert x - z \rVert_1}

    Parameters
    ----------
    gamma
        How fast it falls with the sum of absolute differences; public, or tuned with budget.

    Examples
    --------
    >>> Laplacian(gamma=0.5).evaluate([[0.0, 1.0]], [[1.0, 0.0]]).round(4)
    array([[0.3679]])
    """

    works_by_entries: ClassVar[bool] = True

    def _evaluate(self, rows: Array, points: Array) -> Array:
        distances = sum_over_columns(rows, points, absolute_difference)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _error(self, bounds: Domain) -> float:
        return relative_exponent_error(bounds.n_features + 2)


def relative_exponent_error(roundings: int) -> float:
    """Bound the error of exp(-t) if t was rounded so often: t exp(-t) is at most 1/e."""
    return 0.4 * roundings * limits.UNIT + ELEMENTARY


@dataclass(frozen=True)
class ChiSquared(UnitKernel):
    r"""The chi-squared kernel, for counts and histograms.

    .. math:: K(x, z) = \exp\Big(-\gamma \sum_j \frac{(x_j - z_j)^2}{x_j + z_j}\Big)

    Negative entries count as zero, so that it is a kernel whatever the points are.

    Parameters
    ----------
    gamma
        How fast it falls; public, or tuned with budget.

    Examples
    --------
    >>> ChiSquared().evaluate([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.1353]])
    """

    gamma: float = 1.0

    works_by_entries: ClassVar[bool] = True

    def _evaluate(self, rows: Array, points: Array) -> Array:
        counts, others = np.maximum(rows, 0.0), np.maximum(points, 0.0)
        distances = sum_over_columns(counts, others, relative_squared_difference)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _error(self, bounds: Domain) -> float:
        return relative_exponent_error(bounds.n_features + 8)
