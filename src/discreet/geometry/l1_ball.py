"""The ball of the sum of absolute values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import (
    Csr,
    absolute_sums,
    pairwise_absolute_sums,
    shrink_factors,
    sparse_absolute_sums,
    sum_roundings,
)
from discreet.geometry.simplex import face, nearest_in_simplex, projection_error


@dataclass(frozen=True)
class L1Ball(ConvexSet):
    r"""Points whose absolute values sum to at most ``radius``, in any dimension.

    .. math:: \{x : \lVert x \rVert_1 \le r\}

    Parameters
    ----------
    radius : float
        Between 1e-100 and 1e100.

    Notes
    -----
    Coefficients are projected, which makes them sparse; rows of data are shrunk instead, which
    keeps them sparse if they are and costs one factor per row.

    Examples
    --------
    >>> ball = L1Ball(radius=1.0)
    >>> ball.project([3.0, 2.5])
    array([0.75, 0.25])
    >>> ball.vertex([1.0, -2.0])
    array([0., 1.])
    >>> rows, scale = ball.clip_rows(np.array([[3.0, -1.0], [0.0, 0.5]]))
    >>> scale
    array([0.25, 1.  ])
    """

    norm_order: ClassVar[float] = 1
    dimension: ClassVar[None] = None

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", limits.size(radius=self.radius))

    @property
    def words(self) -> str:
        return f"points whose absolute entries add up to at most {self.radius:.12g}"

    def _project(self, rows: Array) -> Array:
        projected = rows.copy()
        outside = pairwise_absolute_sums(rows) > self.radius
        signs, magnitudes = np.sign(rows[outside]), np.abs(rows[outside])
        projected[outside] = signs * nearest_in_simplex(magnitudes, self.radius)
        return projected

    def _projection_error(self, size: float, dimension: int) -> float:
        """Add to the error on the simplex what a wrong guess of inside or outside costs.

        The computed norm errs by a relative u for each level of the sum; a point within that of
        the boundary, taken for one of the other side, is moved by as much. Well inside nothing is
        rounded, hence the minimum.
        """
        most = min(self.radius, math.sqrt(dimension) * size)
        wrong_side = (sum_roundings(dimension) + 1) * limits.UNIT * most
        return projection_error(most, dimension) + wrong_side

    def _projection_derivative(self, point: Vector) -> Array:
        projected = self.project(point)
        if np.array_equal(projected, point):
            return np.eye(point.size)
        return face(np.sign(projected))

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        return absolute_sums(rows) <= self.radius * (1 + tolerance)

    def _reach(self, dimension: int, order: float) -> float:
        return self.radius

    def _vertex(self, directions: Array) -> Array:
        steepest = np.abs(directions).argmax(axis=1)[:, None]
        slopes = np.take_along_axis(directions, steepest, axis=1)
        vertices = np.zeros_like(directions)
        np.put_along_axis(vertices, steepest, -self.radius * np.sign(slopes), axis=1)
        return vertices

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        numbers = source.uniform(2 * dimension + 1)
        exponentials = -np.log(numbers[: dimension + 1])
        signs = np.where(numbers[dimension + 1 :] < 0.5, -1.0, 1.0)
        shares: Vector = exponentials[1:] / exponentials.sum()
        return self.radius * signs * shares

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return rows, shrink_factors(rows, self.radius, pairwise_absolute_sums, absolute_sums)

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        return matrix, shrink_factors(matrix, self.radius, sparse_absolute_sums)
