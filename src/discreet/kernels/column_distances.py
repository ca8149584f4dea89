"""Distances that are sums over columns, each pair of points by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet._types import Array


def sum_over_columns(rows: Array, points: Array, measure: Callable[[Array, Array], Array]) -> Array:
    """Return the sum over columns j of ``measure(x_j, z_j)``, for each pair of points.

    Examples
    --------
    >>> apart = lambda x, z: np.abs(x - z)
    >>> sum_over_columns(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0], [1.0, 5.0]]), apart)
    array([[3., 3.]])
    """
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
