"""Minimise the loss plus a random linear term; proof in ``objective_perturbation.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms._minimiser import Minimiser
from discreet.mechanisms._slopes import finite_slopes
from discreet.mechanisms.base import Mechanism, Plan, Verdict, public_facts
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, release_gaussian
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Profile,
    ShiftedGaussian,
    Unit,
    calibrate,
    compose,
    within,
)
from discreet.problem import Problem
from discreet.question import Question

LINEAR_BITS = 46
"""The linear term is drawn on a grid this much finer than its scale."""

MASK_SHARE = 0.02
"""The mask's mu over that of the linear term; measured, it costs under one percent more noise."""

FINEST = 2.0**-28
"""The mask is at least this share of the largest coefficient, or no grid would hold both."""

FAR = 400.0
"""How far, in margins, coefficients may go beyond what the noise alone explains."""

TAIL = 12.0
TAIL_CHANCE = 2.0**-100
"""The norm of p Gaussians exceeds sqrt(p) + 12 with a chance below e**-72 < 2**-100."""


@dataclass(frozen=True, eq=False)
class ObjectivePerturbationPlan(Plan):
    """The scale of the linear term, how exactly to solve, and the mask."""

    minimiser: Minimiser
    scale: float
    mask: Grid
    guarantee: Guarantee

    @property
    def sensitivity(self) -> float:
        """How far, in l2, released points of neighbours can be apart when nothing is random."""
        problem = self.minimiser.problem
        apart = self.guarantee.unit.spread(problem.row_lipschitz) / problem.ridge
        return apart + 2 * self.minimiser.radius + self.mask.spread_l2(problem.bounds.width)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        width = self.minimiser.problem.bounds.width
        draws = noise.gaussian(width, LINEAR_BITS).astype(np.float64)
        linear = (draws + 0.5) * math.ldexp(self.scale, -LINEAR_BITS)
        point = self.minimiser.solve(rows, linear)
        released = release_gaussian(point, self.mask, noise)
        self.minimiser.check_in_public(released)
        return released


@dataclass(frozen=True, eq=False)
class ExactMinimiser(Plan):
    """The minimiser itself, without noise: what an infinite budget buys."""

    minimiser: Minimiser
    guarantee: Guarantee

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.minimiser.solve(rows, np.zeros(self.minimiser.problem.bounds.width))


class ObjectivePerturbation(Mechanism):
    """Gaussian objective perturbation for smooth generalised linear losses, always masked.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Logistic(), bounds, ridge=1.1)
    >>> plan = ObjectivePerturbation().plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.scale, 2)
    4.23
    """

    @property
    def name(self) -> str:
        return "objective_perturbation"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "objective_perturbation solves learning problems.")
        if not question.loss.is_smooth:
            return Verdict(
                False,
                f"{question.loss!r} is not smooth, and the proof needs its curvature; use a "
                "smoothed loss.",
            )
        return finite_slopes(question)

    def _plan(self, problem: Problem, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            minimiser = _minimiser(problem, scale=0.0)
            return ExactMinimiser(minimiser, Guarantee(NoPrivacy(), unit))
        if budget.delta == 0:
            raise CalibrationError(
                "Gaussian noise needs delta > 0; allow a small delta, or use output_perturbation."
            )
        _check_ridge(problem, budget)
        distance = 2 * distance_of_gaussian(problem.bounds.width) + 2 * TAIL_CHANCE

        def profile(scale: float) -> Profile:
            return within(_profile(problem, unit, scale), distance)

        scale = calibrate(profile, budget)
        minimiser = _minimiser(problem, scale)
        multiplier = scale / (MASK_SHARE * problem.row_lipschitz)
        mask = gaussian_grid(
            multiplier=multiplier,
            sensitivity=max(2 * minimiser.radius, FINEST * minimiser.problem.radius / multiplier),
            dimension=problem.bounds.width,
            bound=minimiser.problem.radius,
        )
        guarantee = Guarantee(
            profile(scale),
            unit,
            (*public_facts(problem.bounds, unit), *problem.assumed),
            quoted_delta=budget.delta,
        )
        if mask.scale * (math.sqrt(problem.bounds.width) + TAIL) > 0.25 * minimiser.problem.radius:
            raise CalibrationError(
                "the mask would be as large as the coefficients; use more ridge."
            )
        return ObjectivePerturbationPlan(minimiser, scale, mask, guarantee)


def far_margin(problem: Problem) -> float:
    """Return a margin that no model of labels this large needs."""
    labels = problem.bounds.labels
    return FAR * max(1.0, 0.0 if labels is None else labels.magnitude)


def _check_ridge(problem: Problem, budget: Budget) -> None:
    """Refuse a ridge so weak that one row can bend the objective beyond the budget."""
    joint = math.inf if problem.joint is None else problem.joint
    if min(problem.log_ratio, joint) < budget.epsilon:
        return
    enough = problem.row_smoothness / math.expm1(0.5 * budget.epsilon)
    raise CalibrationError(
        f"a ridge of {problem.ridge:.3g} is too weak for epsilon = {budget.epsilon:g}: one row "
        f"alone bends the objective by more. Use at least {enough:.3g}, C at most {1 / enough:.3g}."
    )


def _profile(problem: Problem, unit: Unit, scale: float) -> Profile:
    """Return the profile of the ideal minimiser followed by its mask."""
    mu = problem.row_lipschitz / scale * (1 + 1e-15)
    ideal = ShiftedGaussian(
        mu=mu,
        log_ratio=problem.log_ratio,
        joint=problem.joint,
        is_one_signed=problem.loss.is_one_signed,
        is_replace=unit.count_is_public,
    )
    return compose([ideal, Gaussian(MASK_SHARE * mu)])


def _minimiser(problem: Problem, scale: float) -> Minimiser:
    """Fix how far coefficients may go, and the certificate, from public numbers."""
    width = problem.bounds.width
    linear_bound = scale * (math.sqrt(width) + TAIL)
    far = 2 * (linear_bound / problem.ridge + far_margin(problem) / problem.row_norm)
    largest = (problem.bounds.max_rows * problem.row_lipschitz + linear_bound) / problem.ridge
    bounded = replace(problem, radius=min(far, 4 * largest))
    step = math.ldexp(scale, -LINEAR_BITS)
    return Minimiser(bounded, linear_bound, 0.5 * step * math.sqrt(width))
