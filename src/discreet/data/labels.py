"""The label column, accepted by its type and cleaned row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet._types import Booleans, Vector
from discreet.declared import Bounds
from discreet.errors import InputError, InputTypeError

NUMERIC_KINDS = "fiub"


def accept_labels(y: Any, count: int, bounds: Bounds) -> Any:
    """Check the shape and type of a label column; reads no value."""
    if bounds.labels is None:
        if y is not None:
            raise InputError("the bounds declare no labels; declare them or leave y out.")
        return None
    if y is None:
        raise InputError("the bounds declare labels; pass y.")
    if not hasattr(y, "__len__"):
        raise InputTypeError(f"y must be an array; got {type(y).__name__}.")
    try:
        column = np.asarray(y)
    except Exception:  # whatever a foreign container raises could quote its contents
        column = np.empty(0, dtype=object)
    if column.dtype.kind not in NUMERIC_KINDS:
        raise InputTypeError(f"y must hold numbers; got {column.dtype.type.__name__}.")
    if column.shape != (count,):
        raise InputError("y must be a vector with one label for each row of X.")
    return column


def clean_labels(column: Any, bounds: Bounds) -> tuple[Vector | None, Booleans | None]:
    """Return labels within the declaration, and the records to replace as a whole."""
    if bounds.labels is None:
        return None, None
    return bounds.labels.clean(np.asarray(column, dtype=np.float64))
