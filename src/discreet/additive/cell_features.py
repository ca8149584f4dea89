"""Declared columns as cells: of a number the part of its range that it is in, of a level itself.

A column of at most 256 whole numbers has a cell for each of them.

Each cell is a function of its value alone, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.additive.pair_effect import PairEffect, read_pairs
from discreet.data.matrix import hold_table
from discreet.data.stored import OpenedTable, Wanted
from discreet.errors import InputError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import Accepted, Columns, FeatureMap, Product, matrix_product
from discreet.geometry import ConvexSet
from discreet.mechanisms.summing.dyadic_splits import even_edges, place_numbers
from discreet.preprocessing import BoundedScaler, Category, Column, Numeric
from discreet.preprocessing.columns import Cells, read_numbers
from discreet.preprocessing.short_forms import Declared
from discreet.questions import Marginals
from discreet.record import Fact, Origin

DEPTH = 8
"""A range is cut into 2**8 cells of equal width."""


@dataclass(frozen=True, eq=False)
class CellFeatures(FeatureMap):
    """One whole number for each declared column: the cell that its value is in.

    The last cell of a column is that of missing numbers, or of anything but a declared level. If it
    ``keeps_whole`` numbers apart, columns of at most 256 of them have a cell for each.
    """

    given: Declared
    constant: float = 0.0
    depth: int = DEPTH
    keeps_whole: bool = False

    def __post_init__(self) -> None:
        if self._declared.sought is not None:
            raise InputError(
                "an additive model needs a range for each column of numbers: cells are cut before "
                "a row is read. Declare low and high in place of public_bounds; a range ten times "
                "too wide costs little."
            )

    @cached_property
    def _declared(self) -> DeclaredFeatures:
        return DeclaredFeatures(self.given)

    @property
    def declared(self) -> dict[str, Column] | list[Column]:
        """What is declared, without short forms: by name, or in the order of the columns."""
        return self._declared.declared

    @property
    def columns(self) -> list[Column]:
        """What is declared, column by column."""
        return self._declared.columns

    @property
    def levels(self) -> tuple[int | None, ...]:
        """How many levels each column has, None for numbers."""
        return tuple(
            len(column.levels) if isinstance(column, Category) else None for column in self.columns
        )

    @property
    def whole(self) -> tuple[tuple[int, int], ...]:
        """Which columns have a cell for each whole number, and how many."""
        if not self.keeps_whole:
            return ()
        counts = enumerate(map(count_whole, self.columns))
        return tuple((place, count) for place, count in counts if count is not None)

    @property
    def ends(self) -> Integers:
        """Where the cells of each column end, if those of all columns stand one after another."""
        return np.cumsum(self._marginals.cells)

    @property
    def region(self) -> ConvexSet:  # type: ignore[override]
        return self._marginals.bounds.features

    @cached_property
    def _marginals(self) -> Marginals:
        return Marginals(self.levels, depth=self.depth, whole=self.whole)

    @property
    def facts(self) -> tuple[Fact, ...]:  # type: ignore[override]
        each = "whole number or level" if self.whole else "level"
        cells = f"the cell of each value: {2**self.depth:,} for numbers, one for each {each}"
        told = tuple(fact for fact in self._declared.facts if fact.what != "features")
        return (*told, Fact("features", cells, Origin.CHOSEN))

    @property
    def of_columns(self) -> FeatureMap:
        return self._declared

    def width_of(self, columns: int) -> int:
        return len(self.columns)

    def encodes_as(self, other: FeatureMap) -> bool:
        return isinstance(other, CellFeatures) and self._declared.encodes_as(other._declared)

    def accept(self, model: Any, X: Any) -> Accepted:
        held = hold_table(X)
        (count, _), *_ = self._declared.accept(model, held)
        scaler = self._declared.scaler_of(model)
        return Accepted(
            (count, len(self.columns)),
            False,
            lambda: self._read(scaler, held),
        )

    def find(self, model: Any, table: OpenedTable) -> Columns:
        found = self._declared.find(model, table)
        encode = partial(self._read, self._declared.scaler)
        return Columns(found.wanted, encode, len(self.columns), False)

    def find_again(self, model: Any) -> tuple[Wanted, ...]:
        return self._declared.find_again(model)

    def names(self, columns: list[str]) -> list[str]:
        return columns

    def fold(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        return coef, intercept

    def cells(self, model: Any, X: Any) -> Integers:
        """Return the cell of each value of a table that is like the one of the fit."""
        return self._read(self._declared.scaler_of(model), X).astype(np.int64)

    def _read(self, scaler: BoundedScaler, X: Any) -> Array:
        """Return the cell of each value, as numbers."""
        listed = scaler.read_columns(X)
        cells = np.empty((_count(listed[0]), len(self.columns)), order="F")  # read by column
        for target, column, values in zip(cells.T, self.columns, listed, strict=True):
            target[:] = place(column, values, self.depth, keeps_whole=self.keeps_whole)
        return cells

    def margins(self, model: Any, X: Any, product: Product = matrix_product) -> Array:
        cells = self.cells(model, X)
        total = np.tile(model.intercept_, (len(cells), 1))
        for column, table in enumerate(self.tables(model)):
            total += table[:, cells[:, column]].T
        for effect in self.pairs(model):
            total += effect.add(cells)
        return total

    def pairs(self, model: Any) -> list[PairEffect]:
        """Return what pairs of columns add to each score of a fitted model."""
        return read_pairs(model, self.columns, self.ends)

    def tables(self, model: Any) -> list[Array]:
        """Return what each cell of every column adds to each score of a fitted model."""
        return np.split(np.atleast_2d(model.cell_values_), self.ends[:-1], axis=1)


def place(
    column: Column, values: Cells, depth: int = DEPTH, *, keeps_whole: bool = True
) -> Integers:
    """Return the cell of each value of a column.

    Examples
    --------
    >>> place(Numeric(0, 256), np.array([0.0, 1.0, 255.9, 256.0, np.inf, np.nan])).tolist()
    [0, 1, 255, 255, 255, 256]
    >>> place(Numeric(1, 5, whole=True), np.array([1.0, 2.4, 2.5, 9.0, np.nan])).tolist()
    [0, 1, 2, 4, 5]
    >>> place(Category(["no", "yes"]), np.array(["yes", "maybe"])).tolist()
    [1, 2]
    """
    if isinstance(column, Category):
        codes = column.codes(values)
        return np.where(codes < 0, len(column.levels), codes)
    if not isinstance(column, Numeric):
        raise InputError("an additive model knows columns of numbers, and categories.")
    numbers = read_numbers(values)
    if column.fill is not None:
        numbers = np.where(np.isfinite(numbers), numbers, column.fill)
    count = count_whole(column) if keeps_whole else None
    if count is None:
        return place_numbers(numbers, column.low, column.high, depth)
    is_missing = np.isnan(numbers)
    inside = np.clip(np.where(is_missing, column.low, numbers), column.low, column.high)
    below = np.floor(inside)
    nearest = below + (inside - below >= 0.5) - column.low
    return np.where(is_missing, count, nearest).astype(np.int64)


def count_whole(column: Column) -> int | None:
    """Return how many whole numbers have a cell each; None where cells are parts of a range.

    Examples
    --------
    >>> count_whole(Numeric(18, 100, whole=True)), count_whole(Numeric(0, 256, whole=True))
    (83, None)
    """
    if not (isinstance(column, Numeric) and column.whole):
        return None
    count = int(column.high - column.low) + 1
    return count if count <= 2**DEPTH else None


def edges_of(column: Numeric) -> Vector:
    """Return where the cells of a column of numbers begin and end, its range included.

    Those of whole numbers meet half way between them.
    """
    low, high, count = column.low, column.high, count_whole(column)
    inner = even_edges(low, high, DEPTH) if count is None else low + np.arange(count - 1) + 0.5
    return np.concatenate([[low], inner, [high]])


def _count(cells: Any) -> int:
    return int((cells.places if hasattr(cells, "places") else cells).size)
