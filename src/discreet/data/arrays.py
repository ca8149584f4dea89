"""From what the caller passes to a source, by its shape and type alone; cells may come later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from discreet.data.dense import ArraySource, check_shape, rows_of_width
from discreet.data.labels import check_labelled, check_weighted
from discreet.data.matrix import accept_matrix
from discreet.data.source import Prepared, PreparedMatrix, Source, refuse_changed
from discreet.data.sparse import SparseSource, check_origin
from discreet.data.summation import largest_block
from discreet.errors import InputError, PrivacyError
from discreet.questions.bounds import Bounds


def accept_rows(
    X: Any, y: Any, weights: Any, bounds: Bounds, *, may_be_empty: bool = False
) -> Source:
    """Take a table in memory, or rows that are stored elsewhere, as a source; reads no cell."""
    if isinstance(X, Source):
        if y is not None or weights is not None:
            raise InputError(
                "stored rows bring their labels and weights with them; leave y and weights out."
            )
        X.check(bounds)
        return X
    if sparse.issparse(X):
        return SparseSource.accept(X, y, weights, bounds, may_be_empty=may_be_empty)
    given = accept_matrix(X)
    return ArraySource.accept(given, y, weights, bounds, may_be_empty=may_be_empty)


class EncodedSource(Source):
    """Rows that a function makes of cells, once they may be read.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.data import Bounds, Rows
    >>> from discreet.geometry import L2Ball
    >>> cells = ["yes", "no", None]
    >>> def encode():
    ...     return np.array([[float(cell == "yes")] for cell in cells]), None, None
    >>> source = EncodedSource((3, 1), encode)
    >>> Rows(source, bounds=Bounds(L2Ball(1.0), n_features=1))
    <sealed rows: 1 features, unit 'add_remove'>
    """

    def __init__(
        self,
        shape: tuple[int, int],
        encode: Callable[[], tuple[Any, Any, Any]],
        *,
        has_labels: bool = False,
        has_weights: bool = False,
        is_sparse: bool = False,
    ) -> None:
        self._shape, self._encode = shape, encode
        self._has_labels, self._has_weights = has_labels, has_weights
        self._is_sparse = is_sparse

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    def check(self, bounds: Bounds) -> None:
        check_shape(self.shape, bounds)
        check_labelled(self._has_labels, bounds)
        check_weighted(self._has_weights, bounds)
        if self._is_sparse:
            check_origin(bounds)

    def block_rows(self) -> int:
        return largest_block(self.width) if self._is_sparse else rows_of_width(self.width)

    def prepare(self, bounds: Bounds) -> Prepared:
        matrix, labels, weights = self._encode()
        beside = [(self._has_labels, labels), (self._has_weights, weights)]
        is_as_said = (
            tuple(matrix.shape) == tuple(self.shape)
            and sparse.issparse(matrix) == self._is_sparse
            and all((column is not None) == is_there for is_there, column in beside)
            and all(len(column) == self.count for is_there, column in beside if is_there)
        )
        if not is_as_said:
            refuse_changed()
        return accept_rows(matrix, labels, weights, bounds).prepare(bounds)


@dataclass(frozen=True, eq=False, repr=False)
class DerivedSource(Source):
    """Rows in memory that come from those of another source."""

    rows: Source

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    def check(self, bounds: Bounds) -> None:
        self.rows.check(bounds)

    def block_rows(self) -> int:
        return self.rows.block_rows()

    def _prepare(self, bounds: Bounds) -> PreparedMatrix:
        prepared = self.rows.prepare(bounds)
        if not isinstance(prepared, PreparedMatrix):
            raise PrivacyError("rows that are not in memory were bounded as if they were.")
        return prepared


@dataclass(frozen=True, eq=False, repr=False)
class RemadeRows(DerivedSource):
    """Rows made of others, one of each, which keep their weights and persons."""

    before: Prepared

    def prepare(self, bounds: Bounds) -> Prepared:
        prepared, weights = self._prepare(bounds), self.before.weights
        if weights is None:
            weights = prepared.weights
        elif not bounds.has_weights:
            raise PrivacyError("rows with weights were made anew without.")
        else:
            weights = np.minimum(weights, bounds.row_weight)
        return replace(prepared, weights=weights, owners=self.before.owners)
