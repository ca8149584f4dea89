"""The Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from discreet._types import Array, Booleans, Vector
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import (
    SURELY_SQUARED,
    Csr,
    euclidean_norms,
    norm,
    pairwise_euclidean_norms,
    shrink_factors,
    sparse_euclidean_norms,
    unit_rows,
)

_HUGE = 2.0**600


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

    norm_order: ClassVar[float] = 2
    dimension: ClassVar[None] = None

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", limits.size(radius=self.radius))

    @property
    def words(self) -> str:
        return f"points of Euclidean norm at most {self.radius:.12g}"

    def _project(self, rows: Array) -> Array:
        projected = rows.copy()
        for row in projected:
            length, shrunk = _length(row)
            if length * shrunk > self.radius:
                row /= shrunk
                row /= length
                row *= self.radius
        return projected

    def _projection_error(self, size: float, dimension: int) -> float:
        """Four roundings scale the point; two more decide whether it is scaled at all.

        The length errs by a relative 2u, the division and the product by u each. A point whose
        length is within 2u of the radius may be scaled, or left, by mistake: that moves it by 2u
        of the radius. Well inside nothing is rounded, hence the minimum.
        """
        return 8 * limits.UNIT * min(size, self.radius)

    def _projection_derivative(self, point: Vector) -> Array:
        length, shrunk = _length(point)
        if length * shrunk <= self.radius:
            return np.eye(point.size)
        normal = point / shrunk / length
        tangent: Array = np.eye(point.size) - np.outer(normal, normal)
        return self.radius / shrunk / length * tangent

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        return euclidean_norms(rows) <= self.radius * (1 + tolerance)

    def _reach(self, dimension: int, order: float) -> float:
        if order == 1:
            return limits.round_up(math.sqrt(dimension) * self.radius)
        return self.radius

    def _vertex(self, directions: Array) -> Array:
        return -self.radius * unit_rows(directions)

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        numbers = source.uniform(dimension + 1)
        distance: float = self.radius * numbers[0] ** (1 / dimension)
        direction: Vector = unit_rows(ndtri(numbers[None, 1:]))
        return distance * direction.ravel()

    def holds_surely(self, rows: Array) -> bool:
        squares = np.einsum("ij,ij->i", rows, rows)
        return bool((squares <= self.radius * self.radius * SURELY_SQUARED).all())

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return rows, shrink_factors(rows, self.radius, pairwise_euclidean_norms, euclidean_norms)

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        return matrix, shrink_factors(matrix, self.radius, sparse_euclidean_norms)


def _length(point: Vector) -> tuple[float, float]:
    """Euclidean norm within two roundings, as a number and a power of two that multiplies it."""
    length = norm(point, 2)
    if math.isfinite(length):
        return length, 1.0
    return norm(point / _HUGE, 2), _HUGE
