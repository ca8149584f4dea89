"""Sums, means and counts with noise."""

from __future__ import annotations

from dataclasses import replace

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import Box, L1Ball, L2Ball
from discreet.mechanisms import GaussianSum, LaplaceSum, PrivateCount
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import RowCount, VectorMean, VectorSum
from support.cases.additive import AdditiveCase, TotalCase
from support.cases.base import Data, hostile_row, l1, l2

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BALL, DIAMOND = Bounds(L2Ball(1.0), 3), Bounds(L1Ball(2.0), 3)
CONSTANT = replace(BALL, intercept=0.5)
BOX = Bounds(Box([0, -1, 5], [120, 1, 6]), 3)
LABELLED = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
RANGED = Bounds(L2Ball(1.0), 3, labels=Interval(0, 10))

REST = [[0.1, 0.2, 0.3]]
UP, DOWN = [[5.0, 0.0, 0.0]], [[-5.0, 0.0, 0.0]]
TOP, BOTTOM = [[500.0, 9.0, 99.0]], [[-500.0, -9.0, -99.0]]


def _gaussian(label, question, unit, first, second):
    return TotalCase(f"gaussian {label}", GaussianSum(), question, unit, Budget(1.0, 1e-6),
                     (Data(first), Data(second)), hostile_row(3), l2)  # fmt: skip


def _laplace(label, question, unit, first, second):
    return TotalCase(f"laplace {label}", LaplaceSum(), question, unit, Budget(1.0),
                     (Data(first), Data(second)), hostile_row(3), l1)  # fmt: skip


def _count(label, question, unit, first, second, labels=None):
    return AdditiveCase(f"count {label}", PrivateCount(), question, unit, Budget(1.0),
                        (Data(*first), Data(*second)), hostile_row(3, labels), l1)  # fmt: skip


CASES = (
    _gaussian("sum, add/remove", VectorSum(BALL), ADD, REST, REST + UP),
    _gaussian("sum with intercept, add/remove", VectorSum(CONSTANT), ADD, REST, REST + UP),
    _gaussian("sum, replace", VectorSum(BALL), SWAP, REST + UP, REST + DOWN),
    _gaussian("mean of a ball, add/remove", VectorMean(BALL), ADD, REST, REST + UP),
    _gaussian("mean of a box, add/remove", VectorMean(BOX), ADD, REST, REST + TOP),
    _gaussian("mean of a box, replace", VectorMean(BOX), SWAP, REST + TOP, REST + BOTTOM),
    _laplace("sum, add/remove", VectorSum(DIAMOND), ADD, REST, REST + UP),
    _laplace("sum, replace", VectorSum(DIAMOND), SWAP, REST + UP, REST + DOWN),
    _laplace("mean of a box, add/remove", VectorMean(BOX), ADD, REST, REST + TOP),
    _count("of rows, add/remove", RowCount(BALL), ADD, (REST,), (REST + REST,)),
    _count("of a label, add/remove", RowCount(LABELLED, 1), ADD,
           (REST, [1]), (REST + REST, [1, 1]), [-1, 1]),
    _count("of a label, replace", RowCount(LABELLED, 1), SWAP,
           (REST, [1]), (REST, [-1]), [-1, 1]),
    _count("among ranged labels, replace", RowCount(RANGED, 10), SWAP,
           (REST, [10]), (REST, [3]), [0, 10]),
)  # fmt: skip
