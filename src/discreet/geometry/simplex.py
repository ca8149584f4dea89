"""The simplex: shares of a total."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import settled_sums
from discreet.geometry.shapes import Csr


@dataclass(frozen=True)
class Simplex(ConvexSet):
    r"""Points with non-negative coordinates that sum to ``total``, in any dimension.

    .. math:: \{x : x_j \ge 0, \; \textstyle\sum_j x_j = t\}

    Parameters
    ----------
    total : float
        Between 1e-100 and 1e100.

    Examples
    --------
    >>> simplex = Simplex()
    >>> simplex.project([0.5, 1.0])
    array([0.25, 0.75])
    >>> simplex.vertex([3.0, 1.0, 2.0])
    array([0., 1., 0.])
    >>> simplex.fixed_point(dimension=4)
    array([0.25, 0.25, 0.25, 0.25])
    """

    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", limits.size(total=self.total))

    @property
    def norm_order(self) -> None:
        return None

    @property
    def dimension(self) -> None:
        return None

    def _project(self, rows: Array) -> Array:
        return nearest_in_simplex(rows, self.total)

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        slack = tolerance * self.total
        with np.errstate(over="ignore", invalid="ignore"):
            gaps = np.abs(rows.sum(axis=1) - self.total)
        inside: Booleans = (rows.min(axis=1) >= -slack) & (gaps <= slack)
        return inside

    def _reach(self, dimension: int, order: float) -> float:
        return self.total

    def _diameter(self, dimension: int, order: float) -> float:
        # Two vertices are farthest apart: their difference has one entry +total and one -total.
        if dimension == 1:
            return 0.0
        if order == 2:
            return limits.rounded_up(math.sqrt(2) * self.total)
        return 2 * self.total if order == 1 else self.total

    def _vertex(self, directions: Array) -> Array:
        vertices = np.zeros_like(directions)
        cheapest = directions.argmin(axis=1)[:, None]
        np.put_along_axis(vertices, cheapest, self.total, axis=1)
        return vertices

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        exponentials = -np.log(source.uniform(dimension))
        shares: Vector = exponentials / exponentials.sum()
        return self.total * shares

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        return self._project(rows), np.ones(len(rows))

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        raise InputError(
            "A simplex does not contain the origin, so a sparse matrix would be filled in. "
            "Use a dense matrix, or a set that contains the origin."
        )


def nearest_in_simplex(rows: Array, total: float) -> Array:
    """Project rows on the simplex by sorting them, after Duchi et al. (2008), figure 1.

    The answer is ``max(row - threshold, 0)``. It does not change when a constant is added to a
    row, nor when an entry further than ``total`` below the largest is raised to that distance; so
    each row is first brought into [-1, 0], where nothing overflows and no digits are lost.
    """
    with np.errstate(over="ignore"):
        below_top = rows - rows.max(axis=1, keepdims=True)
    shifted = np.maximum(below_top, -total) / total
    descending = -np.sort(-shifted, axis=1)
    counts = np.arange(1, rows.shape[1] + 1)
    thresholds = (descending.cumsum(axis=1) - 1) / counts
    support = np.count_nonzero(descending > thresholds, axis=1)[:, None]
    threshold = np.take_along_axis(thresholds, support - 1, axis=1)
    shares: Array = np.maximum(shifted - threshold, 0.0)
    # The division undoes the rounding of the running sums, which grows with the dimension.
    # Settled, because a row of private data must not be rounded according to its neighbours.
    shares /= settled_sums(shares.copy())[:, None]
    return total * shares
