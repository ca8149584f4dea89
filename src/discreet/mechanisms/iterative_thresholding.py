"""Noisy iterative hard thresholding; proof in ``iterative_thresholding.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    public_facts,
)
from discreet.mechanisms.peeling import peel
from discreet.mechanisms.summing.rounded_slopes import ENTRY_STEPS, RoundedSlopes
from discreet.noise import Noise
from discreet.privacy import (
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Pure,
    Unit,
    ZeroConcentrated,
    calibrate,
)
from discreet.questions import Question, SparseProblem
from discreet.record import Tolerance

NOISE_BITS = 24
"""The scale of the noise is 2**24 units, on scores and on coefficients alike."""

POINT_BITS = 20
"""Coefficients are rounded to 2**-20 of their largest norm where margins are computed."""

SLACK = 2
"""In units, more than rounding adds to the distance of two sums."""

MOST_UNITS = 2.0**50
"""A sum, or a coefficient, of more units would be rounded by more than the slack."""

USUAL_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class IterativeThresholdingPlan(Plan):
    """Steps along the slope, the largest coefficients drawn, and noise on those.

    What is released is the places of the coefficients, and then the coefficients.
    """

    question: SparseProblem
    steps: int
    unit: float
    factor: float
    law: str | None  # None if nothing is to be hidden
    guarantee: Guarantee
    reason: str = ""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.law is None:
            return ()
        return (
            Tolerance("scale of the noise", math.ldexp(self.unit, NOISE_BITS)),
            Tolerance("step of the grid of the noise", self.unit),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        question = self.question
        sums = RoundedSlopes(question).of(rows)
        width, grid = question.bounds.width, math.ldexp(question.radius, -POINT_BITS)
        start = np.zeros(width)
        for _ in range(self.steps):
            places, values = self._step(sums.totals(), start, noise)  # public from here on
            point = np.zeros(width, dtype=np.int64)
            point[places] = np.trunc(values / grid).astype(np.int64)
            sums.place_at(point, grid)
            start = point.astype(np.float64) * grid
        return np.concatenate([places.astype(np.float64), values])

    def _step(self, totals: Integers, start: Vector, noise: Noise) -> tuple[Integers, Vector]:
        """Return the places of the next coefficients, and these, within their norm."""
        moved = np.rint(start / self.unit).astype(np.int64)
        moved -= np.rint(totals * self.factor).astype(np.int64)
        rate = None if self.law is None else Fraction(1, 1 << NOISE_BITS)
        places = peel(np.abs(moved), self.question.size, rate, noise)
        units = moved[places].astype(np.float64)
        if self.law is not None:
            draw = noise.gaussian if self.law == "gaussian" else noise.laplace
            units += draw(places.size, NOISE_BITS) + 0.5
        values = units * self.unit
        length = math.sqrt(float(values @ values))
        return places, values * min(1.0, self.question.radius / length if length else 1.0)


@dataclass(frozen=True)
class IterativeThresholding(Mechanism):
    """Gradient steps of which the largest coefficients are kept, with noise: a sparse model.

    Parameters
    ----------
    steps
        How many; they share the budget. About the logarithm of the number of rows.
    rows
        How many rows are expected: slopes are divided by it. Declared, never counted where their
        number is private.
    step_size
        Of each step, in units of one over the curvature of a row with one entry at its bound.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.losses import Huber
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, Interval
    >>> bounds = Bounds(LinfBall(1.0), 1000, labels=Interval(-1, 1), max_rows=10**6)
    >>> problem = SparseProblem(Huber(0.5), bounds, size=5, radius=2.0)
    >>> plan = IterativeThresholding(steps=10).plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3)
    1.0
    """

    name: ClassVar[str] = "iterative_thresholding"
    units = TABLE_UNITS

    steps: int = 10
    rows: int = USUAL_ROWS
    step_size: float = 1.0

    def __post_init__(self) -> None:
        _checks.whole(steps=self.steps, at_least=1)
        _checks.whole(rows=self.rows, at_least=1)
        _checks.positive(step_size=self.step_size)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, SparseProblem):
            return YES
        return Verdict(False, "iterative_thresholding keeps few columns; state a SparseProblem.")

    def _plan(
        self, question: SparseProblem, budget: Budget, unit: Unit
    ) -> IterativeThresholdingPlan:
        multiplier, guarantee, law = 1.0, Guarantee(NoPrivacy(), unit), None
        if budget.is_private:
            law = "gaussian" if budget.delta > 0 else "laplace"
            multiplier, profile = _least_noise(budget, self.steps * question.size)
            facts = (*public_facts(question.bounds, unit), *question.assumed)
            guarantee = Guarantee(profile, unit, facts, budget.delta or 1e-9)
        move = math.ldexp(1.0, NOISE_BITS) / multiplier - SLACK
        factor = move / RoundedSlopes(question).sensitivity(unit)
        one = ENTRY_STEPS * RoundedSlopes(question).steps * factor  # of the steepest row, in units
        size = self._size(question) / one
        if move < 1 or one * question.bounds.max_rows > MOST_UNITS:
            raise CalibrationError(
                "sums do not fit the grid of this noise; declare a smaller max_rows, or use a "
                "larger epsilon."
            )
        if not question.radius <= MOST_UNITS * size:
            raise CalibrationError("coefficients do not fit the grid; declare a smaller radius.")
        reason = f"{self.steps} steps of {question.size} draws and as many noisy coefficients"
        return IterativeThresholdingPlan(question, self.steps, size, factor, law, guarantee, reason)

    def _size(self, question: SparseProblem) -> float:
        """Return how far the steepest row moves a coefficient."""
        bend = question.loss.smoothness(math.inf) * question.entry_bound**2
        far = self.step_size / bend * question.entry_bound * question.lipschitz
        return far * question.bounds.row_weight / self.rows


@lru_cache(maxsize=256)
def _least_noise(budget: Budget, draws: int) -> tuple[float, Profile]:
    r"""Return the scale of the noise over the sensitivity of a coefficient, and what it costs.

    A draw and a noisy value cost :math:`m^{-2}` together, as zCDP; or :math:`3/m` as pure epsilon,
    two parts for the draw and one for Laplace noise on the value.
    """
    if budget.delta == 0:
        multiplier = 3 * draws / budget.epsilon * (1 + 2.0**-40)
        return multiplier, Pure(budget.epsilon)

    def profile(multiplier: float) -> Profile:
        return ZeroConcentrated(draws / multiplier**2)

    multiplier = calibrate(profile, budget)
    return multiplier, profile(multiplier)


def choose_rounds(rows: int) -> int:
    """Return the usual number of steps for so many rows: their logarithm, rounded up.

    Examples
    --------
    >>> choose_rounds(10_000)
    10
    """
    return max(1, math.ceil(math.log(rows)))
