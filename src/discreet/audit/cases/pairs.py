"""Neighbours hard to tell apart, and problems whose slopes are at their bound, in any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.audit.statistical.pair import Pair
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic, Squared
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Unit
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.problem import Problem

RARE = "log ratios near epsilon belong to rare draws; the exact law shows them"

AXIS = (1.0,)

FAR, FAR_DIAGONAL = (5.0, 0.0, 0.0), (5.0, 5.0, 5.0)
"""Rows that bounds cut off: along an axis, and where an l2 ball is longest in l1."""

FIRST = (0.0, 0.0, 0.0)
"""Labels of rows that are all of the first of several classes."""


def one_more(unit: Unit, rest: Any, row: Any, other: Any, labels: Sequence[Any] = ()) -> Pair:
    """Rows and one more: there or not, or in place of another.

    ``labels`` are those of the rows in common, all alike or each its own, of the one, and of the
    other.
    """
    X = np.array(rest, dtype=np.float64)
    y = np.broadcast_to(np.asarray(labels[0], dtype=np.float64), len(X)) if labels else None

    def table(place: int, more: Any) -> Any:
        rows = np.vstack([X, [more]])
        return rows if y is None else (rows, np.append(y, labels[place]))

    kept = X if y is None else (X, np.array(y))
    first = kept if isinstance(unit, AddRemoveOne) else table(2, other)
    return Pair(first, table(1, row), unit)


def only_one(unit: Unit, row: Any, other: Any, labels: Sequence[float] = ()) -> Pair:
    """One row beside an empty one: there or not; or alone, the one or the other."""
    if isinstance(unit, AddRemoveOne):
        return one_more(unit, [[0.0] * len(row)], row, other, labels)
    first, second = np.array([row], dtype=np.float64), np.array([other], dtype=np.float64)
    if not labels:
        return Pair(first, second, unit)
    return Pair((first, np.full(1, labels[1])), (second, np.full(1, labels[2])), unit)


def far_pair(unit: Unit, row: Sequence[float], other: Any = None, labels: Any = ()) -> Pair:
    """A row, which may be far beyond its bounds, beside an empty one: there or not, or another."""
    return one_more(unit, [[0.0] * len(row)], row, row if other is None else other, labels)


def edge_pair(unit: Unit, row: Sequence[float] = AXIS, labels: Sequence[float] = ()) -> Pair:
    """A row as far out as it may be: there or not, or on one side or the other."""
    return only_one(unit, row, [-entry for entry in row], labels)


def class_pair(unit: Unit, row: Sequence[float] = AXIS) -> Pair:
    """A row of one class: there or not, or of one class or the other."""
    return only_one(unit, row, row, (1.0, 1.0, -1.0))


def number_pair(unit: Unit, row: Sequence[float] = AXIS, label: float = 1.0) -> Pair:
    """A row with the largest label: there or not, or with the opposite one."""
    return only_one(unit, row, row, (0.0, label, -label))


def pulled_pair(unit: Unit) -> Pair:
    """Records that pull one way, more for the first column, and one that pulls the other way."""
    rest = -np.ones((5, 3))
    rest[:3, 1:] = 0.5
    return one_more(unit, rest, [1.0] * 3, [1.0] * 3, (1.0, 1.0, -1.0))


def steep(width: int = 1, ridge: float = 4000.0) -> Problem:
    """A loss whose slope is at its bound wherever the coefficients can be."""
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=2**20)
    return Problem(MarginLogistic(margin=40.0), bounds, ridge=ridge)


def straight(
    domain: float = 1.0, ridge: float = 0.01, width: int = 1, max_rows: int = 2**16
) -> Problem:
    """A loss whose slope is at its bound in all of the domain."""
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=max_rows)
    return Problem(MarginLogistic(40.0), bounds, ridge=ridge, penalty=Indicator(L2Ball(domain)))


def small_ball() -> Problem:
    """Least squares in a ball so small beside labels that slopes are near their bound in it."""
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-60, 60), max_rows=2**10)
    return Problem(Squared(60.0), bounds, ridge=4000.0, penalty=Indicator(L2Ball(0.03)))


def squares(domain: float | None = None, ridge: float = 20.0) -> Problem:
    """Least squares of labels up to one, in a ball if there is a domain."""
    bounds = Bounds(L2Ball(1.0), 1, labels=Interval(-1, 1), max_rows=2**16)
    penalty = None if domain is None else Indicator(L2Ball(domain))
    return Problem(Squared(1.0), bounds, ridge=ridge, penalty=penalty)
