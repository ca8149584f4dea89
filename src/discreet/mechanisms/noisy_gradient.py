"""Follow noisy sums of gradients; proof in ``noisy_gradient.md``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet import _checks
from discreet._types import Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms._exact_directions import ExactDirections
from discreet.mechanisms._exact_gradient import ExactGradient
from discreet.mechanisms._share import Share
from discreet.mechanisms.base import YES, Learner, Plan, Verdict
from discreet.noise import ALL_ROWS, Grid, Noise, distance_of_gaussian, gaussian_grid
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Profile,
    SampledGaussian,
    Unit,
    calibrate,
    calibrate_from,
)
from discreet.problem import Problem
from discreet.question import Question
from discreet.updates import (
    Adaptive,
    Average,
    Decreasing,
    Growing,
    LastPoint,
    PolynomialAverage,
    StepRule,
    SuffixAverage,
    descend,
)
from discreet.vector_problems import SpatialMedian

Walked = Problem | SpatialMedian
"""Problems whose gradients have exact sums."""

RULES = ("adaptive", "lipschitz", "strongly_convex")
AVERAGES: dict[str, Average] = {
    "last": LastPoint(),
    "suffix": SuffixAverage(0.5),
    "polynomial": PolynomialAverage(1),
    "uniform": PolynomialAverage(0),
}

STEPS, FREE_STEPS = 150, 1000
"""Steps if nobody says; the second where they cost no privacy."""

MOST_STEPS = 10**6

USUAL_MARGIN, USUAL_PREDICTION = 10.0, 2.0
"""How far margins of classes go where no domain says so, and predictions over their labels."""

FULL_ROWS = 2**21
"""Rows that are all read in every step; of more, so many are sampled."""

GRID_ROOM = 2.0**50
"""Grid units of the largest sum: three roundings on the way to the grid are below half a step."""

AT_ONCE = 2**20
"""Numbers of noise drawn together."""

PRECISION = 5e-4
"""How closely the noise of sampled sums is calibrated; each trial composes many steps."""


@dataclass(frozen=True, eq=False)
class NoisyGradientPlan(Plan):
    """How many sums, over which rows, with how much noise, and what is made of them."""

    sums: ExactGradient | ExactDirections
    grid: Grid | None  # None if there is no noise, and no privacy
    steps: int
    threshold: int  # rows are in a batch with chance threshold / 2**64
    rule: StepRule
    average: Average
    guarantee: Guarantee
    reason: str

    @property
    def problem(self) -> Walked:
        return self.sums.problem

    @property
    def sensitivity(self) -> float:
        """How far, in l2, one sum on the grid can be from that of a neighbour's same batch."""
        spread = 0.0 if self.grid is None else self.grid.spread_l2(self.problem.bounds.width)
        return self.guarantee.unit.spread(self.problem.row_lipschitz) + spread

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._walk(self.sums.prepare(rows), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Vector:
        prepared = self.sums.prepare(rows)
        return np.array([self._walk(prepared, noise) for _ in range(draws)])

    def _walk(self, prepared: OpenRows, noise: Noise) -> Vector:
        noises = self._noises(noise)
        # What is divided by is the rate, never the size of a batch, which is private.
        scale = ALL_ROWS / self.threshold

        def gradient(point: Vector) -> Vector:
            return scale * self.noisy_sum(prepared, point, noise, next(noises))

        penalty = self.problem.penalty
        origin = np.zeros(self.problem.bounds.width)
        return descend(
            gradient,
            origin if penalty is None else penalty.nearest(origin),
            steps=self.steps,
            rule=self.rule,
            average=self.average,
            ridge=self.problem.ridge,
            penalty=penalty,
        )

    def noisy_sum(
        self, prepared: OpenRows, point: Vector, noise: Noise, drawn: Integers | None
    ) -> Vector:
        """Release the sum of gradients over a fresh batch of prepared rows."""
        if self.threshold < ALL_ROWS:
            prepared = prepared.sample(self.threshold, noise)
        total = self.sums.units(prepared, point).astype(np.float64)
        total *= self.sums.unit
        if self.grid is None or drawn is None:
            return total
        return self.grid.values(self.grid.snap(total) + drawn)

    def _noises(self, noise: Noise) -> Iterator[Integers | None]:
        """Yield the noise of each step, drawn for many steps at once."""
        width = self.problem.bounds.width
        at_once = max(1, AT_ONCE // width)
        for start in range(0, self.steps, at_once):
            count = min(at_once, self.steps - start)
            if self.grid is None:
                yield from [None] * count
            else:
                yield from noise.gaussian(count * width, self.grid.bits).reshape(count, width)


@dataclass(frozen=True)
class NoisyGradient(Learner):
    """Noisy subgradient descent for convex losses, smooth or not, within a domain or with a ridge.

    Parameters
    ----------
    steps
        How many sums of gradients are released.
    rate
        The chance of a row to be in the batch of a step; 1.0 for all rows in all steps.
    rule
        How far steps go: ``"adaptive"``, from the noisy gradients alone; ``"lipschitz"`` or
        ``"strongly_convex"``, from bounds that need ``expected_rows``.
    average
        What is released of the path: its ``"last"`` point, the mean of its second half
        (``"suffix"``), of everything with growing weights (``"polynomial"``), or ``"uniform"``.
    expected_rows
        A public guess at the number of rows; it changes accuracy, never privacy.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Hinge(), bounds, ridge=1.0)
    >>> plan = NoisyGradient(steps=100).plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.grid.scale, 1), plan.reason
    (42.2, '100 steps over all rows')
    """

    steps: int | None = None
    rate: float | None = None
    rule: str = "adaptive"
    average: str = "polynomial"
    expected_rows: int | None = None

    def __post_init__(self) -> None:
        if self.steps is not None:
            _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        if self.rate is not None:
            _checks.positive(rate=self.rate)
            _checks.fraction(rate=self.rate)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        _checks.one_of(RULES, rule=self.rule)
        _checks.one_of(tuple(AVERAGES), average=self.average)

    @property
    def name(self) -> str:
        return "noisy_gradient"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, SpatialMedian):
            return YES
        if not isinstance(question, Problem):
            return Verdict(False, "noisy_gradient solves learning problems.")
        if math.isfinite(question.radius):
            return Verdict(False, "state a constraint as penalty=Indicator(...), not as a radius.")
        if not math.isfinite(question.row_lipschitz):
            return Verdict(
                False,
                f"{question.loss!r} has no bounded slope without a domain; declare one, or use a "
                "robust loss such as PseudoHuber.",
            )
        return YES

    def _plan_beside(
        self, problem: Walked, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        if not budget.is_private:
            return self._without_noise(problem, unit)
        if budget.delta == 0:
            raise CalibrationError(
                "noisy_gradient adds Gaussian noise, which needs delta > 0; allow a small delta "
                "or smooth the loss for objective_perturbation."
            )
        share = Share(problem, budget, unit, beside, times)
        rate = self._chosen_rate(problem, unit)
        threshold = ALL_ROWS if rate == 1 else int(math.ldexp(rate, 64))
        if threshold < 1:
            raise CalibrationError("the rate of sampling is below 2**-64; use a larger one.")
        sampling = Sampling(self.steps or STEPS, threshold)
        grid = sampling.grid(share)
        profile = share.together(sampling.reached(share, grid), sampling.distance(problem))
        return self._planned(problem, unit, sampling, grid, share.guarantee(profile))

    def _without_noise(self, problem: Walked, unit: Unit) -> Plan:
        sampling = Sampling(self.steps or FREE_STEPS, ALL_ROWS)
        return self._planned(problem, unit, sampling, None, Guarantee(NoPrivacy(), unit))

    def _planned(
        self,
        problem: Walked,
        unit: Unit,
        sampling: Sampling,
        grid: Grid | None,
        guarantee: Guarantee,
    ) -> Plan:
        noise = 0.0 if grid is None else grid.scale
        return NoisyGradientPlan(
            sums=_sums(problem),
            grid=grid,
            steps=sampling.steps,
            threshold=sampling.threshold,
            rule=self._step_rule(problem, unit, sampling, noise),
            average=AVERAGES[self.average],
            guarantee=guarantee,
            reason=sampling.sentence,
        )

    def _hint(self, problem: Walked, unit: Unit) -> int | None:
        """Return the number of rows, as far as anybody may know it."""
        if self.expected_rows is not None:
            return self.expected_rows
        return problem.bounds.max_rows if unit.count_is_public else None

    def _chosen_rate(self, problem: Walked, unit: Unit) -> float:
        if self.rate is not None:
            return float(self.rate)
        hint = self._hint(problem, unit)
        return 1.0 if hint is None else min(1.0, FULL_ROWS / hint)

    def _step_rule(self, problem: Walked, unit: Unit, sampling: Sampling, noise: float) -> StepRule:
        width = problem.bounds.width
        if self.rule == "strongly_convex":
            return Growing(problem.ridge)
        far = _far(problem)
        if self.rule == "adaptive":
            return Adaptive(far)
        hint = self._hint(problem, unit)
        if hint is None:
            raise CalibrationError(
                "the rule 'lipschitz' needs to know how many rows to expect; pass expected_rows."
            )
        rate, slope = sampling.rate, problem.row_lipschitz
        spread = hint * slope**2 * (1 - rate) / rate + width * (noise / rate) ** 2
        return Decreasing(2 * far, math.sqrt((hint * slope) ** 2 + spread))


@dataclass(frozen=True)
class Sampling:
    """How many sums are released, and over which rows."""

    steps: int
    threshold: int

    @property
    def rate(self) -> float:
        """The exact chance of a row to be in a batch."""
        return self.threshold / ALL_ROWS

    @property
    def is_full(self) -> bool:
        return self.threshold == ALL_ROWS

    @property
    def sentence(self) -> str:
        of = "all rows" if self.is_full else f"batches of each row with chance {self.rate:.3g}"
        return f"{self.steps} step{'s' * (self.steps > 1)} over {of}"

    def distance(self, problem: Walked) -> float:
        """Bound how far noise and batches as drawn are from the ideal ones."""
        one = distance_of_gaussian(problem.bounds.width)
        if not self.is_full:
            one += distance_of_gaussian(problem.bounds.max_rows)
        return self.steps * one

    def grid(self, share: Share[Walked]) -> Grid:
        """Return the grid and the noise of every step."""
        problem, multiplier = share.problem, _multiplier(share, self)
        moved = problem.row_lipschitz
        return gaussian_grid(
            multiplier=multiplier,
            sensitivity=share.unit.spread(moved) if self.is_full else moved,
            dimension=problem.bounds.width,
            bound=problem.bounds.max_rows * problem.largest_slope,
            room=GRID_ROOM,
        )

    def reached(self, share: Share[Walked], grid: Grid) -> Profile:
        """Return the profile of all steps, snapping included."""
        problem, spread = share.problem, grid.spread_l2(share.problem.bounds.width)
        moved = problem.row_lipschitz
        if self.is_full:
            return self.profile((share.unit.spread(moved) + spread) / grid.scale, share.unit)
        return self.profile((moved + spread) / grid.scale, share.unit)

    def profile(self, mu: float, unit: Unit) -> Profile:
        """Return the profile of all steps, ``mu`` the shift over the noise in one."""
        mu *= 1 + 1e-15
        if self.is_full:
            return Gaussian(math.sqrt(self.steps) * mu * (1 + 1e-15))
        return SampledGaussian(mu, self.rate, self.steps, is_replace=unit.count_is_public)


@lru_cache(maxsize=256)
def _multiplier(share: Share[Walked], sampling: Sampling) -> float:
    """Return the noise in one step over what one record moves."""
    distance = sampling.distance(share.problem)

    def together(noise: float) -> Profile:
        return share.together(sampling.profile(1 / noise, share.unit), distance)

    if sampling.is_full:
        return calibrate(together, share.budget)
    guess = _guess(share, sampling)
    # Snapping widens what one record moves, and the grid makes up for that exactly.
    return calibrate_from(guess, together, share.budget, precision=PRECISION)


def _guess(share: Share[Walked], sampling: Sampling) -> float:
    r"""Return roughly the noise that batches need.

    Many steps are nearly Gaussian, with :math:`\mu = q \sqrt{T (e^{m^2} - 1)}`, m the shift over
    the noise in one (Bu, Dong, Long, Su 2020).
    """
    mu = 1 / calibrate(lambda noise: share.together(Gaussian(1 / noise), 0.0), share.budget)
    shift = mu / (sampling.rate * math.sqrt(sampling.steps))
    return share.unit.spread(1.0) / math.sqrt(math.log1p(shift**2))


def _sums(problem: Walked) -> ExactGradient | ExactDirections:
    if isinstance(problem, SpatialMedian):
        return ExactDirections(problem)
    return ExactGradient(problem)


def _far(problem: Walked) -> float:
    """Return how far from the origin the coefficients can be, or are expected to be."""
    if isinstance(problem, SpatialMedian) or math.isfinite(problem.domain_radius):
        return problem.domain_radius
    if problem.loss.is_classifier or problem.bounds.labels is None:
        return USUAL_MARGIN / problem.row_norm
    return USUAL_PREDICTION * max(problem.bounds.labels.magnitude, 1e-100) / problem.row_norm
