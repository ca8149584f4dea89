"""Counts of cells with integer noise; proof in ``noisy_histogram.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    grid_tolerances,
    public_facts,
)
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import (
    LARGEST_RATE,
    UNIT_RATE,
    Grid,
    Noise,
    distance_of_gaussian,
    gaussian_grid,
    release_gaussian,
)
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Pure,
    Unit,
    compose,
    gaussian_multiplier,
    within,
)
from discreet.questions import CellCounts, Question
from discreet.record import Tolerance

LAWS = ("laplace", "gaussian")


def count_cells(question: CellCounts, rows: OpenRows) -> Integers:
    """Return how many rows are in each cell, one histogram after the other; in parts of rows."""
    entering = RowSums(question.bounds)

    def kernel(block: Block) -> Integers:
        places = np.rint(block.rows())  # within the box: clipped, and never NaN
        counts = []
        for column, cells in enumerate(question.cells):
            inside = np.clip(places[:, column], 0, cells - 1).astype(np.int64)
            counts.append(entering.tally(block, inside, cells, entering.parts))
        return np.concatenate(counts)

    counts: Integers = rows.sum(kernel)
    return counts


@dataclass(frozen=True, eq=False)
class ExactHistogramPlan(Plan):
    """The counts as they are: what an infinite budget buys."""

    question: CellCounts
    guarantee: Guarantee

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return count_cells(self.question, rows) / RowSums(self.question.bounds).parts


@dataclass(frozen=True, eq=False)
class LaplaceHistogramPlan(Plan):
    """Integers of the discrete Laplace law on every count."""

    question: CellCounts
    changes: int
    rate: int  # for each part of a row
    guarantee: Guarantee
    reason: str = ""

    @property
    def sensitivity(self) -> float:
        """How far, in l1, the counts of neighbours can be apart."""
        return self.changes * self._rows.often

    @property
    def scale(self) -> float:
        """The scale of the noise: its chance falls by e over so many rows."""
        return UNIT_RATE / self.rate / self._rows.parts

    @property
    def variance(self) -> float:
        """The variance of the noise on one count."""
        return discrete_variance(self.rate) / self._rows.parts**2

    @property
    def _rows(self) -> RowSums:
        return RowSums(self.question.bounds)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (Tolerance("scale of the noise", self.scale),)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        released: Vector = self.run_many(rows, noise, 1)[0]
        return released

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        counts = count_cells(self.question, rows)
        drawn = noise.discrete_laplace(draws * counts.size, self.rate).reshape(draws, -1)
        return np.asarray((counts + drawn) / self._rows.parts)


@dataclass(frozen=True, eq=False)
class GaussianHistogramPlan(Plan):
    """Gaussian noise on every count, and rounding to whole numbers."""

    question: CellCounts
    changes: int
    grid: Grid
    guarantee: Guarantee
    reason: str = ""

    @property
    def sensitivity(self) -> float:
        """How far, in l2, the counts of neighbours can be apart on the grid."""
        rows = RowSums(self.question.bounds)
        return apart_l2(rows, self.changes) + self.grid.spread_l2(
            most_changed(rows, self.changes, self.question.total)
        )

    @property
    def variance(self) -> float:
        """The variance of the noise on one count, rounding included."""
        return gaussian_variance(self.grid)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        released: Vector = self.run_many(rows, noise, 1)[0]
        return released

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        parts = RowSums(self.question.bounds).parts
        counts = count_cells(self.question, rows) / parts
        noisy = release_gaussian(np.tile(counts, draws), self.grid, noise).reshape(draws, -1)
        return np.rint(noisy) if parts == 1 else noisy


HistogramPlan = ExactHistogramPlan | LaplaceHistogramPlan | GaussianHistogramPlan


@dataclass(frozen=True)
class NoisyHistogram(Mechanism):
    """Counts of cells with discrete Laplace noise, or Gaussian noise where that is smaller.

    Counts may come out negative: what is released is unbiased.

    Parameters
    ----------
    law
        ``"laplace"`` (pure epsilon), ``"gaussian"`` (needs a delta), or None for the one of
        smaller variance.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> plan = NoisyHistogram().plan(CellCounts(34), Budget(0.5), AddRemoveOne())
    >>> plan.scale, plan.guarantee.epsilon(0.0)
    (2.0, 0.5)
    """

    name: ClassVar[str] = "noisy_histogram"
    units = TABLE_UNITS

    law: str | None = None

    def __post_init__(self) -> None:
        if self.law is not None:
            _checks.one_of(LAWS, law=self.law)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, CellCounts):
            return YES
        return Verdict(False, "noisy_histogram counts rows in cells; use private_count for one.")

    def _plan(self, question: CellCounts, budget: Budget, unit: Unit) -> HistogramPlan:
        if not budget.is_private:
            return ExactHistogramPlan(question, Guarantee(NoPrivacy(), unit))
        changes = round(unit.spread(float(len(question.cells))))
        if self.law == "laplace" or (self.law is None and budget.delta == 0):
            return _plan_laplace(question, budget, unit, changes, "")
        gaussian = _gaussian_grid(question, budget, changes)
        rows = RowSums(question.bounds)
        rate = affordable_rate(budget, changes, changes, rows.most_parts)
        laplace = discrete_variance(rate) / rows.parts**2
        is_better = gaussian_variance(gaussian) < laplace
        if self.law is None and not is_better:
            reason = "Laplace noise on the counts: its variance is smaller than that of Gaussian"
            return _plan_laplace(question, budget, unit, changes, reason)
        reason = "Gaussian noise on the counts" + (
            ": its variance is smaller than that of Laplace" if is_better else ", as asked"
        )
        return _plan_gaussian(question, budget, unit, changes, gaussian, reason)


def affordable_rate(budget: Budget, changes: int, terms: int, parts: int = 1) -> int:
    """Return the largest rate, in units of 2**-40, that so many changed counts can afford.

    Each changes by so many parts at most.
    """
    exact = math.floor(Fraction(budget.epsilon) * UNIT_RATE / (changes * parts))
    rate = min(exact, LARGEST_RATE)
    if terms > 1:
        rate -= 1 + (rate >> 50)  # a sum of epsilons is rounded up
    if rate < 1:
        raise CalibrationError("epsilon is too small for a histogram; use a larger one.")
    return rate


def apart_l2(rows: RowSums, changes: int) -> float:
    """Bound how far apart, in l2, counts of neighbours are, of which a row changes so many."""
    return rows.often * math.sqrt(changes)


def most_changed(rows: RowSums, changes: int, cells: int) -> int:
    """Return how many counts can differ between neighbours, at most."""
    return cells if rows.are_cut else changes


def _plan_laplace(
    question: CellCounts, budget: Budget, unit: Unit, changes: int, reason: str
) -> LaplaceHistogramPlan:
    parts = RowSums(question.bounds).most_parts
    rate = affordable_rate(budget, changes, changes, parts)
    profile = compose([Pure(parts * rate / UNIT_RATE)] * changes)
    guarantee = Guarantee(profile, unit, public_facts(question.bounds, unit))
    return LaplaceHistogramPlan(question, changes, rate, guarantee, reason)


def _gaussian_grid(question: CellCounts, budget: Budget, changes: int) -> Grid:
    rows = RowSums(question.bounds)
    return gaussian_grid(
        multiplier=gaussian_multiplier(budget, distance=distance_of_gaussian(question.total)),
        sensitivity=apart_l2(rows, changes),
        dimension=most_changed(rows, changes, question.total),
        bound=rows.largest(float(question.max_rows)),
    )


def _plan_gaussian(
    question: CellCounts, budget: Budget, unit: Unit, changes: int, grid: Grid, reason: str
) -> GaussianHistogramPlan:
    rows = RowSums(question.bounds)
    apart = apart_l2(rows, changes)
    reached = (apart + grid.spread_l2(most_changed(rows, changes, question.total))) / grid.scale
    profile = within(Gaussian(reached * (1 + 1e-15)), distance_of_gaussian(question.total))
    facts = public_facts(question.bounds, unit)
    guarantee = Guarantee(profile, unit, facts, quoted_delta=budget.delta)
    return GaussianHistogramPlan(question, changes, grid, guarantee, reason)


def discrete_variance(rate: int) -> float:
    """Return the variance 2 q / (1 - q)**2 of discrete Laplace noise, q = exp(-rate / 2**40).

    Examples
    --------
    >>> round(discrete_variance(UNIT_RATE), 4)
    1.8413
    """
    return 0.5 / math.sinh(min(rate / UNIT_RATE, 700.0) / 2) ** 2


def gaussian_variance(grid: Grid) -> float:
    """Return the variance of Gaussian noise that is rounded to whole numbers, or a bound on it."""
    return grid.scale**2 + 1 / 12
