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
    """How large the noise of each part is, and what else is public about the fit.

    Parameters
    ----------
    slope
        Standard deviation of the noise in a coordinate of the objective's slope; of X'y, if the fit
        is one of sufficient statistics.
    curvature, outer
        Standard deviation beside the diagonal of the noise on the two second moments: of curvatures
        (or X'X), and of squared slopes. On the diagonal it is the root of two times that.
    mask
        Standard deviation of what is added to each coefficient at the end.
    counts
        Standard deviation of the noise on numbers of rows.
    row_norm
        The largest norm of a row, in the frame of the fit.
    is_quadratic
        One if coefficients come from X'X and X'y, zero if they minimise a perturbed objective.
    curvature_rounding, outer_rounding
        How far, in norm, the rounding of one row can move the two second moments.
    """

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
    """Coefficients and second moments of the frame of a fit, with the way back from it.

    Parameters
    ----------
    coefficients
        As released, in the frame.
    product
        What the inverse curvature is multiplied with to find the centre of intervals: the ridge
        times the coefficients, or the noisy X'y.
    curvature, outer
        The noisy sums of curvatures, and of squared slopes, times outer products of rows.
    factors, anchor
        The way back: coefficients times factors are those of the declared columns, but the last,
        which is the inner product with the anchor.
    shortened, whole
        Noisy numbers of rows that were clipped to a bound, and of those that were not.
    levels
        The noise.
    """

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
