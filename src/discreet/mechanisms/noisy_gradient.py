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
from discreet.errors import CalibrationError, InputError
from discreet.losses.softmax import softmax_of
from discreet.mechanisms.base import YES, Learner, Plan, Verdict
from discreet.mechanisms.share import Share
from discreet.mechanisms.summing.batches import AllRows, Batches, FixedBatches, PoissonBatches
from discreet.mechanisms.summing.exact_directions import ExactDirections
from discreet.mechanisms.summing.exact_gradient import ExactGradient
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax, Softmax
from discreet.mechanisms.tolerances import of_grid
from discreet.noise import ALL_ROWS, Grid, Noise, distance_of_gaussian, gaussian_grid
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Profile,
    Unit,
    calibrate,
    calibrate_from,
)
from discreet.questions import Question, SpatialMedian
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.record import Tolerance
from discreet.updates import (
    Adaptive,
    Average,
    Decreasing,
    Growing,
    LastPoint,
    PolynomialAverage,
    Preconditioned,
    StepRule,
    SuffixAverage,
    descend,
)

Walked = Problem | SpatialMedian | Softmax
"""Problems whose gradients have exact sums."""

RULES = ("preconditioned", "adaptive", "lipschitz", "strongly_convex")
AVERAGES: dict[str, Average] = {
    "last": LastPoint(),
    "suffix": SuffixAverage(0.5),
    "polynomial": PolynomialAverage(1),
    "cubic": PolynomialAverage(3),
    "uniform": PolynomialAverage(0),
}

NOISES = ("least", "bst14")

STEPS, FREE_STEPS = 300, 1000
"""Steps if nobody says; the second where they cost no privacy."""

MOST_STEPS = 10**6

MOST_DIRECTIONS = 512
"""Columns up to which directions are told apart."""

USUAL_REACH = 3.0
"""How much farther than usual preconditioned steps look, since few directions need it."""

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

    sums: ExactGradient | ExactDirections | ExactSoftmax
    grid: Grid | None  # None if there is no noise, and no privacy
    steps: int
    batches: Batches
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
        spread = 0.0 if self.grid is None else self.grid.spread_l2(self.problem.width)
        return self.guarantee.unit.spread(self.problem.row_lipschitz) + spread

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return of_grid(self.grid, "the noise on each sum of gradients")

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._walk(self.sums.prepare(rows), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Vector:
        prepared = self.sums.prepare(rows)
        return np.array([self._walk(prepared, noise) for _ in range(draws)])

    def _walk(self, prepared: OpenRows, noise: Noise) -> Vector:
        noises = self._noises(noise)
        batches = self.batches.draw(prepared, noise, self.steps)
        # What is divided by is the rate, never the size of a batch, which may be private.
        scale = 1 / self.batches.rate

        def gradient(point: Vector) -> Vector:
            return scale * self.noisy_sum(next(batches), point, next(noises))

        problem = self.problem
        penalty = problem.penalty
        origin = np.zeros(self.problem.width)
        found = descend(
            gradient,
            origin if penalty is None else penalty.nearest(origin),
            steps=self.steps,
            rule=self.rule,
            average=self.average,
            ridge=problem.ridge,
            penalty=penalty,
        )
        return found.reshape(problem.shape) if isinstance(problem, Softmax) else found

    def noisy_sum(self, batch: OpenRows, point: Vector, drawn: Integers | None) -> Vector:
        """Release the sum of gradients over a fresh batch of prepared rows."""
        total = self.sums.units(batch, point).astype(np.float64)
        total *= self.sums.unit
        if self.grid is None or drawn is None:
            return total
        return self.grid.values(self.grid.snap(total) + drawn)

    def _noises(self, noise: Noise) -> Iterator[Integers | None]:
        """Yield the noise of each step, drawn for many steps at once."""
        width = self.problem.width
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
    batch
        How many rows are in every batch, drawn without replacement out of ``max_rows``; only where
        the number of rows is public, that is with the unit ``"replace"``.
    rule
        How far steps go: ``"preconditioned"``, from the noisy gradients alone along every direction
        by itself (as ``"adaptive"`` within a domain or among very many columns); ``"adaptive"``,
        from their norms; ``"lipschitz"``, from a bound that needs ``expected_rows``; or
        ``"strongly_convex"``, from the ridge.
    average
        What is released of the path: its ``"last"`` point, the mean of its second half
        (``"suffix"``), of everything with weights that grow like the steps (``"polynomial"``) or
        their cubes (``"cubic"``), or ``"uniform"``.
    expected_rows
        A public guess at the number of rows; it changes accuracy, never privacy.
    noise
        ``"least"`` that the budget allows, or ``"bst14"``: what Bassily, Smith and Thakurta print
        for single rows; see :meth:`as_printed`.

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
    rule: str = "preconditioned"
    average: str = "cubic"
    expected_rows: int | None = None
    batch: int | None = None
    noise: str = "least"

    def __post_init__(self) -> None:
        _checks.one_of(NOISES, noise=self.noise)
        if self.batch is not None:
            _checks.whole(batch=self.batch, at_least=1)
            if self.rate is not None:
                raise InputError("state the rate of batches or their size in batch, not both.")
        if self.noise == "bst14" and self.batch != 1:
            raise InputError("the noise 'bst14' is printed for batch=1; use as_printed().")
        if self.steps is not None:
            _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        if self.rate is not None:
            _checks.positive(rate=self.rate)
            _checks.fraction(rate=self.rate)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        _checks.one_of(RULES, rule=self.rule)
        _checks.one_of(tuple(AVERAGES), average=self.average)

    @classmethod
    def as_printed(cls) -> NoisyGradient:
        r"""Return algorithm 1 of Bassily, Smith and Thakurta (2014), to reproduce it.

        One row a step, :math:`n^2` steps, the last point, and noise of variance
        :math:`32 L^2 \ln(n/\delta) \ln(1/\delta)/\epsilon^2` on a row's gradient. The guarantee of
        the plan is not the one in print but what the algorithm keeps: several times stronger.

        Examples
        --------
        >>> NoisyGradient.as_printed().batch
        1
        """
        return cls(batch=1, rule="lipschitz", average="last", noise="bst14")

    @property
    def name(self) -> str:
        return "noisy_gradient"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, SpatialMedian):
            if question.smoothing == 0:
                return YES
            return Verdict(
                False, "noisy_gradient walks along distances as they are; state smoothing=0."
            )
        if isinstance(question, OneVsRest):
            return self._accepts_classes(question)
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

    @staticmethod
    def _accepts_classes(question: OneVsRest) -> Verdict:
        if softmax_of(question.problem.loss) is None:
            return Verdict(
                False,
                "several classes at once have the softmax loss, which goes with Logistic and "
                f"MarginLogistic, not with {question.problem.loss!r}; use "
                "EachAgainstTheRest(NoisyGradient()).",
            )
        if question.problem.penalty is not None or math.isfinite(question.problem.radius):
            return Verdict(
                False,
                "several classes at once have no penalty but the ridge and no domain; use "
                "EachAgainstTheRest(NoisyGradient()).",
            )
        return YES

    def _plan_beside(
        self,
        question: Walked | OneVsRest,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None,
        times: int,
    ) -> Plan:
        problem = Softmax(question) if isinstance(question, OneVsRest) else question
        if not budget.is_private:
            return self._without_noise(problem, unit)
        if budget.delta == 0:
            raise CalibrationError(
                "noisy_gradient adds Gaussian noise, which needs delta > 0; allow a small delta "
                "or smooth the loss for objective_perturbation."
            )
        share = Share(problem, budget, unit, beside, times)
        batches = self._batches(problem, unit)
        sampling = Sampling(self._steps(problem), batches)
        grid = sampling.grid(share, self._multiplier(share, sampling))
        profile = share.together(sampling.reached(share, grid), sampling.distance(problem))
        if self.noise != "least" and profile.delta(budget.epsilon) > budget.delta:
            raise CalibrationError(
                "the noise in print does not keep this budget; use a smaller epsilon, or the "
                "noise 'least'."
            )
        return self._planned(problem, unit, sampling, grid, share.guarantee(profile))

    def _steps(self, problem: Walked) -> int:
        if self.steps is not None:
            return self.steps
        if self.noise == "least":
            return STEPS
        rows = problem.bounds.max_rows
        if rows**2 > MOST_STEPS:
            raise CalibrationError(
                f"as printed there are as many steps as the square of max_rows, {rows:,}; at most "
                f"{MOST_STEPS:,} are taken. Declare fewer rows, or pass steps."
            )
        return rows**2

    def _multiplier(self, share: Share[Walked], sampling: Sampling) -> float:
        """Return the noise over what it is measured against."""
        if self.noise == "least":
            return _multiplier(share, sampling)
        count, budget = share.problem.bounds.max_rows, share.budget
        logs = math.log(count / budget.delta) * math.log(1 / budget.delta)
        return math.sqrt(32 * logs) / budget.epsilon / 2

    def _batches(self, problem: Walked, unit: Unit) -> Batches:
        if self.batch is not None:
            return self._fixed(problem, unit)
        rate = self._chosen_rate(problem, unit)
        threshold = ALL_ROWS if rate == 1 else int(math.ldexp(rate, 64))
        if threshold < 1:
            raise CalibrationError("the rate of sampling is below 2**-64; use a larger one.")
        return AllRows() if threshold == ALL_ROWS else PoissonBatches(threshold)

    def _fixed(self, problem: Walked, unit: Unit) -> FixedBatches:
        size, population = int(self.batch or 0), problem.bounds.max_rows
        if not unit.count_is_public:
            raise CalibrationError(
                "batches of a fixed size tell how many rows there are, which the unit "
                f"{unit.name!r} keeps private; use rate=..., a chance for each row, or the unit "
                "'replace'."
            )
        if size > population:
            raise CalibrationError(
                f"a batch of {size:,} rows is more than max_rows, {population:,}; use fewer."
            )
        return FixedBatches(size, population)

    def _without_noise(self, problem: Walked, unit: Unit) -> Plan:
        sampling = Sampling(self.steps or FREE_STEPS, AllRows())
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
            batches=sampling.batches,
            rule=self._step_rule(problem, unit, sampling, noise),
            average=AVERAGES[self.average],
            guarantee=guarantee,
            reason=sampling.sentence + ", all classes at once" * isinstance(problem, Softmax),
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
        width = problem.width
        if self.rule == "strongly_convex":
            return Growing(problem.ridge)
        far = _far(problem)
        if self.rule == "preconditioned" and problem.penalty is None and width <= MOST_DIRECTIONS:
            usual = USUAL_REACH * far
            return Preconditioned(usual, noise / sampling.batches.rate, sampling.steps)
        if self.rule in ("preconditioned", "adaptive"):
            return Adaptive(far)
        hint = self._hint(problem, unit)
        if hint is None:
            raise CalibrationError(
                "the rule 'lipschitz' needs to know how many rows to expect; pass expected_rows."
            )
        batches, slope = sampling.batches, problem.row_lipschitz
        spread = slope**2 * batches.variance(hint) + width * (noise / batches.rate) ** 2
        return Decreasing(2 * far, math.sqrt((hint * slope) ** 2 + spread))


@dataclass(frozen=True)
class Sampling:
    """How many sums are released, and over which rows."""

    steps: int
    batches: Batches

    @property
    def sentence(self) -> str:
        return f"{self.steps:,} step{'s' * (self.steps > 1)} over {self.batches.sentence()}"

    def distance(self, problem: Walked) -> float:
        """Bound how far noise and batches as drawn are from the ideal ones."""
        one = distance_of_gaussian(problem.width)
        return self.steps * (one + self.batches.distance(problem.bounds.max_rows))

    def grid(self, share: Share[Walked], multiplier: float) -> Grid:
        """Return the grid and the noise of every step."""
        problem = share.problem
        return gaussian_grid(
            multiplier=multiplier,
            sensitivity=self.batches.moved(problem.row_lipschitz, share.unit),
            dimension=problem.width,
            bound=problem.bounds.max_rows * problem.largest_slope,
            room=GRID_ROOM,
        )

    def reached(self, share: Share[Walked], grid: Grid) -> Profile:
        """Return the profile of all steps, snapping included."""
        problem, spread = share.problem, grid.spread_l2(share.problem.width)
        moved = self.batches.moved(problem.row_lipschitz, share.unit)
        return self.profile((moved + spread) / grid.scale, share.unit)

    def profile(self, mu: float, unit: Unit) -> Profile:
        """Return the profile of all steps, ``mu`` the shift over the noise in one."""
        return self.batches.profile(mu * (1 + 1e-15), self.steps, unit)


@lru_cache(maxsize=256)
def _multiplier(share: Share[Walked], sampling: Sampling) -> float:
    """Return the least noise in one step over what it is measured against."""
    distance = sampling.distance(share.problem)

    def together(noise: float) -> Profile:
        return share.together(sampling.profile(1 / noise, share.unit), distance)

    if isinstance(sampling.batches, AllRows):
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
    shift = mu / (sampling.batches.rate * math.sqrt(sampling.steps))
    whole = share.unit.spread(1.0) / sampling.batches.moved(1.0, share.unit)
    return whole / math.sqrt(math.log1p(shift**2))


def _sums(problem: Walked) -> ExactGradient | ExactDirections | ExactSoftmax:
    if isinstance(problem, Softmax):
        return ExactSoftmax(problem)
    if isinstance(problem, SpatialMedian):
        return ExactDirections(problem)
    return ExactGradient(problem)


def _far(problem: Walked) -> float:
    """Return how far from the origin the coefficients can be, or are expected to be."""
    if isinstance(problem, SpatialMedian) or math.isfinite(problem.domain_radius):
        return problem.domain_radius
    if isinstance(problem, Softmax):  # each class as far as usual
        return math.sqrt(problem.several.classes) * USUAL_MARGIN / problem.row_norm
    if problem.loss.is_classifier or problem.bounds.labels is None:
        return USUAL_MARGIN / problem.row_norm
    return USUAL_PREDICTION * max(problem.bounds.labels.magnitude, 1e-100) / problem.row_norm
