"""Counts of scores in bins that follow a first release; proof in ``following_histogram.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Integers, Vector
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
from discreet.mechanisms.noisy_histogram import (
    LAWS,
    affordable_rate,
    apart_l2,
    discrete_variance,
    gaussian_variance,
    most_changed,
)
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.mechanisms.summing.score_cells import bins_after, fixed_edges, follow, place_rows
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import (
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
from discreet.questions import FollowingCounts, Question
from discreet.record import Tolerance

FIRST_PART = 10
"""The first release has one part in so many: of epsilon, or of the square of mu."""


@dataclass(frozen=True)
class NoiseOnCounts:
    """Integer noise for one histogram: discrete Laplace of a rate, Gaussian on a grid, or none."""

    rate: int | None = None  # for each part of a row
    grid: Grid | None = None
    parts: int = 1

    @property
    def variance(self) -> float:
        """The variance of the noise on one count."""
        if self.rate is not None:
            return discrete_variance(self.rate) / self.parts**2
        return 0.0 if self.grid is None else gaussian_variance(self.grid)

    @property
    def scale(self) -> float:
        """The scale of the Laplace law, or the deviation of the Gaussian one; zero for none."""
        if self.rate is not None:
            return UNIT_RATE / self.rate / self.parts
        return 0.0 if self.grid is None else self.grid.scale

    @property
    def inverse_scale(self) -> float:
        """Of a Laplace law of this variance, where noise is not much less than one."""
        if not self.scale:
            return math.inf
        return (1.0 if self.grid is None else math.sqrt(2)) / self.scale

    def hide(self, counts: Integers, noise: Noise) -> Vector:
        """Return counts of parts with noise on every one of them, in rows."""
        if self.rate is not None:
            counts = counts + noise.discrete_laplace(counts.size, self.rate)
        released: Vector = counts / self.parts
        if self.grid is None:
            return released
        released = release_gaussian(released, self.grid, noise)
        return np.rint(released) if self.parts == 1 else released

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """What stands between ideal and computed noise."""
        if self.grid is not None:
            return grid_tolerances(self.grid)
        return () if self.rate is None else (Tolerance("scale of the noise", self.scale),)


@dataclass(frozen=True, eq=False)
class FollowingPlan(Plan):
    """Two histograms, each with noise of its own; edges of the second are made of the first."""

    question: FollowingCounts
    first: NoiseOnCounts
    second: NoiseOnCounts
    guarantee: Guarantee
    reason: str = ""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.second.tolerances

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        edges = self.edges_after(self.release_first(rows, noise))
        return np.concatenate([edges, self.release_second(rows, edges, noise)])

    def release_first(self, rows: OpenRows, noise: Noise) -> Vector:
        """Release rows by class and cell of the fixed grid."""
        grid = fixed_edges(self.question.cells)
        counts = count_scores(rows, self.question, grid, has_halves=False)
        return self.first.hide(counts, noise)[1:]

    def edges_after(self, released: Vector) -> Vector:
        """Return the edges that the first release gives: public."""
        question = self.question
        classes = released.reshape(2, question.cells)
        totals = float(classes[0].sum()), float(classes[1].sum())
        count = bins_after(
            totals, self.second.inverse_scale, question.most_bins, has_halves=question.has_halves
        )
        return follow(project_counts(classes.sum(axis=0)), count, question.thresholds)

    def release_second(self, rows: OpenRows, edges: Vector, noise: Noise) -> Vector:
        """Release rows that cannot be scored, then rows by class, bin and half."""
        halves = self.question.has_halves
        counts = count_scores(rows, self.question, edges, has_halves=halves)
        return self.second.hide(counts, noise)


def count_scores(
    rows: OpenRows, question: FollowingCounts, edges: Vector, *, has_halves: bool
) -> Integers:
    """Return how many rows cannot be scored, and how many are in each class, bin and half.

    In parts of rows.
    """
    entering = RowSums(question.bounds)
    total = 1 + 2 * (1 + has_halves) * (edges.size + 1)

    def kernel(block: Block) -> Integers:
        places = place_rows(edges, block.rows(), has_halves=has_halves)
        return entering.tally(block, places, total, entering.parts)

    counts: Integers = rows.sum(kernel)
    return counts


@dataclass(frozen=True)
class FollowingHistogram(Mechanism):
    """Class by bin of a score, in bins that follow the scores: two releases in one.

    A tenth of the budget finds out where scores are many; the rest counts rows between edges that
    were made of it. The value is the edges, then the counts: rows that cannot be scored, rows of
    the first class bin by bin (half by half), rows of the second.

    Parameters
    ----------
    law
        ``"laplace"`` (pure epsilon), ``"gaussian"`` (needs a delta), or None for the one of
        smaller variance.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> plan = FollowingHistogram().plan(FollowingCounts(), Budget(0.5), AddRemoveOne())
    >>> round(plan.first.scale, 6), round(plan.second.scale, 6)
    (20.0, 2.222222)
    >>> plan.guarantee.epsilon(0.0) <= 0.5
    True
    """

    name: ClassVar[str] = "following_histogram"
    units = TABLE_UNITS

    law: str | None = None

    def __post_init__(self) -> None:
        if self.law is not None:
            _checks.one_of(LAWS, law=self.law)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, FollowingCounts):
            return YES
        return Verdict(False, "following_histogram counts scores in bins that follow them; use "
                              "noisy_histogram for fixed cells.")  # fmt: skip

    def _plan(self, question: FollowingCounts, budget: Budget, unit: Unit) -> FollowingPlan:
        if not budget.is_private:
            guarantee = Guarantee(NoPrivacy(), unit)
            nothing = NoiseOnCounts(parts=RowSums(question.bounds).parts)
            return FollowingPlan(question, nothing, nothing, guarantee)
        changes = round(unit.spread(1.0))
        if self.law == "laplace" or (self.law is None and budget.delta == 0):
            return _plan_laplace(question, budget, unit, changes, "")
        gaussian = _plan_gaussian(question, budget, unit, changes)
        if self.law == "gaussian":
            return gaussian
        reason = "Laplace noise on the counts: its variance is smaller than that of Gaussian"
        laplace = _plan_laplace(question, budget, unit, changes, reason)
        return gaussian if gaussian.second.variance < laplace.second.variance else laplace


def _plan_laplace(
    question: FollowingCounts, budget: Budget, unit: Unit, changes: int, reason: str
) -> FollowingPlan:
    rows = RowSums(question.bounds)
    rate = affordable_rate(budget, changes, 2 * changes, rows.most_parts)
    first = rate // FIRST_PART
    if first < 1:
        raise CalibrationError("epsilon is too small for two histograms; use a larger one.")
    rates = first, rate - first
    profile = compose(
        [Pure(rows.most_parts * one / UNIT_RATE) for one in rates for _ in range(changes)]
    )
    guarantee = Guarantee(profile, unit, public_facts(question.bounds, unit))
    noises = [NoiseOnCounts(one, parts=rows.parts) for one in rates]
    return FollowingPlan(question, noises[0], noises[1], guarantee, reason)


def _plan_gaussian(
    question: FollowingCounts, budget: Budget, unit: Unit, changes: int
) -> FollowingPlan:
    sizes = 1 + 2 * question.cells, question.most_cells
    rows = RowSums(question.bounds)
    apart, changed = apart_l2(rows, changes), [most_changed(rows, changes, size) for size in sizes]
    distance = sum(map(distance_of_gaussian, sizes))
    multiplier = gaussian_multiplier(budget, distance=distance)
    grids = [
        gaussian_grid(
            multiplier=multiplier * math.sqrt(FIRST_PART / parts),
            sensitivity=apart,
            dimension=most,
            bound=rows.largest(float(question.max_rows)),
        )
        for parts, most in zip((1, FIRST_PART - 1), changed, strict=True)
    ]
    reached = [
        (apart + grid.spread_l2(most)) / grid.scale
        for grid, most in zip(grids, changed, strict=True)
    ]
    profile = within(Gaussian(math.hypot(*reached) * (1 + 1e-15)), distance)
    facts = public_facts(question.bounds, unit)
    guarantee = Guarantee(profile, unit, facts, quoted_delta=budget.delta)
    noises, reason = (
        [NoiseOnCounts(grid=grid, parts=rows.parts) for grid in grids],
        "Gaussian noise on the counts",
    )
    return FollowingPlan(question, noises[0], noises[1], guarantee, reason)
