"""Classes: declared, or found in the labels; and the place of each label among them.

Labels are read each by itself; one that is no declared class is no error, its record counts as a
fixed one.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from discreet._types import Vector
from discreet.data.cells import label_of
from discreet.data.frame import Coded
from discreet.data.given_column import GivenColumn, column_of
from discreet.data.kinds import ANYTHING, NUMBER, NUMERIC_KINDS, TEXT
from discreet.errors import InputError, InputTypeError


def find_classes(labels: Any) -> Any:
    """Return the classes found in labels, in order: all that are text, or all whole numbers.

    Nothing but the set of labels decides, which is taken as public. Cells that are no labels, NaN
    and infinities among them, are no classes.
    """
    y = column_of(labels, "y")
    cells = y.cells.distinct[np.unique(y.cells.places)] if isinstance(y.cells, Coded) else y.cells
    if y.missing is not None:
        cells = cells[~y.missing]
    if cells.dtype.kind in NUMERIC_KINDS:
        classes = np.unique(cells)
        found = classes[np.isfinite(classes)]
        is_whole = bool((found == np.floor(found)).all())
    else:
        distinct = np.unique(cells) if cells.dtype.kind == "U" else cells
        known = {label_of(cell) for cell in distinct.tolist()}
        listed = [label for label in known if isinstance(label, str) or _is_finite(label)]
        is_text = {isinstance(label, str) for label in listed}
        if len(is_text) > 1:
            raise InputError("labels must be all text or all numbers; or declare the classes.")
        found = np.unique(np.asarray(listed))
        is_whole = True in is_text or all(label == label // 1 for label in listed)
    if not is_whole:
        raise InputError(
            "Unknown label type: continuous. Labels must be text or whole numbers; declare the "
            "classes, or use a regressor."
        )
    return check_several(found)


def list_classes(declared: Any) -> Any:
    """Return the declared classes in order; numbers among text would become text unnoticed."""
    listed = list(declared) if isinstance(declared, Iterable) else []
    is_text = all(isinstance(label, str) for label in listed)
    is_number = all(isinstance(label, (Real, np.bool_)) and label == label for label in listed)
    if not (is_text or is_number):
        raise InputError("classes must be a list of numbers or a list of text; got something else.")
    return check_several(np.unique(np.asarray(listed)))


def check_several(classes: Any) -> Any:
    """Return the classes, refusing fewer than two."""
    if classes.size < 2:
        raise InputError(
            "there must be at least two classes; got one class or none. Declare them with classes=."
        )
    return classes


def check_kind_of_labels(labels: GivenColumn, classes: Any) -> None:
    """Refuse labels of a type in which no class, or more than one, could be recognised."""
    is_declared_text = all(isinstance(label, str) for label in classes.tolist())
    if labels.kind != ANYTHING and (labels.kind == TEXT) != is_declared_text:
        raise InputTypeError(
            f"the labels are {labels.kind}, the declared classes "
            f"{TEXT if is_declared_text else NUMBER}; convert the labels, or declare the classes "
            f"as they are.{_tell_of_numbers(classes) if is_declared_text else ''}"
        )
    dtype = labels.dtype
    with np.errstate(all="ignore"):
        if dtype.kind == "f" and np.unique(classes.astype(dtype)).size < classes.size:
            raise InputTypeError(
                f"labels of the type {dtype.name} cannot tell the declared classes apart; "
                "pass them as integers or as text."
            )


def _tell_of_numbers(classes: Any) -> str:
    """Say what happens inside of estimators that number classes before they pass them on."""
    return (
        " Stacking and voting number the classes in order before they fit: inside of them, declare "
        f"classes={list(range(classes.size))}."
    )


def encode_labels(y: Any, classes: Any) -> Vector:
    """Return the place of each label among the classes, NaN for one that is not declared."""
    given = column_of(y, "y")
    check_kind_of_labels(given, classes)
    cells = given.cells
    if isinstance(cells, Coded):
        return _find_places(cells.distinct, classes)[cells.places]
    if "O" in (cells.dtype.kind, classes.dtype.kind):  # they may have no order
        codes = _find_places(cells, classes)
    else:
        with np.errstate(all="ignore"):
            near = np.minimum(np.searchsorted(classes, cells), classes.size - 1)
            codes = np.where(classes[near] == cells, near, np.nan)
    return codes if given.missing is None else np.where(given.missing, np.nan, codes)


def _find_places(cells: Any, classes: Any) -> Vector:
    place = {label: number for number, label in enumerate(classes.tolist())}
    places = [place.get(label_of(cell), np.nan) for cell in cells.tolist()]
    return np.array(places, dtype=np.float64)


def _is_finite(label: Any) -> bool:
    return label is not None and -np.inf < label < np.inf
