"""Draws: of points, of columns, of corners, of coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import RARE, class_pair, one_more, pulled_pair, straight
from discreet.audit.cases.votes import row_pair, sign_pair, vote_on_sign
from discreet.audit.statistical.pair import Pair
from discreet.geometry import Box, LinfBall
from discreet.losses import Huber, Logistic, Loss, MarginLogistic, Pinball, Squared
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
    BestSubset,
    BestThreshold,
    ColumnQuantiles,
    ColumnVotes,
    L1Problem,
    LeastLoss,
    Question,
    SparseProblem,
    StrongestColumns,
)
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.choices import ColumnLocations
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
    for label, asked, spent, pair in (
        *exact_quantiles(unit, budget, pure),
        *exact_choices(unit, pure),
        *((f"{width} coefficients", straight(ridge=2.0, width=width), pure, crowd_pair(unit, width))
          for width in (1, 2)),
    ):  # fmt: skip
        yield exact_case(f"exponential sampling, {label}", ExponentialSampling(), asked, spent,
                         pair)  # fmt: skip


Asked = tuple[str, Question, Budget, Pair]


def exact_quantiles(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Asked]:
    """A record that counts all of a rank: below a quartile it is worth three quarters of one."""
    places: tuple[tuple[str, float, list[float], float, int], ...] = (
        ("median", 0.5, [0.97] * 2, 1.0, 1),
        ("upper quartile", 0.75, [0.0] + [0.97] * 4, 1.0, 1),
        ("thirty columns", 0.5, [0.97] * 2, 1.0, 30),
    )
    if isinstance(unit, AddRemoveOne):
        places = (
            ("median", 0.5, [1.0], 0.97, 1),
            ("quartile", 0.25, [0.03] * 3, 0.0, 1),
            ("two columns", 0.5, [1.0], 0.97, 2),
        )
    for label, q, rest, place, columns in places:
        bounds = Bounds(Box([0.0] * columns, [1.0] * columns), columns)
        pair = one_more(unit, np.tile(np.array(rest)[:, None], columns),
                        [place] * columns, [0.0] * columns)  # fmt: skip
        yield label, ColumnQuantiles(bounds, q, 400), budget if columns == 30 else pure, pair


def exact_choices(unit: Unit, pure: Budget) -> Iterator[Asked]:
    """Columns, thresholds, subsets and locations of two dozen records."""
    columns = Bounds(Box([0.0] * 2, [1.0] * 2), 2, max_rows=2**16)
    marked = replace(columns, labels=LabelSet([-1, 1]))
    signed = Bounds(LinfBall(1.0), 3, labels=LabelSet([-1, 1]), max_rows=2**16)
    y = np.repeat([-1.0, 1.0], 12)[:-1]
    lines = np.repeat([[0.5, 0.2], [0.5, 0.8]], 12, axis=0)[:-1]
    table = np.repeat([[1.0, 0.3, -0.2], [-1.0, 0.3, 0.2]], 12, axis=0)[:-1]
    places = one_more(unit, [[0.25, 1.0]] * 11, [0.25, 1.0], [1.0, 0.0])
    for label, question, pair in (
        ("threshold", BestThreshold(marked, steps=100),
         one_more(unit, lines, [0.5, 0.8], [0.5, 0.8], (y, 1.0, -1.0))),
        ("least loss", LeastLoss(columns),
         one_more(unit, [[0.0, 1.0]] * 11, [0.0, 1.0], [1.0, 0.0])),
        ("subset", BestSubset(signed, 2),
         one_more(unit, table, [-1.0, 0.3, 0.2], [-1.0, 0.3, 0.2], (-y, -1.0, 1.0))),
        ("Huber location", ColumnLocations(columns, Huber(0.1)), places),
        ("absolute location", ColumnLocations(columns, Pinball(0.5)), places),
    ):  # fmt: skip
        yield label, question, pure, pair


def crowd_pair(unit: Unit, width: int, crowd: int = 0) -> Pair:
    """A row along the first axis: there or not, or of either class; beside a crowd of its class."""
    axis = [1.0] + [0.0] * (width - 1)
    rest = np.tile([axis], (crowd or int(isinstance(unit, AddRemoveOne)), 1))
    return one_more(unit, rest, axis, axis, (1.0, 1.0, -1.0))


def localization(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("localization", Localization(), straight(100.0, ridge=40.0 / pure.epsilon), pure,
               class_pair(unit), is_tight=False, effort=3000.0,
               remark="the draft is not released, and of two stages each shows a half")  # fmt: skip
    yield exact_case("localization", Localization(), straight(10.0, ridge=40.0, width=2), pure,
                     crowd_pair(unit, 2))  # fmt: skip


def simplex_sampling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Two columns and slopes at their bound; rows so short that those in common hardly bend.

    One record moves the odds of the columns by the whole range. A single draw is worst where one
    column is rare, so common rows make it so; of many draws even odds are worst.
    """
    for spent, draws, behind in ((pure, 1, 1.5), (budget, 40, 0.0)):
        bounds = Bounds(LinfBall(0.01), 2, labels=LabelSet([-1, 1]), max_rows=64)
        free = Mixture(MarginLogistic(margin=40.0), bounds)
        entropy = least_with(free, unit, widest(spent, draws)) * (1 + 1e-9)  # enough for more rows
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
    yield from exact_mixtures(unit, budget, pure)


def exact_mixtures(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Three columns and few records: all laws can be enumerated."""
    bounds = Bounds(LinfBall(1.0), 3, labels=Interval(-1, 1), max_rows=64)
    rest, marks = [[0.5, -0.2, 0.1], [-0.3, 0.6, 0.9], [0.8, 0.1, -0.7]], [0.4, -0.1, 0.2]
    pair = one_more(unit, rest, [1.0, -1.0, -1.0], [-1.0, 1.0, 1.0], (marks, 1.0, 1.0))
    squares, robust = Mixture(Squared(1.0), bounds), Mixture(Huber(0.2), bounds, total=2.0)
    asked = (("squares, many draws", squares, budget), ("huber, larger total, pure", robust, pure))
    if isinstance(unit, AddRemoveOne):
        asked = (("squares, pure", squares, pure), ("huber, larger total", robust, budget))
    for label, question, spent in asked:
        yield exact_case(f"simplex sampling, {label}", SimplexSampling(), question, spent, pair)


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
    for is_centred, labels in ((True, Interval(-1, 1)), (False, LabelSet([-1, 1]))):
        bounds = Bounds(LinfBall(1.0), 3, labels=labels, max_rows=2**16)
        question = StrongestColumns(bounds, 2, is_centred=is_centred)
        yield exact_case(f"peeling, {'' if is_centred else 'not '}centred", Peeling(), question,
                         budget, opposed_pair(unit, is_centred))  # fmt: skip
    yield exact_case("peeling, votes", Peeling(), ColumnVotes(vote_on_sign(9), 1), pure,
                     row_pair(90, unit))  # fmt: skip


def opposed_pair(unit: Unit, is_centred: bool) -> Pair:
    """One record that one column gains from, and the other loses by, as much as they can."""
    X, y = np.array([[0.5, -1.0, 0.0]] * 3), np.ones(3)
    if is_centred:
        # Means near the lower ends; the second column goes against the labels.
        X, y = -np.ones((400, 3)), -np.ones(400)
        X[:25, 1], y[25:50], X[:3, 0], y[:3] = 1.0, 1.0, 1.0, 1.0
    return one_more(unit, X, [1.0, 1.0, 0.0], [1.0, 1.0, 0.0], (y, 1.0, -1.0))


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
    losses: tuple[tuple[Loss, Bounds, Budget], ...] = (
        (Squared(1.0), replace(steep_rows(3), intercept=1.0), budget),
        (Huber(0.5), steep_rows(3), pure),
        (Logistic(), replace(steep_rows(3), labels=LabelSet([-1, 1])), budget),
    )
    for loss, bounds, spent in losses:
        yield exact_case(f"Frank-Wolfe, {loss!r}", FrankWolfe(3),
                         L1Problem(loss, bounds, radius=0.7), spent, pulled_pair(unit)
                         )  # fmt: skip


def iterative_thresholding(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    problem = SparseProblem(Huber(0.5), steep_rows(2), size=2, radius=1e3)
    yield Case("iterative thresholding", IterativeThresholding(1, rows=1), problem, budget,
               steep_pair(2, unit), is_tight=False, effort=3.0,
               remark="half of the budget draws two of two columns, which says little")  # fmt: skip
    problem = SparseProblem(Huber(0.5), steep_rows(3), size=2, radius=2.0)
    for law, spent in (("gaussian", budget), ("laplace", pure)):
        yield exact_case(f"iterative thresholding, {law}", IterativeThresholding(3, rows=6),
                         problem, spent, pulled_pair(unit))  # fmt: skip
