"""Products with the matrix of a kernel, kept in memory if it fits and made in blocks otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.geometry.limits import UNIT
from discreet.geometry.norms import pairwise_sums, sum_roundings
from discreet.kernels import BoundedKernel

TILE = 1024
CAREFUL_TILE = 512
"""Columns whose products with coefficients are added pairwise."""


class SquareMatrix(Protocol):
    """A symmetric, positive semidefinite matrix that can be multiplied."""

    def multiply(self, coefficients: Vector) -> Vector:
        """Return the product with a vector."""
        ...


class KernelMatrix:
    """The matrix of a kernel and of rows, one row and column each.

    Parameters
    ----------
    kernel
        The kernel.
    X
        Points, one a row.
    memory
        How many bytes the matrix may take to be kept; public.
    """

    def __init__(self, kernel: BoundedKernel, X: Array, memory: int) -> None:
        self.kernel = kernel
        self.rows, self.factors = kernel.scale(X)
        self.size = len(self.rows)
        self._kept: Array | None = None
        if 8 * self.size * self.size <= memory:
            self._kept = self._make()

    def _make(self) -> Array:
        kept = np.empty((self.size, self.size))
        for here, there in self._tiles():
            tile = self._tile(here, there)
            kept[here, there] = tile
            kept[there, here] = tile.T
        return kept

    def _tiles(self) -> Iterator[tuple[slice, slice]]:
        """Yield the tiles on and above the diagonal."""
        starts = range(0, self.size, TILE)
        for first in starts:
            for second in range(first, self.size, TILE):
                yield slice(first, first + TILE), slice(second, second + TILE)

    def _tile(self, here: slice, there: slice) -> Array:
        return self.kernel.evaluate_scaled(
            self.rows[here], self.factors[here], self.rows[there], self.factors[there]
        )

    def diagonal(self) -> Vector:
        """Return the entries on the diagonal."""
        return self.kernel.diagonal(self.rows)

    def columns(self, chosen: Integers) -> Array:
        """Return some columns."""
        if self._kept is not None:
            return self._kept[:, chosen]
        rows, factors = self.rows[chosen], self.factors[chosen]
        found = np.empty((self.size, len(chosen)))
        for start in range(0, self.size, TILE):
            here = slice(start, start + TILE)
            found[here] = self.kernel.evaluate_scaled(
                self.rows[here], self.factors[here], rows, factors
            )
        return found

    def whole(self) -> Array:
        """Return the matrix itself."""
        return self._make() if self._kept is None else self._kept

    def multiply(self, coefficients: Vector) -> Vector:
        """Return the product with a vector; each tile above the diagonal is made once."""
        if self._kept is not None:
            found: Vector = self._kept @ coefficients
            return found
        product = np.zeros(self.size)
        for here, there in self._tiles():
            tile = self._tile(here, there)
            product[here] += tile @ coefficients[there]
            if here != there:
                product[there] += coefficients[here] @ tile
        return product

    def multiply_carefully(self, coefficients: Vector) -> Vector:
        """Return the product within :func:`product_error`: sums are pairwise throughout."""
        used = np.flatnonzero(coefficients)
        points, factors, counted = self.rows[used], self.factors[used], coefficients[used]
        product = np.empty(self.size)
        for start in range(0, self.size, CAREFUL_TILE):
            here = slice(start, start + CAREFUL_TILE)
            product[here] = sum_carefully(
                self.kernel, points, factors, counted, self.rows[here], self.factors[here]
            )
        return product


def sum_carefully(
    kernel: BoundedKernel,
    points: Array,
    point_factors: Vector,
    coefficients: Vector,
    rows: Array,
    row_factors: Vector,
) -> Vector:
    """Return the sum of coefficients times K(x, point) for each row x, added pairwise.

    Parameters
    ----------
    kernel
        The kernel.
    points, point_factors
        The points that have a coefficient, and how they are clipped.
    coefficients
        One a point.
    rows, row_factors
        Where to evaluate, and how those are clipped.
    """
    starts = range(0, len(points), CAREFUL_TILE)
    parts = np.zeros((len(rows), max(1, len(starts))))
    for column, start in enumerate(starts):
        there = slice(start, start + CAREFUL_TILE)
        tile = kernel.evaluate_scaled(rows, row_factors, points[there], point_factors[there])
        tile *= coefficients[there]
        parts[:, column] = pairwise_sums(tile)
    return pairwise_sums(parts)


def product_error(kernel: BoundedKernel, entry_error: float, count: int, total: float) -> float:
    """Bound the error of one entry of :meth:`KernelMatrix.multiply_carefully`.

    Parameters
    ----------
    kernel
        The kernel.
    entry_error
        How far a computed entry is from the exact one.
    count
        The number of rows.
    total
        A bound on the sum of absolute values of coefficients.
    """
    roundings = 2 + sum_roundings(CAREFUL_TILE) + sum_roundings(1 + count // CAREFUL_TILE)
    largest = kernel.reach * kernel.reach + entry_error
    return (1.01 * roundings * UNIT * largest + entry_error) * total
