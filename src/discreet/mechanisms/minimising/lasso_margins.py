r"""How many records the support of a LASSO withstands: margins in units of one record.

Proof in ``stability_release.md``. The computed minimiser is within ``tolerance``, as a subgradient,
of the true one; what that and rounding can do to each margin is public and
surely bounded (:class:`Errors`), and every unit is larger by twice as much, so that computed levels
of neighbours differ by one at most: a level is a whole number, and an error of one rounding would
otherwise move it by another one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh

from discreet._types import Array, Integers, Vector
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.questions import LassoSupport
from discreet.solvers.exact_steps import ENTRY_BITS
from discreet.solvers.huber_lasso import BLOCK, HuberLasso

EXACTNESS = 2.0**-10
"""How far, in units of one record, computed coefficients may be from the true ones."""

LARGEST_SHARE = 0.25
"""What errors may be, in units of one record; with more rows than floats can add up, they are."""

_UP = 1 + 2.0**-20


@dataclass(frozen=True)
class Errors:
    """How far each computed number can be from the true one, whatever the rows are.

    ``products`` of columns and slopes, ``coefficients``, ``residuals``, the least ``curvature`` on
    the chosen columns, and the ``squares`` of a column.
    """

    products: float
    coefficients: float
    residuals: float
    curvature: float
    squares: float


@dataclass(frozen=True)
class LassoMargins:
    """The levels of a question, decided from public numbers."""

    question: LassoSupport

    def __post_init__(self) -> None:
        asked, errors = self.question, self.errors
        shares = (
            errors.products / asked.step_of_products,
            errors.coefficients / asked.step_of_coefficients,
            errors.residuals / (math.sqrt(asked.coefficients) * asked.step_of_coefficients),
            errors.curvature / asked.coefficients,
            errors.squares,
            self._certificate_error / (2 * self.tolerance),
        )
        if not max(shares) <= LARGEST_SHARE:
            raise CalibrationError(
                "margins of a LASSO of so many rows cannot be told from rounding; declare a "
                "smaller max_rows, ceiling or coefficient, or a larger threshold."
            )

    @property
    def tolerance(self) -> float:
        """The norm of a subgradient at the computed minimiser."""
        asked = self.question
        return EXACTNESS * asked.step_of_coefficients * asked.ridge

    @property
    def _certificate_error(self) -> float:
        """How much rounding can add to a certificate of coefficients that may pass."""
        asked, rows = self.question, self.question.bounds.max_rows
        width = asked.bounds.n_features
        entries = asked.ceiling * width + rows * asked.has_constant
        largest = 3 * asked.penalty + 2 * asked.ridge * asked.largest_coefficient
        last = 8 * UNIT * math.sqrt(width + 1) * largest
        return math.sqrt(entries * rows) * sum(self._rounding) + last

    @property
    def _rounding(self) -> tuple[float, float]:
        """What rounding does to a residual, and to each term of a product of a column."""
        asked = self.question
        size, largest = asked.coefficients, asked.largest_coefficient
        in_rows = 2 * (size + 4) * UNIT * (1 + size * largest)
        return in_rows, (BLOCK + asked.bounds.max_rows / BLOCK + 4) * UNIT * asked.slope

    @cached_property
    def errors(self) -> Errors:
        """What an early stop and rounding can do, that of comparisons with the levels included."""
        asked, rows = self.question, self.question.bounds.max_rows
        size, largest = asked.coefficients, asked.largest_coefficient
        in_rows, in_sums = self._rounding
        coefficients = self.tolerance / asked.ridge + 8 * UNIT * math.sqrt(size) * largest
        stopped = self.tolerance * (1 + math.sqrt(asked.ceiling / asked.ridge) / 2)
        rounded = math.sqrt(asked.ceiling * rows) * (in_rows + in_sums)
        steps_of_sums = (rows + 64 * size) * UNIT
        return Errors(
            products=(stopped + rounded + 8 * UNIT * asked.penalty) * _UP,
            coefficients=coefficients * _UP,
            residuals=(math.sqrt(size) * coefficients + in_rows + 8 * UNIT * asked.slope) * _UP,
            curvature=2 * size * steps_of_sums * max(asked.ceiling, rows) * _UP,
            squares=2 * steps_of_sums * asked.ceiling * _UP,
        )

    @property
    def units(self) -> Errors:
        """By how much each margin shrinks from one level to the next."""
        asked, errors = self.question, self.errors
        along = asked.step_of_coefficients
        return Errors(
            products=asked.step_of_products + 2 * errors.products,
            coefficients=along + 2 * errors.coefficients,
            residuals=math.sqrt(asked.coefficients) * along + 2 * errors.residuals,
            curvature=asked.coefficients + 2 * errors.curvature,
            squares=1.0 + 2 * errors.squares,
        )

    def encode(self, table: Any, labels: Vector) -> tuple[Any, Vector]:
        """Bring entries and labels to [-1, 1], each by itself, in steps that sums can count on.

        The table is overwritten.
        """
        bounds, within = self.question.bounds, self.question.label_range
        reach = bounds.features.reach(bounds.n_features, math.inf)
        middle, half = (within.low + within.high) / 2, (within.high - within.low) / 2
        entries = table if isinstance(table, np.ndarray) else table.data
        entries /= reach
        _round(entries)
        return table, _round((labels - middle) / half)

    def problem(self, table: Any, labels: Vector) -> HuberLasso:
        """Return what is minimised for rows as they were declared."""
        asked, (table, labels) = self.question, self.encode(table, labels)
        if asked.has_constant:
            table = _append_ones(table)
        return HuberLasso(
            table, labels, asked.slope, asked.ridge, asked.penalty, bool(asked.has_constant)
        )

    def allows(self, problem: HuberLasso) -> bool:
        """Say whether columns are narrow enough; if not, no level is reached, and all is known."""
        widest = float(problem.squares[: self.question.bounds.n_features].max(initial=0.0))
        return widest <= self.question.ceiling - self.errors.squares

    def rules_out(self, point: Vector, distance: float) -> bool:
        """Say whether the minimiser, so near to a point, surely has no level and no answer."""
        asked, sizes = self.question, np.abs(point)
        surely_used = np.count_nonzero(sizes[: asked.bounds.n_features] > distance)
        largest = float(sizes.max(initial=0.0)) - distance
        return bool(surely_used > asked.size or largest > asked.largest_coefficient)

    def measure_unless_ruled_out(self, problem: HuberLasso) -> Measured | None:
        """Measure every margin, if the minimiser may have an answer at all: private."""
        point = problem.minimise_unless(self.tolerance, self.rules_out)
        return None if point is None else self._measure_at(problem, point)

    def measure(self, problem: HuberLasso) -> Measured:
        """Solve the problem, and measure every margin: private."""
        return self._measure_at(problem, problem.minimise(self.tolerance))

    def _measure_at(self, problem: HuberLasso, point: Vector) -> Measured:
        width = self.question.bounds.n_features
        used = np.flatnonzero(point[:width])
        kept = np.append(used, range(width, point.size)).astype(np.int64)
        residuals = problem.residuals(point)
        off = np.abs(problem.products(problem.slopes(residuals)))
        off[kept] = 0.0
        is_small = used.size <= self.question.size
        return Measured(
            margins=self,
            used=used,
            coefficients=point[kept],
            residuals=np.abs(residuals),
            columns=problem.columns(kept) if is_small else np.empty((0, 0)),
            product=float(off.max(initial=0.0)),
            squares=float(problem.squares[:width].max(initial=0.0)),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Measured:
    """A computed minimiser and what its margins are measured by.

    ``coefficients`` and ``columns`` are those of the columns ``used``, and last of the constant if
    there is one; ``product`` is the largest of all other columns.
    """

    margins: LassoMargins
    used: Integers
    coefficients: Vector
    residuals: Vector
    columns: Array
    product: float
    squares: float

    def answer(self) -> tuple[int, ...]:
        """Return the support; none if it is not certain."""
        return tuple(self.used.tolist()) if self.reaches(0) else ()

    def strongest(self) -> tuple[int, ...]:
        """Return the columns of the largest coefficients, certain or not."""
        order = np.argsort(-np.abs(self.coefficients[: self.used.size]), kind="stable")
        return tuple(sorted(self.used[order[: self.margins.question.size]].tolist()))

    def level(self, most: int) -> int:
        """Return the highest level that is reached, zero for none, and at most ``most``."""
        level = 0
        while level < most and self.reaches(level + 1):
            level += 1
        return level

    def reaches(self, level: int) -> bool:
        """Say whether all margins are as wide as so many records can need."""
        asked, units, errors = self.margins.question, self.margins.units, self.margins.errors
        way = level * units.coefficients + errors.coefficients
        sizes = np.abs(self.coefficients)
        return bool(
            self.used.size <= asked.size
            and self.product < asked.penalty - level * units.products - errors.products
            and self.squares <= asked.ceiling - level * units.squares - errors.squares
            and sizes[: self.used.size].min(initial=math.inf) > way
            and sizes.max(initial=0.0) < asked.largest_coefficient - way
            and self._curvature(level) + asked.ridge
            >= asked.curvature + level * units.curvature + errors.curvature
        )

    def _curvature(self, level: int) -> float:
        """Return the least curvature of rows that stay squared so many records away."""
        if self.coefficients.size == 0:
            return math.inf
        units, errors = self.margins.units, self.margins.errors
        within = self.margins.question.slope - level * units.residuals - errors.residuals
        rows = self.columns[self.residuals <= within]
        return float(eigvalsh(rows.T @ rows, check_finite=False)[0])


def _append_ones(table: Any) -> Any:
    """Return the table with one more column, of ones."""
    ones = np.ones((table.shape[0], 1))
    if isinstance(table, np.ndarray):
        return np.hstack([table, ones])
    return sparse.hstack([table, sparse.csr_array(ones)], format="csr")


def _round(values: Array) -> Array:
    """Bring values to [-1, 1] and to whole steps, where they are."""
    np.clip(values, -1.0, 1.0, out=values)
    values *= 2.0**ENTRY_BITS
    np.rint(values, out=values)
    values /= 2.0**ENTRY_BITS
    return values
