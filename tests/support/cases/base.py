"""What every case is: a mechanism, a question, a unit, and neighbours hard to tell apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from discreet.audit import Pair
from discreet.audit.cases import Case as Stated
from discreet.audit.cases.persons import FEWER
from discreet.data import LabelSet, Rows
from discreet.mechanisms import Mechanism
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, Unit, ZeroOutOne
from discreet.questions import OneVsRest, Question, Share
from support.opened import open_rows
from support.silent import SilentNoise


@dataclass(frozen=True)
class Data:
    """A data set."""

    X: Any
    y: Any = None
    persons: Any = None

    def open(self, case, **options):
        declared = {"bounds": case.question.bounds, "unit": case.unit, "persons": self.persons}
        return open_rows(self.X, self.y, **declared, noise=RehearsalNoise(8), **options)

    def counted(self, case):
        """Return rows as they count: one of each person where all rows share a weight of one.

        Cases have persons whose rows are all alike.
        """
        if self.persons is None or case.question.bounds.person != Share():
            return self
        _, first = np.unique(self.persons, return_index=True)
        kept = np.sort(first)
        y = None if self.y is None else np.asarray(self.y)[kept]
        return Data(np.asarray(self.X)[kept], y, np.asarray(self.persons)[kept])

    def as_sparse(self):
        return replace(self, X=sparse.csr_array(np.asarray(self.X)))


@dataclass(frozen=True)
class Case:
    """A mechanism, a question, a unit, and the neighbours that it can tell apart best."""

    label: str
    mechanism: Mechanism
    question: Question
    unit: Unit
    budget: Budget
    worst_pair: tuple[Data, Data]
    says_less: bool = False

    @classmethod
    def of(cls, stated: Stated):
        """Make one of what the auditor's list states."""
        pair, label = data_of(stated.pair), f"{stated.label}, {stated.pair.unit.name}"
        whole = (label, stated.mechanism, stated.question, stated.pair.unit, stated.budget, pair)
        return cls(*whole, says_less=stated.remark == FEWER)

    @property
    def attained(self):
        """What the worst pair attains of the declared sensitivity, at least.

        Where persons are replaced nothing is said to cancel that would cancel of two records; one
        with fewer records says less.
        """
        if self.says_less:
            return 0.3
        return 0.5 if self.unit.protects_persons and self.unit.is_replace else 0.999

    def plan(self, budget=None):
        """Return a plan: the usual one is made once for all tests, others anew."""
        if budget is None:
            return self._usual_plan
        return self.mechanism.plan(self.question, budget, self.unit)

    @cached_property
    def _usual_plan(self):
        return self.mechanism.plan(self.question, self.budget, self.unit)

    def seal(self, data):
        """Return the rows of a data set, not yet opened."""
        bounds, persons = self.question.bounds, data.persons
        return Rows(data.X, data.y, persons=persons, bounds=bounds, unit=self.unit)

    def silent_answer(self, plan, data):
        """What the plan would release if there were no noise, nor anything done against it."""
        return plan.run(data.open(self), SilentNoise())

    def distance(self, apart):
        """The norm in which a plan declares how far apart two answers are."""
        return l1(apart) if self.budget.delta == 0 else l2(apart)

    def solver_error(self, plan, data):
        """How far apart releases of the same rows by different engines may be."""
        return 0.0

    def random_row(self, generator):
        """A hostile row and its label, which may be any of those declared."""
        bounds = self.question.bounds
        return hostile_row(bounds.n_features, labels_of(self.question))(generator)

    def random_pair(self, generator):
        """Two neighbours of some twenty hostile rows."""
        rows = [self.random_row(generator) for _ in range(20)]
        if self.unit.protects_persons:
            return self._random_persons(generator, rows)
        other, place = list(rows), generator.integers(20)
        other[place] = self.random_row(generator)
        if self.unit == ZeroOutOne():
            other[place] = np.zeros(len(rows[0][0])), rows[place][1]
        elif not self.unit.rows_are_public:
            other = rows[:-1]
        return _data(rows), _data(other)

    def _random_persons(self, generator, rows):
        """Two tables of a few persons; one of them has other records in the other, or none."""
        ids = np.concatenate([[0, 1], generator.integers(7, size=len(rows) - 2)])
        kept = [row for row, who in zip(rows, ids, strict=True) if who]
        more = [self.random_row(generator) for _ in range(generator.integers(1, 30))]
        more = more if self.unit.is_replace else []
        if generator.integers(2):  # all alike, so that nothing of them cancels
            more = more[:1] * len(more)
            rows = [rows[0] if not who else row for row, who in zip(rows, ids, strict=True)]
        others = np.concatenate([ids[ids > 0], np.zeros(len(more), dtype=ids.dtype)])
        return replace(_data(rows), persons=ids), replace(_data(kept + more), persons=others)


def data_of(pair: Pair):
    """Return the two data sets of a pair."""
    return tuple(
        Data(*one) if isinstance(one, tuple) else Data(one) for one in (pair.first, pair.second)
    )


def labels_of(question):
    """Return some labels that a question declares; None if it has none."""
    labels = question.bounds.labels
    if labels is None:
        return None
    if isinstance(question, OneVsRest):
        return list(range(question.classes))
    if isinstance(labels, LabelSet):
        return list(labels.values)
    return [labels.low, 0.25 * labels.low + 0.75 * labels.high, labels.high]


def _data(rows):
    labels = [label for _, label in rows]
    X = np.array([x for x, _ in rows])
    return Data(X, None if labels[0] is None else np.array(labels))


def hostile_row(width, labels=None):
    """Rows inside, far outside, on the edge, empty, and not numbers at all."""

    def draw(generator):
        kind = generator.integers(6)
        x = generator.standard_normal(width) * 10.0 ** generator.integers(-3, 4)
        if kind == 0:
            x[generator.integers(width)] = generator.choice([np.nan, np.inf, -np.inf, 1e308])
        elif kind == 1:
            x = np.zeros(width)
        elif kind == 2:
            x = x / np.linalg.norm(x)
        label = None if labels is None else generator.choice([*labels, 99.0, np.nan])
        return x, label

    return draw


def l1(vector):
    return float(np.abs(vector).sum())


def l2(vector):
    return float(np.linalg.norm(vector))
