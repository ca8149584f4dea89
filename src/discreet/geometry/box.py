"""Boxes: every coordinate between its own two limits, or all within the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import Csr, as_numbers, clamp_rows, clamp_stored, largest_entries, norm

MOST_WORDS = 20
"""The limits of so many entries are told one by one."""


@dataclass(frozen=True)
class Box(ConvexSet):
    r"""Points between ``lower`` and ``upper``, coordinate by coordinate.

    .. math:: \{x : l_j \le x_j \le u_j \text{ for every } j\}

    Parameters
    ----------
    lower, upper : sequences of float
        One limit for each coordinate, of magnitude at most 1e100; kept as tuples.

    Examples
    --------
    >>> box = Box(lower=[0, -1], upper=[2, 1])
    >>> box
    Box(lower=(0.0, -1.0), upper=(2.0, 1.0))
    >>> box.project([3.0, 0.5])
    array([2. , 0.5])
    >>> box.vertex([1.0, -1.0])
    array([0., 1.])
    >>> box.fixed_point(dimension=2)
    array([0., 0.])
    """

    norm_order: ClassVar[None] = None

    lower: Sequence[float]
    upper: Sequence[float]

    def __post_init__(self) -> None:
        lower, upper = _limits("lower", self.lower), _limits("upper", self.upper)
        if len(lower) != len(upper):
            raise InputError(
                "lower and upper must have the same length; "
                f"got lengths {len(lower)} and {len(upper)}."
            )
        if not np.all(lower <= upper):
            raise InputError("lower must not exceed upper in any coordinate.")
        object.__setattr__(self, "lower", tuple(lower.tolist()))
        object.__setattr__(self, "upper", tuple(upper.tolist()))

    @property
    def words(self) -> str:
        limits = list(zip(self.lower, self.upper, strict=True))
        if len(set(limits)) == 1:
            return f"points with entries from {limits[0][0]:.12g} to {limits[0][1]:.12g}"
        if len(limits) > MOST_WORDS:
            return f"points with each of {len(limits):,} entries between limits of its own"
        listed = ", ".join(f"{low:.12g} to {high:.12g}" for low, high in limits)
        return f"points with entries, in order, from {listed}"

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @cached_property
    def _corners(self) -> tuple[Vector, Vector]:
        return np.array(self.lower), np.array(self.upper)

    @cached_property
    def _farthest(self) -> Vector:
        lower, upper = self._corners
        return np.maximum(-lower, upper)

    def _project(self, rows: Array) -> Array:
        return np.clip(rows, *self._corners)

    def _projection_error(self, size: float, dimension: int) -> float:
        return 0.0

    def _projection_derivative(self, point: Vector) -> Array:
        lower, upper = self._corners
        return np.diag(((lower < point) & (point < upper)).astype(np.float64))

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        lower, upper = self._corners
        slack = tolerance * self._farthest.max()
        inside: Booleans = np.all((rows >= lower - slack) & (rows <= upper + slack), axis=1)
        return inside

    def _reach(self, dimension: int, order: float) -> float:
        if order == math.inf:
            return float(self._farthest.max())
        return limits.round_up(norm(self._farthest, order))

    def _diameter(self, dimension: int, order: float) -> float:
        lower, upper = self._corners
        return limits.round_up(norm(upper - lower, order))

    def _vertex(self, directions: Array) -> Array:
        lower, upper = self._corners
        return np.where(directions > 0, lower, upper)

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        lower, upper = self._corners
        return lower + source.uniform(dimension) * (upper - lower)

    def holds_surely(self, rows: Array) -> bool:
        lower, upper = self._corners
        return bool(((rows >= lower) & (rows <= upper)).all())

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return clamp_rows(rows, *self._corners), np.ones(len(rows))

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        lower, upper = self._corners
        if np.any(lower > 0) or np.any(upper < 0):
            raise InputError(
                "A sparse matrix needs a box that contains the origin, or its zeros would be "
                "filled in. Use a dense matrix, or a set that contains the origin."
            )
        columns = matrix.indices[: matrix.nnz]
        return clamp_stored(matrix, lower[columns], upper[columns]), np.ones(matrix.shape[0])


def _limits(name: str, values: Sequence[float]) -> Vector:
    vector = as_numbers(name, values)
    if vector.ndim != 1 or len(vector) == 0:
        raise InputError(f"{name} must be one number for each coordinate; got {vector.shape}.")
    if not np.all(np.abs(vector) <= limits.LARGEST):
        raise InputError(f"{name} must be finite, of magnitude at most {limits.LARGEST:g}.")
    return vector


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

    def _vertex(self, directions: Array) -> Array:
        return -self.radius * np.sign(directions)

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        return self.radius * (2 * source.uniform(dimension) - 1)

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return clamp_rows(rows, -self.radius, self.radius), np.ones(len(rows))

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        return clamp_stored(matrix, -self.radius, self.radius), np.ones(matrix.shape[0])
