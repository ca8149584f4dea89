r"""Minimise vector losses plus a random linear term; proof in ``vector_perturbation.md``.

Minimisers come with a public radius that holds surely.
The point t is the prox of a float vector z, and ``certify`` returns a residual r. As in
``penalised.py``, with S the largest curvature that ``max_rows`` rows and the ridge can have, p the
number of coefficients, e the error of the prox and G that of the gradient
(``vector_objective.py``, and four roundings of everything for the last additions)

.. math:: \|t - \theta\| \le e + \frac1\Lambda
          \left((1 + (p+4)u) \, r + 4u (r + g) + G + 2 S e\right),

g the largest gradient there can be. The domain is bounded, so no point is refused for being far,
and some float point is always certified and found (``proximal_search.py``): none is refused at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import TABLE_UNITS, YES, Mechanism, Plan, Verdict, public_facts
from discreet.mechanisms.minimising.linear_term import RadialTerm
from discreet.mechanisms.minimising.mask import Mask, laplace_mask, state_neglected
from discreet.mechanisms.minimising.proximal_search import ProximalSearch, reachable_residual
from discreet.mechanisms.minimising.vector_objective import (
    VectorObjective,
    gradient_error,
    objective_of,
)
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

    name: ClassVar[str] = "vector_perturbation"
    units = TABLE_UNITS

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
    """Return the epsilon of a linear term whose density falls by at most ``shift``."""
    other = shift if unit.is_replace else 0.0
    return other + problem.bending_cost(shift)


def _largest_shift(problem: VectorProblem, unit: Unit, epsilon: float) -> float:
    """Return the largest shift that costs at most ``epsilon``, rounded down."""
    if _cost(problem, unit, 0.0) >= epsilon:
        enough = problem.row_smoothness / math.expm1(0.5 * epsilon / problem.rank)
        who = "one row has" if problem.bounds.has_one_row_each else "the rows of one person have"
        raise CalibrationError(
            f"a ridge of {problem.ridge:.3g} is too weak for epsilon = {up(epsilon)}: {who} more "
            f"curvature than the budget allows. Use at least {enough:.3g}."
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


_UP = 1 + 2.0**-20
SMALLEST = 1e-250
STEEPEST = 1e140


@dataclass(frozen=True)
class VectorMinimiser:
    """How exactly a vector problem is solved, decided from public numbers.

    ``linear_bound`` bounds the norm of the linear term, and ``linear_error`` how far the one in
    use is from the ideal one.
    """

    problem: VectorProblem
    linear_bound: float = 0.0
    linear_error: float = 0.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.radius):
            raise CalibrationError(
                f"{self.problem.penalty!r} has no bound on the rounding of its projection; use a "
                "ball, a box or a simplex."
            )
        if not self._largest_gradient <= STEEPEST:
            raise CalibrationError("rows this long have no safe gradients; rescale them.")
        if not self.tolerance >= SMALLEST:
            raise CalibrationError(
                "gradients this small cannot be told from zero; rescale to ordinary magnitudes."
            )

    @property
    def far(self) -> float:
        """The largest norm of coefficients."""
        return self.problem.domain_radius

    @cached_property
    def _smoothness(self) -> float:
        problem = self.problem
        return problem.bounds.max_rows * problem.row_smoothness + problem.ridge

    @cached_property
    def _largest_gradient(self) -> float:
        problem = self.problem
        rows = problem.bounds.max_rows * problem.row_lipschitz
        return rows + problem.ridge * self.far + self.linear_bound

    @cached_property
    def _prox_error(self) -> float:
        size = self.far + self._largest_gradient / self._smoothness
        return self.problem.penalty.prox_error(size * _UP, self.problem.width)

    @cached_property
    def _float_error(self) -> float:
        """What rounding adds to the computed gradient."""
        return (gradient_error(self.problem) + 4 * UNIT * self._largest_gradient) * _UP

    @cached_property
    def tolerance(self) -> float:
        """The residual to be reached: some float point surely has it."""
        rounding = self._prox_error + UNIT * self.far
        return reachable_residual(
            self._float_error, self._smoothness, rounding, self._largest_gradient
        )

    @cached_property
    def radius(self) -> float:
        """How far the point found can be from the ideal minimiser: public, and surely."""
        problem = self.problem
        rounded = (1 + (problem.width + 4) * UNIT) * self.tolerance
        subtraction = 4 * UNIT * (self.tolerance + self._largest_gradient)
        prox = 2 * self._smoothness * self._prox_error
        total = rounded + subtraction + self._float_error + self.linear_error + prox
        return (total / problem.ridge + self._prox_error) * _UP

    def solve(self, rows: OpenRows, linear: Vector) -> Vector:
        """Return a point within :attr:`radius` of the minimiser, or raise."""
        return self.search(objective_of(self.problem, rows, linear)).find()

    def search(self, objective: VectorObjective) -> ProximalSearch:
        """Return how a certified point is looked for."""
        problem = self.problem
        return ProximalSearch(
            objective,
            lambda reference: objective.careful_gradient,
            problem.penalty,
            tolerance=self.tolerance,
            ridge=problem.ridge,
            smoothness=self._smoothness,
            at_hand=objective.count * problem.row_smoothness + problem.ridge,
            far=self.far,
            way=np.inf,
            is_free=False,
        )
