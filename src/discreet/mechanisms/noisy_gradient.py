"""Follow noisy sums of gradients (DP-SGD); proof in ``noisy_gradient.md``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError, PrivacyError
from discreet.losses.logistic import softmax_of
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Learner,
    Plan,
    Verdict,
    accepts_slopes,
    grid_tolerances,
)
from discreet.mechanisms.share import BudgetShare as Share
from discreet.mechanisms.summing.batches import AllRows, Batches, FixedBatches, batches_at
from discreet.mechanisms.summing.gradient_sums import GradientProblem, GradientSums, sums_of
from discreet.mechanisms.summing.schedule import Schedule, least_multiplier
from discreet.mechanisms.summing.step_policy import (
    AVERAGES,
    FREE_STEPS,
    MOST_STEPS,
    RULES,
    STEPS,
    choose_rule,
    expected_rows,
    usual_rate,
)
from discreet.noise import Grid, Noise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Profile, Unit
from discreet.questions import OneVsRest, Problem, Question, Softmax, SpatialMedian
from discreet.record import Tolerance
from discreet.solvers import Average, StepRule, descend

AT_ONCE = 2**20
"""Numbers of noise drawn together."""


@dataclass(frozen=True, eq=False)
class NoisyGradientPlan(Plan):
    """How many sums, over which rows, with how much noise, and what is made of them."""

    sums: GradientSums
    grid: Grid | None  # None if there is no noise, and no privacy
    steps: int
    batches: Batches
    rule: StepRule
    average: Average
    choose_rule: Callable[[GradientProblem], StepRule]
    guarantee: Guarantee
    reason: str

    @property
    def objective_noise(self) -> float:
        """That of a sum which all steps together are worth."""
        scale = 0.0 if self.grid is None else self.grid.scale
        return scale / (self.batches.rate * math.sqrt(self.steps))

    def restate(self, problem: GradientProblem) -> NoisyGradientPlan:
        """Return the same plan for a problem whose gradients are no longer and no wider.

        Steps, batches and noise stay: they were planned for what is larger.
        """
        planned = self.problem
        is_planned = (
            problem.width <= planned.width
            and problem.row_lipschitz <= planned.row_lipschitz
            and problem.largest_slope <= planned.largest_slope
            and problem.bounds.max_rows <= planned.bounds.max_rows
        )
        if not is_planned:
            raise PrivacyError("rows are wider, or their gradients longer, than was planned for.")
        return replace(self, sums=sums_of(problem), rule=self.choose_rule(problem))

    @property
    def problem(self) -> GradientProblem:
        return self.sums.problem

    @property
    def sensitivity(self) -> float:
        """How far, in l2, one sum on the grid can be from that of a neighbour's same batch."""
        spread = 0.0 if self.grid is None else self.grid.spread_l2(self.problem.width)
        return self.guarantee.unit.spread(self.problem.row_lipschitz) + spread

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid, "the noise on each sum of gradients")

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._walk(self.noisy_gradients(self.sums.prepare(rows), noise))

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Vector:
        gradient = self.noisy_gradients(self.sums.prepare(rows), noise, walks=draws)
        return np.array([self._walk(gradient) for _ in range(draws)])

    def noisy_gradients(
        self, prepared: OpenRows, noise: Noise, *, walks: int = 1
    ) -> Callable[[Vector], Vector]:
        """Return a function that releases the gradient at a point, for as many steps as planned."""
        steps = walks * self.steps
        noises = self._noises(noise, steps)
        batches = self.batches.draw(prepared, noise, steps)
        # What is divided by is the rate, never the size of a batch, which may be private.
        scale = 1 / self.batches.rate

        def gradient(point: Vector) -> Vector:
            return scale * self.noisy_sum(next(batches), point, next(noises))

        return gradient

    def _walk(self, gradient: Callable[[Vector], Vector]) -> Vector:
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

    def _noises(self, noise: Noise, steps: int) -> Iterator[Integers | None]:
        """Yield the noise of each step, drawn for many steps at once."""
        width = self.problem.width
        at_once = max(1, AT_ONCE // width)
        for start in range(0, steps, at_once):
            count = min(at_once, steps - start)
            if self.grid is None:
                yield from [None] * count
            else:
                yield from noise.gaussian(count * width, self.grid.bits).reshape(count, width)


@dataclass(frozen=True)
class NoisyGradient(Learner):
    """Noisy subgradient descent (DP-SGD) for convex losses, smooth or not; a domain or a ridge.

    Parameters
    ----------
    steps
        How many sums of gradients are released, up to 10**6; None for 300, or 1000 without privacy.
    rate
        The chance of a row to be in the batch of a step; 1.0 for all rows in all steps, None for
        all rows unless very many are expected.
    rule
        How far steps go: ``"preconditioned"``, from the noisy gradients alone along every direction
        by itself (as ``"adaptive"`` within a domain, among very many columns, or without noise);
        ``"adaptive"``, from their norms; ``"lipschitz"``, from a bound that needs
        ``expected_rows``; or ``"strongly_convex"``, from the ridge.
    average
        What is released of the path: its ``"last"`` point, the mean of its second half
        (``"suffix"``), of everything with weights that grow like the steps (``"polynomial"``) or
        their cubes (``"cubic"``), or ``"uniform"``.
    expected_rows
        A public guess at the number of rows; it changes accuracy, never privacy.
    batch
        How many rows are in every batch, drawn without replacement out of ``max_rows``; only where
        the number of rows is public, that is with the unit ``"replace"``, and not beside ``rate``.

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

    name: ClassVar[str] = "noisy_gradient"
    units = TABLE_UNITS
    solves_problems: ClassVar[bool] = True

    steps: int | None = None
    rate: float | None = None
    rule: str = "preconditioned"
    average: str = "cubic"
    expected_rows: int | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.batch is not None:
            _checks.whole(batch=self.batch, at_least=1)
            if self.rate is not None:
                raise InputError("state the rate of batches or their size in batch, not both.")
        if self.steps is not None:
            _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        if self.rate is not None:
            _checks.positive(rate=self.rate)
            _checks.fraction(rate=self.rate)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        _checks.one_of(RULES, rule=self.rule)
        _checks.one_of(tuple(AVERAGES), average=self.average)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, SpatialMedian):
            if question.smoothing == 0:
                return YES
            return Verdict(
                False, "noisy_gradient takes distances without smoothing; state smoothing=0."
            )
        if isinstance(question, Softmax):
            return YES
        if isinstance(question, OneVsRest):
            return self._accepts_classes(question)
        if not isinstance(question, Problem):
            return Verdict(False, "noisy_gradient solves learning problems.")
        return accepts_slopes(question)

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
        question: GradientProblem | OneVsRest,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None,
        times: int,
    ) -> Plan:
        problem = Softmax(question) if isinstance(question, OneVsRest) else question
        if not budget.is_private:
            free = Schedule(self.steps or FREE_STEPS, AllRows())
            return self._assemble(problem, unit, free, None, Guarantee(NoPrivacy(), unit))
        if budget.delta == 0:
            raise CalibrationError(
                "noisy_gradient adds Gaussian noise, which needs delta > 0; allow a small delta "
                "or smooth the loss for objective_perturbation."
            )
        share = Share(problem, budget, unit, beside, times)
        schedule = Schedule(self.steps or STEPS, self._batches(problem, unit))
        grid = schedule.grid(share, least_multiplier(share, schedule))
        profile = share.together(schedule.profile_on(share, grid), schedule.distance(problem))
        return self._assemble(problem, unit, schedule, grid, share.guarantee(profile))

    def _batches(self, problem: GradientProblem, unit: Unit) -> Batches:
        if self.batch is not None:
            return FixedBatches.of(int(self.batch), problem.bounds.max_rows, unit)
        if self.rate is not None:
            return batches_at(float(self.rate))
        return batches_at(usual_rate(expected_rows(problem, unit, self.expected_rows)))

    def _assemble(
        self,
        problem: GradientProblem,
        unit: Unit,
        schedule: Schedule,
        grid: Grid | None,
        guarantee: Guarantee,
    ) -> Plan:
        noise = 0.0 if grid is None else grid.scale
        rows = expected_rows(problem, unit, self.expected_rows)
        choose = partial(choose_rule, self.rule, schedule=schedule, noise=noise, rows=rows)
        return NoisyGradientPlan(
            sums=sums_of(problem),
            grid=grid,
            steps=schedule.steps,
            batches=schedule.batches,
            rule=choose(problem),
            average=AVERAGES[self.average],
            guarantee=guarantee,
            reason=schedule.sentence + ", all classes at once" * isinstance(problem, Softmax),
            choose_rule=choose,
        )
