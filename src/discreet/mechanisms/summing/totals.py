"""Sums and means of rows as exact integer totals on a grid, shared by the noise laws.

Each row is rounded to grid units by itself, and the units are added as integers: the sum is exact,
so one record more, less or other changes it by what that record contributes, and by nothing else.

Rows of one person are weighed first and then cut towards zero, however many there are: to the
nearest unit, many small ones could add up to far more than their weights allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.geometry import Box
from discreet.mechanisms.base import Plan
from discreet.noise import CUT_BITS, FINE_BITS, Grid, Noise
from discreet.privacy import Guarantee, NoPrivacy, Unit
from discreet.questions import Question, VectorMean, VectorSum
from discreet.questions.bounds import Bounds

INTEGER_ROOM = 2.0**62
"""The largest total of grid units; a row may take this over ``max_rows``."""

PART_BITS = 20
"""Halvings of a row in a count."""

_UP = 1 + 2.0**-50
"""Weights and steps are rounded when entries are multiplied and divided by them."""


@dataclass(frozen=True)
class RowSums:
    """How rows enter an integer sum: each rounded once; or a person's weighed, and cut."""

    bounds: Bounds

    @property
    def are_cut(self) -> bool:
        """Whether rows are weighed and cut towards zero, because a person may have several."""
        return not self.bounds.has_one_row_each

    def spread(self, unit: Unit, norm: float, *, diameter: float | None = None) -> float:
        """Bound the change of the sum between neighbours; no row adds more than ``norm``.

        What is cut from a person's rows depends on how many there are, so that distances of two
        rows (``diameter``) bound nothing, nor does anything cancel.
        """
        if not self.are_cut:
            return unit.spread(norm, diameter=diameter)
        return unit.spread(self.bounds.unit_weight * norm) * _UP

    def largest(self, entry: float) -> float:
        """Bound what a row adds to a sum of entries of this size at most."""
        return entry * self.bounds.row_weight if self.are_cut else entry

    @property
    def bits(self) -> int:
        """How fine the grid is to be."""
        return CUT_BITS if self.are_cut else FINE_BITS

    @property
    def room(self) -> float:
        """The most steps of the grid that a row may take."""
        return INTEGER_ROOM / self.bounds.max_rows

    @property
    def weighs(self) -> bool:
        """Whether rows may count less than once, or more often."""
        return self.are_cut and self.bounds.has_weights

    def weights(self, block: Block) -> Vector:
        """Return what each row counts: once, or as much as its person leaves it."""
        if block.weights is None or not self.weighs:
            return np.ones(block.size)
        return block.weights

    def one(self, grid: Grid) -> int:
        """Return how many steps of a grid a row is that counts once."""
        return int(grid.cut(1.0) if self.are_cut else grid.snap(1.0))

    def units(self, block: Block, one: int) -> Integers:
        """Return what each row counts, in whole units of which there are so many to a one."""
        if not self.weighs:
            return np.full(block.size, one)
        return np.floor(self.weights(block) * one).astype(np.int64)

    def tally(self, block: Block, places: Integers, cells: int, one: int = 1) -> Integers:
        """Return how much rows count in each cell, in the same units."""
        if not self.weighs:
            return np.bincount(places, minlength=cells).astype(np.int64) * one
        counts = np.zeros(cells, dtype=np.int64)
        np.add.at(counts, places, self.units(block, one))
        return counts

    @property
    def parts(self) -> int:
        """In how many parts a row is counted, where counts get integer noise."""
        if not self.weighs:
            return 1
        largest = math.frexp(self.bounds.max_rows * self.bounds.row_weight)[1]
        return 1 << max(0, min(PART_BITS, 52 - largest))

    @property
    def most_parts(self) -> int:
        """How many parts the rows of whoever is protected have together, at most."""
        if not self.are_cut:
            return 1
        return max(1, math.floor(self.bounds.unit_weight * self.parts))

    @property
    def often(self) -> float:
        """How often the rows of whoever is protected count in such parts together, at most."""
        return self.most_parts / self.parts

    def count_spread(self, unit: Unit, norm: float = 1.0, *, diameter: float = 1.0) -> float:
        """Bound the change of counts, if one of a row differs by ``diameter`` from another's.

        All that a row adds is multiplied by one whole number, so that distances bound sums too.
        """
        often = self.bounds.unit_weight * _UP if self.are_cut else 1.0
        return unit.spread(often * norm, diameter=often * diameter)


@dataclass(frozen=True, eq=False)
class CubeMap:
    """The affine map that takes a box to the cube [-1, 1]^p."""

    centre: Vector
    half_width: Vector

    @classmethod
    def of(cls, box: Box) -> CubeMap:
        lower, upper = np.array(box.lower), np.array(box.upper)
        half_width = (upper - lower) / 2
        return cls((lower + upper) / 2, np.where(half_width > 0, half_width, 1.0))


@dataclass(frozen=True, eq=False)
class Totals:
    """A sum or a mean, brought to a sum of bounded contributions and back.

    The mean of a box is taken in the frame where the box is a cube, so that each column gets noise
    in proportion to its own range. Where the number of rows is private, a constant ``column`` is
    summed along, and the mean is the ratio of two noisy totals.
    """

    question: VectorSum | VectorMean
    unit: Unit
    column: float | None
    frame: CubeMap | None

    @classmethod
    def of(cls, question: VectorSum | VectorMean, unit: Unit, order: int) -> Totals:
        bounds, features = question.bounds, question.bounds.features
        if isinstance(question, VectorSum):
            return cls(question, unit, None, None)
        frame = CubeMap.of(features) if isinstance(features, Box) else None
        totals = cls(question, unit, None, frame)
        if unit.rows_are_public:
            return totals
        # The size that minimises the error of the ratio when the mean is as large as it can be.
        share = bounds.n_features ** (-1 / 4 if order == 2 else -1 / 3)
        return cls(question, unit, totals.contribution(order) * share, frame)

    @property
    def rows(self) -> RowSums:
        """How rows enter the sums."""
        return RowSums(self.question.bounds)

    @property
    def dimension(self) -> int:
        return self.question.bounds.width + (self.column is not None)

    @property
    def largest(self) -> float:
        """The largest number that a row adds to a total."""
        return self.rows.largest(self.contribution(math.inf))

    def contribution(self, order: float) -> float:
        """Bound one record's contribution in norm."""
        column = self.column or 0.0
        row = self._row_norm(order)
        if order == 1:
            return row + column
        return max(row, column) if order == math.inf else math.hypot(row, column) * (1 + 1e-15)

    def _row_norm(self, order: float) -> float:
        bounds = self.question.bounds
        if self.frame is None:
            return bounds.row_norm(order)
        if order == math.inf:
            return 1.0
        return float(bounds.n_features ** (1 / order)) * (1 + 1e-15)

    def sensitivity(self, order: float) -> float:
        """Bound the change of the total between neighbours, before rounding to the grid."""
        apart = None if self.frame is not None else self.question.bounds.row_distance(order)
        return self.rows.spread(self.unit, self.contribution(order), diameter=apart)

    def units(self, rows: OpenRows, grid: Grid) -> Integers:
        """Return the exact sum of the rows' grid units."""

        def kernel(block: Block) -> Integers:
            if self.rows.are_cut:
                total = block.weighed_sum(self._map_to_cube, grid.cut)
            else:
                total = block.integer_sum(
                    lambda entries, columns: grid.snap(self._map_to_cube(entries, columns))
                )
            if self.column is None:
                return total
            column = int(grid.cut(self.column) if self.rows.are_cut else grid.snap(self.column))
            return np.append(total, self.rows.units(block, column).sum())

        units: Integers = rows.sum(kernel)
        return units

    def exact(self, rows: OpenRows) -> Vector:
        """Return the total without grid or noise."""

        def kernel(block: Block) -> Vector:
            weights = self.rows.weights(block)
            total, count = block.weighted_sum(weights), weights.sum()
            if self.frame is not None:
                total = (total - count * self.frame.centre) / self.frame.half_width
            return total if self.column is None else np.append(total, count * self.column)

        total: Vector = rows.sum(kernel)
        return total

    def _map_to_cube(self, entries: Array, columns: slice | Integers) -> Array:
        if self.frame is None:
            return entries
        framed: Array = (entries - self.frame.centre[columns]) / self.frame.half_width[columns]
        # The grid's bound may be the constant column's; narrow boxes round to framed entries of 2.
        return np.clip(framed, -1.0, 1.0, out=framed)

    def answer(self, total: Vector, rows: OpenRows) -> Vector:
        """Turn a noisy total into the answer; reads the number of rows only if it is public."""
        if isinstance(self.question, VectorSum):
            return total
        if self.column is None:
            mean = total / rows.count
        else:
            mean = total[:-1] * (self.column / max(total[-1], self.column))
        if self.frame is not None:
            mean = self.frame.centre + self.frame.half_width * mean
        return self.question.bounds.features.project(mean)


def is_total(question: Question) -> bool:
    """Say whether a question is answered by a total."""
    return isinstance(question, VectorSum | VectorMean)


@dataclass(frozen=True, eq=False)
class ExactTotal(Plan):
    """The sum or mean of clipped rows, without noise: what an infinite budget buys."""

    totals: Totals
    guarantee: Guarantee

    @classmethod
    def of(cls, totals: Totals) -> ExactTotal:
        return cls(totals, Guarantee(NoPrivacy(), totals.unit))

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.totals.answer(self.totals.exact(rows), rows)
