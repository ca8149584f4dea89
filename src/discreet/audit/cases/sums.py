"""Sums, counts and histograms with noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import FAR, edge_pair, one_more
from discreet.audit.statistical.pair import Pair
from discreet.geometry import Box, L1Ball, L2Ball
from discreet.mechanisms import (
    FollowingHistogram,
    GaussianSum,
    LaplaceSum,
    NoisyHistogram,
    PrivateCount,
)
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import CellCounts, FollowingCounts, RowCount, VectorMean, VectorSum
from discreet.questions.bounds import Bounds, Interval, LabelSet

BALL, BOX = Bounds(L2Ball(1.0), 3), Bounds(Box([0, -1, 5], [120, 1, 6]), 3)
BEYOND = (500.0, 9.0, 99.0)


def opposed_pair(unit: Unit, row: Sequence[float]) -> Pair:
    """A row beyond its bounds beside an ordinary one: there or not, or on the other side."""
    return one_more(unit, [[0.1, 0.2, 0.3]], row, [-entry for entry in row])


def gaussian_sum(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = VectorSum(Bounds(L2Ball(1.0), 1))
    yield Case("gaussian sum", GaussianSum(), question, budget, edge_pair(unit))
    for what, asked, row in (
        ("sum", VectorSum(BALL), FAR),
        ("sum with intercept", VectorSum(replace(BALL, intercept=0.5)), FAR),
        ("mean of a ball", VectorMean(BALL), FAR),
        ("mean of a box", VectorMean(BOX), BEYOND),
    ):
        yield exact_case(f"gaussian {what}", GaussianSum(), asked, budget, opposed_pair(unit, row))


def laplace_sum(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = VectorSum(Bounds(L1Ball(1.0), 1))
    yield Case("laplace sum", LaplaceSum(), question, pure, edge_pair(unit))
    diamond = VectorSum(Bounds(L1Ball(2.0), 3))
    yield exact_case("laplace sum", LaplaceSum(), diamond, pure, opposed_pair(unit, FAR))
    yield exact_case("laplace mean of a box", LaplaceSum(), VectorMean(BOX), pure,
                     opposed_pair(unit, BEYOND))  # fmt: skip


def private_count(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    # Far from zero, where the count is cut off.
    X, y = np.zeros((400, 1)), np.ones(400)
    if isinstance(unit, AddRemoveOne):
        pair = Pair((X, y), (X[1:], y[1:]), unit)
    else:
        pair = Pair((X, y), (X, np.where(np.arange(400) == 0, -1.0, y)), unit)
    yield Case("private count", PrivateCount(), RowCount(bounds, 1), pure, pair)
    row = [0.1, 0.2, 0.3]
    if isinstance(unit, AddRemoveOne):
        yield exact_case("count of rows", PrivateCount(), RowCount(BALL), pure,
                         one_more(unit, [row], row, row))  # fmt: skip
    for what, labels, marks in (
        ("of a label", LabelSet([-1, 1]), (1, 1, -1)),
        ("among ranged labels", Interval(0, 10), (10, 10, 3)),
    ):
        asked = RowCount(replace(BALL, labels=labels), marks[0])
        yield exact_case(f"count {what}", PrivateCount(), asked, pure,
                         one_more(unit, [row], row, row, marks))  # fmt: skip


def noisy_histogram(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = CellCounts((3,))
    pair = one_more(unit, [[0.0]], [2.0], [1.0])
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"noisy histogram, {law}", NoisyHistogram(law), question, spent, pair)
    one, two = CellCounts((4,), max_rows=2**20), CellCounts((4, 3), max_rows=2**20)
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        for label, asked, pair in (
            ("histogram", one, one_more(unit, [[1.0]], [3.0], [2.0])),
            ("histograms of two columns", two, one_more(unit, [[1.0] * 2], [3.0, 9.0], [1.0] * 2)),
        ):
            yield exact_case(f"{law} {label}", NoisyHistogram(law), asked, spent, pair)


def scored_pair(unit: Unit) -> Pair:
    """A record of the second class, scored high: there or not, or of the first."""
    return one_more(unit, [[1.0, -3.0, 0.9]], [2.0, 3.0, 0.1], [1.0, 3.0, 0.9])


def following_histogram(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = FollowingCounts(4, (), most_bins=2)
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"following histogram, {law}", FollowingHistogram(law), question, spent,
                   scored_pair(unit), is_tight=False, effort=10.0,
                   remark="of the first release only edges are seen")  # fmt: skip
        many = FollowingCounts(8, most_bins=8, max_rows=2**20)
        yield exact_case(f"{law} following histogram", FollowingHistogram(law), many, spent,
                         scored_pair(unit))  # fmt: skip
