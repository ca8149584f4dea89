"""Marginals of all columns at once, and additive models on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.audit.cases.base import Case
from discreet.audit.statistical.pair import Pair
from discreet.mechanisms import AdditiveModel, MarginalSplits
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import AdditiveProblem, Interval, LabelSet, Marginals


def marginal_splits(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = Marginals((None, 2), LabelSet([-1, 1]), depth=2)
    ends, labels = np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([-1.0, 1.0])
    first, last = (ends[:1], labels[:1]), (ends[1:], labels[1:])
    pair = Pair(first, (ends, labels) if isinstance(unit, AddRemoveOne) else last, unit)
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"marginal splits, {law}", MarginalSplits(law), question, spent, pair,
                   is_tight=law == "gaussian",
                   remark="" if law == "gaussian" else "a pure epsilon is that of all numbers "
                   "being far out at once")  # fmt: skip


def additive_model(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    first, last = (np.array([[at, level]]) for at, level in ((0.0, 0.0), (3.0, 1.0)))
    for name, labels in (("", LabelSet([-1, 1])), (" of a number", Interval(-1, 1))):
        marginals = Marginals((None, 2), labels, depth=2, max_rows=2**20)
        margin = 40.0 if isinstance(labels, LabelSet) else None
        question = AdditiveProblem(marginals, ridge=4000.0, margin=margin)
        low, high = (first, np.array([-1.0])), (last, np.array([1.0]))
        both = np.concatenate([first, last]), np.array([-1.0, 1.0])
        pair = Pair(low, both if isinstance(unit, AddRemoveOne) else high, unit)
        spent = [("", budget)] if name else [("", budget), (", pure", pure)]
        for law, each in spent:
            yield Case(f"additive model{name}{law}", AdditiveModel(), question, each, pair,
                       is_tight=False, effort=10.0,
                       remark="few rows: most of what is released is noise")  # fmt: skip
