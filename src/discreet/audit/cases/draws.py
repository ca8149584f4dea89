"""Draws: of points, of columns, of corners, of coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.audit.cases.base import Case
from discreet.audit.cases.pairs import RARE, class_pair, one_more, straight
from discreet.audit.cases.votes import sign_pair, vote_on_sign
from discreet.audit.statistical.pair import Pair
from discreet.geometry import Box, LinfBall
from discreet.losses import Huber, MarginLogistic
from discreet.mechanisms import (
    ExponentialSampling,
    FrankWolfe,
    IterativeThresholding,
    Localization,
    Peeling,
    SimplexSampling,
)
from discreet.mechanisms.simplex_sampling import least_with, widest
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import (
    ColumnQuantiles,
    ColumnVotes,
    L1Problem,
    SparseProblem,
    StrongestColumns,
)
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.mixture import Mixture


def exponential_sampling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Nearly all grid points become worse by a rank's worth, and a few better.

    The few are drawn one time in five where they are better: the rarer they are, the nearer the
    log ratio is to epsilon, and the harder to count.
    """
    is_added = isinstance(unit, AddRemoveOne)
    odds = 0.25 * math.exp(-pure.epsilon if is_added else -pure.epsilon / 2)
    edge = 1 / (1 + odds)
    if is_added:
        pair = Pair(np.array([[1.0]]), np.array([[1.0], [edge]]), unit)
    else:
        pair = Pair(np.array([[0.0], [edge], [edge]]), np.array([[1.0], [edge], [edge]]), unit)
    question = ColumnQuantiles(Bounds(Box([0.0], [1.0]), 1), steps=2**16)
    yield Case("exponential sampling, median", ExponentialSampling(), question, pure, pair,
               effort=0.1, remark="log ratios near epsilon belong to rare draws")  # fmt: skip
    yield Case("exponential sampling, coefficient", ExponentialSampling(), straight(), pure,
               class_pair(unit), is_tight=False, effort=8.0, remark=RARE)  # fmt: skip


def localization(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("localization", Localization(), straight(100.0, ridge=40.0 / pure.epsilon), pure,
               class_pair(unit), is_tight=False, effort=3000.0,
               remark="the draft is not released, and of two stages each shows a half")  # fmt: skip


def simplex_sampling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Two columns and slopes at their bound; rows so short that those in common hardly bend.

    One record moves the odds of the columns by the whole range. A single draw is worst where one
    column is rare, so common rows make it so; of many draws even odds are worst.
    """
    for spent, draws, behind in ((pure, 1, 1.5), (budget, 40, 0.0)):
        bounds = Bounds(LinfBall(0.01), 2, labels=LabelSet([-1, 1]), max_rows=64)
        free = Mixture(MarginLogistic(margin=40.0), bounds)
        entropy = least_with(free, unit, widest(spent, draws))
        common = min(round(behind * entropy / 0.02), bounds.max_rows - 2)
        ahead = np.tile([[0.01, -0.01]], (common, 1))
        one = np.array([[0.01, -0.01]])
        if isinstance(unit, AddRemoveOne):
            first, second = np.vstack([ahead, 0 * one]), np.vstack([ahead, 0 * one, -one])
        else:
            first, second = np.vstack([ahead, one]), np.vstack([ahead, -one])
        pair = Pair((first, np.ones(len(first))), (second, np.ones(len(second))), unit)
        of = "one draw" if draws == 1 else f"{draws} draws"
        yield Case(f"simplex sampling, {of}", SimplexSampling(), replace(free, entropy=entropy),
                   spent, pair, effort=0.1 * draws,
                   remark="log ratios near epsilon belong to rare draws" if draws == 1 else ""
                   )  # fmt: skip


def peeling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """One record that half of the columns gain from, and the others lose by, as much as they can.

    Sums without means attain the range; the columns that gain are behind before.
    """
    for size in (1, 2):
        bounds = Bounds(LinfBall(1.0), 2 * size, labels=LabelSet([-1, 1]), max_rows=2**16)
        behind, row = [[0.0] * size + [-1.0] * size] * 3, [1.0] * (2 * size)
        pair = one_more(unit, behind, row, row, (1.0, 1.0, -1.0))
        question = StrongestColumns(bounds, size, is_centred=False)
        yield Case(f"peeling, {size} of {2 * size} columns", Peeling(), question, pure, pair,
                   is_tight=False, effort=float(size), remark=RARE)  # fmt: skip
    yield Case("peeling, votes of blocks", Peeling(), ColumnVotes(vote_on_sign(1), 1), pure,
               sign_pair(1, unit), is_tight=False, effort=6.0, remark=RARE)  # fmt: skip


def steep_rows(columns: int) -> Bounds:
    """Return bounds of rows whose slopes are all at their bound, for Huber's loss of a half."""
    return Bounds(LinfBall(1.0), columns, labels=Interval(-1, 1), max_rows=2**16)


def steep_pair(columns: int, unit: Unit) -> Pair:
    """A record that pulls one way, and one more that pulls the other, as steeply as it can."""
    row = np.ones(columns)
    return one_more(unit, [-row], row, row, (1.0, 1.0, -1.0))


def frank_wolfe(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """A ball so small that slopes stay at their bound in every step."""
    for steps in (1, 2):
        problem = L1Problem(Huber(0.5), steep_rows(1), radius=0.1)
        yield Case(f"Frank-Wolfe, steps: {steps}", FrankWolfe(steps), problem, pure,
                   steep_pair(1, unit), is_tight=False, effort=4.0 * steps,
                   remark=RARE)  # fmt: skip


def iterative_thresholding(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    problem = SparseProblem(Huber(0.5), steep_rows(2), size=2, radius=1e3)
    yield Case("iterative thresholding", IterativeThresholding(1, rows=1), problem, budget,
               steep_pair(2, unit), is_tight=False, effort=3.0,
               remark="half of the budget draws two of two columns, which says little")  # fmt: skip
