"""Minimise vector losses plus a random linear term; proof in ``vector_perturbation.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, public_facts
from discreet.mechanisms.minimising.linear_term import RadialTerm
from discreet.mechanisms.minimising.mask import Mask, laplace_mask, state_neglected
from discreet.mechanisms.minimising.vector_minimiser import VectorMinimiser
from discreet.mechanisms.share import too_little_delta
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Pure, Unit, within
from discreet.privacy.guarantee import in_three_digits as up
from discreet.questions import Question, VectorProblem
from discreet.record import Tolerance

MASK_SHARE = 0.03
"""The mask's share of epsilon."""

WIDEST = 1500
"""Hessians are dense: of more coefficients than this they would not be formed in time."""

_DOWN = 1 - 2.0**-40


@dataclass(frozen=True, eq=False)
class VectorPerturbationPlan(Plan):
    """The linear term, how exactly to solve, and the mask."""

    minimiser: VectorMinimiser
    term: RadialTerm
    mask: Mask
    guarantee: Guarantee
    reason: str

    @property
    def problem(self) -> VectorProblem:
        return self.minimiser.problem

    @property
    def scale(self) -> float:
        """The scale of the linear term."""
        return self.term.scale

    @property
    def sensitivity(self) -> float:
        """How far, in l2, released points of neighbours can be apart when nothing is random."""
        apart = self.guarantee.unit.spread(self.problem.row_lipschitz) / self.problem.ridge
        return apart + 2 * self.minimiser.radius + self.mask.grid.spread_l2(self.problem.width)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.mask.tolerances(self.minimiser.radius)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        point = self.minimiser.solve(rows, self.term.draw(self.problem.width, noise))
        return self.problem.penalty.nearest(self.mask.hide(point, noise))


@dataclass(frozen=True, eq=False)
class ExactVectorMinimiser(Plan):
    """The minimiser itself, without noise: what an infinite budget buys."""

    minimiser: VectorMinimiser
    guarantee: Guarantee
    reason: str = "an infinite budget buys the minimiser itself"

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.minimiser.solve(rows, np.zeros(self.minimiser.problem.width))


@dataclass(frozen=True)
class VectorPerturbation(Mechanism):
    """Objective perturbation for smooth losses that are not of a margin; of pure epsilon.

    Examples
    --------
    >>> from discreet.questions.bounds import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import SpatialMedian
    >>> bounds = Bounds(L2Ball(1.0), 3, max_rows=10**6)
    >>> problem = SpatialMedian(bounds, 100.0, Indicator(L2Ball(1.0)), smoothing=0.05)
    >>> plan = VectorPerturbation().plan(problem, Budget(1.0), AddRemoveOne())
    >>> round(plan.scale, 3), plan.reason
    (1.312, 'radial noise; curvature takes 0.214 of epsilon')
    """

    @property
    def name(self) -> str:
        return "vector_perturbation"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, VectorProblem):
            return Verdict(False, "vector_perturbation solves vector problems.")
        if not math.isfinite(question.row_smoothness):
            return Verdict(
                False, "the proof needs curvatures; smooth the loss, or use noisy_gradient."
            )
        if question.width > WIDEST:
            return Verdict(
                False,
                f"{question.width} coefficients are too many for vector_perturbation, which takes "
                f"{WIDEST}; use fewer columns.",
            )
        return YES

    def _plan(self, problem: VectorProblem, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return ExactVectorMinimiser(VectorMinimiser(problem), Guarantee(NoPrivacy(), unit))
        epsilon = (1 - MASK_SHARE) * budget.epsilon * (1 - 1e-12)
        shift = _largest_shift(problem, unit, epsilon)
        width = problem.width
        term = RadialTerm(problem.row_lipschitz / shift * (1 + 1e-15))
        minimiser = VectorMinimiser(problem, term.bound(width), term.error(width))
        mask = laplace_mask(
            epsilon=MASK_SHARE * budget.epsilon * (1 - 1e-12),
            error=minimiser.radius,
            width=width,
            bound=minimiser.far,
            returns=True,
        )
        spent = _cost(problem, unit, shift) + MASK_SHARE * budget.epsilon * (1 - 1e-12)
        guarantee = _guarantee(problem, budget, unit, spent, term.chance(width) + mask.chance)
        share = 1 - unit.spread(shift) / epsilon
        reason = f"radial noise; curvature takes {share:.3g} of epsilon"
        return VectorPerturbationPlan(minimiser, term, mask, guarantee, reason)


def _cost(problem: VectorProblem, unit: Unit, shift: float) -> float:
    """Return the epsilon of a linear term whose density falls by at most ``shift`` a row."""
    other = shift if unit.count_is_public else 0.0
    return other + problem.bending_cost(shift)


def _largest_shift(problem: VectorProblem, unit: Unit, epsilon: float) -> float:
    """Return the largest shift that costs at most ``epsilon``, rounded down."""
    if _cost(problem, unit, 0.0) >= epsilon:
        enough = problem.row_smoothness / math.expm1(0.5 * epsilon / problem.rank)
        raise CalibrationError(
            f"a ridge of {problem.ridge:.3g} is too weak for epsilon = {up(epsilon)}: one row "
            f"has more curvature than the budget allows. Use at least {enough:.3g}."
        )
    low, high = 0.0, epsilon
    while high - low > 1e-13 * epsilon:
        middle = (low + high) / 2
        low, high = (middle, high) if _cost(problem, unit, middle) <= epsilon else (low, middle)
    return low * _DOWN


def _guarantee(
    problem: VectorProblem, budget: Budget, unit: Unit, epsilon: float, chance: float
) -> Guarantee:
    """Return the guarantee; without a delta, it says which chance it neglects."""
    facts = (*public_facts(problem.bounds, unit), *problem.assumed)
    pure = Pure(epsilon * (1 + 1e-14))
    if budget.delta == 0:
        return Guarantee(pure, unit, (*facts, state_neglected(chance)))
    profile = within(pure, chance)
    if profile.delta(budget.epsilon) > budget.delta:
        raise CalibrationError(too_little_delta(budget))
    return Guarantee(profile, unit, facts, quoted_delta=budget.delta)
