"""What is learnt from: classes, numbers, or nothing; each label is read by itself.

A target says which labels a question declares, whether a column of some type can hold them, and
how cells become the numbers that mechanisms see. Nothing here keeps a label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Vector
from discreet.data.given_column import GivenColumn, column_of
from discreet.data.kinds import TEXT
from discreet.errors import InputError, InputTypeError
from discreet.estimators.classes import check_kind_of_labels, encode_labels
from discreet.geometry import ConvexSet
from discreet.questions import Interval, Labels, LabelSet
from discreet.record import Fact, Origin, labels_in_words, one_of

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


def require_target(target: LearningTarget | None) -> LearningTarget:
    """Return the target of an estimator that has one."""
    if target is None:
        raise InputError("this estimator learns from labels; pass them.")
    return target


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
