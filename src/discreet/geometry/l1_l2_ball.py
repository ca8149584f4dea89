"""The intersection of an l1 ball and a Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.l1_ball import L1Ball
from discreet.geometry.l2_ball import L2Ball
from discreet.geometry.norms import Csr

_HALVINGS = 200
_TRIES = 10_000


@dataclass(frozen=True)
class L1L2Ball(ConvexSet):
    r"""Points whose l1 and Euclidean norms are both bounded, in any dimension.

    .. math:: \{x : \lVert x \rVert_1 \le a, \; \lVert x \rVert_2 \le b\}

    Parameters
    ----------
    l1_radius, l2_radius : float
        Between 1e-100 and 1e100.

    Notes
    -----
    Rows of one-hot encodings have a small l1 norm for their length; noise in the l1 geometry is
    made for the one, curvature is bounded by the other. Rows are shrunk, as those of either ball.

    If neither ball's projection lies in the other, both constraints are active and the nearest
    point is a multiple of the soft threshold of x, at the threshold where its two norms are in the
    ratio a/b. That ratio falls as the threshold grows.

    Examples
    --------
    >>> ball = L1L2Ball(l1_radius=1.2, l2_radius=1.0)
    >>> ball.project([3.0, 3.0]).round(3), ball.project([9.0, 0.0])
    (array([0.6, 0.6]), array([1., 0.]))
    >>> rows, scale = ball.clip_rows(np.array([[2.0, 0.0], [0.8, 0.8]]))
    >>> scale
    array([0.5 , 0.75])
    """

    norm_order: ClassVar[None] = None
    shrinks_rows: ClassVar[bool] = True
    dimension: ClassVar[None] = None

    l1_radius: float
    l2_radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1_radius", limits.size(l1_radius=self.l1_radius))
        object.__setattr__(self, "l2_radius", limits.size(l2_radius=self.l2_radius))

    @property
    def words(self) -> str:
        return (
            f"points whose absolute entries add up to at most {self.l1_radius:.12g}, of Euclidean "
            f"norm at most {self.l2_radius:.12g}"
        )

    @property
    def _balls(self) -> tuple[L1Ball, L2Ball]:
        return L1Ball(self.l1_radius), L2Ball(self.l2_radius)

    def _project(self, rows: Array) -> Array:
        diamond, ball = self._balls
        first, second = diamond.project(rows), ball.project(rows)
        projected = np.where(_contains_rows(ball, first)[:, None], first, second)
        both = ~_contains_rows(ball, first) & ~_contains_rows(diamond, second)
        for place in np.flatnonzero(both):
            projected[place] = self._edge(rows[place])
        return projected

    def _edge(self, row: Vector) -> Vector:
        """Return the multiple of a soft threshold of the row at which both norms are largest."""
        magnitudes = np.abs(row) / np.abs(row).max()
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_wide = self._is_wide(np.maximum(magnitudes - middle, 0.0))
            low, high = (middle, high) if is_wide else (low, middle)
        kept = np.maximum(magnitudes - low, 0.0)
        kept /= kept.max()
        edge: Vector = np.sign(row) * kept
        length, total = math.hypot(*kept.tolist()), math.fsum(kept.tolist())
        return edge * min(self.l2_radius / length, self.l1_radius / total)

    def _is_wide(self, magnitudes: Vector) -> bool:
        """Say whether a vector scaled to the one ball's edge lies outside the other's."""
        largest = magnitudes.max()
        if largest == 0:
            return False
        entries = (magnitudes / largest).tolist()
        return math.fsum(entries) * self.l2_radius > math.hypot(*entries) * self.l1_radius

    def _projection_error(self, size: float, dimension: int) -> float:
        return math.inf  # the threshold of the edge is found by halving, without a bound

    def _projection_derivative(self, point: Vector) -> Array:
        diamond, ball = self._balls
        onto = diamond if ball.contains(diamond.project(point)) else ball
        return onto.projection_derivative(point)  # of one ball where both edges meet

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        diamond, ball = self._balls
        return np.logical_and(diamond.contains(rows, tolerance), ball.contains(rows, tolerance))

    def _reach(self, dimension: int, order: float) -> float:
        diamond, ball = self._balls
        return min(diamond.reach(dimension, order), ball.reach(dimension, order))

    def _vertex(self, directions: Array) -> Array:
        diamond, ball = self._balls
        farthest = ball.vertex(directions)
        for place in np.flatnonzero(~_contains_rows(diamond, farthest)):
            farthest[place] = -self._edge(directions[place])
        return farthest

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        diamond, ball = self._balls
        outer, inner = (diamond, ball)
        if ball.reach(dimension, 1) < self.l1_radius:
            outer, inner = (ball, diamond)  # type: ignore[assignment]
        for _ in range(_TRIES):
            point = outer.uniform(source, dimension)
            if inner.contains(point, tolerance=0.0):
                return point
        return point * (self._reach(dimension, 2) / outer.reach(dimension, 2))

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        diamond, ball = self._balls
        return rows, np.minimum(diamond.clip_rows(rows)[1], ball.clip_rows(rows)[1])

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        diamond, ball = self._balls
        return matrix, np.minimum(diamond.clip_sparse(matrix)[1], ball.clip_sparse(matrix)[1])


def _contains_rows(region: ConvexSet, rows: Array) -> Booleans:
    return np.asarray(region.contains(rows, tolerance=1e-15))
