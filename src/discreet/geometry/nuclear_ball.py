r"""Matrices whose singular values have a bounded sum: the ball of the nuclear norm.

*How exactly a matrix is projected.* Let Z be m x k with singular values computed as U, s, V, q of
them, and let E be the largest of :math:`\|U'U - I\|_F`, :math:`\|V'V - I\|_F` and
:math:`\|Z - U S V'\|_F / \|s\|`. All three are computed after every decomposition, and one that
exceeds :math:`c u`, c = 4 (m + k) + 64, is refused: nothing is taken on trust. With what rounding
can hide in the three, E is at most :math:`E^* = (c + (m + k + 8) q) u`. Replace U and V by the
nearest matrices with orthonormal columns, which are within E; then :math:`A = U S V'` is within
:math:`4 E^* \|Z\|` of Z, and the projection of A is :math:`U f V'`, f the projection of s on the l1
ball. Projections do not enlarge distances, so

- outside the ball the computed :math:`U f V'` is within :math:`4 E^* \|Z\| + 4 E^* r` of the
  projection of Z, r the radius (or the sum of s, if smaller), plus the error of f and (q + 2) u r
  for the products;
- a matrix that is taken to be inside by mistake has singular values that sum to at most
  :math:`\sqrt q \, 4 E^* \|Z\| + (q + 1) u r` more than the radius, which bounds its distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.l1_ball import L1Ball
from discreet.geometry.limits import UNIT, round_up
from discreet.geometry.norms import Csr

ALIKE = 1e-9
"""Singular values that differ by less, relatively, count as equal in derivatives."""


@dataclass(frozen=True)
class NuclearBall(ConvexSet):
    r"""Matrices, written row by row, whose singular values sum to at most ``radius``.

    .. math:: \{W : \|W\|_* \le r\}

    Its extreme points have rank one, so that constrained minimisers have low rank. It is a set for
    coefficients, not for rows of data.

    Parameters
    ----------
    radius : float
        Between 1e-100 and 1e100.
    shape : (int, int)
        Rows and columns of the matrices.

    Examples
    --------
    >>> ball = NuclearBall(2.0, (2, 2))
    >>> ball.project([3.0, 0.0, 0.0, 1.0]).reshape(2, 2)
    array([[2., 0.],
           [0., 0.]])
    >>> ball.contains([1.0, 1.0, 1.0, 1.0])
    True
    """

    norm_order: ClassVar[None] = None

    radius: float
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", limits.size(radius=self.radius))
        try:
            rows, columns = self.shape
        except (TypeError, ValueError):
            raise InputError(
                f"shape must be two numbers, rows and columns; got {self.shape!r}."
            ) from None
        _checks.whole(at_least=1, rows=rows, columns=columns)
        object.__setattr__(self, "shape", (int(rows), int(columns)))

    @property
    def words(self) -> str:
        return f"matrices whose singular values add up to at most {self.radius:.12g}"

    @property
    def dimension(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def _allowed_roundings(self) -> float:
        """How far, in roundings, a decomposition may be from one."""
        return 4 * sum(self.shape) + 64

    def _decompose(self, row: Vector) -> tuple[Array, Vector, Array]:
        """Return U, s and V', once they are known to be what they should."""
        matrix = row.reshape(self.shape)
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        one, size = np.eye(values.size), max(float(np.linalg.norm(values)), 1e-290)
        defects = (
            np.linalg.norm(left.T @ left - one),
            np.linalg.norm(right @ right.T - one),
            np.linalg.norm(matrix - (left * values) @ right) / size,
        )
        if not max(defects) <= self._allowed_roundings * UNIT:
            raise np.linalg.LinAlgError("singular values were not found exactly enough.")
        return left, values, right

    def _project(self, rows: Array) -> Array:
        projected = rows.copy()
        for row in projected:
            left, values, right = self._decompose(row)
            if math.fsum(values.tolist()) > self.radius:
                kept = L1Ball(self.radius).project(values)
                row[:] = ((left * kept) @ right).ravel()
        return projected

    def _projection_error(self, size: float, dimension: int) -> float:
        few = min(self.shape)
        off = (self._allowed_roundings + (sum(self.shape) + 8) * few) * UNIT
        most = min(self.radius, math.sqrt(few) * size)
        outside = 4 * off * (size + most) + (few + 2) * UNIT * most
        outside += 1.1 * L1Ball(self.radius).projection_error(2 * size, few)
        inside = 4 * math.sqrt(few) * off * size + (few + 1) * UNIT * most
        return round_up(1.1 * max(outside, inside))

    def _projection_derivative(self, point: Vector) -> Array:
        left, values, right = self._decompose(point)
        if math.fsum(values.tolist()) <= self.radius:
            return np.eye(point.size)
        ball = L1Ball(self.radius)
        kept, along = ball.project(values), ball.projection_derivative(values)
        rows, columns = self.shape
        basis = np.eye(point.size).reshape(-1, rows, columns)
        inner = left.T @ basis @ right.T
        flipped = inner.transpose(0, 2, 1)
        turned = _slopes(values, kept, along) * (inner + flipped) / 2
        turned += _sums(values, kept) * (inner - flipped) / 2
        places = np.arange(values.size)
        diagonal = inner[:, places, places] @ along.T
        turned[:, places, places] = diagonal
        shrunk = kept / np.maximum(values, 1e-290)
        moved = left @ turned @ right
        moved += (basis - left @ (left.T @ basis)) @ ((right.T * shrunk) @ right)
        across = left @ ((left.T @ basis) - inner @ right)
        moved += (left * shrunk) @ (left.T @ across)
        return np.asarray(moved.reshape(point.size, point.size).T)

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        finite: Booleans = np.all(np.isfinite(rows), axis=1)
        matrices = np.where(finite[:, None], rows, 0.0).reshape(-1, *self.shape)
        values = np.linalg.svd(matrices, compute_uv=False)
        inside: Booleans = values.sum(axis=1) <= self.radius * (1 + tolerance)
        return np.logical_and(finite, inside)

    def _reach(self, dimension: int, order: float) -> float:
        # Extreme points are radius times u v' with unit vectors u and v.
        return self.radius if order != 1 else round_up(math.sqrt(dimension) * self.radius)

    def _vertex(self, directions: Array) -> Array:
        left, _, right = np.linalg.svd(directions.reshape(-1, *self.shape), full_matrices=False)
        best = left[:, :, :1] @ right[:, :1, :]
        return np.asarray(-self.radius * best.reshape(directions.shape))

    def _uniform(self, source: Uniforms, dimension: int) -> NoReturn:
        raise InputError("no uniform point of a nuclear ball is offered; start at its centre.")

    def _clip_rows(self, rows: Array) -> NoReturn:
        raise InputError("a nuclear ball is for coefficients; declare a ball or a box for rows.")

    def _clip_sparse(self, matrix: Csr) -> NoReturn:
        raise InputError("a nuclear ball is for coefficients; declare a ball or a box for rows.")


def _slopes(values: Vector, kept: Vector, along: Array) -> Array:
    """Return the difference quotients of what is kept, derivatives where values are alike."""
    apart = values[:, None] - values[None, :]
    is_alike = np.abs(apart) <= ALIKE * values.max()
    quotients = (kept[:, None] - kept[None, :]) / np.where(is_alike, 1.0, apart)
    own = (kept > 0).astype(np.float64)
    return np.where(is_alike, np.minimum(own[:, None], own[None, :]), quotients)


def _sums(values: Vector, kept: Vector) -> Array:
    """Return the quotients of sums: what turning the singular vectors does."""
    total = values[:, None] + values[None, :]
    return np.asarray((kept[:, None] + kept[None, :]) / np.maximum(total, 1e-290))
