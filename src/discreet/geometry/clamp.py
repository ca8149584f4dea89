"""Entries brought between two limits; a copy is made only when some entry is outside."""

from __future__ import annotations

import math

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry.shapes import Csr


def clamp_rows(rows: Array, lower: float | Vector, upper: float | Vector) -> Array:
    """Clamp each column between its limits."""
    is_above = np.all(rows.min(axis=0, initial=math.inf) >= lower)
    is_below = np.all(rows.max(axis=0, initial=-math.inf) <= upper)
    return rows if is_above and is_below else np.clip(rows, lower, upper)


def clamp_stored(matrix: Csr, lower: float | Vector, upper: float | Vector) -> Csr:
    """Clamp each stored entry between its own limits."""
    stored = matrix.data[: matrix.nnz]
    if np.all(stored >= lower) and np.all(stored <= upper):
        return matrix
    clamped = matrix.copy()
    np.clip(stored, lower, upper, out=clamped.data[: matrix.nnz])
    return clamped
