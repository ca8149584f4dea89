"""What a row of one declared column contributes: moments, or the cell of a histogram."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from discreet._types import Array, Vector
from discreet.additive.cell_features import CellFeatures
from discreet.data.given_column import family
from discreet.data.matrix import hold_table
from discreet.data.stored import OpenedTable
from discreet.errors import InputError
from discreet.estimators.features import Accepted, Columns, PlainFeatures, name_columns
from discreet.geometry import Box, ConvexSet
from discreet.preprocessing import BoundedScaler, Category, Numeric
from discreet.preprocessing.columns import Cells, read_numbers
from discreet.record import Fact, Origin

SECOND, ONE = 3 / 8, 5 / 8
"""What the second moment and the count of values weigh beside the first moment.

The noise of a mean in the middle of its range is then 1.24 times that of a sum alone, 2.3 times at
an end; equal weights would have 1.73 and 2.4.
"""


@dataclass(frozen=True)
class RowFeatures(PlainFeatures):
    """Rows in memory, of which no cell is read, whatever their columns hold."""

    def accept(self, model: Any, X: Any) -> Accepted:
        held = hold_table(X)
        if len(held.shape) != 2:
            raise InputError("x must be a table of rows and columns, or a vector.")
        count = int(held.num_rows if family(held) == "pyarrow" else held.shape[0])
        name_columns(model, None, 1)
        return Accepted((count, 1), False, lambda: np.zeros((count, 1)))


@dataclass(frozen=True, eq=False)
class ReadFeatures(CellFeatures):
    """Numbers of a row that are made of its one declared column, each row by itself."""

    @property
    @abstractmethod
    def box(self) -> Box:
        """Where the numbers of a row lie, whatever its value."""

    @property
    @abstractmethod
    def told(self) -> str:
        """Say what the numbers are."""

    @abstractmethod
    def read(self, values: Cells) -> Array:
        """Return the numbers of each value, a line each."""

    @property
    def region(self) -> ConvexSet:  # type: ignore[override]
        return self.box

    @property
    def facts(self) -> tuple[Fact, ...]:  # type: ignore[override]
        said = tuple(fact for fact in super().facts if fact.what != "features")
        return (*said, Fact("features", self.told, Origin.CHOSEN))

    def width_of(self, columns: int) -> int:
        return len(self.box.lower)

    def accept(self, model: Any, X: Any) -> Accepted:
        held = hold_table(X)
        (count, _), *_ = self.of_columns.accept(model, held)
        read = partial(self._read_table, self._declared.scaler_of(model))
        return Accepted((count, self.width_of(1)), False, lambda: read(held))

    def find(self, model: Any, table: OpenedTable) -> Columns:
        found = self.of_columns.find(model, table)
        encode = partial(self._read_table, self._declared.scaler)
        return Columns(found.wanted, encode, self.width_of(1), False)

    def _read_table(self, scaler: BoundedScaler, X: Any) -> Array:
        (values,) = scaler.read_columns(X)
        return self.read(values)


@dataclass(frozen=True, eq=False)
class MomentFeatures(ReadFeatures):
    r"""The place u of a number in its range, from -1 to 1; :math:`2u^2 - 1`; and a one; weighted.

    All zero where the number is missing.
    """

    @property
    def box(self) -> Box:
        return Box([-1.0, -SECOND, 0.0], [1.0, SECOND, ONE])

    @property
    def told(self) -> str:
        return "place in the range, its square and a one, for each known value"

    def read(self, values: Cells) -> Array:
        column = cast(Numeric, self.columns[0])
        numbers = read_numbers(values)
        known = ~np.isnan(numbers)
        inside = np.clip(np.where(known, numbers, column.middle), column.low, column.high)
        places = np.clip((inside - column.middle) / column.half, -1.0, 1.0)
        moments = np.column_stack([places, SECOND * (2 * places**2 - 1), np.full(places.size, ONE)])
        moments[~known] = 0.0
        return moments


@dataclass(frozen=True, eq=False)
class BinFeatures(ReadFeatures):
    """The cell of a histogram that a value is in; the last is that of missing values, or others."""

    edges: Vector | None = None

    @property
    def size(self) -> int:
        """How many cells there are."""
        (column,) = self.columns
        return column.width + 1 if self.edges is None else self.edges.size

    @property
    def box(self) -> Box:
        return Box([0.0], [self.size - 1.0])

    @property
    def told(self) -> str:
        return f"the cell of each value, one of {self.size:,}"

    def read(self, values: Cells) -> Array:
        (column,) = self.columns
        if isinstance(column, Category):
            codes = column.codes(values)
            found = np.where(codes < 0, self.size - 1, codes)
        else:
            numbers, edges = read_numbers(values), cast(Vector, self.edges)
            inside = np.searchsorted(edges[1:-1], numbers, side="right")
            found = np.where(np.isnan(numbers), self.size - 1, inside)
        return found.astype(np.float64)[:, None]
