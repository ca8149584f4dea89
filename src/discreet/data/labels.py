"""The columns of labels and weights, accepted by their type and cleaned row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.data.given_column import GivenColumn, column_of
from discreet.data.kinds import TEXT
from discreet.errors import InputError, InputTypeError
from discreet.questions.bounds import Bounds


def accept_labels(y: Any, count: int, bounds: Bounds) -> GivenColumn | None:
    """Check the shape and type of a label column; reads no value."""
    check_labelled(y is not None, bounds)
    return None if y is None else accept_column("y", "label", y, count)


def accept_weights(weights: Any, count: int, bounds: Bounds) -> GivenColumn | None:
    """Check the shape and type of a column of weights; reads no value."""
    check_weighted(weights is not None, bounds)
    return None if weights is None else accept_column("weights", "weight", weights, count)


def check_labelled(has_labels: bool, bounds: Bounds) -> None:
    """Refuse labels that are not declared, and rows without the declared ones."""
    if has_labels and bounds.labels is None:
        raise InputError("the bounds declare no labels; declare them or leave y out.")
    if not has_labels and bounds.labels is not None:
        raise InputError("the bounds declare labels; pass y.")


def check_weighted(has_weights: bool, bounds: Bounds) -> None:
    """Refuse weights whose largest is not declared."""
    if has_weights and bounds.max_weight is None:
        raise InputError("weights need a declared largest one; pass max_weight.")


def clean_weights(column: GivenColumn | None, count: int, bounds: Bounds) -> Vector | None:
    """Return weights between zero and the declared largest; NaN counts as zero.

    Rows without weights count once each, or as often as the declared largest if that is less.
    """
    largest = float(bounds.largest_weight)
    if column is None:
        return None if largest >= 1 else np.full(count, largest)
    return np.clip(np.nan_to_num(as_floats(column.stored_numbers()), nan=0.0), 0.0, largest)


def as_floats(values: Any) -> Array:
    """Return numbers of any type as float64; too large ones become infinite, without a warning."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return values
    with np.errstate(all="ignore"):
        return np.asarray(values, dtype=np.float64)


def accept_column(name: str, entry: str, values: Any, count: int) -> GivenColumn:
    """Check that a column holds numbers, one for each row, by its shape and type."""
    given = column_of(values, name)
    if given.kind == TEXT:
        raise InputTypeError(f"{name} must hold numbers; got text.")
    if len(given) != count:
        raise InputError(f"{name} must be a vector with one {entry} for each row of X.")
    return given


def clean_labels(
    column: GivenColumn | None, bounds: Bounds
) -> tuple[Vector | None, Booleans | None]:
    """Return labels within the declaration, and the records to replace as a whole."""
    if bounds.labels is None or column is None:
        return None, None
    return bounds.labels.clean(as_floats(column.stored_numbers()))
