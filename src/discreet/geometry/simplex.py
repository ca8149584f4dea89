"""The simplex: shares of a total, probabilities if that is one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Booleans, Integers, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.norms import Csr, pairwise_sums, sum_roundings


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

    norm_order: ClassVar[None] = None
    dimension: ClassVar[None] = None

    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", limits.size(total=self.total))

    @property
    def words(self) -> str:
        return f"points with entries that are not negative and add up to {self.total:.12g}"

    def _project(self, rows: Array) -> Array:
        return nearest_in_simplex(rows, self.total)

    def _projection_error(self, size: float, dimension: int) -> float:
        return projection_error(self.total, dimension)

    def _projection_derivative(self, point: Vector) -> Array:
        kept = (self.project(point) > 0).astype(np.float64)
        return face(kept)

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
            return limits.round_up(math.sqrt(2) * self.total)
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
    r"""Project rows on the simplex: raise all by one amount, with the lowest kept entry as origin.

    If the k largest entries are kept, with :math:`x_{(k)}` the least of them, the answer is

    .. math:: x_j - x_{(k)} + (t - G(k)) / k, \qquad G(k) = \sum_j \max(x_j - x_{(k)}, 0),

    and k is the largest with G(k) < t. Every sum has terms of one sign, so no digits cancel.
    """
    descending = -np.sort(-rows, axis=1)
    with np.errstate(over="ignore"):
        kept = _count_kept(rows, descending, total)
        lowest = np.take_along_axis(descending, kept - 1, axis=1)
        heights = rows - lowest
        spare = total - _mass_above(rows, lowest)
    return np.where(heights >= 0, heights + spare / kept, 0.0)


def face(signs: Vector) -> Array:
    """Project on the vectors that vanish where the signs do and are orthogonal to them."""
    projector: Array = np.diag(np.abs(signs)) - np.outer(signs, signs) / np.abs(signs).sum()
    return projector


def projection_error(total: float, dimension: int) -> float:
    r"""Bound the distance between the computed nearest point and the exact one.

    A computed G errs by a relative :math:`\gamma = (\lceil \log_2 p \rceil + 1) u`: one rounding
    a term and one a level of the sum. Computed G(k) < t <= G(k + 1), so the exact answer has at
    most :math:`\gamma t` outside the k largest, and on them the two answers differ by a constant
    whose sum is at most :math:`(2 \gamma + 2 u) t`; if the exact k is smaller, that alone bounds
    the sum of differences. Rounding each entry twice adds 2 u t.
    """
    return (3 * sum_roundings(dimension) + 8) * limits.UNIT * total


def _count_kept(rows: Array, descending: Array, total: float) -> Integers:
    """Find the last k with G(k) < total in each row, by halving from a guess that is seldom off.

    What is found for a row depends on that row alone, and so do its rounding errors.
    """
    width = rows.shape[1]
    fewest = np.ones((len(rows), 1), dtype=np.int64)
    too_many = np.full_like(fewest, width + 1)
    probe = np.clip(_guess(descending, total), 1, width)
    is_first = True
    while np.any(too_many - fewest > 1):
        mass = _mass_above(rows, np.take_along_axis(descending, probe - 1, axis=1))
        is_within = mass < total
        fewest = np.where(is_within, np.maximum(fewest, probe), fewest)
        too_many = np.where(is_within, too_many, np.minimum(too_many, probe))
        middle = (fewest + too_many) // 2
        beside = np.where(is_within, fewest + 1, too_many - 1)
        probe = np.clip(beside if is_first else middle, fewest, np.maximum(fewest, too_many - 1))
        is_first = False
    return fewest


def _guess(descending: Array, total: float) -> Integers:
    depths = descending[:, :1] - descending
    counts = np.arange(1, descending.shape[1] + 1)
    with np.errstate(invalid="ignore"):
        masses = depths * counts - depths.cumsum(axis=1)
    counted: Integers = np.count_nonzero(masses < total, axis=1)[:, None]
    return counted


def _mass_above(rows: Array, levels: Array) -> Array:
    return pairwise_sums(np.maximum(rows - levels, 0.0))[:, None]
