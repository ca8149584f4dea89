"""What is looked at in a table: its columns, its target and its rows, as a fit would read them.

A survey is a public value, made from what is declared; it says of some rows at a time what a fit
would do to them, wherever they are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from discreet._types import Booleans, Vector
from discreet.data.frame import Frame, matrix_of
from discreet.data.given_column import column_of
from discreet.data.labels import as_floats
from discreet.data.matrix import accept_matrix
from discreet.data.stored.table import Piece
from discreet.errors import InputError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.targets import (
    ClassTarget,
    LearningTarget,
    NumberTarget,
    SeveralNumbers,
    encode_labels,
)
from discreet.geometry import Box, ConvexSet, LinfBall, WholeSpace
from discreet.inspection.tallies import (
    LabelTally,
    NormTally,
    NumberTally,
    TableTally,
    count_labels,
    count_norms,
    count_numbers,
    count_persons,
)
from discreet.preprocessing import Category, Column, Numeric
from discreet.preprocessing.sought_column import is_sought

Ends = tuple[float, float]


@dataclass(frozen=True)
class NumbersLooked:
    """A column of numbers, and its range if it has one of its own."""

    name: str
    ends: Ends | None
    is_sought: bool = False

    def count(self, cells: Any) -> NumberTally:
        """Count the cells of the column."""
        return count_numbers(cells, self.ends)


@dataclass(frozen=True)
class LevelsLooked:
    """A column of categories."""

    name: str
    category: Category

    def count(self, cells: Any) -> LabelTally:
        """Count the cells of the column."""
        return count_labels(cells, self.category.width, self._find)

    def _find(self, cells: Any) -> Vector:
        marks = self.category.plain(cells)
        return np.where(marks.any(axis=1), marks.argmax(axis=1), np.nan)


Looked = NumbersLooked | LevelsLooked


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """What is counted of rows."""

    columns: tuple[Looked, ...]
    target: LearningTarget | None = None
    region: ConvexSet | None = None
    encoder: DeclaredFeatures | None = None
    person: str | None = None

    def look(self, piece: Piece, count: int | None = None, whose: Any = None) -> TableTally:
        """Return what a fit would do to some rows."""
        rows = piece.matrix
        if self.person is not None:
            whose = rows[self.person]
        with np.errstate(all="ignore"):
            return TableTally(
                count_rows(rows) if count is None else count,
                self._count_columns(rows),
                None if self.target is None else count_target(self.target, piece.labels),
                self._count_norms(rows),
                None if whose is None else count_persons(_array_of(whose)),
            )

    def _count_columns(self, rows: Any) -> tuple[NumberTally | LabelTally, ...]:
        if isinstance(rows, Frame):
            return tuple(column.count(_array_of(rows[column.name])) for column in self.columns)
        return tuple(column.count(rows[:, place]) for place, column in enumerate(self.columns))

    def _count_norms(self, rows: Any) -> NormTally | None:
        if self.region is None:
            return None
        if self.encoder is not None:
            names = [column.name for column in self.columns]
            named = rows.only(names) if isinstance(rows, Frame) else rows
            return count_shortened(np.asarray(self.encoder.scaler.transform(named)), self.region)
        if isinstance(rows, Frame):
            rows = matrix_of(rows.only(column.name for column in self.columns))
        return count_shortened(rows, self.region)


def state_columns(features: DeclaredFeatures, names: list[str]) -> tuple[Looked, ...]:
    """Return declared columns as they are looked at."""
    return tuple(
        _state_column(name, column) for name, column in zip(names, features.columns, strict=True)
    )


def _state_column(name: str, column: Column) -> Looked:
    if isinstance(column, Category):
        return LevelsLooked(name, column)
    ends = (column.low, column.high) if isinstance(column, Numeric) else None
    return NumbersLooked(name, ends, is_sought(column))


def state_numbers(
    names: list[str], region: ConvexSet, origin: float
) -> tuple[tuple[Looked, ...], ConvexSet | None]:
    """Return plain columns of numbers, with ranges where each is clipped by itself.

    Beside them, what rows are clipped to as a whole; None if they are not.
    """
    width = len(names)
    if isinstance(region, Box):
        ends = zip(region.lower, region.upper, strict=True)
        return tuple(map(NumbersLooked, names, ends)), None
    if isinstance(region, LinfBall):
        around = (origin - region.radius, origin + region.radius)
        return tuple(map(NumbersLooked, names, [around] * width)), None
    columns = tuple(NumbersLooked(name, None) for name in names)
    return columns, None if isinstance(region, WholeSpace) else region


def count_target(target: LearningTarget, cells: Any) -> NumberTally | LabelTally | NormTally:
    """Count labels against what is declared of them."""
    if isinstance(target, ClassTarget):
        find = partial(encode_labels, classes=target.classes)
        given = column_of(cells, "y")
        held = _array_of(given.cells)
        if given.missing is None:
            return count_labels(held, target.classes.size, find)
        known = count_labels(held[~given.missing], target.classes.size, find)
        absent = LabelTally(np.zeros_like(known.declared), Counter(), int(given.missing.sum()))
        return known + absent
    if isinstance(target, NumberTarget):
        given = column_of(cells, "y")
        held = given.cells if given.missing is None else given.numbers()
        return count_numbers(held, (target.interval.low, target.interval.high))
    if isinstance(target, SeveralNumbers):
        numbers = column_of(cells, "y").numbers()[:, None] if target.is_single else cells
        return count_shortened(as_floats(accept_matrix(numbers, "y").numbers()), target.region)
    raise InputError(f"what a {type(target).__name__} does to labels cannot be looked at.")


def count_shortened(matrix: Any, region: ConvexSet) -> NormTally:
    """Count the rows of a matrix that are clipped, or not finite."""
    is_sparse = sparse.issparse(matrix)
    rows: Any = matrix.tocsr() if is_sparse else np.ascontiguousarray(matrix, dtype=np.float64)
    bad = _rows_not_finite(rows) if is_sparse else ~np.isfinite(rows).all(axis=1)
    rows, order = rows[~bad], region.norm_order
    if not rows.shape[0]:
        return count_norms(bad, np.empty(0), None, None)
    scale = (region.clip_sparse(rows) if is_sparse else region.clip_rows(rows))[1]
    if order is None:
        return count_norms(bad, scale, None, None)
    measure: Any = linalg.norm if is_sparse else np.linalg.norm
    norms = measure(rows, ord=order, axis=1)
    return count_norms(bad, scale, np.asarray(norms), region.reach(rows.shape[1], order))


def _rows_not_finite(rows: Any) -> Booleans:
    bad = np.zeros(rows.shape[0], dtype=bool)
    bad[rows.tocoo().row[~np.isfinite(rows.tocoo().data)]] = True
    return bad


def _array_of(cells: Any) -> Any:
    """Return the cells of a column as they are: coded, or in an array."""
    return cells if hasattr(cells, "places") else np.asarray(cells)


def count_rows(rows: Any) -> int:
    """Return how many rows there are."""
    if not isinstance(rows, Frame):
        return int(rows.shape[0])
    cells = rows[rows.columns[0]]
    return int((cells.places if hasattr(cells, "places") else np.asarray(cells)).size)
