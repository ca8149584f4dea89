r"""Follow the leader along noisy running sums of gradients; proof in ``follow_the_leader.md``.

The leader is found from a noisy running sum of gradients.
After t of T steps, with S the running sum, the ridge and the penalty of the whole stream counted as
far as it has gone, and :math:`1/\eta` the pull towards the origin,

.. math:: \theta = \arg\min_\theta \langle S, \theta \rangle + \frac{1}{2 \eta} \|\theta\|^2
          + \frac{t}{T} \Big( \frac{\Lambda}{2} \|\theta\|^2 + P(\theta) \Big).

All of it is public: S is released.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.mechanisms.base import Verdict, accepts_slopes, grid_tolerances
from discreet.mechanisms.interactive import (
    InteractiveMechanism,
    InteractivePlan,
    Session,
    stream_facts,
)
from discreet.mechanisms.streaming.open_batch import RecordGradients
from discreet.mechanisms.streaming.prefix_calibration import PrefixRelease, calibrate_prefix
from discreet.mechanisms.streaming.prefix_factor import Participation
from discreet.mechanisms.streaming.running_sums import SummingSession
from discreet.mechanisms.streaming.tree_factor import FACTORS, choose_factor
from discreet.mechanisms.summing.step_policy import expected_distance
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import Problem, Question, Stream
from discreet.record import Tolerance


class FollowTheLeaderSession(SummingSession):
    """The noisy running sum of gradients, and the coefficients that follow from it."""

    def __init__(self, plan: FollowTheLeaderPlan, noise: Noise) -> None:
        super().__init__(plan.question, plan.records, plan.release, noise)
        self._leader = plan.leader
        self._go_to(plan.leader.first())

    def _follow(self, total: Vector, step: int) -> Vector:
        return self._leader.after(total, step)

    def answer(self) -> Vector:
        return self._public


@dataclass(frozen=True, eq=False)
class FollowTheLeaderPlan(InteractivePlan):
    """The noise of running sums, and where they lead to."""

    question: Stream
    release: PrefixRelease | None  # None if there is no noise, and no privacy
    leader: Leader
    guarantee: Guarantee
    reason: str

    @cached_property
    def records(self) -> RecordGradients:
        """What records add: sums go over one batch, never over more."""
        bounds = replace(self.question.bounds, max_rows=self.question.batch)
        return RecordGradients(self.question.problem.restate(bounds))

    @property
    def sensitivity(self) -> float:
        """How far, in l2, what the Gaussian mechanism sees can be from that of a neighbour."""
        return 0.0 if self.release is None else self.release.sensitivity

    @property
    def regret(self) -> float:
        """The bound on the expected regret over all records."""
        question = self.question
        deviation = 0.0 if self.release is None else self.release.usual_deviation
        return bound_regret(
            question.problem, question.updates, question.batch, deviation, self.leader.pull
        )

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        grid = None if self.release is None else self.release.grid
        return grid_tolerances(grid, "the noise on running sums of gradients")

    def start(self, noise: Noise) -> Session:
        return FollowTheLeaderSession(self, noise)

    def _unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        return FollowTheLeaderSession(self, noise).unpack(packed)


@dataclass(frozen=True)
class FollowTheLeader(InteractiveMechanism):
    """Online learning along running sums of gradients with correlated noise (DP-FTRL).

    Parameters
    ----------
    factor
        Which noise is added to which sum: ``"square_root"``, with the least noise and a memory as
        long as the stream; ``"tree"``, with a memory of a vector for each doubling; ``"band"``;
        or ``"auto"``, the least predicted error among those that fit.
    band
        How many steps the noise of a band reaches; None for 32, or for the separation if records
        come several times. Only with ``"band"``.
    learning_rate
        How far a sum of gradients moves the coefficients; None for the rate that is expected to
        predict records best, given the noise.
    participations
        How often the record that is protected may come.
    separation
        How many updates apart it comes, at least; needed if it comes more than once.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import ReplaceOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=1000)
    >>> plan = FollowTheLeader().plan(stream, Budget(1.0, 1e-6), ReplaceOne())
    >>> plan.reason, round(plan.release.grid.scale, 1)
    ('square root noise on 1,000 running sums', 15.3)
    """

    name: ClassVar[str] = "follow_the_leader"

    factor: str = "auto"
    band: int | None = None
    learning_rate: float | None = None
    participations: int = 1
    separation: int | None = None

    def __post_init__(self) -> None:
        _checks.one_of(FACTORS, factor=self.factor)
        if self.band is not None:
            _checks.whole(band=self.band, at_least=1)
            if self.factor != "band":
                raise InputError('state band only with factor="band".')
        if self.learning_rate is not None:
            _checks.positive(learning_rate=self.learning_rate)
        _checks.whole(participations=self.participations, at_least=1)
        if self.separation is not None:
            _checks.whole(separation=self.separation, at_least=1)
        elif self.participations > 1:
            raise InputError(
                "a record that comes several times needs separation: how many updates apart it "
                "comes, at least."
            )

    @property
    def participation(self) -> Participation:
        """How often the protected record may come."""
        return Participation(self.participations, self.separation or 1)

    @property
    def records_come_once(self) -> bool:
        return self.participations == 1

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Stream):
            return Verdict(False, "follow_the_leader learns from streams; state a Stream.")
        return accepts_slopes(question.problem)

    def _plan(self, question: Stream, budget: Budget, unit: Unit) -> FollowTheLeaderPlan:
        problem, batch, updates = question.problem, question.batch, question.updates
        facts = stream_facts(question, unit, self.participation)
        if not budget.is_private:
            leader = Leader(problem, self._pull(problem, updates, batch, 0.0), updates)
            guarantee = Guarantee(NoPrivacy(), unit, facts)
            return FollowTheLeaderPlan(question, None, leader, guarantee, "running sums")
        participation = self.participation
        factor = choose_factor(self.factor, updates, problem.width, self.band, participation)
        release = calibrate_prefix(
            factor,
            budget,
            width=problem.width,
            apart=unit.spread(problem.row_lipschitz),
            bound=batch * problem.row_lipschitz,
            participation=participation,
        )
        pull = self._pull(problem, updates, batch, release.usual_deviation)
        return FollowTheLeaderPlan(
            question,
            release,
            Leader(problem, pull, updates),
            Guarantee(release.profile, unit, facts, quoted_delta=budget.delta),
            f"{factor.name} noise on {updates:,} running sums",
        )

    def _pull(self, problem: Problem, updates: int, batch: int, deviation: float) -> float:
        if self.learning_rate is not None:
            return 1 / float(self.learning_rate)
        return usual_pull(problem, updates, batch, deviation)


@dataclass(frozen=True)
class Leader:
    """The rule that makes coefficients of a running sum."""

    problem: Problem
    pull: float
    steps: int

    def first(self) -> Vector:
        """Return the coefficients before the first record."""
        return np.array(self._project(np.zeros(self.problem.width), 1 / self.pull))

    def after(self, total: Vector, step: int) -> Vector:
        """Return the coefficients after ``step`` steps with this running sum."""
        share = step / self.steps
        stiffness = self.pull + share * self.problem.ridge
        return self._project(total * (-1 / stiffness), share / stiffness)

    def _project(self, point: Vector, step: float) -> Vector:
        penalty = self.problem.penalty
        return point if penalty is None else penalty.prox(point, step)


def best_pull(problem: Problem, steps: int, batch: int, deviation: float) -> float:
    r"""Return the pull towards the origin for which the bound on regret is least.

    .. math:: \frac{D^2}{2 \eta} + \eta T G^2 + \eta T G \sigma \sqrt p
    """
    return math.sqrt(2 * _growth(problem, steps, batch, deviation)) / expected_distance(problem)


CURVED, CAUTION = 0.6, 2.5
"""Margins bend a loss by this share of its smoothness; how far the bound's rate is exceeded."""

BEND_OF_KINKS = 0.25
"""What stands for the smoothness of a loss that has none: that of a logistic one."""


def usual_pull(problem: Problem, steps: int, batch: int, deviation: float) -> float:
    r"""Return the pull towards the origin for which records are predicted best, as expected.

    The bound on regret counts noise as if losses were steep everywhere. Where margins are, they
    bend: noise of deviation :math:`\sigma` in a sum is one of :math:`\eta \sigma R` in a margin,
    and costs :math:`h (\eta \sigma R)^2 / 2` a record. With the way that is left to go,

    .. math:: \frac{D^2}{2 \eta n} + \frac{h}{2} (\eta \sigma R)^2

    is least at :math:`\eta^3 = D^2 / (2 n h \sigma^2 R^2)`, n the number of records. The rate is
    no larger than two and a half times that of the bound without noise. Chosen on the streams elec2
    and adult, where rates of half and of twice as much predict worse.
    """
    smooth = (
        problem.row_smoothness if problem.loss.is_smooth else BEND_OF_KINKS * problem.row_norm**2
    )
    far, records = expected_distance(problem), steps * batch
    least = problem.row_lipschitz * math.sqrt(records) / (CAUTION * far)
    return max(least, math.cbrt(2 * records * CURVED * smooth * deviation**2 / far**2))


def bound_regret(problem: Problem, steps: int, batch: int, deviation: float, pull: float) -> float:
    """Return the bound on the expected regret over all records at a pull."""
    far = expected_distance(problem)
    return far**2 * pull / 2 + _growth(problem, steps, batch, deviation) / pull


def _growth(problem: Problem, steps: int, batch: int, deviation: float) -> float:
    steepest = batch * problem.row_lipschitz
    return steps * steepest * (steepest + deviation * math.sqrt(problem.width))
