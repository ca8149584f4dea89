"""Products with the matrix of a kernel, kept in memory if it fits and made in blocks otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.geometry.limits import UNIT
from discreet.geometry.norms import pairwise_sums, sum_roundings
from discreet.kernels import BoundedKernel

TILE = 512
MOST_KEPT = 2**25
"""Bytes of a matrix that is kept whole where half of the digits will do: to fill more memory than
this costs more than it saves."""

CAREFUL_TILE = 512
"""Columns whose products with coefficients are added pairwise."""


Places = slice | Integers


class KernelMatrix:
    """The matrix of a kernel and of rows, one row and column each."""

    def __init__(
        self, kernel: BoundedKernel, X: Array, memory: int, *, is_exacting: bool = False
    ) -> None:
        self.kernel, self.is_exacting = kernel, is_exacting
        self.rows, self.factors = kernel.scale(X)
        self.size = len(self.rows)
        self._memory = memory
        self._rough: dict[tuple[int, int], Any] = {}
        most = memory if is_exacting else min(memory, MOST_KEPT)
        self._kept = self._make() if 8 * self.size * self.size <= most else None

    def use_all_digits(self) -> None:
        """Make every product from now on in all digits."""
        self._rough, self.is_exacting = {}, True
        if self._kept is None and 8 * self.size * self.size <= self._memory:
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

    def _tile(self, here: Places, there: Places, *, roughly: bool = False) -> Any:
        near, far = (self.rows[here], self.factors[here]), (self.rows[there], self.factors[there])
        return self.kernel.evaluate_scaled(*near, *far, roughly=roughly)

    def diagonal(self) -> Vector:
        """Return the entries on the diagonal."""
        return self.kernel.diagonal(self.rows)

    def columns(self, chosen: Integers) -> Array:
        """Return some columns."""
        if self._kept is not None:
            return self._kept[chosen].T  # symmetric, and lines lie together
        found = np.empty((self.size, len(chosen)))
        for here, part in self.column_parts(chosen):
            found[here] = part
        return found

    def column_parts(self, chosen: Integers) -> Iterator[tuple[slice, Array]]:
        """Yield some lines of some columns at a time, and which lines they are."""
        for start in range(0, self.size, TILE):
            here = slice(start, start + TILE)
            if self._kept is not None:
                yield here, self._kept[here][:, chosen]
            else:
                yield here, self._tile(here, chosen)

    def multiply_columns(self, chosen: Integers, coefficients: Vector) -> Vector:
        """Return the product with a vector that is zero but for some entries."""
        used = np.flatnonzero(coefficients)
        chosen, counted = chosen[used], coefficients[used]
        product = np.zeros(self.size)
        if self._kept is not None:
            for start in range(0, len(chosen), TILE):
                some = slice(start, start + TILE)
                product += counted[some] @ self._kept[chosen[some]]
            return product
        for here, part in self.column_parts(chosen):
            product[here] = part @ counted
        return product

    def block(self, chosen: Integers) -> Array:
        """Return the entries in some rows and the same columns."""
        if self._kept is not None:
            return self._kept[np.ix_(chosen, chosen)]
        block: Array = self._tile(chosen, chosen)
        return block

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

    def multiply_roughly(self, coefficients: Vector) -> Vector:
        """Return the product in half as many digits, unless those are too few, or all are kept.

        Of tiles on and above the diagonal as many are kept as memory allows for.
        """
        if self._kept is not None or self.is_exacting:
            return self.multiply(coefficients)
        size = float(np.abs(coefficients).max(initial=0.0)) or 1.0
        half = (coefficients / size).astype(np.float32)
        product = np.zeros(self.size)
        for here, there in self._tiles():
            tile = self._tile_roughly(here, there)
            product[here] += tile @ half[there]
            if here != there:
                product[there] += half[here] @ tile
        product *= size
        return product

    def _tile_roughly(self, here: slice, there: slice) -> Any:
        place = here.start, there.start
        tile = self._rough.get(place)
        if tile is None:
            tile = self._tile(here, there, roughly=True)
            if 4 * TILE * TILE * (len(self._rough) + 1) <= self._memory:
                self._rough[place] = tile
        return tile

    def multiply_carefully(self, coefficients: Vector) -> Vector:
        """Return the product within :func:`product_error`: sums are pairwise throughout.

        Among rows that have a coefficient each entry is made once, and serves both of its rows.
        """
        used, others = np.flatnonzero(coefficients), np.flatnonzero(coefficients == 0)
        tiles, rest = _cut(used), _cut(others)
        parts = np.zeros((self.size, max(1, len(tiles))))
        for column, there in enumerate(tiles):
            counted = coefficients[there]
            for line, here in enumerate(tiles[: column + 1]):
                tile = self._tile(here, there)
                if line != column:
                    parts[there, line] = pairwise_sums((tile * coefficients[here, None]).T)
                tile *= counted
                parts[here, column] = pairwise_sums(tile)
            for here in rest:
                tile = self._tile(here, there)
                tile *= counted
                parts[here, column] = pairwise_sums(tile)
        return pairwise_sums(parts)


def _cut(places: Integers) -> list[Integers]:
    """Return places, so many at a time as are added pairwise."""
    return [places[start : start + CAREFUL_TILE] for start in range(0, len(places), CAREFUL_TILE)]


def sum_carefully(
    kernel: BoundedKernel,
    points: Array,
    point_factors: Vector,
    coefficients: Vector,
    rows: Array,
    row_factors: Vector,
) -> Vector:
    """Return the sum of coefficients times K(x, point) for each row x, added pairwise."""
    starts = range(0, len(points), CAREFUL_TILE)
    parts = np.zeros((len(rows), max(1, len(starts))))
    for column, start in enumerate(starts):
        there = slice(start, start + CAREFUL_TILE)
        tile = kernel.evaluate_scaled(rows, row_factors, points[there], point_factors[there])
        tile *= coefficients[there]
        parts[:, column] = pairwise_sums(tile)
    return pairwise_sums(parts)


def product_error(kernel: BoundedKernel, entry_error: float, count: int, total: float) -> float:
    """Bound the error of one entry of :meth:`KernelMatrix.multiply_carefully`."""
    roundings = 2 + sum_roundings(CAREFUL_TILE) + sum_roundings(1 + count // CAREFUL_TILE)
    largest = kernel.reach * kernel.reach + entry_error
    return (1.01 * roundings * UNIT * largest + entry_error) * total
