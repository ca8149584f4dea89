"""Coefficients drawn with chance proportional to exp(-energy): what is fixed in advance.

The exponential mechanism on a lattice of coefficients: its preconditions, rate and composition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, NotAccepted
from discreet.geometry import ConvexSet
from discreet.mechanisms.base import CONSTRAINT_AS_RADIUS, YES, Plan, Verdict
from discreet.mechanisms.noisy_gradient import NoisyGradient
from discreet.mechanisms.output_perturbation import OutputPerturbation
from discreet.mechanisms.sampling.energy import Energy, Scale
from discreet.mechanisms.sampling.lattice import STEP_BITS, Region, region_of
from discreet.mechanisms.sampling.rejection import Sampler, rounding
from discreet.mechanisms.share import BudgetShare as Share
from discreet.noise import Noise
from discreet.penalties import Indicator
from discreet.privacy import (
    BoundedRange,
    Budget,
    Guarantee,
    Minimum,
    Profile,
    Pure,
    Unit,
    ZeroConcentrated,
    calibrate,
    gaussian_multiplier,
)
from discreet.questions.problem import Problem

MOST_WIDTH = 6
"""With more coefficients exact draws may take forever."""

ROUNDING_SHARE = 0.01
"""Rounding may cost no more than this share of epsilon."""


@dataclass(frozen=True, eq=False)
class SampledModelPlan(Plan):
    """The lattice of coefficients, and how fast chances fall with the sum of losses."""

    problem: Problem
    region: Region
    scale: Scale
    rate: float
    guarantee: Guarantee
    reason: str

    @property
    def rounding(self) -> float:
        """Bound the logarithm of how far computed chances are from ideal ones, up to a factor."""
        return self.rate * self.scale.error + rounding(self.scale, self.rate)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        drawn: Vector = self.run_many(rows, noise, 1)[0]
        return drawn

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        energy = Energy(self.problem, self.rate, rows)
        return Sampler.of(energy, self.region, self.scale).draw(noise, draws)


def accepts_model(problem: Problem, unit: Unit) -> Verdict:
    """Say whether coefficients can be drawn exactly."""
    if not isinstance(problem.penalty, Indicator):
        return Verdict(
            False,
            "exponential_sampling draws from a bounded set and adds no further penalty; declare "
            "domain=L2Ball(...) or a Box, or use localization or objective_perturbation.",
        )
    narrow = accepts_width(problem)
    if not narrow:
        return narrow
    try:
        region_of(problem.penalty.region, problem.bounds.width)
    except NotAccepted as refusal:
        return Verdict(False, str(refusal))
    return YES


def accepts_width(problem: Problem) -> Verdict:
    """Say whether there are few enough coefficients to be drawn exactly."""
    width = problem.bounds.width
    if width > MOST_WIDTH:
        return Verdict(
            False,
            f"exact draws are for {MOST_WIDTH} coefficients at most, the intercept's included, and "
            f"this problem has {width}; use objective_perturbation with a smooth loss, or "
            "noisy_gradient with delta > 0.",
        )
    if problem.radius != float("inf"):
        return CONSTRAINT_AS_RADIUS
    return YES


def domain_of(problem: Problem) -> ConvexSet | None:
    """Return the set that coefficients must lie in."""
    return problem.penalty.region if isinstance(problem.penalty, Indicator) else None


def plan_without_noise(problem: Problem, unit: Unit) -> Plan:
    """Return the minimiser, or what comes near it if the loss has kinks."""
    mechanism = OutputPerturbation() if problem.loss.is_smooth else NoisyGradient()
    return mechanism.plan(problem, Budget(float("inf")), unit)


def rate_of(scale: Scale, span: float, unit: Unit) -> float:
    """Return the rate at which one record, and all rounding, moves log chances by ``span``."""
    apart = unit.spread(scale.span)
    # Four times the rounding: of each data set, upwards and downwards.
    fixed, growing = 4 * rounding(scale, 0.0), 4 * (scale.error + rounding(scale, 1.0))
    rate = (span - fixed) / (apart + growing) * (1 - 1e-12)
    if not rate * apart >= (1 - ROUNDING_SHARE) * span:
        raise CalibrationError(
            f"rounding in sums over {scale.problem.bounds.max_rows:,} rows would cost more than a "
            "hundredth of epsilon; declare a smaller max_rows or a smaller domain."
        )
    return rate


def plan_model(share: Share[Problem]) -> SampledModelPlan:
    """Plan draws from the whole domain."""
    span, reason = span_of(share)
    profile = share.together(BoundedRange(span), 0.0)
    return plan_draw(share.problem, share.unit, span, share.guarantee(profile), reason)


def plan_draw(
    problem: Problem, unit: Unit, span: float, guarantee: Guarantee, reason: str
) -> SampledModelPlan:
    """Plan one draw whose log chances one record moves by ``span`` at most."""
    domain = domain_of(problem)
    if domain is None:
        raise CalibrationError("drawing coefficients needs a bounded domain; declare one.")
    region = region_of(domain, problem.bounds.width)
    diameter = min(region.diameter, domain.diameter(problem.bounds.width))
    scale = Scale(problem, problem.domain_radius, diameter)
    reason = f"one of 2^{STEP_BITS} steps for each coefficient, {reason}"
    return SampledModelPlan(problem, region, scale, rate_of(scale, span, unit), guarantee, reason)


def span_of(share: Share[Problem]) -> tuple[float, str]:
    """Return how far log chances of one run may move, and what it makes of delta."""
    pure = _pure_span(share)
    if share.budget.delta == 0 or (share.times == 1 and share.beside is None):
        if pure is None:
            raise CalibrationError("what is released already leaves no pure epsilon.")
        return pure, "drawn exactly; delta is not used"
    concentrated = _widest(share)
    if pure is None or concentrated > pure:
        return concentrated, "drawn exactly, as zCDP"
    return pure, "drawn exactly, as pure epsilon"


def _pure_span(share: Share[Problem]) -> float | None:
    if share.beside is not None and share.beside.ideal.pure_epsilon == float("inf"):
        return None
    if share.beside is not None and share.beside.distance > 0 and share.budget.delta == 0:
        return None
    if share.beside is None and share.times == 1:
        return share.budget.epsilon
    return share.pure_epsilon


@lru_cache(maxsize=256)
def _widest(share: Share[Problem]) -> float:
    return 1 / calibrate(lambda noise: share.together(BoundedRange(1 / noise), 0.0), share.budget)


def span_of_columns(budget: Budget, columns: int) -> tuple[float, Profile, str]:
    """Return the range of log ratios of each column, and the profile of all of them."""
    if columns == 1:
        return budget.epsilon, BoundedRange(budget.epsilon), "one draw is pure; delta is not used"
    span = math.nextafter(budget.epsilon / columns, 0.0) * (1 - 2.0**-50)
    if (
        budget.delta > 0
        and _concentrated_profile(span, columns).delta(budget.epsilon) < budget.delta
    ):
        wide = _widest_of_columns(budget, columns)
        reason = f"{columns} draws cost less as zCDP than as pure epsilon"
        return wide, _concentrated_profile(wide, columns), reason
    profile = Minimum([Pure(budget.epsilon), _concentrated_profile(span, columns)])
    return span, profile, f"{columns} draws share a pure epsilon"


def span_of_share(budget: Budget, columns: int, share: float) -> tuple[float, Profile, str]:
    """Return the range of log ratios of each column, for a share of mu squared or of epsilon."""
    if budget.delta == 0:
        span = math.nextafter(share * budget.epsilon / columns, 0.0) * (1 - 2.0**-50)
    else:
        span = math.sqrt(4 * share / columns) / gaussian_multiplier(budget)
    profile = Minimum([Pure(columns * span * (1 + 2.0**-50)), _concentrated_profile(span, columns)])
    return span, profile, f"{columns} draws for {share:.0%} of the budget"


@cache
def _widest_of_columns(budget: Budget, columns: int) -> float:
    """Return the widest range of each column at which all of them together meet the budget."""
    return 1 / calibrate(lambda noise: _concentrated_profile(1 / noise, columns), budget)


def _concentrated_profile(span: float, columns: int) -> Profile:
    return ZeroConcentrated(columns * BoundedRange(span).rho)
