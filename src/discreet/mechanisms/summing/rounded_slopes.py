r"""Sums of slopes times entries as integers, of known sensitivity in every coordinate.

Each entry is rounded to a whole number of at most 2**15 and each slope to one of at most 2**12, by
itself. Coefficients are whole numbers times a public unit, so margins are exact in any order, and
so are the sums: what a row adds to a coordinate is, to the last bit, its own, at most 2**27 in
absolute value. Rows in memory keep their margins and slopes: after a step, only rows whose rounded
slope has changed are added again. Rows that are streamed, or weighed, are summed anew.

Where the rows of a person share one weight each slope is clipped, weighed, and cut towards zero:
all of them together are no larger, as integers, than the weight of the person makes the largest
one. Where so many of a person's rows count they add up to so many times the largest one at most.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import PrivacyError
from discreet.geometry import LinfBall
from discreet.mechanisms.base import labels_of
from discreet.privacy import Unit
from discreet.questions import L1Problem, SparseProblem
from discreet.questions.bounds import Bounds

ENTRY_STEPS = 2**15
"""Entries are rounded to so many steps of their bound."""

SLOPE_STEPS = 2**12
"""Slopes are rounded to so many steps of their bound."""

MOST_KEPT = 2**24
"""Sums over so many rows are exact in floats; more rows are summed block by block."""

ROWS_AT_ONCE = 2**15

WEIGHED_BITS, MOST_WEIGHED_BITS = 46, 22
"""Slopes that are weighed have more steps, and still sums fit 62 bits and those of a block 53."""


@dataclass(frozen=True)
class RoundedSlopes:
    """How rows of a sparse problem become integers, and how far one of them moves a sum."""

    problem: L1Problem | SparseProblem

    def sensitivity(self, unit: Unit) -> int:
        """Bound how far whoever is protected moves each sum; all may move, to either side."""
        bounds = self.problem.bounds
        whole = self.steps * (bounds.unit_weight / bounds.row_weight) * (1 + 2.0**-40)
        return ENTRY_STEPS * math.floor(whole) * (2 if unit.is_replace else 1)

    @cached_property
    def steps(self) -> int:
        """The steps of the steepest row; many if rows are weighed, so that few are cut off."""
        bounds = self.problem.bounds
        if not bounds.has_weights:
            return SLOPE_STEPS
        return 1 << min(MOST_WEIGHED_BITS, WEIGHED_BITS - (bounds.max_rows - 1).bit_length())

    @cached_property
    def entry(self) -> float:
        """What one step of an entry stands for."""
        return self.problem.entry_bound / ENTRY_STEPS

    @property
    def slope(self) -> float:
        """What one step of a slope stands for, its weight included."""
        return self.problem.lipschitz * self.problem.bounds.row_weight / self.steps

    def round_rows(self, rows: Any) -> Any:
        """Return whole numbers in the place of entries, each by itself; zero stays zero."""
        if sparse.issparse(rows):
            stored: Any = rows
            stored.data = self._round_entries(stored.data)
            return stored
        return self._round_entries(rows)

    def _round_entries(self, entries: Array) -> Array:
        steps = entries / self.entry
        np.rint(steps, out=steps)
        return np.clip(steps, -ENTRY_STEPS, ENTRY_STEPS, out=steps)

    def round_slopes(
        self, labels: Vector, margins: Vector, weights: Vector | None = None
    ) -> Vector:
        """Return the slope of each row at its margin, clipped and rounded to a whole number."""
        loss, bounds = self.problem.loss, self.problem.bounds
        steps = loss.slope(labels, margins) / self.slope
        if weights is None:
            steps = np.rint(steps, out=steps)
            return np.clip(steps, -self.steps, self.steps, out=steps)
        most = self.steps / bounds.row_weight
        np.clip(steps, -most, most, out=steps)
        steps *= weights
        return np.trunc(steps, out=steps)

    @property
    def bounds(self) -> Bounds:
        """Of the rows as integers, the constant a column; so wide that none is clipped again."""
        declared, wide = self.problem.bounds, LinfBall(2.0 * ENTRY_STEPS)
        return replace(declared, features=wide, n_features=declared.width, intercept=None)

    def of(self, rows: OpenRows) -> SlopeSums:
        """Return the sums at coefficients that are zero; they follow as coefficients change."""
        is_weighed = self.problem.bounds.has_weights
        if is_weighed or rows.is_streamed or rows.count > MOST_KEPT:
            return StreamedSums(self, rows.transform(self.round_rows, self.bounds))
        table, labels = rows.gather()
        if labels is None:
            raise PrivacyError("a learning problem was run on rows without labels.")
        return KeptSums(self, self.round_rows(table), labels)


class SlopeSums(ABC):
    """The sum of slopes times entries at coefficients that change: private."""

    @abstractmethod
    def move(self, place: int, amount: int, unit: float) -> None:
        """Add a whole amount to one coefficient, and count all of them in another unit."""

    @abstractmethod
    def place_at(self, coefficients: Integers, unit: float) -> None:
        """Put all coefficients where they are said to be, in whole units."""

    @abstractmethod
    def totals(self) -> Integers:
        """Return the sum of slopes times entries, in whole steps of both."""


class StreamedSums(SlopeSums):
    """Sums that are made anew in every pass over the rows."""

    def __init__(self, rounding: RoundedSlopes, rounded: OpenRows) -> None:
        self._rounding, self._rows = rounding, rounded
        self._point, self._unit = np.zeros(rounding.bounds.n_features), 1.0

    def move(self, place: int, amount: int, unit: float) -> None:
        self._point[place] += amount
        self._unit = unit

    def place_at(self, coefficients: Integers, unit: float) -> None:
        self._point, self._unit = coefficients.astype(np.float64), unit

    def totals(self) -> Integers:
        rounding, point, size = self._rounding, self._point, self._unit * self._rounding.entry

        def kernel(block: Block) -> Integers:
            margins = block.margins(point) * size
            slopes = rounding.round_slopes(labels_of(block), margins, block.weights)
            return block.weighted_sum(slopes).astype(np.int64)

        return np.asarray(self._rows.sum(kernel, block_rows=ROWS_AT_ONCE))


class KeptSums(SlopeSums):
    """Sums over rows in memory, of which only what has changed is added again."""

    def __init__(self, rounding: RoundedSlopes, table: Any, labels: Vector) -> None:
        self._rounding, self._table, self._labels = rounding, table, labels
        is_sparse = sparse.issparse(table)
        self._columns = table.tocsc() if is_sparse else None
        self._margins = np.zeros(labels.size)
        self._slopes = np.zeros(labels.size)
        self._totals = np.zeros(table.shape[1], dtype=np.int64)
        self._unit = 1.0
        self._is_known = False

    def move(self, place: int, amount: int, unit: float) -> None:
        if self._columns is not None:
            entries = slice(self._columns.indptr[place], self._columns.indptr[place + 1])
            rows = self._columns.indices[entries]
            self._margins[rows] += amount * self._columns.data[entries]
        else:
            self._margins += amount * self._table[:, place]
        self._unit, self._is_known = unit, False

    def place_at(self, coefficients: Integers, unit: float) -> None:
        self._margins = np.asarray(self._table @ coefficients.astype(np.float64))
        self._unit, self._is_known = unit, False

    def totals(self) -> Integers:
        if not self._is_known:
            self._add_changes()
        return self._totals

    def _add_changes(self) -> None:
        margins = self._margins * (self._unit * self._rounding.entry)
        slopes = self._rounding.round_slopes(self._labels, margins)
        changes = slopes - self._slopes
        changed = np.flatnonzero(changes)
        if 2 * changed.size > changes.size:
            added = self._table.T @ changes
        else:
            added = self._table[changed].T @ changes[changed]
        # Sums of at most 2**24 products of at most 2**28 are exact in floats.
        self._totals += np.asarray(added).astype(np.int64)
        self._slopes, self._is_known = slopes, True
