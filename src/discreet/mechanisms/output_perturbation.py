"""Minimise, then add Gaussian noise to the coefficients; proof in ``output_perturbation.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms._minimiser import Minimiser
from discreet.mechanisms._slopes import finite_slopes
from discreet.mechanisms.base import Mechanism, Plan, Verdict, public_facts
from discreet.mechanisms.objective_perturbation import (
    TAIL,
    TAIL_CHANCE,
    ExactMinimiser,
    far_margin,
)
from discreet.noise import (
    Grid,
    Noise,
    distance_of_gaussian,
    gaussian_grid,
    laplace_grid,
    release_gaussian,
    release_laplace,
)
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Unit,
    gaussian_multiplier,
    within,
)
from discreet.problem import Problem
from discreet.question import Question

LAPLACE_TAIL = 80.0
"""A Laplace variable of scale one is larger with a chance of e**-80, below 2**-115."""

NEGLECTED = "that no Laplace variable exceeds 80 times its scale (chance 2^-115 each)"


@dataclass(frozen=True, eq=False)
class OutputPerturbationPlan(Plan):
    """How exactly to solve, and the grid of the noise."""

    minimiser: Minimiser
    grid: Grid
    is_pure: bool
    sensitivity: float  # in l1 if pure, in l2 otherwise; solver and grid included
    guarantee: Guarantee

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        point = self.minimiser.solve(rows, np.zeros(self.minimiser.problem.bounds.width))
        released = (release_laplace if self.is_pure else release_gaussian)(point, self.grid, noise)
        self.minimiser.check_in_public(released)
        return released


class OutputPerturbation(Mechanism):
    """Noise on the minimiser: Gaussian, or Laplace if delta is zero.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Logistic(), bounds, ridge=100.0)
    >>> plan = OutputPerturbation().plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.grid.scale, 4)
    0.0422
    """

    @property
    def name(self) -> str:
        return "output_perturbation"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "output_perturbation solves learning problems.")
        if not question.loss.is_smooth:
            return Verdict(
                False, f"{question.loss!r} is not smooth, and no solver certifies it; smooth it."
            )
        return finite_slopes(question)

    def _plan(self, problem: Problem, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return ExactMinimiser(_minimiser(problem, noise=0.0), Guarantee(NoPrivacy(), unit))
        apart = unit.spread(problem.row_lipschitz) / problem.ridge * (1 + 1e-15)
        width = problem.bounds.width
        facts = (*public_facts(problem.bounds, unit), *problem.assumed)
        if budget.delta == 0:
            apart *= width**0.5 * (1 + 1e-15)
            minimiser = _minimiser(
                problem, noise=LAPLACE_TAIL * width**0.5 * apart / budget.epsilon
            )
            grid = laplace_grid(
                epsilon=budget.epsilon,
                sensitivity=apart,
                dimension=width,
                bound=minimiser.problem.radius,
                error=minimiser.radius,
            )
            total = apart + 2 * width**0.5 * minimiser.radius + grid.spread_l1(width)
            profile = Laplace(total / grid.scale * (1 + 1e-15))
            _check_far(minimiser, grid.scale * LAPLACE_TAIL * width**0.5)
            guarantee = Guarantee(profile, unit, (*facts, NEGLECTED))
            return OutputPerturbationPlan(minimiser, grid, True, total, guarantee)
        distance = distance_of_gaussian(width) + TAIL_CHANCE
        multiplier = gaussian_multiplier(budget, distance=distance)
        minimiser = _minimiser(problem, noise=multiplier * apart * (width**0.5 + TAIL))
        grid = gaussian_grid(
            multiplier=multiplier,
            sensitivity=apart,
            dimension=width,
            bound=minimiser.problem.radius,
            error=minimiser.radius,
        )
        total = apart + 2 * minimiser.radius + grid.spread_l2(width)
        guarantee = Guarantee(
            within(Gaussian(total / grid.scale * (1 + 1e-15)), distance),
            unit,
            facts,
            quoted_delta=budget.delta,
        )
        _check_far(minimiser, grid.scale * (width**0.5 + TAIL))
        return OutputPerturbationPlan(minimiser, grid, False, total, guarantee)


def _minimiser(problem: Problem, *, noise: float) -> Minimiser:
    """Fix how far coefficients may go, far beyond the noise, and the certificate."""
    largest = problem.bounds.max_rows * problem.row_lipschitz / problem.ridge
    far = min(far_margin(problem) / problem.row_norm, 2 * largest)
    return Minimiser(replace(problem, radius=2 * far + 8 * noise))


def _check_far(minimiser: Minimiser, noise: float) -> None:
    """Refuse a plan whose noise could reach as far as minimisers that cannot be certified."""
    if noise > 0.25 * minimiser.problem.radius:
        raise CalibrationError("the solver's error would dominate the noise; use more ridge.")
