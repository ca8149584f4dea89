"""Bassily, Smith and Thakurta (2014), algorithm 1: noisy gradients of single rows, as printed.

The paper's noise is several times what its privacy needs, so the library has no use for it. Here it
is put together from the library's parts; the guarantee of the plan is not the one in print but what
the algorithm keeps, by the proof in ``noisy_gradient.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from discreet import _checks
from discreet.errors import CalibrationError
from discreet.mechanisms import Learner, NoisyGradient, Plan, Verdict
from discreet.mechanisms.noisy_gradient import NoisyGradientPlan
from discreet.mechanisms.share import BudgetShare
from discreet.mechanisms.summing.batches import FixedBatches
from discreet.mechanisms.summing.gradient_sums import GradientProblem, sums_of
from discreet.mechanisms.summing.schedule import Schedule
from discreet.mechanisms.summing.step_policy import MOST_STEPS, choose_rule
from discreet.privacy import Budget, Profile, Unit
from discreet.questions import Problem, Question
from discreet.solvers import LastPoint


@dataclass(frozen=True)
class SingleRowGradient(Learner):
    r"""One row a step, :math:`n^2` steps of size :math:`D/(S \sqrt t)`, and the last point.

    The noise on a row's gradient has variance
    :math:`32 L^2 \ln(n/\delta) \ln(1/\delta)/\epsilon^2`. Where it would not keep the budget it is
    refused; ``NoisyGradient(batch=1)`` finds the least noise that does.

    Parameters
    ----------
    steps
        How many steps there are; the square of ``max_rows`` if nobody says.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.penalties import Indicator
    >>> from discreet.privacy import ReplaceOne
    >>> bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=30)
    >>> problem = Problem(Hinge(), bounds, ridge=1e-6, penalty=Indicator(L2Ball(1.0)))
    >>> plan = SingleRowGradient().plan(problem, Budget(1.0, 1e-6), ReplaceOne())
    >>> plan.reason, plan.guarantee.epsilon(1e-6) < 0.2
    ('900 steps over batches of 1 row out of 30', True)
    """

    steps: int | None = None

    def __post_init__(self) -> None:
        if self.steps is not None:
            _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)

    @property
    def name(self) -> str:
        return "noisy_gradient"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "the algorithm is printed for losses of one margin.")
        return NoisyGradient().accepts(question, unit)

    def _plan_beside(
        self, problem: Problem, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        if not 0 < budget.delta < 1 or not budget.is_private:
            raise CalibrationError("the noise in print is for a finite epsilon and a delta > 0.")
        rows = problem.bounds.max_rows
        share: BudgetShare[GradientProblem] = BudgetShare(problem, budget, unit, beside, times)
        schedule = Schedule(self._steps(rows), FixedBatches.of(1, rows, unit))
        grid = schedule.grid(share, printed_multiplier(rows, budget))
        profile = share.together(schedule.profile_on(share, grid), schedule.distance(problem))
        if profile.delta(budget.epsilon) > budget.delta:
            raise CalibrationError(
                "the noise in print does not keep this budget; use a smaller epsilon, or "
                "NoisyGradient(batch=1)."
            )
        choose = partial(choose_rule, "lipschitz", schedule=schedule, noise=grid.scale, rows=rows)
        return NoisyGradientPlan(
            sums=sums_of(problem),
            grid=grid,
            steps=schedule.steps,
            batches=schedule.batches,
            rule=choose(problem),
            average=LastPoint(),
            choose_rule=choose,
            guarantee=share.guarantee(profile),
            reason=schedule.sentence,
        )

    def _steps(self, rows: int) -> int:
        if self.steps is not None:
            return self.steps
        if rows**2 > MOST_STEPS:
            raise CalibrationError(
                f"as printed there are as many steps as the square of max_rows, {rows:,}; at most "
                f"{MOST_STEPS:,} are taken. Declare fewer rows, or pass steps."
            )
        return rows**2


def printed_multiplier(rows: int, budget: Budget) -> float:
    """Return the printed noise over what one replaced row moves, twice its gradient."""
    logs = math.log(rows / budget.delta) * math.log(1 / budget.delta)
    return math.sqrt(32 * logs) / budget.epsilon / 2
