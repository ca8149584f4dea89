"""All marginals in one release, by noisy dyadic splits; proof in ``marginal_splits.md``."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
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
from discreet.mechanisms.noisy_histogram import LAWS, discrete_variance
from discreet.mechanisms.summing.dyadic_splits import SplitLayout, sizes_of_kinds
from discreet.mechanisms.summing.released_marginals import ReleasedMarginals, read_marginals
from discreet.noise import (
    FINE_BITS,
    FINEST_BITS,
    LARGEST_RATE,
    UNIT_RATE,
    Grid,
    Noise,
    distance_of_gaussian,
    gaussian_grid,
)
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Profile,
    Pure,
    Unit,
    gaussian_multiplier,
    within,
)
from discreet.questions import Marginals, Question
from discreet.record import Tolerance

GAUSSIAN_FALL = 1 / 2
"""Squares of noise grow by the root of two from level to level: least noise in a column's mean."""

LAPLACE_FALL = 1 / 3
"""The same for Laplace noise, whose scales are shared out instead of their squares."""


@dataclass(frozen=True, eq=False)
class SplitNoise:
    """Noise for every number of a layout: what is planned about it, and its profile.

    Gaussian on one grid, where a one is a whole number of steps that depends on the kind of a
    number; or discrete Laplace, with a rate for each kind; or none.
    """

    layout: SplitLayout
    unit: Unit
    grid: Grid | None = None
    sizes: tuple[int, ...] = ()  # steps of the grid that a part of a row is, by kind
    rates: tuple[int, ...] = ()  # units of 2**-40 for each part, by kind

    @classmethod
    def gaussian(cls, layout: SplitLayout, unit: Unit, multiplier: float) -> SplitNoise:
        """Plan Gaussian noise, in multiples of how far apart neighbours are."""
        ideal, rows = sizes_of_kinds(layout, GAUSSIAN_FALL, math.sqrt), layout.rows
        grid = gaussian_grid(
            multiplier=multiplier,
            sensitivity=math.sqrt(layout.reach(ideal, unit, 2)) * rows.often,
            dimension=2 * layout.most_changes,
            bound=1.0,
            room=rows.room / rows.largest(1.0),
            bits=FINEST_BITS if rows.weighs else FINE_BITS,
        )
        steps = np.array(ideal) / rows.parts
        # A part is taken so often that its size must not be rounded up.
        sizes = grid.cut(steps) if rows.are_cut else grid.snap(steps)
        return cls(layout, unit, grid, sizes=tuple(map(int, sizes.tolist())))

    @classmethod
    def laplace(cls, layout: SplitLayout, unit: Unit, epsilon: float) -> SplitNoise:
        """Plan discrete Laplace noise of a pure epsilon."""
        shares = sizes_of_kinds(layout, LAPLACE_FALL, Fraction)
        whole = layout.reach([float(share) for share in shares], unit, 1)
        most = Fraction(epsilon) * UNIT_RATE / (Fraction(whole) * (1 + Fraction(1, 2**40)))
        most /= layout.rows.most_parts
        rates = tuple(min(math.floor(share * most), LARGEST_RATE) for share in shares)
        if min(rates) < 1:
            raise CalibrationError("epsilon is too small for these columns; use a larger one.")
        return cls(layout, unit, rates=rates)

    @property
    def sensitivity(self) -> float:
        """How far neighbours are apart, in units of the noise: mu, or a pure epsilon."""
        often = self.layout.rows.most_parts
        if self.grid is not None:
            apart = math.sqrt(self.layout.reach(self.sizes, self.unit, 2)) * often
            return apart * 2.0**-self.grid.bits * (1 + 1e-15)
        if self.rates:
            apart = self.layout.reach(self.rates, self.unit, 1) * often
            return apart / UNIT_RATE * (1 + 1e-15)
        return math.inf

    @property
    def profile(self) -> Profile:
        """What the release costs."""
        if self.grid is not None:
            distance = distance_of_gaussian(self.layout.kinds.size)
            return within(Gaussian(self.sensitivity), distance)
        return Pure(self.sensitivity) if self.rates else NoPrivacy()

    @property
    def deviations(self) -> Vector:
        """The standard deviation of the noise of each kind, in rows."""
        parts = self.layout.rows.parts
        if self.grid is not None:
            return 2.0**self.grid.bits / (np.array(self.sizes, dtype=np.float64) * parts)
        if self.rates:
            return np.sqrt([discrete_variance(rate) for rate in self.rates]) / parts
        return np.zeros(1 + sum(self.layout.depths))

    @property
    def size(self) -> float:
        """The noise in the mean place of a column of numbers, or in a count without such columns.

        In rows; the whole range is one.
        """
        depth, _ = self.layout.depths
        if not depth:
            return float(self.deviations[0])
        levels = np.arange(depth)
        return float(np.sqrt((2.0 ** (-levels - 4) * self.deviations[1 : 1 + depth] ** 2).sum()))

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """What stands between ideal and computed noise."""
        if self.grid is not None:
            return grid_tolerances(self.grid, "the noise on counts")
        what = "scale of the noise on counts"
        parts = self.layout.rows.parts
        return (Tolerance(what, UNIT_RATE / self.rates[0] / parts),) if self.rates else ()

    def hide(self, numbers: Integers, noise: Noise, draws: int = 1) -> Array:
        """Return numbers of parts with noise on every one of them, in rows; a line each time."""
        kinds, parts = self.layout.kinds, self.layout.rows.parts
        if self.grid is not None:
            steps = np.array(self.sizes, dtype=np.int64)[kinds]
            drawn = noise.gaussian(draws * kinds.size, self.grid.bits).reshape(draws, -1)
            return np.asarray((drawn + numbers * steps + 0.5) / (steps * parts))
        hidden = np.tile(numbers, (draws, 1))
        for kind, rate in enumerate(self.rates):
            places = np.flatnonzero(kinds == kind)
            drawn = noise.discrete_laplace(draws * places.size, rate)
            hidden[:, places] += drawn.reshape(draws, -1)
        return np.asarray(hidden / parts)


@dataclass(frozen=True, eq=False)
class MarginalSplitsPlan(Plan):
    """Whole numbers of rows, and noise on every one of them."""

    question: Marginals
    noise: SplitNoise
    guarantee: Guarantee
    reason: str = ""

    @property
    def sensitivity(self) -> float:
        """How far neighbours are apart, in units of the noise."""
        return self.noise.sensitivity

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.noise.tolerances

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        released: Vector = self.run_many(rows, noise, 1)[0]
        return released

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        return self.noise.hide(self.noise.layout.count(rows), noise, draws)

    def read(self, released: Vector) -> ReleasedMarginals:
        """Return marginals that agree with one another, from what was released: public."""
        return read_marginals(self.noise.layout, released, self.noise.deviations)


@dataclass(frozen=True)
class MarginalSplits(Mechanism):
    """The marginals of all columns and of the label in one release, by noisy splits.

    Of a column of numbers it is released, for its range, for both halves, for all four quarters
    and so on, how many values are in the left half more than in the right one. Sums over wide
    stretches, means and quantiles then have little noise, whatever the number of cells. What is
    released is unbiased; ``plan.read`` makes shares of it that agree with one another.

    Parameters
    ----------
    law
        ``"laplace"`` (pure epsilon), ``"gaussian"`` (needs a delta), or None for the one with less
        noise in the mean of a column.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> question = Marginals([None, None, 5], max_rows=10**6)
    >>> plan = MarginalSplits().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3), plan.noise.deviations[:3].round(1).tolist()
    (1.0, [8.4, 15.1, 18.0])
    """

    name: ClassVar[str] = "marginal_splits"
    units = TABLE_UNITS

    law: str | None = None

    def __post_init__(self) -> None:
        if self.law is not None:
            _checks.one_of(LAWS, law=self.law)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, Marginals):
            return YES
        return Verdict(False, "marginal_splits counts values of columns; use noisy_histogram for "
                              "other cells.")  # fmt: skip

    def _plan(self, question: Marginals, budget: Budget, unit: Unit) -> MarginalSplitsPlan:
        layout = SplitLayout(question)
        if not budget.is_private:
            guarantee = Guarantee(NoPrivacy(), unit)
            return MarginalSplitsPlan(question, SplitNoise(layout, unit), guarantee)
        if self.law == "laplace" or budget.delta == 0:
            if self.law == "gaussian":
                raise CalibrationError("Gaussian noise needs delta > 0; use law='laplace'.")
            return _plan(question, budget, unit, SplitNoise.laplace(layout, unit, budget.epsilon))
        multiplier = gaussian_multiplier(budget, distance=distance_of_gaussian(layout.kinds.size))
        noise = SplitNoise.gaussian(layout, unit, multiplier)
        if self.law is None:
            with suppress(CalibrationError):
                other = SplitNoise.laplace(layout, unit, budget.epsilon)
                noise = min(noise, other, key=lambda planned: planned.size)
        return _plan(question, budget, unit, noise)


def _plan(question: Marginals, budget: Budget, unit: Unit, noise: SplitNoise) -> MarginalSplitsPlan:
    law = "Laplace" if noise.grid is None else "Gaussian"
    guarantee = Guarantee(
        noise.profile,
        unit,
        public_facts(question.bounds, unit),
        quoted_delta=0.0 if noise.grid is None else budget.delta,
    )
    reason = f"{law} noise of {noise.deviations[0]:.3g} on counts"
    return MarginalSplitsPlan(question, noise, guarantee, reason)
