"""What a fit with intervals releases, as one vector: coefficients, second moments, and their noise.

All that a sandwich covariance needs; everything in it is public. The vector is what a release holds
and stores; :class:`ReleasedSandwich` is how it is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from discreet._types import Array, Vector
from discreet.errors import InputError


@dataclass(frozen=True)
class NoiseLevels:
    """How large the noise of each part is, and what else is public about the fit."""

    slope: float = 0.0
    curvature: float = 0.0
    outer: float = 0.0
    mask: float = 0.0
    counts: float = 0.0
    row_norm: float = 1.0
    is_quadratic: float = 0.0
    curvature_rounding: float = 0.0
    outer_rounding: float = 0.0


@dataclass(frozen=True, eq=False)
class ReleasedSandwich:
    """Coefficients and second moments of the frame of a fit, with the way back from it."""

    coefficients: Vector
    product: Vector
    curvature: Array
    outer: Array
    factors: Vector
    anchor: Vector
    shortened: float
    whole: float
    levels: NoiseLevels

    @property
    def width(self) -> int:
        return self.coefficients.size

    @property
    def rows(self) -> float:
        """The noisy number of rows, one at least."""
        return max(self.shortened + self.whole, 1.0)

    @property
    def fold(self) -> Array:
        """The matrix that takes coefficients of the frame to those of the declared columns."""
        matrix = np.diag(self.factors)
        matrix[-1] = self.anchor
        return matrix

    def vector(self) -> Vector:
        """Return everything as one vector."""
        upper = np.triu_indices(self.width)
        levels = [getattr(self.levels, field.name) for field in fields(NoiseLevels)]
        vectors = (self.coefficients, self.product, self.factors, self.anchor)
        matrices = (self.curvature[upper], self.outer[upper])
        return np.concatenate([*vectors, *matrices, [self.shortened, self.whole], levels])

    @classmethod
    def of(cls, vector: Vector) -> ReleasedSandwich:
        """Read a vector again."""
        vector = np.asarray(vector, dtype=np.float64)
        scalars = 2 + len(fields(NoiseLevels))
        width = round((math.sqrt(max(25 + 4 * (vector.size - scalars), 0)) - 5) / 2)
        if vector.ndim != 1 or width < 1 or width * (width + 5) + scalars != vector.size:
            raise InputError("this value does not hold what intervals need; fit the model again.")
        triangle = width * (width + 1) // 2
        ends = np.cumsum([*[width] * 4, triangle, triangle])
        coefficients, product, factors, anchor, curvature, outer, rest = np.split(vector, ends)
        shortened, whole, *levels = rest.tolist()
        return cls(
            coefficients,
            product,
            _symmetric(curvature, width),
            _symmetric(outer, width),
            factors,
            anchor,
            shortened,
            whole,
            NoiseLevels(*levels),
        )


def _symmetric(triangle: Vector, width: int) -> Array:
    upper = np.zeros((width, width))
    upper[np.triu_indices(width)] = triangle
    return np.asarray(upper + np.triu(upper, 1).T)
