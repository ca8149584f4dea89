"""One release a class, within one budget; proof in ``one_vs_rest.md``.

One-vs-rest: as many two-class problems as classes, composed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.losses import Loss
from discreet.mechanisms.base import TABLE_UNITS, Learner, Plan, Verdict, covers
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit
from discreet.questions import Question
from discreet.questions.several_classes import OneVsRest
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class OneVsRestPlan(Plan):
    """One plan, run once for each class; its guarantee is that of all runs together."""

    one: Plan
    classes: int
    guarantee: Guarantee
    reason: str

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.one.tolerances

    @property
    def objective_noise(self) -> float:
        return self.one.objective_noise

    def settle(self, loss: Loss, ridge: float) -> OneVsRestPlan:
        return replace(self, one=self.one.settle(loss, ridge))

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        return np.array([self.one.run(each, noise) for each in self._against_rest(rows)])

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        runs = [self.one.run_many(each, noise, draws) for each in self._against_rest(rows)]
        return np.stack(runs, axis=1)

    def _against_rest(self, rows: OpenRows) -> Iterator[OpenRows]:
        for number in range(self.classes):
            yield rows.relabel(partial(_one_class, number))


def _one_class(number: int, labels: Vector) -> Vector:
    return np.where(labels == number, 1.0, -1.0)


@dataclass(frozen=True)
class EachAgainstTheRest(Learner):
    """One-vs-rest: coefficients of every class against all others, by a mechanism for two classes.

    Parameters
    ----------
    one
        The mechanism for two classes.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions.problem import Problem
    >>> bounds = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> question = OneVsRest(Problem(Logistic(), bounds, ridge=9.0), classes=3)
    >>> plan = EachAgainstTheRest().plan(question, Budget(3.0), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(0.0), 6)
    3.0
    """

    name: ClassVar[str] = "one_vs_rest"
    units = TABLE_UNITS

    one: Learner = field(default_factory=ObjectivePerturbation)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, OneVsRest):
            return Verdict(False, "one_vs_rest is for three classes or more.")
        return covers(self.one, question.problem, unit)

    def _plan_beside(
        self, question: OneVsRest, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        one = self.one.plan_beside(
            question.problem, budget, unit, beside=beside, times=times * question.classes
        )
        return OneVsRestPlan(one, question.classes, one.guarantee, one.reason)
