"""A mechanism, a question, a budget, and two neighbouring data sets that are hard to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.audit.scores import Score
from discreet.audit.statistical.audit_result import AuditResult
from discreet.audit.statistical.pair import Pair
from discreet.audit.statistical.statistical_audit import audit
from discreet.data import Rows
from discreet.ledger import NoLedger
from discreet.mechanisms import Mechanism, Plan
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, NoPrivacy, Unit
from discreet.questions import Question
from discreet.questions.bounds import Bounds


@dataclass(frozen=True, eq=False)
class MechanismRun:
    """Many releases of a planned mechanism, with seeded noise, from data sets.

    A data set is X, (X, y), or (X, y, ids) where persons are protected.
    """

    plan: Plan
    bounds: Bounds
    unit: Unit

    def many(self, data: Any, count: int, seed: int) -> Array:
        X, y, persons = (*data, None, None)[:3] if isinstance(data, tuple) else (data, None, None)
        rows = Rows(X, y, persons=persons, bounds=self.bounds, unit=self.unit)
        nothing = replace(self.plan.guarantee, profile=NoPrivacy())
        receipt = NoLedger().charge(nothing, purpose="audit")
        noise = RehearsalNoise(seed)
        released: Array = self.plan.run_many(rows.open(receipt, noise), noise, count)
        return np.asarray(released, dtype=np.float64).reshape(count, -1)


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism, a question, a budget, and two neighbouring data sets.

    One that ``is_attacked`` is sampled by the auditor; others are for exact checks alone.
    ``effort`` is how long a release takes, in units of a fast one; fewer are made of slow ones.
    ``is_tight`` claims that the analysis is tight on this pair, so that a good attack comes near
    it; otherwise ``remark`` says what is loose.
    """

    label: str
    mechanism: Mechanism
    question: Question
    budget: Budget
    pair: Pair
    is_tight: bool = True
    remark: str = ""
    effort: float = 1.0
    scores: tuple[Score, ...] = ()
    is_attacked: bool = True

    @property
    def subject(self) -> str:
        """What is audited, in a line."""
        return f"{self.label}, {self.pair.unit.name}, epsilon {self.budget.epsilon:g}"

    def plan(self) -> Plan:
        return self.mechanism.plan(self.question, self.budget, self.pair.unit)

    def audit(self, **options: Any) -> AuditResult:
        """Audit the mechanism; options are those of :func:`discreet.audit.audit`."""
        plan = self.plan()
        run = MechanismRun(plan, self.question.bounds, self.pair.unit)
        return audit(
            run, self.pair, plan.guarantee, scores=self.scores, subject=self.subject, **options
        )


def exact_case(
    label: str, mechanism: Mechanism, question: Question, budget: Budget, pair: Pair
) -> Case:
    """Return a case for exact checks: of several columns, or of rows far beyond their bounds."""
    return Case(label, mechanism, question, budget, pair, is_attacked=False)


Maker = Callable[[Unit, Budget, Budget], Iterator[Case]]
"""Makes cases for a unit, a budget with delta and a pure one."""
