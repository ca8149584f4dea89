"""Sums, counts and histograms with noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.audit.cases.base import Case
from discreet.audit.cases.pairs import edge_pair, one_more
from discreet.audit.statistical.pair import Pair
from discreet.geometry import L1Ball, L2Ball
from discreet.mechanisms import (
    FollowingHistogram,
    GaussianSum,
    LaplaceSum,
    NoisyHistogram,
    PrivateCount,
)
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import CellCounts, FollowingCounts, RowCount, VectorSum
from discreet.questions.bounds import Bounds, LabelSet


def gaussian_sum(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = VectorSum(Bounds(L2Ball(1.0), 1))
    yield Case("gaussian sum", GaussianSum(), question, budget, edge_pair(unit))


def laplace_sum(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = VectorSum(Bounds(L1Ball(1.0), 1))
    yield Case("laplace sum", LaplaceSum(), question, pure, edge_pair(unit))


def private_count(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    # Far from zero, where the count is cut off.
    X, y = np.zeros((400, 1)), np.ones(400)
    if isinstance(unit, AddRemoveOne):
        pair = Pair((X, y), (X[1:], y[1:]), unit)
    else:
        pair = Pair((X, y), (X, np.where(np.arange(400) == 0, -1.0, y)), unit)
    yield Case("private count", PrivateCount(), RowCount(bounds, 1), pure, pair)


def noisy_histogram(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = CellCounts((3,))
    pair = one_more(unit, [[0.0]], [2.0], [1.0])
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"noisy histogram, {law}", NoisyHistogram(law), question, spent, pair)


def scored_pair(unit: Unit) -> Pair:
    """A record of the second class, scored high: there or not, or of the first."""
    return one_more(unit, [[1.0, -3.0, 0.9]], [2.0, 3.0, 0.1], [1.0, 3.0, 0.9])


def following_histogram(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = FollowingCounts(4, (), most_bins=2)
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"following histogram, {law}", FollowingHistogram(law), question, spent,
                   scored_pair(unit), is_tight=False, effort=10.0,
                   remark="of the first release only edges are seen")  # fmt: skip
