"""The sum of the batch that is being filled, in whole numbers: whatever the blocks it comes in."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS, ROWS_AT_ONCE, ExactGradient
from discreet.mechanisms.summing.moments import Moments
from discreet.questions.problem import Problem


class RecordSums(ABC):
    """What records add to the sum of their batch, each by itself and without rounding sums."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many entries a sum has."""

    @abstractmethod
    def prepare(self, X: Array) -> Array:
        """Return new rows, each made of one clipped row alone."""

    @abstractmethod
    def add(self, rows: Array, labels: Vector, point: Vector, total: Integers) -> None:
        """Add what prepared rows contribute at a public point to a total of whole units."""

    def prepare_point(self, point: Vector) -> Vector:
        """Return public coefficients as :meth:`add` wants them."""
        return point

    @property
    @abstractmethod
    def unit(self) -> float | Vector:
        """What one whole unit of a total stands for, or of each entry of it."""


@dataclass(frozen=True)
class RecordGradients(RecordSums):
    """Gradients of the losses of records, at the last public coefficients.

    Exact as in ``exact_gradient.py``: rows and coefficients are cut so that margins are exact,
    slopes are rounded, and sums are sums of whole numbers.
    """

    problem: Problem

    @cached_property
    def _sums(self) -> ExactGradient:
        return ExactGradient(self.problem)

    @cached_property
    def unit(self) -> float:
        return self._sums.unit

    @property
    def width(self) -> int:
        return self.problem.width

    def prepare(self, X: Array) -> Array:
        cut: Array = self._sums.cut(np.array(X, dtype=np.float64))
        return cut

    def prepare_point(self, point: Vector) -> Vector:
        return self._sums.cut_point(point)

    def add(self, rows: Array, labels: Vector, point: Vector, total: Integers) -> None:
        slope, round_slopes = self.problem.loss.slope, self._sums.round_slopes
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            slopes = round_slopes(slope(labels[start : start + ROWS_AT_ONCE], some @ point))
            part = slopes @ some
            part *= 2.0**ENTRY_BITS
            total += part.astype(np.int64)  # whole numbers, never added as floats


@dataclass(frozen=True)
class RecordMoments(RecordSums):
    """What records add to X'X and X'y, scaled as in ``moments.py``.

    Rows and labels are divided by powers of two and cut, towards zero, to multiples of 2**-20;
    products and sums of 2**13 of them are whole multiples of 2**-40 that 53 bits hold.
    """

    moments: Moments

    @property
    def width(self) -> int:
        return self.moments.dimension

    @cached_property
    def _exponents(self) -> tuple[int, int]:
        """Rows, and labels, are at most two to these powers."""
        problem, label = self.moments.problem, self.moments.largest_label
        return math.frexp(problem.row_norm)[1], math.frexp(label)[1]

    def prepare(self, X: Array) -> Array:
        return np.trunc(X * math.ldexp(1.0, ENTRY_BITS - self._exponents[0]))

    @cached_property
    def unit(self) -> Vector:
        row, label = (math.ldexp(1.0, power - ENTRY_BITS) for power in self._exponents)
        triangle = self.moments.entry_weights * (row * row / self.moments.gram_size)
        product = np.full(self.moments.width, row * label / self.moments.product_size)
        return np.concatenate([triangle, product])

    @cached_property
    def _upper(self) -> tuple[Integers, Integers]:
        return self.moments.upper

    def add(self, rows: Array, labels: Vector, point: Vector, total: Integers) -> None:
        per_label = math.ldexp(1.0, ENTRY_BITS - self._exponents[1])
        triangle, product = np.split(total, [self.width - self.moments.width])
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            cut = np.trunc(labels[start : start + ROWS_AT_ONCE] * per_label)
            triangle += (some.T @ some)[self._upper].astype(np.int64)
            product += (cut @ some).astype(np.int64)
