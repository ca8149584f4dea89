"""The sum of the batch that is being filled, in whole numbers: whatever the blocks it comes in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS, ROWS_AT_ONCE, ExactGradient
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
        """Add what prepared rows contribute at a prepared public point to a total of whole units.

        Parameters
        ----------
        rows
            As :meth:`prepare` returned them.
        labels
            A label for each.
        point
            As :meth:`prepare_point` returned it.
        total
            Changed in place.
        """

    def prepare_point(self, point: Vector) -> Vector:
        """Return public coefficients as :meth:`add` wants them."""
        return point

    @abstractmethod
    def values(self, total: Integers) -> Vector:
        """Return the sum that whole units stand for, rounded to floats."""


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
    def _unit(self) -> float:
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
            np.add(total, part, out=total, casting="unsafe")

    def values(self, total: Integers) -> Vector:
        return total * self._unit
