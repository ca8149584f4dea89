"""From what the caller passes to a source, by its shape and type alone."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from discreet.data.dense import ArraySource
from discreet.data.matrix import table_of
from discreet.data.source import Source
from discreet.data.sparse import SparseSource
from discreet.errors import InputError
from discreet.questions.bounds import Bounds


def source_of(X: Any, y: Any, weights: Any, bounds: Bounds) -> Source:
    """Return the source of an array, a sparse matrix, or rows that are stored elsewhere."""
    if isinstance(X, Source):
        if y is not None or weights is not None:
            raise InputError(
                "stored rows bring their labels and weights with them; leave y and weights out."
            )
        X.check(bounds)
        return X
    if sparse.issparse(X):
        return SparseSource.accept(X, y, weights, bounds)
    return ArraySource.accept(table_of(X), y, weights, bounds)
