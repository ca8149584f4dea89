"""Squared distances of all pairs of points by one product of matrices."""

from __future__ import annotations

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry import limits
from discreet.geometry.norms import pairwise_sums
from discreet.kernels.base import Domain
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
    r"""Return :math:`-s \lVert x - z \rVert^2`, each line a function of its row x alone.

    Examples
    --------
    >>> negative_squared_distances_alone(np.array([[1.0]]), np.array([[3.0]]), 0.5, largest=1.0)
    array([[-2.]])
    """
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
