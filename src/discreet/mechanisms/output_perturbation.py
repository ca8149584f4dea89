"""Minimise, then add noise to the coefficients; proof in ``output_perturbation.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import (
    TABLE_UNITS,
    Learner,
    Plan,
    Verdict,
    accepts_curvatures,
    grid_tolerances,
)
from discreet.mechanisms.minimising.linear_term import (
    GAMMA_TAIL,
    GAMMA_TAIL_CHANCE,
    GaussianTerm,
    LaplaceTerm,
    RadialTerm,
)
from discreet.mechanisms.minimising.mask import Mask, far_margin, laplace_mask, solver_tolerance
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.penalised import PenalisedMinimiser, minimiser_of
from discreet.mechanisms.objective_perturbation import PURE_MASK_SHARE, ExactMinimiser
from discreet.mechanisms.share import LAWS
from discreet.mechanisms.share import BudgetShare as Share
from discreet.noise import (
    Grid,
    Noise,
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
    Profile,
    Pure,
    Unit,
    calibrate,
)
from discreet.questions import Question
from discreet.questions.problem import Problem
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class OutputPerturbationPlan(Plan):
    """How exactly to solve, and the grid of the noise."""

    minimiser: Minimiser | PenalisedMinimiser
    grid: Grid
    is_pure: bool
    sensitivity: float  # in l1 if pure, in l2 otherwise; solver and grid included
    guarantee: Guarantee
    reason: str

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (solver_tolerance(self.minimiser.radius), *grid_tolerances(self.grid))

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.minimiser.finish(self._add_noise(self._solve(rows), noise))

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        points = np.tile(self._solve(rows), draws)
        noisy = self._add_noise(points, noise).reshape(draws, -1)
        return np.array([self.minimiser.finish(released) for released in noisy])

    def _solve(self, rows: OpenRows) -> Vector:
        return self.minimiser.solve(rows, np.zeros(self.minimiser.problem.bounds.width))

    def _add_noise(self, points: Vector, noise: Noise) -> Vector:
        return (release_laplace if self.is_pure else release_gaussian)(points, self.grid, noise)


@dataclass(frozen=True, eq=False)
class RadialOutputPlan(Plan):
    """How exactly to solve, the radial noise, and the mask of its rounding."""

    minimiser: Minimiser | PenalisedMinimiser
    term: RadialTerm
    mask: Mask
    guarantee: Guarantee
    reason: str

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return self.term.scale

    @property
    def sensitivity(self) -> float:
        """How far, in l2, released points of neighbours can be apart when nothing is random."""
        problem = self.minimiser.problem
        apart = self.guarantee.unit.spread(problem.row_lipschitz) / problem.ridge
        return apart + 2 * self.minimiser.radius + self.mask.grid.spread_l2(problem.bounds.width)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.mask.tolerances(self.minimiser.radius)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._hide(self._solve(rows), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        point = self._solve(rows)
        moved = point + self.term.draw_many(point.size, draws, noise)
        hidden = self.mask.hide(moved.ravel(), noise).reshape(moved.shape)
        return np.array([self.minimiser.finish(released) for released in hidden])

    def _solve(self, rows: OpenRows) -> Vector:
        return self.minimiser.solve(rows, np.zeros(self.minimiser.problem.bounds.width))

    def _hide(self, point: Vector, noise: Noise) -> Vector:
        released = self.mask.hide(point + self.term.draw(point.size, noise), noise)
        return self.minimiser.finish(released)


@dataclass(frozen=True)
class OutputPerturbation(Learner):
    """Output perturbation: noise on the minimiser.

    Parameters
    ----------
    law
        ``"gaussian"``, which needs delta > 0; ``"radial"`` or, in each coordinate, ``"laplace"``,
        both of pure epsilon; None for the one with the smallest noise.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Logistic(), bounds, ridge=100.0)
    >>> mechanism = OutputPerturbation("gaussian")
    >>> plan = mechanism.plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.grid.scale, 4)
    0.0422
    """

    name: ClassVar[str] = "output_perturbation"
    units = TABLE_UNITS
    solves_problems: ClassVar[bool] = True

    law: str | None = None

    def __post_init__(self) -> None:
        if self.law is not None:
            _checks.one_of(LAWS, law=self.law)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "output_perturbation solves learning problems.")
        if not question.loss.is_smooth:
            return Verdict(
                False, f"{question.loss!r} is not smooth, and no solver certifies it; smooth it."
            )
        return accepts_curvatures(question)

    def _plan_beside(
        self, problem: Problem, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        if not budget.is_private:
            return ExactMinimiser(_minimiser(problem, noise=0.0), Guarantee(NoPrivacy(), unit))
        share = Share(problem, budget, unit, beside, times)
        return share.smallest(self.law, _size, _PLANS)


def _apart(share: Share[Problem]) -> float:
    """Bound the distance of the minimisers of neighbours."""
    problem = share.problem
    return share.unit.spread(problem.row_lipschitz) / problem.ridge * (1 + 1e-15)


def _size(share: Share[Problem], law: str) -> float:
    """Predict the noise in a coefficient."""
    width, apart = share.problem.bounds.width, _apart(share)
    if law == "gaussian":
        return GaussianTerm(apart * _multiplier(share)).size(width)
    if law == "laplace":
        return LaplaceTerm(math.sqrt(width) * apart / share.pure_epsilon).size(width)
    return RadialTerm(apart / share.pure_epsilon).size(width)


@lru_cache(maxsize=256)
def _multiplier(share: Share[Problem]) -> float:
    distance = GaussianTerm(1.0).chance(share.problem.bounds.width)
    return calibrate(lambda noise: share.together(Gaussian(1 / noise), distance), share.budget)


def _gaussian_plan(share: Share[Problem], reason: str) -> Plan:
    width, apart, multiplier = share.problem.bounds.width, _apart(share), _multiplier(share)
    unit_term = GaussianTerm(1.0)
    minimiser = _minimiser(share.problem, noise=multiplier * apart * unit_term.bound(width))
    grid = gaussian_grid(
        multiplier=multiplier,
        sensitivity=apart,
        dimension=width,
        bound=minimiser.far,
        error=minimiser.radius,
    )
    _check_far(minimiser, grid.scale * unit_term.bound(width))
    total = apart + 2 * minimiser.radius + grid.spread_l2(width)
    profile = share.together(Gaussian(total / grid.scale * (1 + 1e-15)), unit_term.chance(width))
    return OutputPerturbationPlan(minimiser, grid, False, total, share.guarantee(profile), reason)


def _laplace_plan(share: Share[Problem], reason: str) -> Plan:
    width, epsilon = share.problem.bounds.width, share.pure_epsilon
    apart = _apart(share) * math.sqrt(width) * (1 + 1e-15)
    reach = math.sqrt(width) * (GAMMA_TAIL + math.log(width))
    minimiser = _minimiser(share.problem, noise=reach * apart / epsilon)
    grid = laplace_grid(
        epsilon=epsilon,
        sensitivity=apart,
        dimension=width,
        bound=minimiser.far,
        error=minimiser.radius,
    )
    _check_far(minimiser, grid.scale * reach)
    total = apart + 2 * math.sqrt(width) * minimiser.radius + grid.spread_l1(width)
    profile = Laplace(total / grid.scale * (1 + 1e-15))
    guarantee = share.pure_guarantee(profile, GAMMA_TAIL_CHANCE)
    return OutputPerturbationPlan(minimiser, grid, True, total, guarantee, reason)


def _radial_plan(share: Share[Problem], reason: str) -> Plan:
    width = share.problem.bounds.width
    epsilon, hidden = share.pure_epsilon, PURE_MASK_SHARE * share.pure_epsilon
    term = RadialTerm(_apart(share) / (epsilon - hidden))
    minimiser = _minimiser(share.problem, noise=term.bound(width))
    addition = math.sqrt(width) * minimiser.far * 2.0**-52
    mask = laplace_mask(
        epsilon=hidden,
        error=minimiser.radius + term.error(width) + addition,
        width=width,
        bound=minimiser.far,
    )
    _check_far(minimiser, term.bound(width))
    guarantee = share.pure_guarantee(Pure(epsilon * (1 + 1e-14)), term.chance(width) + mask.chance)
    return RadialOutputPlan(minimiser, term, mask, guarantee, reason)


_PLANS = {"gaussian": _gaussian_plan, "laplace": _laplace_plan, "radial": _radial_plan}


def _minimiser(problem: Problem, *, noise: float) -> Minimiser | PenalisedMinimiser:
    """Fix how far coefficients may go, far beyond the noise, and the certificate."""
    largest = problem.bounds.max_rows * problem.row_lipschitz / problem.ridge
    far = min(far_margin(problem) / problem.row_norm, 2 * largest)
    return minimiser_of(replace(problem, radius=2 * far + 8 * noise))


def _check_far(minimiser: Minimiser | PenalisedMinimiser, noise: float) -> None:
    """Refuse a plan whose noise could reach as far as minimisers that cannot be certified."""
    is_free = math.isinf(minimiser.problem.domain_radius)
    if is_free and noise > 0.25 * minimiser.far:
        raise CalibrationError("the solver's error would dominate the noise; use more ridge.")
