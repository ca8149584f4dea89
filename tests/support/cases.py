"""Every registered mechanism with its worst pairs: what the universal checks run over."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import Box, L1Ball, L2Ball
from discreet.losses import MarginLogistic, PseudoHuber, Squared
from discreet.mechanisms import (
    GaussianSum,
    LaplaceSum,
    Mechanism,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateCount,
    SufficientStatistics,
)
from discreet.mechanisms.minimising.linear_term import LaplaceTerm, RadialTerm
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.mechanisms.sufficient_statistics import SufficientStatisticsPlan
from discreet.mechanisms.vector_perturbation import VectorPerturbationPlan
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Laplace, ReplaceOne, Unit
from discreet.questions import Question, RowCount, VectorMean, VectorProblem, VectorSum
from discreet.questions.problem import Problem
from support.domain_cases import domain_cases
from support.opened import open_rows
from support.shifted_radial import ShiftedRadial
from support.silent import SilentNoise
from support.vector_cases import vector_cases


@dataclass(frozen=True)
class Data:
    """A data set."""

    X: Any
    y: Any = None

    def open(self, case, **options):
        return open_rows(self.X, self.y, bounds=case.question.bounds, unit=case.unit, **options)

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
    distance: Callable[[Any], float]  # the norm in which the plan declares its sensitivity
    random_row: Callable[[np.random.Generator], tuple[Any, Any]] = field(repr=False)

    def plan(self, budget=None):
        return self.mechanism.plan(self.question, budget or self.budget, self.unit)

    def silent_total(self, plan, data, **options):
        """What the noise of the plan is added to, in the units of the data."""
        opened = data.open(self, **options)
        if isinstance(plan, SufficientStatisticsPlan):
            units = plan.grid.snap(plan.moments.vector(opened))
            return plan.grid.step * units.astype(np.float64)
        if isinstance(self.question, RowCount | Problem | VectorProblem):
            return np.atleast_1d(np.float64(plan.run(opened, SilentNoise())))
        return plan.grid.step * plan.totals.units(opened, plan.grid).astype(np.float64)

    def silent_answer(self, plan, data):
        """What the plan would release if there were no noise, nor anything done against it."""
        if isinstance(plan, SufficientStatisticsPlan):
            plan = replace(plan, extra_ridge=0.0)
        return plan.run(data.open(self), SilentNoise())

    def noise_norm(self, plan):
        """The norm that the noise is made for: its density falls with it."""
        if isinstance(plan, ObjectivePerturbationPlan):
            return _l1 if isinstance(plan.term, LaplaceTerm) else _l2
        return self.distance

    def shift(self, plan, apart):
        """How far apart two totals are, in units of the noise that hides them."""
        length = self.noise_norm(plan)(apart)
        if isinstance(plan, ObjectivePerturbationPlan | VectorPerturbationPlan):
            return length * self.question.ridge / plan.scale
        return length / (plan.scale if hasattr(plan, "term") else plan.grid.scale)

    def true_profile(self, plan, apart):
        """The profile of the noise alone, moved by what separates two totals.

        Of objective perturbation too, where the loss is straight. Laplace noise is taken at its
        worst: as if the totals differed along one axis.
        """
        shift = self.shift(plan, apart)
        if isinstance(getattr(plan, "term", None), RadialTerm):
            return ShiftedRadial(shift, apart.size)
        if math.isfinite(plan.guarantee.profile.ideal.pure_epsilon):
            return Laplace(shift)
        return Gaussian(shift)

    def random_pair(self, generator):
        """Two neighbours of some twenty hostile rows."""
        rows = [self.random_row(generator) for _ in range(20)]
        other = list(rows)
        other[generator.integers(20)] = self.random_row(generator)
        if not self.unit.count_is_public:
            other = rows[:-1]
        return _data(rows), _data(other)


def _data(rows):
    labels = [label for _, label in rows]
    X = np.array([x for x, _ in rows])
    return Data(X, None if labels[0] is None else np.array(labels))


def _hostile_row(width, labels=None):
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


def _l1(vector):
    return float(np.abs(vector).sum())


def _l2(vector):
    return float(np.linalg.norm(vector))


def _cases():
    gaussian, laplace, count = GaussianSum(), LaplaceSum(), PrivateCount()
    ball, diamond = Bounds(L2Ball(1.0), 3), Bounds(L1Ball(2.0), 3)
    constant = replace(ball, intercept=0.5)
    box = Bounds(Box([0, -1, 5], [120, 1, 6]), 3)
    labelled = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    ranged = Bounds(L2Ball(1.0), 3, labels=Interval(0, 10))
    add, swap = AddRemoveOne(), ReplaceOne()
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    rest = [[0.1, 0.2, 0.3]]
    up, down = [[5.0, 0.0, 0.0]], [[-5.0, 0.0, 0.0]]
    top, bottom = [[500.0, 9.0, 99.0]], [[-500.0, -9.0, -99.0]]
    hostile = _hostile_row(3)

    def case(label, mechanism, question, unit, budget, first, second, distance, row=hostile):
        pair = (Data(*first), Data(*second))
        return Case(label, mechanism, question, unit, budget, pair, distance, row)

    yield case(
        "gaussian sum, add/remove",
        gaussian,
        VectorSum(ball),
        add,
        approximate,
        (rest,),
        (rest + up,),
        _l2,
    )
    yield case(
        "gaussian sum with intercept, add/remove",
        gaussian,
        VectorSum(constant),
        add,
        approximate,
        (rest,),
        (rest + up,),
        _l2,
    )
    yield case(
        "gaussian sum, replace",
        gaussian,
        VectorSum(ball),
        swap,
        approximate,
        (rest + up,),
        (rest + down,),
        _l2,
    )
    yield case(
        "gaussian mean of a ball, add/remove",
        gaussian,
        VectorMean(ball),
        add,
        approximate,
        (rest,),
        (rest + up,),
        _l2,
    )
    yield case(
        "gaussian mean of a box, add/remove",
        gaussian,
        VectorMean(box),
        add,
        approximate,
        (rest,),
        (rest + top,),
        _l2,
    )
    yield case(
        "gaussian mean of a box, replace",
        gaussian,
        VectorMean(box),
        swap,
        approximate,
        (rest + top,),
        (rest + bottom,),
        _l2,
    )
    yield case(
        "laplace sum, add/remove",
        laplace,
        VectorSum(diamond),
        add,
        pure,
        (rest,),
        (rest + up,),
        _l1,
    )
    yield case(
        "laplace sum, replace",
        laplace,
        VectorSum(diamond),
        swap,
        pure,
        (rest + up,),
        (rest + down,),
        _l1,
    )
    yield case(
        "laplace mean of a box, add/remove",
        laplace,
        VectorMean(box),
        add,
        pure,
        (rest,),
        (rest + top,),
        _l1,
    )
    yield case(
        "count of rows, add/remove", count, RowCount(ball), add, pure, (rest,), (rest + rest,), _l1
    )
    yield case(
        "count of a label, add/remove",
        count,
        RowCount(labelled, 1),
        add,
        pure,
        (rest, [1]),
        (rest + rest, [1, 1]),
        _l1,
        _hostile_row(3, [-1, 1]),
    )
    yield case(
        "count of a label, replace",
        count,
        RowCount(labelled, 1),
        swap,
        pure,
        (rest, [1]),
        (rest, [-1]),
        _l1,
        _hostile_row(3, [-1, 1]),
    )
    yield case(
        "count among ranged labels, replace",
        count,
        RowCount(ranged, 10),
        swap,
        pure,
        (rest, [10]),
        (rest, [3]),
        _l1,
        _hostile_row(3, [0, 10]),
    )


def _learning_cases():
    """Losses whose slope is at its bound near zero, so that the worst pairs attain it.

    The pairs of Laplace noise lie on the diagonal: there an l2 ball is longest in l1.
    """
    add, swap = AddRemoveOne(), ReplaceOne()
    labelled = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
    ranged = Bounds(L2Ball(1.0), 3, labels=Interval(-60, 60), intercept=0.5, max_rows=2**20)
    steep = Problem(MarginLogistic(margin=40.0), labelled, ridge=4000.0)
    robust = Problem(PseudoHuber(threshold=0.5), ranged, ridge=4000.0)
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    nothing, axis, diagonal = [[0.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]], [[5.0, 5.0, 5.0]]
    classes, numbers = _hostile_row(3, [-1, 1]), _hostile_row(3, [-60, 0, 60])

    def pair_of_classes(row, unit):
        if unit is swap:
            return Data(nothing + row, [1, 1]), Data(nothing + row, [1, -1])
        return Data(nothing, [1]), Data(nothing + row, [1, 1])

    for made in (OutputPerturbation, ObjectivePerturbation):
        name = made().name.replace("_", " ")
        for law, budget, row in (
            ("gaussian", approximate, axis),
            ("laplace", pure, diagonal),
            ("radial", pure, axis),
        ):
            in_l1 = law == "laplace" and made is OutputPerturbation
            distance = _l1 if in_l1 else _l2
            for unit in (add, swap):
                yield Case(f"{name}, {law}, classes, {unit.name}", made(law), steep, unit, budget,
                           pair_of_classes(row, unit), distance, classes)  # fmt: skip
            if in_l1:
                continue  # made for a row on the diagonal, which the constant column leaves
            yield Case(f"{name}, {law}, numbers, replace", made(law), robust, swap, budget,
                       (Data(row, [60.0]), Data(row, [-60.0])), distance, numbers)  # fmt: skip
        yield Case(f"{name}, any law, classes, replace", made(), steep, swap, approximate,
                   pair_of_classes(axis, swap), _l2, classes)  # fmt: skip


def _least_squares_cases():
    """Noise on X'X and X'y together: the worst records differ in both."""
    mechanism, add, swap = SufficientStatistics(), AddRemoveOne(), ReplaceOne()
    plain = Bounds(L2Ball(2.0), 3, labels=Interval(-60, 60), max_rows=2**20)
    constant = replace(plain, intercept=0.5)
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    numbers = _hostile_row(3, [-60, 0, 60])
    nothing, up = [[0.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]]
    # At 60 degrees and with opposite labels: X'X and X'y together change most.
    slanted = [[2.5, 5.0 * math.sqrt(0.75), 0.0]]

    def case(label, bounds, unit, budget, first, second, distance):
        problem = Problem(Squared(label_bound=60.0), bounds, ridge=7.0)
        pair = (Data(*first), Data(*second))
        return Case(f"sufficient statistics, {label}", mechanism, problem, unit, budget, pair,
                    distance, numbers)  # fmt: skip

    one = (nothing, [0.0])
    yield case("add_remove", plain, add, approximate, one, (nothing + up, [0.0, 60.0]), _l2)
    yield case("replace", plain, swap, approximate,
               (nothing + up, [0.0, 60.0]), (nothing + slanted, [0.0, -60.0]), _l2)  # fmt: skip
    yield case("intercept, add_remove", constant, add, approximate,
               (up, [60.0]), (up + up, [60.0, 60.0]), _l2)  # fmt: skip
    yield case("pure, add_remove", plain, add, pure,
               one, ([*nothing, [5.0, 5.0, 5.0]], [0.0, 60.0]), _l1)  # fmt: skip


CASES = (
    *_cases(),
    *_learning_cases(),
    *_least_squares_cases(),
    *domain_cases(Case, Data, _l2, _hostile_row(3, [-60, 0, 60])),
    *vector_cases(Case, Data, _l2, _hostile_row),
)
