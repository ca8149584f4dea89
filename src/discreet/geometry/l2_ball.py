"""The Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri

from discreet._types import Array, Booleans, Vector
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import (
    euclidean_norms,
    settled_euclidean_norms,
    sparse_euclidean_norms,
    unit_rows,
)
from discreet.geometry.shapes import Csr
from discreet.geometry.shrink import shrink_factors


@dataclass(frozen=True)
class L2Ball(ConvexSet):
    r"""Points of Euclidean norm at most ``radius``, in any dimension.

    .. math:: \{x : \lVert x \rVert_2 \le r\}

    Parameters
    ----------
    radius : float
        Between 1e-100 and 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> ball = L2Ball(radius=1.0)
    >>> ball.project([3.0, 4.0])
    array([0.6, 0.8])
    >>> ball.vertex([0.0, 2.0])
    array([-0., -1.])
    >>> rows, scale = ball.clip_rows(np.array([[3.0, 4.0], [0.0, 0.5]]))
    >>> scale
    array([0.2, 1. ])
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", limits.size(radius=self.radius))

    @property
    def norm_order(self) -> float:
        return 2

    @property
    def dimension(self) -> None:
        return None

    def _project(self, rows: Array) -> Array:
        projected = rows.copy()
        outside = euclidean_norms(rows) > self.radius
        projected[outside] = self.radius * unit_rows(rows[outside])
        return projected

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        return euclidean_norms(rows) <= self.radius * (1 + tolerance)

    def _reach(self, dimension: int, order: float) -> float:
        if order == 1:
            return limits.rounded_up(math.sqrt(dimension) * self.radius)
        return self.radius

    def _diameter(self, dimension: int, order: float) -> float:
        return 2 * self._reach(dimension, order)

    def _vertex(self, directions: Array) -> Array:
        return -self.radius * unit_rows(directions)

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        numbers = source.uniform(dimension + 1)
        distance: float = self.radius * numbers[0] ** (1 / dimension)
        direction: Vector = unit_rows(ndtri(numbers[None, 1:]))
        return distance * direction.ravel()

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return rows, shrink_factors(rows, self.radius, settled_euclidean_norms, euclidean_norms)

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        return matrix, shrink_factors(matrix, self.radius, sparse_euclidean_norms)
