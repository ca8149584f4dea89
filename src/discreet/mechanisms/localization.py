"""Find a ball with noise on the minimiser, then draw inside of it; proof in ``localization.md``.

Output perturbation localises the minimiser, the exponential mechanism refines it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammainccinv

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import TABLE_UNITS, Learner, Plan, Verdict
from discreet.mechanisms.output_perturbation import OutputPerturbation, RadialOutputPlan
from discreet.mechanisms.sampling.energy import Energy, Scale
from discreet.mechanisms.sampling.lattice import STEP_BITS, Region, region_around
from discreet.mechanisms.sampling.rejection import Sampler
from discreet.mechanisms.sampling.sampled_model import (
    accepts_model,
    accepts_width,
    domain_of,
    plan_model,
    plan_without_noise,
    rate_of,
)
from discreet.mechanisms.share import BudgetShare as Share
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Pure, Unit
from discreet.questions import Question
from discreet.questions.problem import Problem
from discreet.record import Tolerance

FIRST_SHARE = 0.5
"""Of epsilon, for the ball: half is best, as the rate is proportional to s (1 - s)."""

SMALLEST_BALL = 2.0**-30
"""Of the farthest coefficients: floats would not tell the lattice points of a smaller one apart."""


@dataclass(frozen=True, eq=False)
class LocalizationPlan(Plan):
    """A noisy minimiser, the radius of the ball around it, and the rate of chances inside."""

    first: RadialOutputPlan
    radius: float
    scale: Scale
    rate: float
    guarantee: Guarantee
    reason: str

    @property
    def problem(self) -> Problem:
        return self.scale.problem

    def region(self, centre: Vector) -> Region:
        """Return the lattice around a released point."""
        return region_around(centre, self.radius, domain_of(self.problem))

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.first.tolerances

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._draw_near(rows, self.first.run(rows, noise), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        centres = self.first.run_many(rows, noise, draws)
        return np.array([self._draw_near(rows, centre, noise) for centre in centres])

    def _draw_near(self, rows: OpenRows, centre: Vector, noise: Noise) -> Vector:
        energy = Energy(self.problem, self.rate, rows)
        sampler = Sampler.of(energy, self.region(centre), self.scale)
        drawn: Vector = sampler.draw(noise, 1)[0]
        return drawn


@dataclass(frozen=True)
class Localization(Learner):
    """Pure epsilon for smooth losses with a ridge and few coefficients.

    The second stage draws from the ball: the noise of other pure mechanisms follows a record's
    slope, which is no smaller in a small ball.

    Parameters
    ----------
    failure
        The chance that the ball misses the minimiser; it costs accuracy, never privacy.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Logistic(), bounds, ridge=100.0)
    >>> plan = Localization().plan(problem, Budget(1.0), AddRemoveOne())
    >>> round(plan.radius, 3), round(plan.guarantee.epsilon(0.0), 6)
    (0.186, 1.0)
    """

    name: ClassVar[str] = "localization"
    units = TABLE_UNITS
    solves_problems: ClassVar[bool] = True

    failure: float = 1e-3

    def __post_init__(self) -> None:
        _checks.positive(failure=self.failure)
        _checks.fraction(failure=self.failure)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "localization solves learning problems.")
        if question.penalty is not None:
            verdict = accepts_model(question, unit)
            if not verdict:
                return verdict
        narrow = accepts_width(question)
        return OutputPerturbation("radial").accepts(question, unit) if narrow else narrow

    def _plan_beside(
        self, problem: Problem, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        if not budget.is_private:
            return plan_without_noise(problem, unit)
        share = Share(problem, budget, unit, beside, times)
        epsilon = share.pure_epsilon
        first, radius, scale = self._ball(share, FIRST_SHARE * epsilon)
        span = (1 - FIRST_SHARE) * epsilon * (1 - 1e-12)
        rate = rate_of(scale, span, unit)
        if domain_of(problem) is not None:
            whole = plan_model(share)
            if rate <= whole.rate:
                return whole
        pair = Pure((FIRST_SHARE * epsilon + span) * (1 + 1e-13))
        chance = first.term.chance(problem.bounds.width) + first.mask.chance
        reason = f"one of 2^{STEP_BITS} steps for each coefficient within {radius:.3g} of a draft"
        guarantee = share.pure_guarantee(pair, chance)
        return LocalizationPlan(first, radius, scale, rate, guarantee, reason)

    def _ball(self, share: Share[Problem], epsilon: float) -> tuple[RadialOutputPlan, float, Scale]:
        """Plan the draft, and how far from it the minimiser will be, but for the failure."""
        problem, width = share.problem, share.problem.bounds.width
        first = OutputPerturbation("radial").plan(problem, Budget(epsilon), share.unit)
        if not isinstance(first, RadialOutputPlan):
            raise CalibrationError("the draft needs a finite epsilon.")
        grid = first.mask.grid
        hidden = math.sqrt(width) * grid.scale * math.log(100 * width / self.failure)
        noise = float(gammainccinv(width, 0.99 * self.failure)) * first.scale
        radius = noise + hidden + first.minimiser.radius + first.term.error(width)
        farthest = problem.domain_radius
        if math.isinf(farthest):
            farthest = 0.5 * first.minimiser.far + radius
        if radius < SMALLEST_BALL * farthest:
            raise CalibrationError(
                "the ball is too small for floats; use output_perturbation, whose noise is small."
            )
        domain = domain_of(problem)
        diameter = 2 * radius * (1 + 1e-12)
        if domain is not None:
            diameter = min(diameter, domain.diameter(width))
        return first, radius, Scale(problem, farthest, diameter)
