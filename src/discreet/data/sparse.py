"""Rows in a SciPy sparse matrix; sparse stays sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from discreet._types import Integers, Vector
from discreet.data.block import SparseBlock
from discreet.data.dense import ABSURD, check_shape
from discreet.data.given_column import GivenColumn
from discreet.data.kinds import NUMERIC_KINDS
from discreet.data.labels import (
    accept_labels,
    accept_weights,
    clean_labels,
    clean_weights,
)
from discreet.data.source import PreparedMatrix, Source, join_owners, join_vectors, pick
from discreet.data.summation import largest_block
from discreet.errors import InputError, InputTypeError
from discreet.geometry import ConvexSet
from discreet.questions.bounds import Bounds

CLIPPED_AT_ONCE = 2**13


@dataclass(frozen=True, eq=False, repr=False)
class SparseSource(Source):
    """A sparse matrix of numbers, in any of SciPy's formats."""

    matrix: Any
    column: GivenColumn | None
    weights: GivenColumn | None

    @classmethod
    def accept(
        cls, X: Any, y: Any, weights: Any, bounds: Bounds, *, may_be_empty: bool = False
    ) -> SparseSource:
        """Take a sparse matrix by its shape and type; reads no value."""
        if X.dtype.kind not in NUMERIC_KINDS:
            raise InputTypeError(f"X must hold numbers; got {X.dtype.type.__name__}.")
        if len(X.shape) != 2:
            raise InputError(f"X must have rows and columns; got {len(X.shape)} axes.")
        count = X.shape[0]
        labels, weighted = accept_labels(y, count, bounds), accept_weights(weights, count, bounds)
        source = cls(X, labels, weighted)
        source._check(bounds, may_be_empty)
        return source

    @property
    def shape(self) -> tuple[int, int]:
        count, width = self.matrix.shape
        return int(count), int(width)

    def check(self, bounds: Bounds) -> None:
        self._check(bounds, False)

    def _check(self, bounds: Bounds, may_be_empty: bool) -> None:
        check_shape(self.matrix.shape, bounds, may_be_empty=may_be_empty)
        check_origin(bounds)

    def block_rows(self) -> int:
        return largest_block(self.matrix.shape[1])

    def prepare(self, bounds: Bounds) -> PreparedSparse:
        labels, unknown = clean_labels(self.column, bounds)
        matrix = _make_canonical(self.matrix)
        spoilt = np.zeros(self.count, dtype=np.bool_) if unknown is None else unknown
        if not _is_finite_in_sum(matrix.data):
            broken = np.flatnonzero(~np.isfinite(matrix.data))
            spoilt[np.searchsorted(matrix.indptr, broken, side="right") - 1] = True
        if spoilt.any():
            lost = np.repeat(spoilt, np.diff(matrix.indptr))
            matrix = _copy_with_numbers(matrix, np.where(lost, 0.0, matrix.data))
        matrix, scale = _clip_blockwise(matrix, bounds.features)
        absurd = scale < ABSURD
        if absurd.any():
            lost = np.repeat(absurd, np.diff(matrix.indptr))
            matrix = _copy_with_numbers(matrix, np.where(lost, 0.0, matrix.data))
            scale = np.where(absurd, 1.0, scale)
        return PreparedSparse(
            bounds=bounds,
            matrix=matrix,
            labels=labels,
            weights=clean_weights(self.weights, self.count, bounds),
            scale=scale if (scale != 1).any() else None,
        )


@dataclass(frozen=True, eq=False, repr=False)
class PreparedSparse(PreparedMatrix):
    """A canonical CSR array with a factor for each row."""

    def block(self, start: int, stop: int) -> SparseBlock:
        rows = slice(start, min(stop, self.count))
        return SparseBlock(
            _row_range(self.matrix, rows.start, rows.stop),
            pick(self.scale, rows),
            pick(self.labels, rows),
            pick(self.weights, rows),
            self.bounds.intercept,
        )

    def take(self, positions: Integers) -> PreparedSparse:
        return self._pick(self.matrix[positions], positions)

    def part(self, start: int, stop: int) -> PreparedSparse:
        return self._pick(_row_range(self.matrix, start, stop), slice(start, stop))

    def _pick(self, matrix: Any, rows: Integers | slice) -> PreparedSparse:
        return PreparedSparse(
            self.bounds,
            matrix,
            pick(self.labels, rows),
            pick(self.weights, rows),
            pick(self.scale, rows),
            owners=None if self.owners is None else self.owners[rows],
        )

    @classmethod
    def join(cls, parts: Sequence[PreparedSparse]) -> PreparedSparse:
        """Return the rows of all parts, which were clipped alike."""
        counts = [part.count for part in parts]
        return cls(
            parts[0].bounds,
            sparse.csr_array(sparse.vstack([part.matrix for part in parts], format="csr")),
            join_vectors([part.labels for part in parts], counts, 0.0),
            join_vectors([part.weights for part in parts], counts, 1.0),
            join_vectors([part.scale for part in parts], counts, 1.0),
            owners=join_owners(parts),
        )

    def gather(self) -> tuple[Any, Vector | None]:
        matrix = self.matrix.copy()
        if self.scale is not None:
            matrix.data *= np.repeat(self.scale, np.diff(matrix.indptr))
        if self.bounds.intercept is not None:
            column = np.full((self.count, 1), self.bounds.intercept)
            matrix = sparse.hstack([matrix, sparse.csr_array(column)], format="csr")
        return matrix, None if self.labels is None else self.labels.copy()


def check_origin(bounds: Bounds) -> None:
    """Refuse sparse rows in a set without the origin: clipping would make them dense."""
    if not bounds.features.contains(np.zeros(bounds.n_features), tolerance=0.0):
        raise InputError(
            "sparse rows need a set that contains the origin; use a ball, or a dense array."
        )


def _make_canonical(matrix: Any) -> Any:
    """Return a float64 CSR array with sorted indices and no entry stored in pieces.

    An entry stored in two pieces would have its norm understated. The flags that SciPy caches
    are not trusted: whoever edited the indices may not have reset them.
    """
    with np.errstate(all="ignore"):  # what overflows is not finite, and its row is replaced
        csr = sparse.csr_array(matrix, dtype=np.float64)
    csr = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    csr.check_format(full_check=True)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _is_finite_in_sum(numbers: Vector) -> bool:
    """Say whether all numbers are surely finite; no to huge ones, whose sum overflows."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(numbers.sum()))


def _copy_with_numbers(matrix: Any, data: Vector) -> Any:
    """Return the same pattern with other numbers."""
    fresh = sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    fresh.has_canonical_format = True
    return fresh


def _clip_blockwise(matrix: Any, features: ConvexSet) -> tuple[Any, Vector]:
    """Clip block by block if that changes no number, so that temporary arrays stay small."""
    if not features.shrinks_rows:
        return features.clip_sparse(matrix)
    scale = np.ones(matrix.shape[0])
    for start in range(0, scale.size, CLIPPED_AT_ONCE):
        stop = min(start + CLIPPED_AT_ONCE, scale.size)
        scale[start:stop] = features.clip_sparse(_row_range(matrix, start, stop))[1]
    return matrix, scale


def _row_range(matrix: Any, start: int, stop: int) -> Any:
    """Return some rows without copying their numbers."""
    if start == 0 and stop == matrix.shape[0]:
        return matrix
    first, last = matrix.indptr[start], matrix.indptr[stop]
    rows = sparse.csr_array((stop - start, matrix.shape[1]))
    # SciPy's constructor copies a slice of a larger array; setting the parts does not.
    rows.data = matrix.data[first:last]
    rows.indices = matrix.indices[first:last]
    rows.indptr = matrix.indptr[start : stop + 1] - first
    rows.has_canonical_format = True
    return rows
