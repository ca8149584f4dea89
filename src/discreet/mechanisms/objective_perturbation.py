"""Minimise the loss plus a random linear term; proof in ``objective_perturbation.md``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError, PrivacyError
from discreet.losses import Logistic, Loss, MarginLogistic, PseudoHuber
from discreet.mechanisms.base import (
    FIXED_OBJECTIVE,
    TABLE_UNITS,
    Learner,
    Plan,
    Verdict,
    accepts_curvatures,
)
from discreet.mechanisms.minimising.linear_term import (
    GaussianTerm,
    LaplaceTerm,
    LinearTerm,
    RadialTerm,
    largest_shift,
    pure_cost,
    too_little_ridge,
)
from discreet.mechanisms.minimising.many_terms import WIDEST, solve_many
from discreet.mechanisms.minimising.mask import Mask, far_margin, gaussian_mask, laplace_mask
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.penalised import PenalisedMinimiser, minimiser_of
from discreet.mechanisms.share import LAWS
from discreet.mechanisms.share import BudgetShare as Share
from discreet.noise import Noise
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Profile,
    Pure,
    ShiftedGaussian,
    Unit,
    calibrate,
    compose,
)
from discreet.questions import Question
from discreet.questions.problem import Problem
from discreet.record import Tolerance

MASK_SHARE = 0.02
"""The mask's mu over that of the linear term; measured, it costs under one percent more noise."""

PURE_MASK_SHARE = 0.008
"""The mask's share of a pure epsilon; where rows are many, the mask is most of the noise."""


MOST_RIDGES = 2.0
"""A ridge that is settled later is at most this many times the one that was planned."""


@dataclass(frozen=True)
class SettledObjective:
    """A loss and a ridge."""

    loss: Loss
    ridge: float

    @classmethod
    def of(cls, problem: Problem) -> SettledObjective:
        return cls(problem.loss, problem.ridge)


@dataclass(frozen=True, eq=False)
class ObjectivePerturbationPlan(Plan):
    """The linear term, how exactly to solve, and the mask."""

    minimiser: Minimiser | PenalisedMinimiser
    term: LinearTerm
    mask: Mask
    guarantee: Guarantee
    reason: str
    settled: SettledObjective | None = None  # None for the objective that was planned for
    narrower: int | None = None  # how many coefficients there are, if fewer than planned for

    @property
    def objective_noise(self) -> float:
        return self.term.scale

    def narrow(self, width: int) -> ObjectivePerturbationPlan:
        """Return the same plan for rows of fewer columns: as if the others were zeros.

        The objective then separates, and what is left out is noise over the ridge; tolerance, mask
        and refusal were planned for more columns, and only grow with them.
        """
        if not 1 <= width <= self.minimiser.problem.bounds.width:
            raise PrivacyError("rows are wider than was planned for.")
        if isinstance(self.minimiser, PenalisedMinimiser):
            raise CalibrationError(FIXED_OBJECTIVE)
        return replace(self, narrower=width, minimiser=replace(self.minimiser, is_swift=True))

    def settle(self, loss: Loss, ridge: float) -> ObjectivePerturbationPlan:
        if isinstance(self.minimiser, PenalisedMinimiser):
            raise CalibrationError(FIXED_OBJECTIVE)
        self.minimiser.check_settled(loss, ridge)
        return replace(self, settled=SettledObjective(loss, ridge))

    @property
    def scale(self) -> float:
        """The scale of the linear term."""
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
        if self.settled is None:
            return self.run_with(rows, noise, self.minimiser.problem.ridge)
        return self._run(rows, noise, self.settled)

    def run_with(self, rows: OpenRows, noise: Noise, ridge: float) -> Vector:
        """Run with less ridge than planned, because the rows are known to make up for it."""
        return self._run(rows, noise, SettledObjective(self.minimiser.problem.loss, ridge))

    def _run(self, rows: OpenRows, noise: Noise, objective: SettledObjective) -> Vector:
        width = self.narrower or self.minimiser.problem.bounds.width
        linear = self.term.draw(width, noise)
        point = self.minimiser.solve(rows, linear, loss=objective.loss, ridge=objective.ridge)
        released = self.mask.hide(point, noise)
        return self.minimiser.finish(released)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        minimiser, width = self.minimiser, self.minimiser.problem.bounds.width
        is_weighted = minimiser.problem.bounds.has_weights
        is_other = is_weighted or self.settled is not None or self.narrower is not None
        if isinstance(minimiser, PenalisedMinimiser) or width > WIDEST or is_other:
            return super().run_many(rows, noise, draws)
        points = solve_many(minimiser, rows, self.term.draw_many(width, draws, noise))
        hidden = self.mask.hide(points.ravel(), noise).reshape(points.shape)
        return np.array([minimiser.finish(released) for released in hidden])


@dataclass(frozen=True, eq=False)
class ExactMinimiser(Plan):
    """The minimiser itself, without noise: what an infinite budget buys.

    Nothing is promised, so nothing has to be certified: what is found is released.
    """

    objective_noise: ClassVar[float] = 0.0

    minimiser: Minimiser | PenalisedMinimiser
    guarantee: Guarantee
    reason: str = "an infinite budget buys the minimiser itself"
    settled: SettledObjective | None = None

    def settle(self, loss: Loss, ridge: float) -> ExactMinimiser:
        return replace(self, settled=SettledObjective(loss, ridge))

    def narrow(self, width: int) -> ExactMinimiser:
        """Return the same plan for rows of fewer columns."""
        if isinstance(self.minimiser, PenalisedMinimiser):
            raise CalibrationError(FIXED_OBJECTIVE)
        problem = self.minimiser.problem
        bounds = replace(problem.bounds, n_features=width)
        narrower = replace(self.minimiser, problem=replace(problem, bounds=bounds))
        return replace(self, minimiser=narrower)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        objective = self.settled or SettledObjective.of(self.minimiser.problem)
        return self.minimiser.solve_without_noise(rows, objective.loss, objective.ridge)


@dataclass(frozen=True)
class ObjectivePerturbation(Learner):
    """Objective perturbation for smooth generalised linear losses, always masked.

    Parameters
    ----------
    law
        Of the linear term: ``"gaussian"``, which needs delta > 0; ``"laplace"`` in each coordinate
        or ``"radial"``, both of pure epsilon; None for the one with the smallest noise.
    settles_later
        Whether loss and ridge are settled when it runs, by what is released already: a margin
        logistic loss of any margin (or the same pseudo-Huber loss), and a ridge up to twice that of
        the problem. Noise and guarantee are for all of them.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Logistic(), bounds, ridge=1.1)
    >>> plan = ObjectivePerturbation().plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.scale, 2), plan.reason
    (1.01, 'radial noise of size 3.34 against gaussian 4.23, laplace 4.51')
    """

    name: ClassVar[str] = "objective_perturbation"
    units = TABLE_UNITS
    solves_problems: ClassVar[bool] = True

    law: str | None = None
    settles_later: bool = False

    def __post_init__(self) -> None:
        if self.law is not None:
            _checks.one_of(LAWS, law=self.law)
        if self.settles_later and self.law not in (None, "gaussian"):
            raise InputError("an objective is settled later beside Gaussian noise alone.")

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "objective_perturbation solves learning problems.")
        if not question.loss.is_smooth:
            return Verdict(
                False,
                f"{question.loss!r} is not smooth, and the proof needs its curvature; use a "
                "smoothed loss.",
            )
        if self.settles_later and not (
            question.penalty is None
            and isinstance(question.loss, MarginLogistic | Logistic | PseudoHuber)
        ):
            return Verdict(
                False,
                "an objective is settled later if its loss is Logistic, MarginLogistic or "
                "PseudoHuber, without a penalty but the ridge; use settles_later=False for others.",
            )
        return accepts_curvatures(question)

    def _plan_beside(
        self, problem: Problem, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        if not budget.is_private:
            minimiser = _minimiser(problem, GaussianTerm(0.0))
            return ExactMinimiser(minimiser, Guarantee(NoPrivacy(), unit))
        plans = _SETTLED_LATER if self.settles_later else _PLANS
        return Share(problem, budget, unit, beside, times).smallest(self.law, _size, plans)


def _size(share: Share[Problem], law: str) -> float:
    """Predict the noise in a coordinate of the objective's slope."""
    return _TERMS[law](share).size(share.problem.bounds.width)


@lru_cache(maxsize=256)  # planning is a function of public values, and costs more than a small fit
def _gaussian_term(share: Share[Problem]) -> GaussianTerm:
    _check_ridge(share.problem, share.budget)
    return GaussianTerm(calibrate(partial(_gaussian_profile, share), share.budget))


def _laplace_term(share: Share[Problem]) -> LaplaceTerm:
    return LaplaceTerm(_slope(share.problem, 1) / _shift(share))


def _radial_term(share: Share[Problem]) -> RadialTerm:
    return RadialTerm(_slope(share.problem, 2) / _shift(share))


def _slope(problem: Problem, order: int) -> float:
    """Bound the gradient of whoever is protected in a norm."""
    return problem.lipschitz * problem.bounds.row_norm(order)


def _shift(share: Share[Problem]) -> float:
    epsilon = (1 - PURE_MASK_SHARE) * share.pure_epsilon
    return largest_shift(share.problem, share.unit, epsilon)


def _gaussian_profile(share: Share[Problem], scale: float) -> Profile:
    """Return the profile of the ideal minimisers followed by their masks."""
    problem = share.problem
    mu = problem.row_lipschitz / scale * (1 + 1e-15)
    ideal = ShiftedGaussian(
        mu=mu,
        log_ratio=problem.log_ratio,
        joint=problem.joint,
        is_one_signed=problem.loss.is_one_signed,
        is_replace=share.unit.is_replace,
        of_persons=share.unit.protects_persons,
        directions="one" if problem.bounds.has_one_row_each else "many",
    )
    # The mask's chances are those of the term: both are Gaussian, of the same width.
    distance = 2 * GaussianTerm(scale).chance(problem.bounds.width)
    return share.together(compose([ideal, Gaussian(MASK_SHARE * mu)]), distance)


def _gaussian_plan(share: Share[Problem], reason: str, *, settles_later: bool = False) -> Plan:
    term = _gaussian_term(share)
    minimiser = _minimiser(share.problem, term, settles_later=settles_later)
    mask = gaussian_mask(
        mu=MASK_SHARE * share.problem.row_lipschitz / term.scale,
        error=minimiser.radius,
        width=share.problem.bounds.width,
        bound=minimiser.far,
        returns=math.isfinite(share.problem.domain_radius),
    )
    guarantee = share.guarantee(_gaussian_profile(share, term.scale))
    return ObjectivePerturbationPlan(minimiser, term, mask, guarantee, reason)


def _pure_plan(share: Share[Problem], term: LinearTerm, shift: float, reason: str) -> Plan:
    minimiser, width = _minimiser(share.problem, term), share.problem.bounds.width
    epsilon = PURE_MASK_SHARE * share.pure_epsilon
    mask = laplace_mask(
        epsilon=epsilon,
        error=minimiser.radius,
        width=width,
        bound=minimiser.far,
        returns=math.isfinite(share.problem.domain_radius),
    )
    one = Pure((pure_cost(share.problem, share.unit, shift) + epsilon) * (1 + 1e-14))
    guarantee = share.pure_guarantee(one, term.chance(width) + mask.chance)
    return ObjectivePerturbationPlan(minimiser, term, mask, guarantee, reason)


def _laplace_plan(share: Share[Problem], reason: str) -> Plan:
    term = _laplace_term(share)
    return _pure_plan(share, term, _slope(share.problem, 1) / term.scale, reason)


def _radial_plan(share: Share[Problem], reason: str) -> Plan:
    term = _radial_term(share)
    return _pure_plan(share, term, _slope(share.problem, 2) / term.scale, reason)


_TERMS: dict[str, Callable[[Share[Problem]], LinearTerm]] = {
    "gaussian": _gaussian_term,
    "laplace": _laplace_term,
    "radial": _radial_term,
}
_PLANS = {"gaussian": _gaussian_plan, "laplace": _laplace_plan, "radial": _radial_plan}
_SETTLED_LATER = {"gaussian": partial(_gaussian_plan, settles_later=True)}


def _check_ridge(problem: Problem, budget: Budget) -> None:
    """Refuse a ridge so weak that the curvature of one row, or person, exceeds the budget."""
    joint = math.inf if problem.joint is None else problem.joint
    if not min(problem.log_ratio, joint) < budget.epsilon:
        raise too_little_ridge(problem, budget.epsilon)


def _minimiser(
    problem: Problem, term: LinearTerm, *, settles_later: bool = False
) -> Minimiser | PenalisedMinimiser:
    """Fix how far coefficients may go, and the certificate, from public numbers."""
    width = problem.bounds.width
    linear_bound = term.bound(width)
    far = 2 * (linear_bound / problem.ridge + far_margin(problem) / problem.row_norm)
    if settles_later:
        # Within so large a radius slopes and curvatures reach their largest, whatever the margin.
        most = MOST_RIDGES * problem.ridge
        bounded = replace(problem, radius=far)
        return Minimiser(bounded, linear_bound, term.error(width), most_ridge=most)
    largest = (problem.bounds.max_rows * problem.row_lipschitz + linear_bound) / problem.ridge
    bounded = replace(problem, radius=min(far, 4 * largest))
    return minimiser_of(bounded, linear_bound, term.error(width))
