"""Steps along noisy gradients: of a margin, of distances, of several classes at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import FAR, FIRST, class_pair, edge_pair, far_pair, one_more
from discreet.audit.statistical.pair import Pair
from discreet.geometry import L2Ball
from discreet.losses import Hinge, Logistic, MarginLogistic
from discreet.mechanisms import AcceleratedGradient, NoisyGradient
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import SpatialMedian
from discreet.questions.bounds import Bounds, LabelSet
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest

BATCHES = "of a sampled sum the loss is not Gaussian, and mu undersells it"


def noisy_gradient(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # So much ridge that slopes stay at their bound; of one step, the last point says everything.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    problem = Problem(Hinge(), bounds, ridge=4000.0 / budget.epsilon)
    for steps, rate, average in ((1, 1.0, "last"), (4, 1.0, "uniform"), (1, 0.25, "last")):
        of = "all rows" if rate == 1 else "batches"
        remark = "" if rate == 1 else BATCHES
        if steps > 1:
            remark = "an average of the path tells less than all of it"
        mechanism = NoisyGradient(steps, rate, rule="strongly_convex", average=average)
        yield Case(f"noisy gradient, {of}, {steps} step{'s' * (steps > 1)}", mechanism, problem,
                   budget, class_pair(unit), is_tight=steps == 1,
                   effort=20.0 + 20.0 * steps, remark=remark)  # fmt: skip
    yield noisy_directions(unit, budget)
    yield noisy_softmax(unit, budget)
    yield from exact_sums(unit, budget)
    if isinstance(unit, AddRemoveOne):
        return  # the number of rows is private, and so is a batch of so many
    # All others are alike, and opposite to one of the two that are exchanged.
    few = Problem(Hinge(), replace(bounds, max_rows=4), ridge=4000.0 / budget.epsilon)
    X, y = np.ones((4, 1)), np.ones(4)
    pair = Pair((X, y), (X, np.array([1.0, 1.0, 1.0, -1.0])), unit)
    mechanism = NoisyGradient(1, batch=1, rule="strongly_convex", average="last")
    yield Case("noisy gradient, 1 row of 4, 1 step", mechanism, few, budget, pair, effort=40.0,
               remark=BATCHES)  # fmt: skip


SHORT_ROWS = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
SOFTMAX = OneVsRest(Problem(Logistic(), SHORT_ROWS, ridge=4000.0), classes=3)


def exact_sums(unit: Unit, budget: Budget) -> Iterator[Case]:
    """Four steps of three columns."""
    far = Bounds(L2Ball(1e6), 3, max_rows=2**20)
    distances = SpatialMedian(far, 20_000.0, Indicator(L2Ball(2.0)))
    hinges = Problem(Hinge(), SHORT_ROWS, ridge=4000.0)
    for what, question, pair in (
        ("gradient", hinges, far_pair(unit, FAR, [-5.0, 0.0, 0.0], (1, 1, 1))),
        ("directions", distances, far_pair(unit, FAR, [-3.0, 0.0, 0.0])),
        ("softmax", SOFTMAX, softmax_pair(unit)),
    ):
        yield exact_case(f"noisy {what}", NoisyGradient(steps=4), question, budget, pair)


def softmax_pair(unit: Unit) -> Pair:
    """Rows with something in common, by which both can be taken for the first class."""
    return far_pair(unit, [5.0, 0.0, 0.2], [-5.0, 0.0, 0.2], (1, 1, 1))


def noisy_directions(unit: Unit, budget: Budget) -> Case:
    # A row far away pulls with all its might, wherever the point is.
    bounds = Bounds(L2Ball(1e6), 1, max_rows=2**16)
    problem = SpatialMedian(bounds, 4000.0 / budget.epsilon, Indicator(L2Ball(1.0)))
    mechanism = NoisyGradient(1, 1.0, rule="strongly_convex", average="last")
    return Case("noisy gradient, directions", mechanism, problem, budget, edge_pair(unit, (1e6,)),
                effort=40.0)  # fmt: skip


def noisy_softmax(unit: Unit, budget: Budget) -> Case:
    # A margin out of reach: at the origin a row is sure not to be of its class.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0 / budget.epsilon)
    mechanism = NoisyGradient(1, 1.0, rule="strongly_convex", average="last")
    return Case("noisy gradient, softmax", mechanism, OneVsRest(problem, classes=3), budget,
                edge_pair(unit, labels=FIRST), is_tight=False, effort=60.0,
                remark=EVEN)  # fmt: skip


EVEN = "at the origin the other classes are as likely as each other; slopes are longest if one is"


def accelerated_gradient(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # As softmax above; the norm is in units of a record, and one of few records matters to it.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0 / budget.epsilon)
    yield Case("accelerated gradient", AcceleratedGradient(1), OneVsRest(problem, classes=3),
               budget, edge_pair(unit, labels=FIRST), is_tight=False, effort=60.0,
               remark=EVEN)  # fmt: skip
    # Hardly any ridge, so that the norm decides how far the step goes.
    wide = replace(problem, bounds=replace(bounds, n_features=2), ridge=0.01)
    yield Case("accelerated gradient, steps", AcceleratedGradient(1), OneVsRest(wide, classes=3),
               budget, leaning_pair(unit), is_tight=False, effort=80.0,
               remark="the norm has a small part of the budget")  # fmt: skip
    yield exact_case("accelerated softmax", AcceleratedGradient(steps=4), SOFTMAX, budget,
                     softmax_pair(unit))  # fmt: skip


def leaning_pair(unit: Unit) -> Pair:
    """Rows along two axes, many and few, and one between them: there or not, or along the first."""
    many, few = np.tile([[1.0, 0.0]], (400, 1)), np.tile([[0.0, 1.0]], (5, 1))
    between = [math.sqrt(0.5), math.sqrt(0.5)]
    return one_more(unit, np.vstack([many, few]), between, many[0], FIRST)
