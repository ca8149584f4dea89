"""The ball of the largest absolute value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.geometry import limits
from discreet.geometry.clipping import clamp_rows, clamp_stored
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import largest_entries
from discreet.geometry.shapes import Csr


@dataclass(frozen=True)
class LinfBall(ConvexSet):
    r"""Points whose entries all lie between ``-radius`` and ``radius``, in any dimension.

    .. math:: \{x : \lVert x \rVert_\infty \le r\}

    Parameters
    ----------
    radius : float
        Between 1e-100 and 1e100.

    Examples
    --------
    >>> ball = LinfBall(radius=1.0)
    >>> ball.project([3.0, -0.5])
    array([ 1. , -0.5])
    >>> ball.vertex([3.0, -2.0])
    array([-1.,  1.])
    >>> ball.diameter(dimension=2, order=math.inf)
    2.0
    """

    norm_order: ClassVar[float] = math.inf
    dimension: ClassVar[None] = None

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", limits.size(radius=self.radius))

    @property
    def words(self) -> str:
        return f"points with entries from {-self.radius:.12g} to {self.radius:.12g}"

    def _project(self, rows: Array) -> Array:
        return np.clip(rows, -self.radius, self.radius)

    def _projection_error(self, size: float, dimension: int) -> float:
        return 0.0

    def _projection_derivative(self, point: Vector) -> Array:
        return np.diag((np.abs(point) < self.radius).astype(np.float64))

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        return largest_entries(rows) <= self.radius * (1 + tolerance)

    def _reach(self, dimension: int, order: float) -> float:
        # The norm of a corner is p^(1 / order) times the radius.
        if order == math.inf:
            return self.radius
        corner = dimension if order == 1 else math.sqrt(dimension)
        return limits.round_up(corner * self.radius)

    def _diameter(self, dimension: int, order: float) -> float:
        return 2 * self._reach(dimension, order)

    def _vertex(self, directions: Array) -> Array:
        return -self.radius * np.sign(directions)

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        return self.radius * (2 * source.uniform(dimension) - 1)

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return clamp_rows(rows, -self.radius, self.radius), np.ones(len(rows))

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        return clamp_stored(matrix, -self.radius, self.radius), np.ones(matrix.shape[0])
