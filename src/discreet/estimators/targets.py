"""Classes: declared, or found in the labels; and the place of each label among them.

Labels are read each by itself; one that is no declared class is no error, its record counts as a
fixed one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from discreet._types import Vector
from discreet.data.cells import label_of
from discreet.data.frame import Coded
from discreet.data.given_column import GivenColumn, column_of
from discreet.data.kinds import ANYTHING, NUMBER, NUMERIC_KINDS, TEXT
from discreet.errors import InputError, InputTypeError
from discreet.geometry import ConvexSet
from discreet.questions import Interval, Labels, LabelSet
from discreet.record import Fact, Origin, labels_in_words, one_of


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


FOUND = "the classes found in the labels"


class LearningTarget(ABC):
    """What is learnt from, as declared."""

    assumed: tuple[str, ...] = ()
    """What was found in the data and is taken as public."""

    @property
    def labels(self) -> Labels | None:
        """The labels that a question declares; None if rows carry none."""
        return None

    @property
    @abstractmethod
    def fact(self) -> Fact:
        """What is declared, in the caller's terms."""


@dataclass(frozen=True)
class SeveralNumbers(LearningTarget):
    """Several numbers a row, which are columns of the row itself."""

    count: int
    is_single: bool
    region: ConvexSet

    @property
    def fact(self) -> Fact:
        return Fact("labels", self.region.words, Origin.DECLARED)


class LabelTarget(LearningTarget):
    """One label a row, read by itself from a cell."""

    @property
    def values(self) -> tuple[Any, ...] | None:
        """The values that a stored column may hold; None for numbers."""
        return None

    @abstractmethod
    def check(self, given: GivenColumn) -> None:
        """Refuse a column whose type cannot hold such labels; reads no cell."""

    @abstractmethod
    def read(self, cells: Any) -> Vector:
        """Return the label of each cell, by itself."""


@dataclass(frozen=True, eq=False)
class ClassTarget(LabelTarget):
    """Classes, in order; labels are -1 and 1 for two of them, and 0, 1, ... for more."""

    classes: Any
    is_found: bool

    @property
    def assumed(self) -> tuple[str, ...]:  # type: ignore[override]
        return (FOUND,) if self.is_found else ()

    @property
    def labels(self) -> Labels:
        return LabelSet(range(self.classes.size))

    @property
    def fact(self) -> Fact:
        if self.is_found:
            return Fact("labels", FOUND, Origin.FOUND)
        return Fact("labels", one_of([str(name) for name in self.values]), Origin.DECLARED)

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.classes.tolist())

    def check(self, given: GivenColumn) -> None:
        check_kind_of_labels(given, self.classes)

    def read(self, cells: Any) -> Vector:
        codes = encode_labels(cells, self.classes)
        if self.classes.size > 2:
            return codes
        signs: Vector = np.where(np.isnan(codes), codes, 2 * codes - 1)
        return signs


def class_target(classes: Any, y: GivenColumn | None) -> ClassTarget:
    """Return declared classes, or those found in the labels, which stored ones are not read for."""
    if classes is not None:
        return ClassTarget(list_classes(classes), is_found=False)
    if y is None:
        raise InputError(
            "declare the classes with classes=; they are not looked for in files, whose rows "
            "are read only after the ledger was charged."
        )
    return ClassTarget(find_classes(y), is_found=True)


@dataclass(frozen=True)
class NumberTarget(LabelTarget):
    """Numbers, clipped to their declared range and counted from ``origin``."""

    interval: Interval
    origin: float = 0.0

    @property
    def labels(self) -> Interval:
        return Interval(self.interval.low - self.origin, self.interval.high - self.origin)

    @property
    def fact(self) -> Fact:
        return Fact("labels", labels_in_words(self.interval), Origin.DECLARED)

    def check(self, given: GivenColumn) -> None:
        check_numbers(given)

    def read(self, cells: Any) -> Vector:
        inside: Vector = np.clip(read_numbers(cells), self.interval.low, self.interval.high)
        return inside - self.origin


def check_numbers(given: GivenColumn) -> None:
    """Refuse a column of text where numbers are wanted; reads no cell."""
    if given.kind == TEXT:
        raise InputTypeError("y must hold numbers; got text. Convert it first.")


def read_numbers(y: Any) -> Vector:
    """Return targets as numbers, NaN where one is none; text as a whole is refused by its type."""
    given = column_of(y, "y")
    check_numbers(given)
    return given.numbers()


def interval_of(**named: tuple[float, float] | None) -> Interval:
    """Return the one range given, refusing what is no range."""
    ((name, ends),) = named.items()
    try:
        low, high = ends  # type: ignore[misc]
    except (TypeError, ValueError):
        raise InputError(f"{name} must be two numbers, low and high; got {ends!r}.") from None
    interval = Interval(low, high)
    if interval.low == interval.high:
        raise InputError(f"{name} must not be empty; got {low} twice.")
    return interval
