"""Columns as declared: encoded for the fit, and coefficients back in the user's units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.data.matrix import hold_table
from discreet.data.stored import OpenedTable, Wanted
from discreet.errors import InputError
from discreet.estimators.features import (
    Accepted,
    Columns,
    Entries,
    FeatureMap,
    Product,
    matrix_product,
    name_columns,
)
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.preprocessing import BoundedScaler, Category, Column, declare_columns
from discreet.preprocessing.short_forms import Declared
from discreet.preprocessing.sought_column import SoughtColumn, is_sought
from discreet.questions.sought_ranges import SoughtRanges
from discreet.record import Fact, Origin


@dataclass(frozen=True, eq=False)
class DeclaredFeatures(FeatureMap):
    """Numbers scaled to [-1, 1] by their declared ranges, categories one-hot."""

    given: Declared
    is_centred: bool = True
    kept_share: float = 1.0
    constant: float = 1.0

    @cached_property
    def declared(self) -> dict[str, Column] | list[Column]:
        """What is declared, without short forms: by name, or in the order of the columns."""
        return declare_columns(self.given)

    @property
    def scaler(self) -> BoundedScaler:
        """What encodes rows; a public constant."""
        columns = self.declared
        encoded: Declared
        if isinstance(columns, dict):
            encoded = {name: _as_encoded(column) for name, column in columns.items()}
        else:
            encoded = [_as_encoded(column) for column in columns]
        return BoundedScaler(encoded, centre_categories=self.is_centred, data_norm=None)

    @cached_property
    def columns(self) -> list[Column]:
        """What is declared, column by column."""
        columns = self.declared
        return list(columns.values() if isinstance(columns, dict) else columns)

    def width_of(self, columns: int) -> int:
        return sum(column.width for column in self.columns)

    def encodes_as(self, other: FeatureMap) -> bool:
        if not isinstance(other, DeclaredFeatures):
            return False
        ours, theirs = (
            list(one.items()) if isinstance(one, dict) else one
            for one in (self.declared, other.declared)
        )
        return ours == theirs and self.is_centred == other.is_centred

    @property
    def sought(self) -> SoughtRanges | None:
        widths = [column.width for column in self.columns]
        places = zip(np.cumsum([0, *widths]).tolist(), self.columns, strict=False)
        found = tuple(place for place, column in places if is_sought(column))
        return SoughtRanges(found, replace(self, kept_share=1.0).region) if found else None

    def complete(self, model: Any) -> FeatureMap:
        ranges = getattr(model, "ranges_", None)
        return self if ranges is None else self.with_ranges(np.asarray(ranges))

    def with_ranges(self, ranges: Array) -> DeclaredFeatures:
        """Return the same columns with the ranges that were found, in the user's own units."""
        if not self.holds_ranges(ranges):
            raise InputError(
                "the ranges that a fit found are not those of these columns; were columns changed "
                "after the fit? Fit again."
            )
        ends = iter(ranges.tolist())
        columns = [
            column.within(*next(ends)) if is_sought(column) else column for column in self.columns
        ]
        if isinstance(self.declared, dict):
            return replace(self, given=dict(zip(self.declared, columns, strict=True)))
        return replace(self, given=columns)

    def holds_ranges(self, ranges: Array) -> bool:
        """Say whether there is a range within the public bounds for each that is sought."""
        sought = [column for column in self.columns if is_sought(column)]
        if ranges.shape != (len(sought), 2) or not sought:
            return False
        pairs = zip(sought, ranges.tolist(), strict=True)
        return all(column.low <= low < high <= column.high for column, (low, high) in pairs)

    def ranges_of(self, shares: Array) -> Array:
        """Return ranges in the user's own units, given from -1 to 1 within their public bounds."""
        sought = [column for column in self.columns if is_sought(column)]
        found = [
            [min(max(column.middle + column.half * end, column.low), column.high) for end in ends]
            for column, ends in zip(sought, shares.tolist(), strict=True)
        ]
        return np.array(found)

    @cached_property
    def region(self) -> ConvexSet:  # type: ignore[override]
        scaler = self.scaler
        if self.is_centred:
            return L2Ball(scaler.row_norm())
        numeric = sum(not isinstance(column, Category) for column in self.columns)
        total = scaler.row_norm(order=1) - (1 - self.kept_share) * numeric
        if self.kept_share == 1:
            return L1L2Ball(total, scaler.row_norm())
        return L1L2Ball(total, min(scaler.row_norm(), math.sqrt(total)))

    @property
    def facts(self) -> tuple[Fact, ...]:  # type: ignore[override]
        columns = self.declared
        named = columns.items() if isinstance(columns, Mapping) else enumerate(columns, start=1)
        return (
            Fact("columns", f"{len(columns):,}, each declared by itself", Origin.DECLARED),
            Fact("features", f"encoded columns: {self.region.words}", Origin.CHOSEN),
            *(Fact(f"column {name}", column.words, Origin.DECLARED) for name, column in named),
        )

    @property
    def indicators(self) -> tuple[bool, ...]:
        """Which features are levels of a category."""
        return tuple(
            isinstance(column, Category) for column in self.columns for _ in range(column.width)
        )

    @property
    def entries(self) -> Entries:
        return Entries(1.0, self.indicators)

    def accept(self, model: Any, X: Any) -> Accepted:
        X = hold_table(X)
        scaler = self.scaler.fit(X)
        names = getattr(scaler, "feature_names_in_", None)
        name_columns(model, None if names is None else list(names), scaler.n_features_in_)
        shape = (scaler.accept(X), scaler.n_features_out)
        return Accepted(shape, False, lambda: scaler.transform(X))

    def find(self, model: Any, table: OpenedTable) -> Columns:
        scaler = self.scaler
        columns, width = self.columns, scaler.n_features_out
        by_name = isinstance(self.declared, Mapping)
        names = list(self.declared) if isinstance(self.declared, Mapping) else table.names
        if by_name and table.names is None:
            raise InputError("columns are declared by name, and arrays have none; declare a list.")
        found = table.width if names is None else len(names)
        if found != len(columns):
            raise InputError(
                f"the table must have {len(columns)} columns beside the target, one for each "
                f"declared; got {found}. Declare a dict to choose columns by name."
            )
        if not by_name:
            table.check_same_names()
        name_columns(model, names, len(columns))
        # A stored entry of a sparse row takes half as much again as one of a dense row.
        is_sparse = not scaler.centre_categories and 3 * len(columns) < 2 * width
        is_sparse = is_sparse and self.sought is None  # places of numbers are seldom zero
        if is_sparse:
            scaler.sparse_output = True
        wanted = self._want(names or [f"column {place}" for place in range(len(columns))])
        return Columns(wanted, scaler.transform, width, is_sparse)

    def find_again(self, model: Any) -> tuple[Wanted, ...]:
        return self._want(model.feature_names_in_)

    def _want(self, names: Iterable[str]) -> tuple[Wanted, ...]:
        return tuple(
            Wanted(name, column.levels if isinstance(column, Category) else None)
            for name, column in zip(names, self.columns, strict=True)
        )

    def names(self, columns: list[str]) -> list[str]:
        named = zip(self.columns, columns, strict=True)
        return [feature for column, name in named for feature in column.names(name)]

    def fold(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        return self.scaler.fold(coef, intercept)

    def scaler_of(self, model: Any) -> BoundedScaler:
        """Return what encodes rows for a fitted model; columns listed keep their order."""
        scaler = self.scaler
        if hasattr(model, "feature_names_in_"):
            scaler.feature_names_in_ = model.feature_names_in_
        return scaler

    def margins(self, model: Any, X: Any, product: Product = matrix_product) -> Array:
        scaler = self.scaler_of(model)
        coef = np.atleast_2d(model.coef_)
        linear = product(scaler.plain(X), coef)
        if self.kept_share == 1:
            return np.asarray(linear + model.intercept_)
        # Rows that were clipped in the fit are clipped here, about the middle of each range.
        factors = self.region.clip_rows(np.asarray(scaler.transform(X)))[1][:, None]
        origin = np.concatenate([column.origin() for column in self.columns])
        middle = origin @ coef.T
        return np.asarray(middle + factors * (linear - middle) + model.intercept_)


def _as_encoded(column: Column) -> Column:
    """Return what encodes a column in a fit."""
    return SoughtColumn(column) if is_sought(column) else column
