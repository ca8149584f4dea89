"""Sums and means of rows as exact integer totals on a grid, shared by the noise laws.

Each row is rounded to grid units by itself, and the units are added as integers: the sum is exact,
so one record more, less or other changes it by what that record contributes, and by nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.geometry import Box
from discreet.mechanisms.base import Plan
from discreet.noise import Grid, Noise
from discreet.privacy import Guarantee, NoPrivacy, Unit
from discreet.questions import Question, VectorMean, VectorSum

INTEGER_ROOM = 2.0**62
"""The largest total of grid units; a row may take this over ``max_rows``."""


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
    def dimension(self) -> int:
        return self.question.bounds.width + (self.column is not None)

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
        if self.frame is not None:
            return self.unit.spread(self.contribution(order))
        apart = self.question.bounds.row_distance(order)
        return self.unit.spread(self.contribution(order), diameter=apart)

    def units(self, rows: OpenRows, grid: Grid) -> Integers:
        """Return the exact sum of the rows' grid units."""

        def kernel(block: Block) -> Integers:
            total = block.integer_sum(
                lambda entries, columns: grid.snap(self._map_to_cube(entries, columns))
            )
            if self.column is None:
                return total
            return np.append(total, block.size * grid.snap(self.column))

        units: Integers = rows.sum(kernel)
        return units

    def exact(self, rows: OpenRows) -> Vector:
        """Return the total without grid or noise."""

        def kernel(block: Block) -> Vector:
            weights = np.ones(block.size)
            total = block.weighted_sum(weights)
            if self.frame is not None:
                total = (total - block.size * self.frame.centre) / self.frame.half_width
            return total if self.column is None else np.append(total, block.size * self.column)

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
