"""Shares learnt on the simplex and released as a histogram; proof in ``simplex_sampling.md``.

Entropic regularisation (exponential weights), shown by repeated draws from the minimiser.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import Simplex
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    public_facts,
)
from discreet.mechanisms.minimising.entropic import EntropicMinimiser
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.noise import Noise
from discreet.penalties import Indicator
from discreet.privacy import (
    BoundedRange,
    Budget,
    Guarantee,
    NoPrivacy,
    Unit,
    calibrate_from,
)
from discreet.privacy.guarantee import in_three_digits as up
from discreet.questions import Question
from discreet.questions.mixture import Mixture
from discreet.questions.problem import Problem
from discreet.record import Tolerance
from discreet.theory.simplex_sampling import least_entropy, slowdown

MOST_DRAWS = 2**20
PRECISION = 2e-4
MOST_DOUBLINGS = 200
"""How closely the range of many draws is calibrated."""

LEAST_RIDGE = 1e-12
"""Of the curvature of all rows: what stands for no penalty where nothing is to be hidden."""


@dataclass(frozen=True, eq=False)
class SimplexSamplingPlan(Plan):
    """The entropy, how well its minimiser is known, and how many draws show it."""

    solver: EntropicMinimiser
    draws: int | None  # None if nothing is to be hidden
    guarantee: Guarantee
    reason: str = ""

    @property
    def question(self) -> Mixture:
        return self.solver.question

    @property
    def rate(self) -> Fraction:
        """How fast chances fall with each score."""
        return Fraction(self.solver.step)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (Tolerance("residual of the computed minimiser, at most", self.solver.residual),)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        coefficients: Vector = self.run_many(rows, noise, 1)[0]
        return coefficients

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        scores = self.scores(rows)
        if self.draws is None:
            return np.tile(self.question.total * self.solver.law(scores), (draws, 1))
        drawn, _ = noise.candidates(np.ones_like(scores), scores, self.rate, draws * self.draws)
        counts = np.zeros((draws, scores.size))
        np.add.at(counts, (np.repeat(np.arange(draws), self.draws), drawn), 1.0)
        return self.question.total * (counts / self.draws)

    def scores(self, rows: OpenRows) -> Integers:
        """Return what draws follow: their logarithmic chances, in steps."""
        return self.solver.solve(rows)


@dataclass(frozen=True, eq=False)
class PlainMixturePlan(Plan):
    """The best shares, with nothing in the way: neither an entropy nor draws."""

    problem: Problem
    guarantee: Guarantee
    reason: str = "no entropic regularisation, and no draws"

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        free = Budget(math.inf)
        plan = ObjectivePerturbation().plan(self.problem, free, self.guarantee.unit)
        coefficients: Vector = plan.run(rows, noise)
        return coefficients


@dataclass(frozen=True)
class SimplexSampling(Mechanism):
    """Coefficients on a simplex: draws from the entropic minimiser, counted.

    Examples
    --------
    >>> from discreet.data import Bounds, Interval
    >>> from discreet.geometry import LinfBall
    >>> from discreet.losses import Squared
    >>> from discreet.privacy import ReplaceOne
    >>> bounds = Bounds(LinfBall(1.0), 100, labels=Interval(-1, 1), max_rows=10_000)
    >>> mixture = Mixture(Squared(1.0), bounds)
    >>> plan = SimplexSampling().plan(mixture, Budget(1.0, 1e-6), ReplaceOne())
    >>> plan.reason
    '11 draws, entropy 233'
    """

    name: ClassVar[str] = "simplex_sampling"
    units = TABLE_UNITS

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Mixture):
            return Verdict(False, "simplex_sampling learns a Mixture: shares of a total.")
        if not math.isfinite(question.row_smoothness):
            return Verdict(
                False, f"{question.loss!r} is not smooth; use a smooth loss, such as Huber."
            )
        if not math.isfinite(question.row_lipschitz):
            return Verdict(False, f"{question.loss!r} has no bounded slope on this simplex.")
        return YES

    def _plan(self, question: Mixture, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            return _without_draws(question, unit)
        if question.entropy is None:
            draws = best_draws(question, budget, unit)
            entropy = least_with(question, unit, widest(budget, draws))
            least = _least_certain(question, entropy)
            if least > entropy:
                entropy = least
                draws = most_draws(span_of(EntropicMinimiser(question, entropy), unit), budget)
        else:
            entropy = question.entropy
            draws = most_draws(span_of(EntropicMinimiser(question, entropy), unit), budget)
        solver = EntropicMinimiser(question, entropy)
        solver.check()
        profile = BoundedRange(span_of(solver, unit), draws)
        if profile.pure_epsilon > budget.epsilon:
            profile = replace(profile, is_pure=False)  # so that it is quoted at the delta asked for
        if profile.delta(budget.epsilon) > budget.delta:
            raise CalibrationError("no number of draws meets this budget; use a larger one.")
        facts = (*public_facts(question.bounds, unit), *question.assumed)
        guarantee = Guarantee(profile, unit, facts, quoted_delta=budget.delta or 1e-9)
        reason = f"{draws:,} draw{'s' * (draws > 1)}, entropy {entropy:.3g}"
        return SimplexSamplingPlan(solver, draws, guarantee, reason)


def _least_certain(question: Mixture, entropy: float) -> float:
    """Return an entropy with which a certificate exists, from the one given upwards."""
    for _ in range(MOST_DOUBLINGS):
        if EntropicMinimiser(question, entropy).is_certain():
            break
        entropy *= 2
    return entropy


def _without_draws(question: Mixture, unit: Unit) -> Plan:
    guarantee = Guarantee(NoPrivacy(), unit)
    if question.entropy is not None:
        solver = EntropicMinimiser(question, question.entropy)
        solver.check()
        return SimplexSamplingPlan(solver, None, guarantee, "no draws")
    bounds = question.bounds
    bend = question.smoothness * bounds.row_norm() ** 2
    problem = Problem(
        question.loss,
        bounds,
        ridge=LEAST_RIDGE * bounds.max_rows * bend,
        penalty=Indicator(Simplex(question.total)),
    )
    return PlainMixturePlan(problem, guarantee)


def span_of(solver: EntropicMinimiser, unit: Unit) -> float:
    """Bound the range of the log ratios of the laws of neighbours."""
    change = unit.spread(solver.question.row_lipschitz) + 2 * solver.residual
    return 2 * change / solver.entropy * (1 + slowdown(solver.curvature)) * (1 + 1e-12)


def most_draws(span: float, budget: Budget) -> int:
    """Return the most draws of this range that meet the budget.

    Examples
    --------
    >>> most_draws(0.0625, Budget(1.0)), most_draws(0.0625, Budget(1.0, 1e-6))
    (15, 57)
    """

    def fits(draws: int) -> bool:
        return BoundedRange(span, draws).delta(budget.epsilon) <= budget.delta

    if not fits(1):
        raise CalibrationError(
            f"with this entropy one draw already has a range of {span:.3g}, more than "
            f"epsilon = {up(budget.epsilon)} allows; raise the entropy or leave it to the rule."
        )
    # One draw fits, and fewer always fit where more do; out from a guess few numbers are tried.
    low, high = 1, MOST_DRAWS
    tried = _guess_of_draws(span, budget)
    stride = max(1, tried // 64)
    while low < tried < high:
        if fits(tried):
            low, tried = tried, tried + stride
        else:
            high, tried = tried, tried - stride
        stride *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _guess_of_draws(span: float, budget: Budget) -> int:
    """Return roughly the most draws of this range that meet the budget."""
    draws = max(budget.epsilon / span, 8 * _rho(budget) / span**2)
    return int(min(max(draws, 2.0), MOST_DRAWS - 1.0))


def best_draws(question: Mixture, budget: Budget, unit: Unit) -> int:
    """Return the number of draws for which the bound on the excess is least."""
    rows = question.expected_rows or question.bounds.max_rows
    change, most = unit.spread(question.row_lipschitz), question.bounds.max_rows
    width = max(question.bounds.width, 2)

    def excess(draws: int) -> float:
        entropy = least_entropy(change, most * question.row_smoothness, _guess(budget, draws))
        bent = question.row_smoothness / (2 * draws)
        steep = question.row_lipschitz / math.sqrt(draws)
        return entropy * math.log(width) + rows * min(bent, steep)

    grid = np.unique(np.geomspace(1, MOST_DRAWS, 120).astype(np.int64))
    return min((int(draws) for draws in grid), key=excess)


def least_with(question: Mixture, unit: Unit, most: float) -> float:
    """Return the smallest entropy for which log ratios span at most ``most``."""

    def span(entropy: float) -> float:
        return span_of(EntropicMinimiser(question, entropy), unit)

    low = high = 2 * unit.spread(question.row_lipschitz) / most
    while span(high) > most:
        low, high = high, 2 * high
        if high > 1e90:
            raise CalibrationError("this budget needs more entropy than floats hold; rescale.")
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if span(middle) > most else (low, middle)
    return high


def _guess(budget: Budget, draws: int) -> float:
    """Return roughly the widest range of so many draws, or a little less."""
    return max(budget.epsilon / draws, math.sqrt(8 * _rho(budget) / draws))


def _rho(budget: Budget) -> float:
    """Return roughly the zCDP that meets the budget."""
    if budget.delta == 0:
        return 0.0
    logarithm = math.log(1 / budget.delta)
    return (budget.epsilon / (math.sqrt(logarithm + budget.epsilon) + math.sqrt(logarithm))) ** 2


@lru_cache(maxsize=256)
def widest(budget: Budget, draws: int) -> float:
    """Return the widest range of so many draws that meets the budget."""
    if budget.delta == 0:
        return math.nextafter(budget.epsilon / draws, 0.0) * (1 - 2.0**-50)
    return 1 / calibrate_from(
        1 / _guess(budget, draws),
        lambda noise: BoundedRange(1 / noise, draws),
        budget,
        precision=PRECISION,
    )
