"""From what the caller passes to a source, by its shape and type alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from discreet.data.dense import ArraySource
from discreet.data.source import Source
from discreet.data.sparse import SparseSource
from discreet.declared import Bounds
from discreet.errors import InputError, InputTypeError


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
    if not hasattr(X, "__len__") and not hasattr(X, "__array__"):
        raise InputTypeError(f"X must be an array of rows and columns; got {type(X).__name__}.")
    if isinstance(X, np.ma.MaskedArray):
        raise InputTypeError("X must not be a masked array; fill it, with NaN if you like.")
    try:
        matrix = np.asarray(X)
    except Exception:  # whatever a foreign container raises could quote its contents
        matrix = None
    if matrix is None:
        raise InputTypeError("X must be an array of numbers with rows of equal length.")
    return ArraySource.accept(matrix, y, weights, bounds)
