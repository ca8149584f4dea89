"""Noise on coefficients, or on what they minimise, where slopes are at their bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from discreet import _checks
from discreet.audit.cases.base import Case
from discreet.audit.cases.pairs import FIRST, class_pair, edge_pair, only_one, steep
from discreet.audit.statistical.pair import Pair
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.losses import Logistic
from discreet.mechanisms import (
    EachAgainstTheRest,
    ObjectivePerturbation,
    OutputPerturbation,
    VectorPerturbation,
)
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import SeveralOutputs, SpatialMedian
from discreet.questions.bounds import Bounds, LabelSet
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest

LAWS = ("gaussian", "laplace", "radial")


def output_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for law in LAWS:
        spent = budget if law == "gaussian" else pure
        yield Case(f"output perturbation, {law}", OutputPerturbation(law), steep(), spent,
                   class_pair(unit))  # fmt: skip


def objective_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for law in LAWS:
        spent = budget if law == "gaussian" else pure
        yield Case(f"objective perturbation, {law}", ObjectivePerturbation(law), steep(), spent,
                   class_pair(unit))  # fmt: skip
    yield logistic(unit, budget)


@dataclass(frozen=True)
class LogisticPair:
    """Logistic loss where its slope is near one: many weak rows hold the coefficients far away.

    With coefficients near (far, 0), rows (-c, s) and (-c, -s) of class one are misclassified by
    far times c, and their gradients are nearly 2 s apart. ``reach`` is how many standard
    deviations of the coefficients this lasts.
    """

    unit: Unit
    budget: Budget
    cosine: float
    reach: float

    @property
    def problem(self) -> Problem:
        bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**20)
        return Problem(Logistic(), bounds, ridge=2.0 / self.budget.epsilon)

    def plan(self) -> ObjectivePerturbationPlan:
        plan = ObjectivePerturbation("gaussian").plan(self.problem, self.budget, self.unit)
        _checks.instance(ObjectivePerturbationPlan, plan=plan)
        return cast(ObjectivePerturbationPlan, plan)

    def common(self) -> tuple[float, int]:
        """Return the length of the weak rows, which lie on the first axis, and how many."""
        ridge = self.problem.ridge
        far = (3.0 + self.reach * self.plan().scale / ridge) / self.cosine
        return 1 / far, math.ceil(ridge * far**2 * (1 + math.e))

    def differing(self) -> list[tuple[float, float]]:
        """Return the rows that differ: there or not, or the one for the other."""
        sine = math.sqrt(1 - self.cosine**2)
        rows = [(-self.cosine, sine), (-self.cosine, -sine)]
        return rows[:1] if isinstance(self.unit, AddRemoveOne) else rows

    def pair(self) -> Pair:
        weak, count = self.common()
        rows, (one, *other) = np.tile([[weak, 0.0]], (count, 1)), self.differing()
        first = np.vstack([rows, [one]])
        second = np.vstack([rows, *([row] for row in other)])
        return Pair((first, np.ones(len(first))), (second, np.ones(len(second))), self.unit)


def logistic(unit: Unit, budget: Budget) -> Case:
    cosine = 1.0 if isinstance(unit, AddRemoveOne) else 0.5
    worst = LogisticPair(unit, budget, cosine, reach=2.0)
    effort = 3.0 + worst.common()[1] / 125
    return Case("objective perturbation, gaussian, logistic", ObjectivePerturbation("gaussian"),
                worst.problem, budget, worst.pair(), effort=effort,
                remark="many rows make releases slow; quadrature shows the rest")  # fmt: skip


def one_vs_rest(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question, pair = OneVsRest(steep(), classes=3), edge_pair(unit, labels=FIRST)
    for law, spent in (("gaussian", budget), ("radial", pure)):
        yield Case(f"one-vs-rest, {law}", EachAgainstTheRest(ObjectivePerturbation(law)),
                   question, spent, pair, effort=6.0)  # fmt: skip


def vector_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    far = Bounds(L2Ball(1e6), 1, max_rows=2**16)
    distances = SpatialMedian(far, 400.0 / pure.epsilon, Indicator(L2Ball(1.0)), smoothing=1.0)
    yield Case("vector perturbation, distances", VectorPerturbation(), distances, pure,
               edge_pair(unit, (1e6,)), effort=100.0)  # fmt: skip
    bounds = Bounds(Product([(L2Ball(1.0), 1), (L2Ball(1.0), 2)]), 3, max_rows=2**16)
    domain = Indicator(NuclearBall(0.05, (1, 2)))
    outputs = SeveralOutputs(bounds, 400.0 / pure.epsilon, domain)
    pair = only_one(unit, [1.0, 1.0, 0.0], [1.0, -1.0, 0.0])
    yield Case("vector perturbation, several outputs", VectorPerturbation(), outputs, pure, pair,
               effort=150.0, is_tight=False,
               remark="the bound on slopes holds at the edge of the domain")  # fmt: skip
