"""Streams, in which an early record differs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import FAR, steep
from discreet.audit.statistical.pair import Pair
from discreet.geometry import Box, L2Ball
from discreet.losses import Hinge, MarginLogistic, Squared
from discreet.mechanisms import (
    Experts,
    FollowTheLeader,
    GradientAscent,
    ImplicitGradient,
    OnlineQuadratic,
    OnlineToBatch,
    PrivateOCP,
)
from discreet.penalties import Indicator
from discreet.privacy import Budget, ReplaceOne, Unit, ZeroOutOne
from discreet.questions import ExpertStream, Stream
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.problem import Problem


def stream_pair(row: Sequence[float], other: Sequence[float], labels: tuple[float, float],
                unit: Unit, rounds: int) -> Pair:  # fmt: skip
    """The first record of a stream there or not, or another; later ones say nothing."""
    if isinstance(unit, ZeroOutOne):
        other = [0.0] * len(row)
    X, Z = np.zeros((rounds, len(row))), np.zeros((rounds, len(row)))
    X[0], Z[0] = row, other
    y = np.ones(rounds)
    return Pair((X, y * [labels[0], *y[1:]]), (Z, y * [labels[1], *y[1:]]), unit)


def follow_the_leader(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # The first record is steep; of 50 answers each is the last one of another running sum.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    stream = Stream(Problem(Hinge(), bounds, ridge=1.0), horizon=50)
    # The zeroed-out record must keep a declared label.
    labels = (1.0, 1.0) if isinstance(unit, ZeroOutOne) else (1.0, -1.0)
    pair = stream_pair([1.0], [1.0], labels, unit, 50)
    for factor in ("square_root", "tree", "band"):
        yield Case(f"follow the leader, {factor.replace('_', ' ')}", FollowTheLeader(factor),
                   stream, budget, pair, effort=30.0, is_tight=False,
                   remark=SPREAD_OUT)  # fmt: skip
    short = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]))
    hinges = Stream(Problem(Hinge(), short, ridge=40.0), horizon=64, batch=2)
    for factor in ("square_root", "tree" if isinstance(unit, ZeroOutOne) else "band"):
        mechanism = FollowTheLeader(factor, band=4 if factor == "band" else None)
        yield exact_case(f"follow the leader, {factor}", mechanism, hinges, budget,
                         stream_pair(FAR, FAR, labels, unit, 64))  # fmt: skip


SPREAD_OUT = "what shows is spread over all answers, and scores take the answers one by one"


def online_quadratic(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1))
    problem = Problem(Squared(1.0), bounds, ridge=20.0, penalty=Indicator(L2Ball(10.0)))
    pair = stream_pair([1.0, 0.0], [0.5, math.sqrt(0.75)], (1.0, -1.0), unit, 4)
    yield Case("online quadratic", OnlineQuadratic("square_root"), Stream(problem, horizon=4),
               budget, pair, effort=20.0, is_tight=False,
               remark="moments are not released themselves, only what is solved from them"
               )  # fmt: skip
    bounds = Bounds(L2Ball(2.0), 3, labels=Interval(-1, 1))
    problem = Problem(Squared(1.0), bounds, ridge=4000.0, penalty=Indicator(L2Ball(3.0)))
    pair = stream_pair(FAR, (2.5, 2.5 * math.sqrt(3), 0.0), (1.0, -1.0), unit, 64)
    yield exact_case("online quadratic", OnlineQuadratic("square_root"),
                     Stream(problem, horizon=64, batch=2), budget, pair)  # fmt: skip


def steep_stream(rounds: int) -> Stream:
    """Rounds of a loss whose slope is at its bound wherever iterates can be."""
    return Stream(steep(), horizon=rounds)


def batches() -> Stream:
    """The same of three columns, in batches of ten."""
    bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    return Stream(Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0), 40, 10)


def early_pair(unit: Unit, rounds: int, place: int = 0, row: Sequence[float] = (1.0,)) -> Pair:
    """Empty records but an early one: there or not, or of one class or the other."""
    X, y = np.zeros((rounds, len(row))), np.ones(rounds)
    X[place] = row
    if isinstance(unit, ZeroOutOne):
        return Pair((0 * X, y), (X, y), unit)
    return Pair((X, y), (X, np.where(np.arange(rounds) == place, -1.0, y)), unit)


def private_ocp(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for schedule in ("regret", "even"):
        yield Case(f"private online convex programming, {schedule}", PrivateOCP(schedule),
                   steep_stream(4), budget, early_pair(unit, 4), effort=20.0)  # fmt: skip
    yield Case("implicit gradient", ImplicitGradient(), steep_stream(4), budget,
               early_pair(unit, 4), effort=6.0)  # fmt: skip
    # The first record is passed over: of a straight loss that is all of the warm-up.
    yield Case("gradient ascent", GradientAscent(), steep_stream(4), budget,
               early_pair(unit, 4, place=1), effort=6.0)  # fmt: skip
    schedule = "regret" if isinstance(unit, ReplaceOne) else "even"
    for mechanism in (PrivateOCP(schedule), ImplicitGradient(), GradientAscent()):
        yield exact_case(f"private ocp, {mechanism.algorithm}, {mechanism.schedule}", mechanism,
                         batches(), budget, early_pair(unit, 40, 1, FAR))  # fmt: skip


def online_to_batch(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("online to batch", OnlineToBatch(), steep_stream(20), budget,
               early_pair(unit, 20))  # fmt: skip
    # Of a mean of iterates it is the first record, which is in most of them.
    yield exact_case("online to batch", OnlineToBatch(), batches(), budget,
                     early_pair(unit, 3, row=FAR))  # fmt: skip


def experts(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # Draws in a row from equal odds, which one record tilts for good.
    rounds = 20
    question = ExpertStream(Bounds(Box([0.0, 0.0], [1.0, 1.0]), 2), horizon=rounds)
    first, second = np.full((rounds, 2), 0.5), np.full((rounds, 2), 0.5)
    first[0] = [1.0, 0.0]
    if not isinstance(unit, ZeroOutOne):
        second[0] = [0.0, 1.0]
    yield Case("experts", Experts(), question, budget, Pair(first, second, unit), effort=2.0,
               remark="zCDP accounts a little more than the law of the draws")  # fmt: skip
    longer = ExpertStream(Bounds(Box([0.0, 0.0], [1.0, 1.0]), 2), horizon=40)
    few = np.tile([[0.25, 0.75]], (6, 1))
    other = few.copy()
    few[1], other[1] = [1.0, 0.0], [0.5, 0.5] if isinstance(unit, ZeroOutOne) else [0.0, 1.0]
    yield exact_case("experts", Experts(), longer, budget,
                     Pair(few, other, unit))  # fmt: skip
