"""The forms in which points and rows may arrive; nothing here looks at a value."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from discreet._types import Array
from discreet.errors import InputError, InputTypeError

Csr: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]] | sparse.csr_matrix[np.float64]"
"""A sparse matrix in compressed rows."""


def as_numbers(name: str, values: ArrayLike) -> Array:
    """Return real numbers as float64, sharing memory where possible."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputTypeError(f"{name} must be a regular array of numbers.") from None
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} must hold real numbers; got dtype {array.dtype}.")
    return array.astype(np.float64, copy=False)


def as_rows(name: str, points: ArrayLike) -> Array:
    """Return one point, or many, as the rows of a matrix."""
    array = as_numbers(name, points)
    if array.ndim not in (1, 2) or array.shape[-1] == 0:
        raise InputError(
            f"{name} must be one point, shape (p,), or many, shape (m, p), with p at least 1; "
            f"got shape {array.shape}."
        )
    return array[None] if array.ndim == 1 else array


def check_dense(rows: object) -> None:
    """Refuse anything but a two-dimensional float64 array with at least one column."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float64:
        raise InputTypeError("rows must be a float64 NumPy array.")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(f"rows must have shape (m, p), with p at least 1; got {rows.shape}.")


def check_sparse(matrix: object) -> None:
    """Refuse anything but a canonical float64 CSR matrix with at least one column."""
    if not isinstance(matrix, sparse.csr_array | sparse.csr_matrix) or matrix.dtype != np.float64:
        raise InputTypeError("matrix must be a float64 SciPy sparse matrix in CSR format.")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InputError(f"matrix must have shape (m, p), with p at least 1; got {matrix.shape}.")
    # An entry stored in two pieces would have its norm, and so the sensitivity, understated.
    if not matrix.has_canonical_format:
        raise InputError("matrix must be in canonical format. Call sum_duplicates() on it first.")
