"""How near the exact laws of draws come to the claim, on one axis and on two.

Lattices are coarse, so that every chance can be computed; the rates are those of the plans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.mechanisms import EPSILONS, UNITS
from audits.mutants.runs import open_data
from discreet._types import Integers, Vector
from discreet.audit.exact import largest_loss
from discreet.audit.exact.laws import FiniteLaw, exponential_selection
from discreet.data import Bounds, LabelSet, OpenRows
from discreet.geometry import Box, ConvexSet, L2Ball
from discreet.losses import MarginLogistic, Pinball
from discreet.mechanisms import ExponentialSampling
from discreet.mechanisms.exponential_sampling import Runs
from discreet.mechanisms.sampling.energy import Energy
from discreet.mechanisms.sampling.lattice import Region, region_of
from discreet.penalties import Indicator
from discreet.privacy import Budget, Unit, unit_named
from discreet.questions import BestThreshold, ColumnQuantiles, Question
from discreet.questions.choices import ColumnLocations
from discreet.questions.problem import Problem

CROWD = 40
"""Records over the smallest epsilon that hold the answer where the one that changes wants it."""


ROUNDING = 1e-9
"""Of the logarithms computed here; some pairs reach epsilon to the last digit."""


@dataclass(frozen=True)
class Drawn:
    """The largest log ratio of chances on a pair, against the epsilon claimed."""

    name: str
    unit: str
    epsilon: float
    reached: float

    @property
    def violated(self) -> bool:
        return self.reached > self.epsilon * (1 + ROUNDING)

    @property
    def share(self) -> float:
        return self.reached / self.epsilon


@dataclass(frozen=True)
class Draw:
    """A question, two neighbours, and the law of the answer on each."""

    name: str
    question: Question
    pair: Callable[[Unit, int], tuple[Any, Any]]
    law: Callable[[Any, OpenRows, float], FiniteLaw]

    def audit(self, unit: str, epsilon: float, factor: float = 1.0) -> Drawn:
        """Compute the largest log ratio, at a multiple of the rate planned."""
        kind = unit_named(unit)
        plan = ExponentialSampling().plan(self.question, Budget(epsilon), kind)
        crowd = 2 * int(CROWD / epsilon)
        rows = [open_data(data, self.question.bounds, kind) for data in self.pair(kind, crowd)]
        first, second = (self.law(plan, each, factor) for each in rows)
        reached = max(largest_loss(first, second), largest_loss(second, first))
        return Drawn(self.name, unit, epsilon, reached)


def _median_law(plan: Any, rows: OpenRows, factor: float) -> FiniteLaw:
    places = plan.places(0, rows.gather()[0][:, 0])
    runs = Runs.of(places, plan.question.steps, plan.level)
    rate = factor * float(plan.rate) / plan.level.denominator
    return exponential_selection(-np.repeat(runs.scores, runs.counts).astype(float), rate)


def _median_pair(unit: Unit, crowd: int) -> tuple[Any, Any]:
    if unit.rows_are_public:
        return np.array([[0.0], [0.99], [0.99]]), np.array([[1.0], [0.99], [0.99]])
    return np.array([[1.0]]), np.array([[1.0], [0.99]])


def _threshold_law(plan: Any, rows: OpenRows, factor: float) -> FiniteLaw:
    _, counts, scores = plan.groups(rows)
    return exponential_selection(-np.repeat(scores, counts).astype(float), factor * plan.rate)


def _classes_pair(unit: Unit, crowd: int) -> tuple[Any, Any]:
    """A record of the class of the crowd: there or not, or of the other class."""
    X, y = np.zeros((crowd + 1, 2)), np.ones(crowd + 1)
    X[:, 0] = 1.0
    if unit.rows_are_public:
        return (X, y), (X, np.append(y[1:], -1.0))
    return (X[1:], y[1:]), (X, y)


def _narrow(unit: Unit, crowd: int) -> tuple[Any, Any]:
    """The same, of one column."""
    first, second = ((X[:, :1], y) for X, y in _classes_pair(unit, crowd))
    return first, second


def _points_pair(unit: Unit, crowd: int) -> tuple[Any, Any]:
    X = np.ones((crowd + 1, 1))
    return (X, np.append(X[1:], [[-1.0]], axis=0)) if unit.rows_are_public else (X[1:], X)


def coarse(domain: ConvexSet, width: int, step_bits: int) -> tuple[Region, Integers]:
    """Return a lattice with few points, and the places of all of them."""
    region = region_of(domain, width, step_bits=step_bits)
    places = np.indices((region.steps + 1,) * width).reshape(width, -1).T
    return region, places[region.holds(places)]


def _energies(plan: Any, rows: OpenRows, step_bits: int) -> Vector:
    domain, width = plan.problem.penalty.region, plan.problem.bounds.width
    region, places = coarse(domain, width, step_bits)
    return Energy(plan.problem, plan.rate, rows).values(region.points(places))


def _model_law(plan: Any, rows: OpenRows, factor: float) -> FiniteLaw:
    step_bits = 10 if plan.problem.bounds.width == 1 else 5
    return exponential_selection(-factor * _energies(plan, rows, step_bits), 1.0)


def _location_law(plan: Any, rows: OpenRows, factor: float) -> FiniteLaw:
    return _model_law(plan.columns[0], plan.relabel(rows, 0), factor)


def _problem(width: int) -> Problem:
    """A loss whose slope is at its bound in all of the domain."""
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=2**16)
    return Problem(MarginLogistic(40.0), bounds, 0.01, penalty=Indicator(L2Ball(1.0)))


def _column(**options: Any) -> Bounds:
    return Bounds(Box([-1.0], [1.0]), 1, max_rows=2**16, **options)


DRAWS = (
    Draw("median", ColumnQuantiles(replace(_column(), features=Box([0.0], [1.0])), steps=2000),
         _median_pair, _median_law),
    Draw("threshold", BestThreshold(_column(labels=LabelSet([-1, 1])), steps=200), _narrow,
         _threshold_law),
    Draw("absolute loss of a point", ColumnLocations(_column(), Pinball(0.5)), _points_pair,
         _location_law),
    Draw("one coefficient", _problem(1), _narrow, _model_law),
    Draw("two coefficients", _problem(2), _classes_pair, _model_law),
)  # fmt: skip


def all_draws() -> list[Drawn]:
    """Return every question, unit and epsilon of the table."""
    return [draw.audit(unit, eps) for draw in DRAWS for unit in UNITS for eps in EPSILONS]
