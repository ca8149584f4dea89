"""From what the caller passes to a source, by its shape and type alone."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from discreet.data.dense import ArraySource
from discreet.data.matrix import accept_matrix
from discreet.data.source import Source
from discreet.data.sparse import SparseSource
from discreet.errors import InputError
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
