"""Least squares whose ridge gives way where the data curve enough; ``adaptive_ridge.md``.

A noisy smallest eigenvalue of X'X first, then objective perturbation with the ridge still missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from discreet._types import Array, Vector
from discreet.data import Block, OpenRows, summation_error
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.losses import Squared
from discreet.mechanisms.base import Mechanism, Plan, Verdict, grid_tolerances, weigh
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.penalised import PenalisedMinimiser
from discreet.mechanisms.objective_perturbation import (
    ExactMinimiser,
    ObjectivePerturbation,
    ObjectivePerturbationPlan,
)
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, release_gaussian
from discreet.privacy import Budget, Gaussian, Guarantee, Unit, gaussian_multiplier, within
from discreet.questions import Question
from discreet.questions.problem import Problem
from discreet.record import Tolerance

FIRST_SHARE = 0.1
"""The share of mu squared that goes into the smallest eigenvalue."""

TAIL_SHARE = 0.01
"""The share of delta for the chance that the eigenvalue is overestimated."""

MOST_COLUMNS = 1500
CAREFUL_ROWS = 2048
LEAST_RIDGE = 2.0**-30
"""Of the curvature aimed at: what is left of the ridge when the data need none."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """The smallest eigenvalue of X'X, and how surely it is known."""

    problem: Problem

    @property
    def sensitivity(self) -> float:
        """How far whoever is protected moves the eigenvalue, added or replaced.

        By Weyl's inequality: a replacement lies between the matrix of what is in common and that
        plus as much.
        """
        return self._largest(self.problem.bounds.unit_weight)

    @property
    def bound(self) -> float:
        """The largest eigenvalue that there can be."""
        bounds = self.problem.bounds
        return bounds.max_rows * self._largest(bounds.row_weight)

    def _largest(self, weight: float) -> float:
        return self.problem.row_norm**2 * weight

    @property
    def error(self) -> float:
        """Bound the rounding of the sums and of the eigenvalue.

        A backward stable solver errs by a small multiple of p u |X'X|; 64 p u is far above that of
        any in use.
        """
        bounds, squared = self.problem.bounds, self._largest(self.problem.bounds.row_weight)
        sums = summation_error(bounds, squared, block_rows=CAREFUL_ROWS)
        inside = 16 * UNIT * bounds.max_rows * squared
        return sums + inside + 64 * bounds.width * UNIT * bounds.max_rows * squared

    def smallest(self, rows: OpenRows) -> float:
        """Return the smallest eigenvalue: private."""

        def kernel(block: Block) -> Array:
            return block.gram(weigh(block, np.ones(block.size)))

        gram = rows.sum(kernel, block_rows=CAREFUL_ROWS)
        return float(np.linalg.eigvalsh(gram)[0])


@dataclass(frozen=True, eq=False)
class AdaptiveRidgePlan(Plan):
    """A noisy eigenvalue, then objective perturbation with as much ridge as is missing."""

    curvature: Curvature
    grid: Grid
    allowance: float  # subtracted, so that the eigenvalue is surely not overestimated
    second: ObjectivePerturbationPlan
    guarantee: Guarantee
    reason: str

    @property
    def minimiser(self) -> Minimiser | PenalisedMinimiser:
        """How exactly the second release is solved."""
        return self.second.minimiser

    @property
    def sensitivity(self) -> float:
        """That of the second release, once the first is known."""
        return self.second.sensitivity

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (
            *grid_tolerances(self.grid, "the noise on the least curvature"),
            *self.second.tolerances,
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        smallest = np.array([self.curvature.smallest(rows)])
        noisy = float(release_gaussian(smallest, self.grid, noise)[0])  # public from here on
        ridge = missing_ridge(self.curvature.problem, noisy - self.allowance)
        return self.second.run_with(rows, noise, ridge)


@dataclass(frozen=True, eq=False)
class ExactAdaptiveRidge(Plan):
    """The same without noise: what an infinite budget buys."""

    curvature: Curvature
    exact: ExactMinimiser
    guarantee: Guarantee
    reason: str = "an infinite budget buys the minimiser itself"

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        ridge = missing_ridge(self.curvature.problem, self.curvature.smallest(rows))
        width = self.curvature.problem.bounds.width
        return self.exact.minimiser.solve(rows, np.zeros(width), ridge=ridge)


def missing_ridge(problem: Problem, curvature: float) -> float:
    """Return what is missing to the curvature aimed at, and never quite nothing."""
    return max(problem.ridge - max(curvature, 0.0), LEAST_RIDGE * problem.ridge)


@dataclass(frozen=True)
class AdaptiveRidge(Mechanism):
    """Objective perturbation for the squared loss on a domain, with no more ridge than is missing.

    The ridge of the problem is the curvature aimed at: data that have it already are not
    penalised.

    Examples
    --------
    >>> from discreet.data import Bounds, Interval
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-1, 1), max_rows=10**6)
    >>> problem = Problem(Squared(1.0), bounds, ridge=20.0, penalty=Indicator(L2Ball(2.0)))
    >>> plan = AdaptiveRidge().plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3)
    1.0
    """

    name: ClassVar[str] = "adaptive_ridge"
    solves_problems: ClassVar[bool] = True

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem) or not isinstance(question.loss, Squared):
            return Verdict(False, "adaptive_ridge is for learning with the squared loss.")
        if not math.isfinite(question.domain_radius):
            return Verdict(
                False,
                "adaptive_ridge needs a bounded domain: penalty=Indicator(L2Ball(...)), or "
                "sufficient_statistics without one.",
            )
        if question.bounds.width > MOST_COLUMNS:
            return Verdict(False, f"adaptive_ridge is for up to {MOST_COLUMNS} columns.")
        return ObjectivePerturbation().accepts(question, unit)

    def _plan(self, problem: Problem, budget: Budget, unit: Unit) -> Plan:
        curvature = Curvature(problem)
        if not budget.is_private:
            exact = ObjectivePerturbation().plan(problem, budget, unit)
            if not isinstance(exact, ExactMinimiser):
                raise CalibrationError("an infinite budget has another plan than expected.")
            return ExactAdaptiveRidge(curvature, exact, exact.guarantee)
        if budget.delta == 0:
            raise CalibrationError("adaptive_ridge needs delta > 0; use sufficient_statistics.")
        mu = math.sqrt(FIRST_SHARE) / gaussian_multiplier(budget)
        largest = curvature.sensitivity
        grid = gaussian_grid(
            multiplier=1 / mu,
            sensitivity=largest,
            dimension=1,
            bound=curvature.bound,
            error=curvature.error,
        )
        reached = (largest + 2 * curvature.error + grid.spread_l2(1)) / grid.scale * (1 + 1e-15)
        overestimated = TAIL_SHARE * budget.delta / (1 + math.exp(min(budget.epsilon, 700.0)))
        first = within(Gaussian(reached), distance_of_gaussian(1) + overestimated)
        second = ObjectivePerturbation("gaussian").plan_beside(problem, budget, unit, beside=first)
        if not isinstance(second, ObjectivePerturbationPlan) or not isinstance(
            second.minimiser, PenalisedMinimiser
        ):
            raise CalibrationError("objective_perturbation has another plan than expected.")
        deviation = grid.scale * -float(ndtri(overestimated)) + grid.step
        allowance = (largest + curvature.error + deviation) * (1 + 2.0**-30)
        reason = f"the ridge gives way to curvature above {allowance:.3g}; {second.reason}"
        return AdaptiveRidgePlan(curvature, grid, allowance, second, second.guarantee, reason)
