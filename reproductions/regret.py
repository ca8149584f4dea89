"""Regret of private online learners: against the horizon, the dimension and the number of experts.

Thakurta (2013), chapter 5, and Jain and Thakurta (2014), section 5.2. Where each loss is strongly
convex, regret grows like the root of the horizon and, for Gaussian noise, of the dimension; that of
experts like the logarithm of their number. Along running sums with correlated noise it grows like
the root of the horizon without any ridge, and like powers of its logarithm for squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from audits.printed_noise import printed_beta
from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.geometry import Box, L2Ball
from discreet.ledger import NoLedger
from discreet.losses import Hinge, Logistic, Loss, Squared
from discreet.mechanisms import (
    Experts,
    FollowTheLeader,
    GradientAscent,
    ImplicitGradient,
    InteractiveMechanism,
    InteractivePlan,
    OnlineQuadratic,
    PrivateOCP,
)
from discreet.mechanisms.follow_the_leader import FollowTheLeaderPlan, best_pull
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import Budget, Guarantee, NoPrivacy, ReplaceOne
from discreet.questions import DeclaredStream, ExpertStream, Problem, Stream
from reproductions.lower_bound import slope

RADIUS = 1.0
"""Of the domain, a ball."""

STEPS = 1000
"""To the best fixed point; its loss is known to some thousandths after so many."""


@dataclass(frozen=True)
class Task:
    """What is learnt, from the same rows.

    Parameters
    ----------
    loss
        Of one record.
    ridge
        The strong convexity of a round; zero for a trace that belongs to the whole stream.
    is_faint
        Whether labels follow a column by a chance that vanishes as the stream grows, which is as
        hard as a stream can be; otherwise it is nine in ten.
    """

    loss: Loss
    ridge: float
    is_faint: bool = False

    def chance(self, rounds: int) -> float:
        """Return with which chance a label follows the first column."""
        return 0.5 + 1 / math.sqrt(rounds) if self.is_faint else 0.9

    def ridge_of(self, rounds: int) -> float:
        """Return the ridge of one round of a stream."""
        return self.ridge or 1 / rounds

    def state(self, rounds: int, width: int) -> Stream:
        """Declare a stream; mechanisms of running sums take the ridge of all of it."""
        is_squared = isinstance(self.loss, Squared)
        labels = Interval(-1, 1) if is_squared else LabelSet([-1, 1])
        bounds = Bounds(L2Ball(1.0), width, labels=labels)
        ball = Indicator(L2Ball(RADIUS))
        return Stream(Problem(self.loss, bounds, self.ridge or 1.0, penalty=ball), rounds)


STRONG, FREE, SQUARES = Task(Logistic(), 1.0), Task(Logistic(), 0.0), Task(Squared(1.0), 0.0)

FAINT = Task(Hinge(), 0.0, is_faint=True)
"""Straight losses: no margin in the ball is beyond the kink. Nobody has less than a root."""

BUDGET = Budget(8.0, 1e-6)
"""So large that most answers of a few thousand rounds are more than noise."""

UNIT = ReplaceOne()

FAINTLY = "follow the leader, faint"

LEARNERS: dict[str, tuple[InteractiveMechanism, Task]] = {
    "leader, even noise": (PrivateOCP("even"), STRONG),
    "leader": (PrivateOCP(), STRONG),
    "implicit gradient": (ImplicitGradient(), STRONG),
    "gradient ascent": (GradientAscent(), STRONG),
    "follow the leader, no ridge": (FollowTheLeader(), FREE),
    FAINTLY: (FollowTheLeader(), FAINT),
    "online quadratic": (OnlineQuadratic(), SQUARES),
}
"""Whose regret is measured, and on what; another learner of a ``Stream`` needs a line here."""

MOST_SQUARES = 64
"""Columns whose products are summed over every step, at most."""

PRINTED = "leader, noise of theorem 5.5"

EXPERTS = "experts"


@dataclass(frozen=True)
class Curve:
    """Mean regrets of a learner against sizes of one kind."""

    name: str
    sizes: tuple[int, ...]
    regrets: tuple[float, ...]

    @property
    def slope(self) -> float:
        """That of a straight line through the logarithms; for experts, of regret in ln p."""
        sizes = np.log(self.sizes)
        if self.name == EXPERTS:
            return slope(tuple(sizes), self.regrets)
        return slope(self.sizes, self.regrets)


def by_horizon(sizes: tuple[int, ...], seeds: range, width: int = 10) -> Iterator[Curve]:
    """Measure every learner, and the printed noise, against the horizon."""
    for name in (*LEARNERS, PRINTED):
        yield Curve(name, sizes, tuple(regret(name, size, width, seeds) for size in sizes))


def by_width(sizes: tuple[int, ...], seeds: range, rounds: int = 2000) -> Iterator[Curve]:
    """Measure every learner, and the printed noise, against the number of columns."""
    for name in (*LEARNERS, PRINTED):
        some = tuple(size for size in sizes if task_of(name) != SQUARES or size <= MOST_SQUARES)
        yield Curve(name, some, tuple(regret(name, rounds, size, seeds) for size in some))


def task_of(name: str) -> Task:
    """Return what a learner learns."""
    return STRONG if name == PRINTED else LEARNERS[name][1]


def by_experts(sizes: tuple[int, ...], seeds: range, rounds: int = 4000) -> Curve:
    """Measure the regret of experts against their number."""
    return Curve(EXPERTS, sizes, tuple(experts_regret(size, rounds, seeds) for size in sizes))


@dataclass(frozen=True, eq=False)
class Records:
    """A stream of labelled rows on the sphere, what is learnt, and the least loss of a point."""

    X: np.ndarray
    y: np.ndarray
    task: Task
    least: float = 0.0

    def losses(self, points: np.ndarray) -> np.ndarray:
        """Return each round's loss at the point played in it."""
        margins = np.einsum("ij,ij->i", self.X, points)
        squares = np.einsum("ij,ij->i", points, points)
        ridges = self.task.ridge_of(len(self.X)) / 2 * squares
        return self.task.loss.value(self.y, margins) + ridges

    def best(self) -> np.ndarray:
        """Return the best fixed point of the ball, by accelerated projected gradient steps."""
        if self.task.is_faint:
            return _project(self.y @ self.X * 1e9)
        loss, ridge = self.task.loss, self.task.ridge_of(len(self.X)) * len(self.X)
        smooth = loss.smoothness(RADIUS) * np.linalg.norm(self.X, 2) ** 2 + ridge
        point = ahead = np.zeros(self.X.shape[1])
        weight = 1.0
        for _ in range(STEPS):
            gradient = loss.slope(self.y, self.X @ ahead) @ self.X + ridge * ahead
            before, point = point, _project(ahead - gradient / smooth)
            weight, last = (1 + math.sqrt(1 + 4 * weight**2)) / 2, weight
            ahead = point + (last - 1) / weight * (point - before)
        return point


def _project(point: np.ndarray) -> np.ndarray:
    return point * min(1.0, RADIUS / max(float(np.linalg.norm(point)), 1e-300))


@cache
def records(rounds: int, width: int, task: Task = STRONG) -> Records:
    """Make up a stream: labels follow one column, more often than not."""
    generator = np.random.default_rng(width)
    X = generator.standard_normal((rounds, width))
    X[:, 0] += 1.0 - 2.0 * (np.arange(rounds) % 2)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    follows = generator.random(rounds) < task.chance(rounds)
    y = np.where(follows, 1.0, -1.0) * np.where(X[:, 0] >= 0, 1.0, -1.0)
    found = Records(X, y, task)
    return replace(found, least=float(found.losses(np.tile(found.best(), (rounds, 1))).sum()))


def plan(name: str, rounds: int, width: int, budget: Budget = BUDGET) -> InteractivePlan:
    """Plan a learner by name; the printed noise is there as well.

    Parameters
    ----------
    name
        One of ``LEARNERS``, or ``PRINTED``.
    rounds
        The horizon.
    width
        Columns.
    budget
        What everything may spend.
    """
    question = task_of(name).state(rounds, width)
    if name != PRINTED:
        planned: Any = LEARNERS[name][0].plan(question, budget, UNIT)
        return at_rate_of_bound(planned) if name == FAINTLY else planned
    even: Any = PrivateOCP("even").plan(question, budget, UNIT)
    beta = printed_beta(budget.epsilon / 3, budget.delta / 2, rounds)
    return replace(even, schedule=replace(even.schedule, mu=math.sqrt(rounds) / beta))


def at_rate_of_bound(planned: FollowTheLeaderPlan) -> FollowTheLeaderPlan:
    """Return a plan with the learning rate for which the bound on regret is least."""
    question, deviation = planned.question, planned.release.usual_deviation
    pull = best_pull(question.problem, question.updates, question.batch, deviation)
    return replace(planned, leader=replace(planned.leader, pull=pull))


def transcript(
    planned: InteractivePlan, question: DeclaredStream, X: Any, y: Any, seed: int
) -> Any:
    """Return all answers to a table, with rehearsal noise.

    Parameters
    ----------
    planned
        The plan.
    question
        The stream that it is for.
    X, y
        The records; labels may be None.
    seed
        Of the noise.
    """
    rows = Rows(X, y, bounds=question.bounds, unit=UNIT)
    receipt = NoLedger().charge(Guarantee(NoPrivacy(), UNIT), purpose="a study")
    return planned.run(rows.open(receipt), RehearsalNoise(seed))


def regret(name: str, rounds: int, width: int, seeds: range, budget: Budget = BUDGET) -> float:
    """Return the mean regret of a learner over runs, against the best fixed point.

    Parameters
    ----------
    name
        One of ``LEARNERS``, or ``PRINTED``.
    rounds
        The horizon.
    width
        Columns.
    seeds
        One for each run.
    budget
        What everything may spend.
    """
    data = records(rounds, width, task_of(name))
    planned, found = plan(name, rounds, width, budget), []
    for seed in seeds:
        answers = transcript(planned, planned.question, data.X, data.y, seed)
        played = np.vstack([np.zeros((1, width)), answers[:-1]])
        found.append(float(data.losses(played).sum()) - data.least)
    return float(np.mean(found))


def experts_regret(experts: int, rounds: int, seeds: range, budget: Budget = BUDGET) -> float:
    """Return the mean regret if one of the experts is better than all others by a fifth.

    Parameters
    ----------
    experts
        How many there are.
    rounds
        The horizon.
    seeds
        One for each run.
    budget
        What everything may spend.
    """
    question = ExpertStream(Bounds(Box([0.0] * experts, [1.0] * experts), experts), rounds)
    chances = np.where(np.arange(experts) == 0, 0.4, 0.6)
    X = (np.random.default_rng(experts).random((rounds, experts)) < chances).astype(np.float64)
    planned = Experts().plan(question, budget, UNIT)
    found = []
    for seed in seeds:
        drawn = transcript(planned, question, X, None, seed)
        lost = X[0].mean() + X[np.arange(1, rounds), drawn[:-1]].sum()
        found.append(float(lost - X.sum(axis=0).min()))
    return float(np.mean(found))
