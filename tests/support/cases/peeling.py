"""Columns drawn one after another, by their products with the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import LabelSet
from support.cases.base import Case


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
        counted = data.counted(self)
        return np.argsort(-strengths_of(counted.X, counted.y, self.question))[: self.question.size]


KINDS = {
    "peeling": PeelingCase,
}
