"""Private online convex programming with any steady algorithm; proof in ``private_ocp.md``.

Thakurta's algorithm 5.1 for algorithms of low sensitivity, with the exact Gaussian account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet import _checks
from discreet._types import Vector
from discreet.errors import CalibrationError
from discreet.mechanisms.base import Verdict
from discreet.mechanisms.interactive import InteractiveMechanism, InteractivePlan, stream_facts
from discreet.mechanisms.streaming.gradient_steps import GradientSteps
from discreet.mechanisms.streaming.noise_schedule import SCHEDULES, NoiseSchedule
from discreet.mechanisms.streaming.noisy_iterates import (
    NoisyIteratesPlan,
    accepts_stream,
    distance_of_draws,
)
from discreet.mechanisms.streaming.online_algorithm import (
    OnlineAlgorithm,
    accepts_domain,
    own_margin,
    subtract,
)
from discreet.mechanisms.streaming.proximal_steps import ProximalSteps
from discreet.privacy import Budget, Gaussian, Guarantee, NoPrivacy, Unit, gaussian_multiplier
from discreet.privacy import within as within_distance
from discreet.questions import Question, Stream
from discreet.questions.problem import Problem


class LinearisedLeader(OnlineAlgorithm):
    """The minimiser of all losses so far, each replaced by its tangent where it was played.

    The sum of gradients at released points (dual averaging): given these, one record moves the sum
    by its own gradient and nothing else, whatever the loss is. Iterates leave the domain, what is
    played does not: its nearest point.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> leader = LinearisedLeader(Problem(Hinge(), bounds, ridge=0.5), horizon=100)
    >>> total = leader.step(np.zeros(2), 1, np.array([0.6, 0.8]), 1.0, np.zeros(2))
    >>> leader.iterate(total, 1)
    array([1.2, 1.6])
    """

    binds: ClassVar[bool] = False

    listens = True

    @staticmethod
    def accepts(problem: Problem) -> Verdict:
        return accepts_domain(problem)

    @property
    def error(self) -> float:
        return self.adding_error()

    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        slope = self.problem.loss.slope(label, own_margin(row, played))  # type: ignore[arg-type]
        return subtract(total, float(slope), row)


ALGORITHMS: dict[str, type[OnlineAlgorithm]] = {
    "leader": LinearisedLeader,
    "proximal": ProximalSteps,
    "gradient": GradientSteps,
}
"""Algorithms that one record moves little, each with its proof; one more needs a line here."""


@dataclass(frozen=True)
class PrivateOCP(InteractiveMechanism):
    """The iterates of an online algorithm that one record moves little, each with Gaussian noise.

    Parameters
    ----------
    schedule
        ``"regret"`` or ``"even"``: how noise is dealt out over the releases.
    algorithm
        ``"leader"``, the minimiser of all losses so far, straightened where they were played;
        ``"proximal"``, proximal steps solved to a certified error (:func:`ImplicitGradient`); or
        ``"gradient"``, gradient steps for smooth losses after a public warm-up
        (:func:`GradientAscent`).

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import Budget, ReplaceOne
    >>> from discreet.questions import Bounds, LabelSet, Problem, Stream
    >>> bounds = Bounds(L2Ball(1.0), n_features=10, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=0.1), horizon=10_000)
    >>> plan = PrivateOCP().plan(stream, Budget(1.0, 1e-6), ReplaceOne())
    >>> [round(plan.schedule.grid(answer).scale, 3) for answer in (1, 100, 10_000)]
    [666.304, 30.927, 1.436]
    """

    name: ClassVar[str] = "private_ocp"

    schedule: str = "regret"
    algorithm: str = "leader"

    def __post_init__(self) -> None:
        _checks.one_of(SCHEDULES, schedule=self.schedule)
        _checks.one_of(tuple(ALGORITHMS), algorithm=self.algorithm)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        verdict = accepts_stream(self.name, question)
        return verdict and ALGORITHMS[self.algorithm].accepts(question.problem)  # type: ignore[attr-defined]

    def _plan(self, question: Stream, budget: Budget, unit: Unit) -> InteractivePlan:
        algorithm = ALGORITHMS[self.algorithm](question.problem, question.horizon)
        if not budget.is_private:
            return NoisyIteratesPlan(question, algorithm, None, Guarantee(NoPrivacy(), unit))
        first = -(-algorithm.first // question.batch)
        if first > question.updates:
            raise CalibrationError(
                "the stream is over before a record counts; declare a longer horizon, a smaller "
                "batch or more ridge."
            )
        distance = distance_of_draws(question)
        schedule = NoiseSchedule(
            self.schedule,
            mu=(1 - 2e-12) / gaussian_multiplier(budget, distance=distance),
            moved=algorithm.sensitivity(unit) / question.problem.ridge * (1 + 1e-15),
            offset=algorithm.offset,
            first=first,
            last=question.updates,
            every=question.batch,
            width=question.problem.width,
            bound=algorithm.radius,
        )
        guarantee = Guarantee(
            within_distance(Gaussian(schedule.total), distance),
            unit,
            stream_facts(question, unit),
            quoted_delta=budget.delta,
        )
        reason = f"noise of the {self.schedule} schedule; its deviations add up to "
        reason += f"{schedule.deviations:.3g}"
        return NoisyIteratesPlan(question, algorithm, schedule, guarantee, reason)


def ImplicitGradient(schedule: str = "regret") -> PrivateOCP:
    """Return private online convex programming by proximal steps, as the thesis names it.

    Parameters
    ----------
    schedule
        ``"regret"`` or ``"even"``: how noise is dealt out over the releases.

    Examples
    --------
    >>> ImplicitGradient()
    PrivateOCP(schedule='regret', algorithm='proximal')
    """
    return PrivateOCP(schedule, "proximal")


def GradientAscent(schedule: str = "regret") -> PrivateOCP:
    """Return private online convex programming by gradient steps, "GIGA" in the thesis.

    Parameters
    ----------
    schedule
        ``"regret"`` or ``"even"``: how noise is dealt out over the releases.

    Examples
    --------
    >>> GradientAscent()
    PrivateOCP(schedule='regret', algorithm='gradient')
    """
    return PrivateOCP(schedule, "gradient")
