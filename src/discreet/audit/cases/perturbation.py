"""Noise on coefficients, or on what they minimise, where slopes are at their bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from discreet import _checks
from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import (
    FAR,
    FAR_DIAGONAL,
    FIRST,
    class_pair,
    edge_pair,
    far_pair,
    only_one,
    small_ball,
    steep,
)
from discreet.audit.statistical.pair import Pair
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.losses import Logistic, PseudoHuber
from discreet.mechanisms import (
    EachAgainstTheRest,
    Mechanism,
    ObjectivePerturbation,
    OutputPerturbation,
    VectorPerturbation,
)
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import SeveralOutputs, SpatialMedian
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest

LAWS = ("gaussian", "laplace", "radial")


def output_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for law in LAWS:
        spent = budget if law == "gaussian" else pure
        yield Case(f"output perturbation, {law}", OutputPerturbation(law), steep(), spent,
                   class_pair(unit))  # fmt: skip
    yield from exact_minimisers(OutputPerturbation, unit, budget, pure)


def objective_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for law in LAWS:
        spent = budget if law == "gaussian" else pure
        yield Case(f"objective perturbation, {law}", ObjectivePerturbation(law), steep(), spent,
                   class_pair(unit))  # fmt: skip
    yield logistic(unit, budget)
    yield from exact_minimisers(ObjectivePerturbation, unit, budget, pure)


def exact_minimisers(
    made: Callable[..., Mechanism], unit: Unit, budget: Budget, pure: Budget
) -> Iterator[Case]:
    """Three columns; the worst pair of Laplace noise lies on the diagonal.

    Output noise in l1 is made for a row there, which a constant column leaves.
    """
    name, is_swap = made().name.replace("_", " "), not isinstance(unit, AddRemoveOne)
    ranged = Bounds(L2Ball(1.0), 3, labels=Interval(-60, 60), intercept=0.5, max_rows=2**20)
    robust = Problem(PseudoHuber(threshold=0.5), ranged, ridge=4000.0)
    for law in LAWS:
        spent = budget if law == "gaussian" else pure
        row = FAR_DIAGONAL if law == "laplace" else FAR
        yield exact_case(f"{name}, {law}, classes", made(law), steep(3), spent,
                         far_pair(unit, row, labels=(1.0, 1.0, -1.0)))  # fmt: skip
        if is_swap and (made is not OutputPerturbation or law != "laplace"):
            yield exact_case(f"{name}, {law}, numbers", made(law), robust, spent,
                             only_one(unit, row, row, (0.0, 60.0, -60.0)))  # fmt: skip
    yield exact_case(f"{name}, any law, classes", made(), steep(3), budget,
                     far_pair(unit, FAR, labels=(1.0, 1.0, -1.0)))  # fmt: skip
    yield exact_case(f"{name} in a ball", made("gaussian"), small_ball(), budget,
                     far_pair(unit, FAR, labels=(0.0, 60.0, -60.0)))  # fmt: skip


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
    several = OneVsRest(steep(3), classes=3)
    # Turned about, a record pulls the other way in all three problems; relabelled, in two.
    yield exact_case("one vs rest, gaussian", EachAgainstTheRest(OutputPerturbation("gaussian")),
                     several, budget, far_pair(unit, FAR, [-5.0, 0.0, 0.0], (0, 1, 1))
                     )  # fmt: skip
    if isinstance(unit, AddRemoveOne):
        yield exact_case("one vs rest, pure", EachAgainstTheRest(ObjectivePerturbation("laplace")),
                         several, pure, far_pair(unit, FAR_DIAGONAL, labels=(0, 1, 1))
                         )  # fmt: skip


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
    # Rows so far away that gradients have full length wherever coefficients can be, and targets
    # so large beside the domain that the largest residual is met at its centre.
    away = SpatialMedian(Bounds(L2Ball(1e6), 3, max_rows=2**16), 2e4, Indicator(L2Ball(1.0)),
                         smoothing=1.0)  # fmt: skip
    yield exact_case("vector perturbation, distances", VectorPerturbation(), away, pure,
                     far_pair(unit, [1e6, 0.0, 0.0], [-1e6, 0.0, 0.0]))  # fmt: skip
    wide = Bounds(Product([(L2Ball(1.0), 3), (L2Ball(60.0), 2)]), 5, max_rows=2**10)
    asked = SeveralOutputs(wide, 1e5, Indicator(NuclearBall(0.03, (3, 2))))
    yield exact_case("vector perturbation, several outputs", VectorPerturbation(), asked, pure,
                     far_pair(unit, [5.0, 0.0, 0.0, 300.0, 0.0], [5.0, 0.0, 0.0, -300.0, 0.0])
                     )  # fmt: skip
