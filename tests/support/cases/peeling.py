"""Columns drawn one after another, by their products with the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import LinfBall
from discreet.mechanisms import Peeling
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import StrongestColumns
from support.cases.base import Case, Data, hostile_row


def strengths_of(X, y, question):
    """Work the scores out in floats, feature by feature, from rows within the bounds."""
    within = question.entry_range
    X, y = np.clip(np.asarray(X, float), within.low, within.high), np.asarray(y, float)
    labels = question.bounds.labels
    codes = [y]
    if isinstance(labels, LabelSet) and len(labels.values) > 2:
        codes = [(y == value).astype(float) for value in labels.values]
    if question.is_centred:
        X, codes = X - X.mean(axis=0), [code - code.mean() for code in codes]
    return np.abs(np.array([code @ X for code in codes])).max(axis=0)


@dataclass(frozen=True)
class PeelingCase(Case):
    """A draw of some columns."""

    def silent_answer(self, plan, data):
        return np.argsort(-strengths_of(data.X, data.y, self.question))[: self.question.size]


def opposed_pair(unit, is_centred):
    """One record that one column gains from, and the other loses by, as much as they can."""
    if is_centred:
        # Means near the lower ends; the second column goes against the labels.
        X, y = -np.ones((400, 3)), -np.ones(400)
        X[:25, 1], y[25:50], X[:3, 0] = 1.0, 1.0, 1.0
        y[:3] = 1.0
    else:
        X, y = np.array([[0.5, -1.0, 0.0]] * 3), np.ones(3)
    row = np.array([[1.0, 1.0, 0.0]])
    if unit.count_is_public:
        turned = np.append(y, -1.0)
        return Data(np.vstack([X, row]), turned), Data(np.vstack([X, row]), np.append(y, 1.0))
    return Data(X, y), Data(np.vstack([X, row]), np.append(y, 1.0))


def _cases():
    for unit in (AddRemoveOne(), ReplaceOne()):
        for is_centred, labels in ((True, Interval(-1, 1)), (False, LabelSet([-1, 1]))):
            bounds = Bounds(LinfBall(1.0), 3, labels=labels, max_rows=2**16)
            question = StrongestColumns(bounds, 2, is_centred=is_centred)
            row = hostile_row(3, [-1, 1])
            yield PeelingCase(f"peeling, {'' if is_centred else 'not '}centred, {unit.name}",
                              Peeling(), question, unit, Budget(1.0, 1e-6),
                              opposed_pair(unit, is_centred), row)  # fmt: skip


CASES = tuple(_cases())
