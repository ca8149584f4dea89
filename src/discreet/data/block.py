"""Some clipped rows at a time, seen through matrix products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from discreet._types import Array, Integers, Vector

Rounding = Callable[[Array, "slice | Integers"], Integers]
"""Rounds entries to integers; its second argument says which columns they belong to."""

Roundings = Callable[[Array, "slice | Integers"], tuple[Any, ...]]
"""Rounds entries in several ways, to integers or to floats that sums of a block keep whole."""

Change = Callable[[Array, "slice | Integers"], Array]
"""Makes new entries of entries, each by itself, as a rounding does, but no integers."""

Cut = Callable[[Array], Integers]
"""Makes an integer of each number."""

_EVERY = slice(None)
_NONE = slice(0, 0)


def lies_by_columns(matrix: Array) -> bool:
    """Say whether a column's entries lie together in memory, and a row's do not."""
    between_rows, between_columns = matrix.strides
    return between_rows == matrix.itemsize < between_columns


LONGEST = 1024
"""Terms of a margin that may be added in any order when rounding matters."""

_SEGMENT = 256

_AT_ONCE = 64
"""Rows at a time, where entries that are not stored count too."""


def margin_roundings(width: int) -> int:
    """Bound how often a term of a careful margin is rounded, beside scaling and the intercept.

    Dense rows are cut in halves until a piece is no longer than 1024. The entries of sparse rows
    are added in segments of 256, then the segments, and so on: four times for up to 2**32 columns.

    Examples
    --------
    >>> margin_roundings(10), margin_roundings(10**6)
    (10, 1056)
    """
    return min(width, LONGEST + 32)


@dataclass(frozen=True, eq=False)
class SparseVector:
    """Values at some places of a long vector, zeros elsewhere.

    Parameters
    ----------
    places
        Where the values are; no place comes twice.
    values
        One for each place.
    size
        Of the vector.

    Examples
    --------
    >>> from discreet.data.summation import SparseTotal
    >>> SparseTotal(SparseVector(np.array([1]), np.array([0.5]), size=3)).value().tolist()
    [0.0, 0.5, 0.0]
    """

    places: Integers
    values: Vector
    size: int


class Block(ABC):
    """A few clipped rows; the matrix itself is not copied to clip it.

    Every vector of coefficients or sums has one entry a column, the intercept's last.

    Parameters
    ----------
    matrix
        The rows before clipping: an ndarray or a SciPy CSR array, which both know how to multiply.
    scale
        What each row is multiplied by to clip it; None for one.
    labels, weights
        One for each row; None for none.
    intercept
        The constant of an extra last column; None for no such column.
    """

    def __init__(
        self,
        matrix: Any,
        scale: Vector | None,
        labels: Vector | None,
        weights: Vector | None,
        intercept: float | None,
    ) -> None:
        self._matrix, self._scale, self._intercept = matrix, scale, intercept
        self.labels, self.weights = labels, weights

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self._matrix.shape[0])

    @property
    @abstractmethod
    def _transposed_matrix(self) -> Any:
        """The matrix with rows and columns exchanged, not copied."""

    @abstractmethod
    def _dense_matrix(self) -> Array:
        """Return the rows before clipping, as a dense array."""

    @abstractmethod
    def _inner(self, roots: Vector | None) -> Array:
        """Return the sum of outer products of rows times roots of weights, before clipping."""

    def _scaled_weights(self, weights: Array) -> Array:
        return weights if self._scale is None else weights * self._scale

    def margins(self, coefficients: Vector) -> Vector:
        """Return each row's inner product with the coefficients."""
        if self._intercept is None:
            return self._scaled_weights(self._matrix @ coefficients)
        products = self._scaled_weights(self._matrix @ coefficients[:-1])
        products += self._intercept * coefficients[-1]
        return products

    def careful_margins(self, coefficients: Vector) -> Vector:
        """Return the margins with at most :func:`margin_roundings` roundings of each term."""
        if self._intercept is None:
            return self._scaled_weights(self._careful_product(coefficients))
        products = self._scaled_weights(self._careful_product(coefficients[:-1]))
        products += self._intercept * coefficients[-1]
        return products

    def several_margins(self, vectors: Array) -> Array:
        """Return the margins of several vectors of coefficients, vectors x rows."""
        last = vectors.shape[1] - (self._intercept is not None)
        products = self._several_products(vectors[:, :last])
        if self._scale is not None:
            products *= self._scale
        if self._intercept is not None:
            products += self._intercept * vectors[:, last:]
        return products

    @abstractmethod
    def _several_products(self, vectors: Array) -> Array:
        """Multiply with several vectors before clipping: a new array, vectors x rows."""

    @abstractmethod
    def _careful_product(self, coefficients: Vector) -> Vector:
        """Multiply before clipping, few terms at a time."""

    def squared_norms(self) -> Vector:
        """Return the squared Euclidean norm of each row."""
        norms = self._squared_lengths()
        if self._scale is not None:
            norms *= np.square(self._scale)
        if self._intercept is not None:
            norms += self._intercept**2
        return norms

    @abstractmethod
    def _squared_lengths(self) -> Vector:
        """Return squared norms before clipping, as a new array."""

    def weighted_sum(self, weights: Vector) -> Vector:
        """Return the sum of the rows, each times its weight."""
        total = np.asarray(self._transposed_matrix @ self._scaled_weights(weights))
        if self._intercept is None:
            return total
        return np.append(total, self._intercept * weights.sum())

    def partial_sum(self, weights: Vector) -> Vector | SparseVector:
        """Return the sum of the rows, each times its weight; sparse if the rows are."""
        return self.weighted_sum(weights)

    def several_sums(self, weights: Array) -> Array:
        """Return a weighted sum of the rows for each vector of weights, which is a row."""
        total = np.asarray((self._transposed_matrix @ self._scaled_weights(weights).T).T)
        if self._intercept is None:
            return total
        return np.column_stack([total, self._intercept * weights.sum(axis=1)])

    def small_sums(self, weights: Vector, size: int) -> Array:
        """Return the weighted sum of each ``size`` rows, the last of what is left; a line each."""
        starts = np.arange(0, max(self.size, 1), size)
        lines = self._small_products(self._scaled_weights(weights), starts, size)
        if self._intercept is None:
            return lines
        totals = [weights[start : start + size].sum() for start in starts]
        return np.column_stack([lines, self._intercept * np.array(totals)])

    @abstractmethod
    def _small_products(self, weights: Vector, starts: Integers, size: int) -> Array:
        """Return the weighted sums before clipping."""

    def gram(self, weights: Vector | None) -> Array:
        """Return the sum of the rows' outer products with themselves, each times its weight.

        No weight may be negative; None counts each row once.
        """
        if weights is not None:
            weights = np.maximum(weights, 0.0)  # rounding may have left less
        inner = self._inner(
            self._scale if weights is None else self._scaled_weights(np.sqrt(weights))
        )
        if self._intercept is None:
            return inner
        if weights is None:
            weights = np.ones(self.size)
        edge = self._intercept * (self._transposed_matrix @ self._scaled_weights(weights))
        corner = self._intercept**2 * weights.sum()
        return np.block([[inner, edge[:, None]], [edge[None, :], np.array([[corner]])]])

    def rough_gram(self, weights: Vector) -> Array:
        """Return what ``gram`` does, in single precision where that takes half the time."""
        return self.gram(weights)

    def rows(self) -> Array:
        """Return the clipped rows as a new dense array."""
        dense = self._dense_matrix()
        width = dense.shape[1]
        by_columns = lies_by_columns(dense)
        shape = (self.size, width + (self._intercept is not None))
        whole = np.empty(shape, order="F" if by_columns else "C")
        if self._scale is None:
            whole[:, :width] = dense
        else:
            np.multiply(dense, self._scale[:, None], out=whole[:, :width])
        if self._intercept is not None:
            whole[:, width] = self._intercept
        return whole

    @abstractmethod
    def entries(self) -> tuple[Any, Integers]:
        """Return what is not zero in each row before clipping, as bytes; and where rows begin.

        Dense and sparse rows of the same entries are the same bytes.
        """

    @abstractmethod
    def integer_sum(self, rounding: Rounding) -> Integers:
        """Return the exact sum of the clipped rows, each entry rounded to an integer first."""

    @abstractmethod
    def weighed_sum(self, change: Change, cut: Cut) -> Integers:
        """Return the exact sum of what ``change`` makes of the clipped rows, weighed, then cut.

        ``cut`` makes integers of entries times the weight of their row, if rows have weights.
        """

    def integer_sums(self, roundings: Roundings) -> tuple[Integers, ...]:
        """Return several exact sums of the clipped rows, each of its own rounding."""

        def one(place: int) -> Integers:
            return self.integer_sum(
                lambda values, which: roundings(values, which)[place].astype(np.int64)
            )

        return tuple(one(place) for place in range(len(roundings(np.zeros(0), _NONE))))


def _sum_columns(rounded: tuple[Any, ...]) -> tuple[Integers, ...]:
    return tuple(units.sum(axis=0).astype(np.int64) for units in rounded)


def _write_entries(
    rows: Integers, columns: Any, numbers: Vector, size: int
) -> tuple[Any, Integers]:
    """Return entries, in the order of rows, as bytes; and where each row begins."""
    written = np.empty((numbers.size, 2), dtype="<f8")
    written[:, 0], written[:, 1] = columns, numbers
    edges = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    return written.view(np.uint8).reshape(-1), edges.astype(np.int64) * 16


class DenseBlock(Block):
    """Rows of a NumPy array."""

    def entries(self) -> tuple[Any, Integers]:
        rows, columns = np.nonzero(self._matrix)
        return _write_entries(rows, columns, self._matrix[rows, columns], self.size)

    def integer_sum(self, rounding: Rounding) -> Integers:
        total: Integers = rounding(self.rows(), _EVERY).sum(axis=0, dtype=np.int64)
        return total

    def weighed_sum(self, change: Change, cut: Cut) -> Integers:
        entries = change(self.rows(), _EVERY)
        total: Integers = cut(_weigh(entries, self.weights)).sum(axis=0)
        return total

    def integer_sums(self, roundings: Roundings) -> tuple[Integers, ...]:
        width = self._matrix.shape[1]
        sums = _sum_columns(roundings(self._clipped_rows(), slice(0, width)))
        if self._intercept is None:
            return sums
        constant = np.full((1, 1), self._intercept)
        once = _sum_columns(roundings(constant, slice(width, width + 1)))
        return tuple(
            np.append(total, self.size * unit) for total, unit in zip(sums, once, strict=True)
        )

    def _clipped_rows(self) -> Array:
        """Return the clipped rows, not to be overwritten."""
        if self._scale is None:
            return np.asarray(self._matrix)
        return np.asarray(self._matrix * self._scale[:, None])

    def _small_products(self, weights: Vector, starts: Integers, size: int) -> Array:
        width, whole = self._matrix.shape[1], self.size // size
        lines = np.empty((starts.size, width))
        if lies_by_columns(self._matrix):
            cubes = self._matrix.T[:, : whole * size].reshape(width, whole, size).swapaxes(0, 1)
            lines[:whole] = (cubes @ weights[: whole * size].reshape(whole, size, 1))[:, :, 0]
        else:
            cubes = self._matrix[: whole * size].reshape(whole, size, width)
            lines[:whole] = (weights[: whole * size].reshape(whole, 1, size) @ cubes)[:, 0]
        if whole < starts.size:
            lines[whole] = weights[whole * size :] @ self._matrix[whole * size :]
        return lines

    def _squared_lengths(self) -> Vector:
        return np.asarray(np.einsum("ij,ij->i", self._matrix, self._matrix), dtype=np.float64)

    def _several_products(self, vectors: Array) -> Array:
        return np.asarray(vectors @ self._matrix.T)

    def _careful_product(self, coefficients: Vector) -> Vector:
        # No function within: one that calls itself would keep the rows until cycles are collected.
        return self._halves(coefficients, 0, coefficients.size)

    def _halves(self, coefficients: Vector, start: int, stop: int) -> Vector:
        if stop - start <= LONGEST:
            return np.asarray(self._matrix[:, start:stop] @ coefficients[start:stop])
        middle = (start + stop) // 2
        return self._halves(coefficients, start, middle) + self._halves(coefficients, middle, stop)

    @property
    def _transposed_matrix(self) -> Any:
        return self._matrix.T

    def _dense_matrix(self) -> Array:
        return np.asarray(self._matrix)

    def rough_gram(self, weights: Vector) -> Array:
        if self._intercept is not None:
            return super().rough_gram(weights)
        roots = self._scaled_weights(np.sqrt(np.maximum(weights, 0.0)))
        rows = np.multiply(roots[:, None], self._matrix, dtype=np.float32, casting="same_kind")
        return np.asarray(rows.T @ rows, dtype=np.float64)

    def _inner(self, roots: Vector | None) -> Array:
        rows = self._matrix
        if roots is not None:
            rows = roots[:, None] * rows
        return np.asarray(rows.T @ rows)  # of one matrix with itself: half the work


class SparseBlock(Block):
    """Rows of a SciPy CSR array."""

    def entries(self) -> tuple[Any, Integers]:
        csr = self._matrix
        kept = csr.data != 0
        rows = np.repeat(np.arange(self.size), np.diff(csr.indptr))[kept]
        return _write_entries(rows, csr.indices[kept], csr.data[kept], self.size)

    def integer_sum(self, rounding: Rounding) -> Integers:
        # Entries that are not stored are zero, and zero may not round to zero.
        csr = self._matrix
        lengths = np.diff(csr.indptr)
        entries = csr.data if self._scale is None else csr.data * np.repeat(self._scale, lengths)
        columns = csr.indices.astype(np.int64)
        rest = rounding(np.zeros(csr.shape[1]), _EVERY)
        total = self.size * rest
        np.add.at(total, columns, rounding(entries, columns) - rest[columns])
        if self._intercept is None:
            return total
        constant = rounding(np.full(1, self._intercept), np.full(1, csr.shape[1]))
        return np.append(total, self.size * constant)

    def weighed_sum(self, change: Change, cut: Cut) -> Integers:
        csr, weights = self._matrix, self.weights
        which = np.repeat(np.arange(self.size), np.diff(csr.indptr))
        entries = csr.data if self._scale is None else csr.data * self._scale[which]
        columns, rest = csr.indices.astype(np.int64), change(np.zeros(csr.shape[1]), _EVERY)
        each = None if weights is None else weights[which]
        stored = cut(_weigh(change(entries, columns), each))
        total = np.zeros(csr.shape[1], dtype=np.int64)
        for start in range(0, self.size if rest.any() else 0, _AT_ONCE):
            some = np.ones(min(_AT_ONCE, self.size - start))
            some = some if weights is None else weights[start : start + _AT_ONCE]
            total += cut(some[:, None] * rest).sum(axis=0)
        np.add.at(total, columns, stored - cut(_weigh(rest[columns], each)))
        if self._intercept is None:
            return total
        constant = change(np.full(self.size, self._intercept), np.full(self.size, csr.shape[1]))
        return np.append(total, cut(_weigh(constant, weights)).sum())

    def _small_products(self, weights: Vector, starts: Integers, size: int) -> Array:
        terms = self._matrix.multiply(weights[:, None]).tocsr()
        return np.stack(
            [np.asarray(terms[start : start + size].sum(axis=0)).ravel() for start in starts]
        )

    def _squared_lengths(self) -> Vector:
        csr = self._matrix
        return _segmented_sums(np.square(csr.data), np.asarray(csr.indptr, dtype=np.int64))

    def _several_products(self, vectors: Array) -> Array:
        return np.ascontiguousarray((self._matrix @ vectors.T).T)

    def _careful_product(self, coefficients: Vector) -> Vector:
        csr = self._matrix
        terms = csr.data * coefficients[csr.indices]
        return _segmented_sums(terms, np.asarray(csr.indptr, dtype=np.int64))

    def partial_sum(self, weights: Vector) -> Vector | SparseVector:
        csr = self._matrix
        places, which = np.unique(csr.indices, return_inverse=True)
        terms = csr.data * np.repeat(self._scaled_weights(weights), np.diff(csr.indptr))
        values: Vector = np.bincount(which, weights=terms, minlength=places.size).astype(np.float64)
        width = csr.shape[1]
        if self._intercept is not None:
            values = np.append(values, self._intercept * weights.sum())
            places, width = np.append(places, width), width + 1
        return SparseVector(places.astype(np.int64), values, width)

    @property
    def _transposed_matrix(self) -> Any:
        csr = self._matrix
        csc = sparse.csc_array(csr.shape[::-1])
        csc.data, csc.indices, csc.indptr = csr.data, csr.indices, csr.indptr
        return csc

    def _dense_matrix(self) -> Array:
        return np.asarray(self._matrix.toarray())

    def _inner(self, roots: Vector | None) -> Array:
        weighted = self._matrix
        if roots is not None:
            weighted = weighted.multiply(np.square(roots)[:, None]).tocsr()
        return np.asarray((self._transposed_matrix @ weighted).toarray())


def _weigh(entries: Array, weights: Vector | None) -> Array:
    if weights is None:
        return entries
    return entries * (weights if entries.ndim == 1 else weights[:, None])


def _segmented_sums(terms: Vector, starts: Integers) -> Vector:
    """Sum terms from each start to the next, never more than a segment at a time."""
    lengths = np.diff(starts)
    while lengths.size and lengths.max() > _SEGMENT:
        pieces = -(-lengths // _SEGMENT)
        first = np.concatenate([[0], np.cumsum(pieces)])
        # The k-th piece of a row begins k segments after the row does.
        ranks = np.arange(first[-1]) - np.repeat(first[:-1], pieces)
        cuts = np.repeat(starts[:-1], pieces) + _SEGMENT * ranks
        terms, starts = np.add.reduceat(terms, cuts), first
        lengths = pieces
    sums = np.zeros(lengths.size)
    filled = lengths > 0
    if filled.any():
        sums[filled] = np.add.reduceat(terms, starts[:-1][filled])
    return sums
