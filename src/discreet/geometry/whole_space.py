"""The whole space: no constraint at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.errors import InputError
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import Csr


@dataclass(frozen=True)
class WholeSpace(ConvexSet):
    """Every point, in any dimension: coefficients without a constraint.

    Examples
    --------
    >>> WholeSpace().project([3.0, 4.0])
    array([3., 4.])
    >>> WholeSpace().diameter(dimension=2)
    inf
    """

    words: ClassVar[str] = "any point"
    norm_order: ClassVar[None] = None
    dimension: ClassVar[None] = None

    def _project(self, rows: Array) -> Array:
        return rows.copy()

    def _projection_error(self, size: float, dimension: int) -> float:
        return 0.0

    def _projection_derivative(self, point: Vector) -> Array:
        return np.eye(point.size)

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        finite: Booleans = np.all(np.isfinite(rows), axis=1)
        return finite

    def _reach(self, dimension: int, order: float) -> float:
        return math.inf

    def _vertex(self, directions: Array) -> NoReturn:
        raise InputError("The whole space has no vertex. Use a bounded set.")

    def _uniform(self, source: Uniforms, dimension: int) -> NoReturn:
        raise InputError("The whole space has no uniform point. Use a bounded set.")

    def _clip_rows(self, rows: Array) -> NoReturn:
        raise InputError("Rows need a bounded set; the whole space clips nothing.")

    def _clip_sparse(self, matrix: Csr) -> NoReturn:
        raise InputError("Rows need a bounded set; the whole space clips nothing.")
