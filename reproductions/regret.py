"""Regret of private online learners: against the horizon, the dimension and the number of experts.

Thakurta (2013), chapter 5, and Jain and Thakurta (2014), section 5.2. Losses are strongly convex,
so that regret grows like the root of the horizon and, for Gaussian noise, of the dimension; that of
experts like the logarithm of their number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from audits.printed_noise import printed_beta
from discreet.data import Bounds, LabelSet, Rows
from discreet.geometry import Box, L2Ball
from discreet.ledger import NoLedger
from discreet.losses import Logistic
from discreet.mechanisms import (
    Experts,
    GradientAscent,
    ImplicitGradient,
    InteractiveMechanism,
    InteractivePlan,
    PrivateOCP,
)
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import Budget, Guarantee, NoPrivacy, ReplaceOne
from discreet.questions import DeclaredStream, ExpertStream, Problem, Stream
from reproductions.lower_bound import slope
from reproductions.many import minimisers

RIDGE, RADIUS = 1.0, 1.0
"""The strong convexity of a round, and the radius of the domain, in which the best point lies."""

BUDGET = Budget(8.0, 1e-6)
"""So large that most answers of a few thousand rounds are more than noise."""

UNIT = ReplaceOne()

LEARNERS: dict[str, InteractiveMechanism] = {
    "leader, even noise": PrivateOCP("even"),
    "leader": PrivateOCP(),
    "implicit gradient": ImplicitGradient(),
    "gradient ascent": GradientAscent(),
}
"""Whose regret is measured; another interactive learner of a ``Stream`` needs a line here."""

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
        yield Curve(name, sizes, tuple(regret(name, rounds, size, seeds) for size in sizes))


def by_experts(sizes: tuple[int, ...], seeds: range, rounds: int = 4000) -> Curve:
    """Measure the regret of experts against their number."""
    return Curve(EXPERTS, sizes, tuple(experts_regret(size, rounds, seeds) for size in sizes))


@dataclass(frozen=True, eq=False)
class Records:
    """A stream of labelled rows on the sphere, and the least loss of a fixed point."""

    X: np.ndarray
    y: np.ndarray
    least: float

    def losses(self, points: np.ndarray) -> np.ndarray:
        """Return each round's loss at the point played in it."""
        margins = np.einsum("ij,ij->i", self.X, points)
        ridges = RIDGE / 2 * np.einsum("ij,ij->i", points, points)
        return Logistic().value(self.y, margins) + ridges


@cache
def records(rounds: int, width: int) -> Records:
    """Make up a stream: labels follow one column, more often than not."""
    generator = np.random.default_rng(width)
    X = generator.standard_normal((rounds, width))
    X[:, 0] += 1.0 - 2.0 * (np.arange(rounds) % 2)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(generator.random(rounds) < 0.9, 1.0, -1.0) * np.where(X[:, 0] >= 0, 1.0, -1.0)
    best = minimisers(Logistic(), X, y, ridge=rounds * RIDGE, linear=np.zeros((1, width)))[0]
    if np.linalg.norm(best) > RADIUS:
        raise ValueError("the best point must lie in the domain; use more ridge.")
    found = Records(X, y, 0.0)
    return replace(found, least=float(found.losses(np.tile(best, (rounds, 1))).sum()))


def stream(rounds: int, width: int) -> Stream:
    """Declare such a stream."""
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]))
    problem = Problem(Logistic(), bounds, ridge=RIDGE, penalty=Indicator(L2Ball(RADIUS)))
    return Stream(problem, horizon=rounds)


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
    question = stream(rounds, width)
    if name != PRINTED:
        return LEARNERS[name].plan(question, budget, UNIT)
    even: Any = PrivateOCP("even").plan(question, budget, UNIT)
    beta = printed_beta(budget.epsilon / 3, budget.delta / 2, rounds)
    return replace(even, schedule=replace(even.schedule, mu=math.sqrt(rounds) / beta))


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
    data, planned = records(rounds, width), plan(name, rounds, width, budget)
    question = stream(rounds, width)
    found = []
    for seed in seeds:
        answers = transcript(planned, question, data.X, data.y, seed)
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
