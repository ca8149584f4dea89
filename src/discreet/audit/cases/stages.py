"""Mechanisms of several releases, and those that solve for coefficients from noisy moments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import (
    FAR,
    FAR_DIAGONAL,
    class_pair,
    far_pair,
    number_pair,
    one_more,
    pulled_pair,
    small_ball,
    squares,
)
from discreet.audit.statistical.pair import Pair
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall
from discreet.losses import Huber, MarginLogistic, Squared
from discreet.mechanisms import (
    AdaptiveRidge,
    ObjectivePerturbation,
    PrivateRanges,
    PrivateStandardisation,
    SandwichMoments,
    SelectThenFit,
    SufficientStatistics,
)
from discreet.mechanisms.sampling.range_draws import STEPS
from discreet.mechanisms.signal_rules import SignalRules, WideRules
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import StrongestColumns
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.problem import Problem


def steep_in_a_box(corner: list[float], intercept: float = 1.0, max_rows: int = 2**16) -> Problem:
    """A loss whose slope is at its bound, of rows in a box."""
    bounds = Bounds(Box([-entry for entry in corner], corner), len(corner),
                    labels=LabelSet([-1, 1]), intercept=intercept, max_rows=max_rows)  # fmt: skip
    return Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)


def private_standardisation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    problem, pair = steep_in_a_box([1.0]), class_pair(unit)
    for spent in (budget, pure):
        law = "gaussian" if spent.delta > 0 else "pure"
        yield Case(f"private standardisation, {law}", PrivateStandardisation(), problem, spent,
                   pair, is_tight=False, effort=300.0,
                   remark="only coefficients are released, and the frame is seen through them"
                   )  # fmt: skip
        if spent.delta > 0:
            settled = PrivateStandardisation(
                ObjectivePerturbation(settles_later=True),
                share=0.06,
                rules=SignalRules(settles_margin=False),
            )
            yield Case("private standardisation that settles ridge and length", settled, problem,
                       spent, pair, is_tight=False, effort=300.0,
                       remark="as above; and what is settled is seen itself")  # fmt: skip
            wide = replace(settled, rules=WideRules(settles_margin=False), scales=False)
            yield Case("private standardisation that counts rows alone", wide, problem, spent,
                       pair, is_tight=False, effort=300.0, remark="as above")  # fmt: skip
        yield Case(f"private standardisation with counts of scores, {law}",
                   PrivateStandardisation(counts_scores=True), problem, spent, pair,
                   is_tight=False, effort=300.0,
                   remark="as above; and counts have the smallest part of the budget"
                   )  # fmt: skip
    yield from exact_frames(unit, budget, pure)


def exact_frames(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Rows at opposite corners; of a diamond, on its axes.

    With every entry below half a row, opposite corners are as far apart as two records can be. A
    margin so large that losses are straight is kept; ridge and length are settled.
    """
    cube = steep_in_a_box([1.0] * 5, 0.1, 2**20)
    corners = far_pair(unit, [9.0] * 5, [-9.0] * 5, (1.0, 1.0, 1.0))
    shape, narrow, pair = "cube", cube, corners
    if not isinstance(unit, AddRemoveOne):
        shape = "diamond"
        narrow = replace(cube, bounds=replace(cube.bounds, features=L1Ball(2.0)))
        axes = [9.0, 0.0, 0.0, 0.0, 0.0], [0.0, -9.0, 0.0, 0.0, 0.0]
        pair = far_pair(unit, *axes, (1.0, 1.0, 1.0))
    plain, laplace = (
        PrivateStandardisation(ObjectivePerturbation(law)) for law in (None, "laplace")
    )
    settled = PrivateStandardisation(
        ObjectivePerturbation(settles_later=True), rules=SignalRules(settles_margin=False)
    )
    for label, mechanism in (
        ("cube", plain),
        ("counted", replace(plain, counts_scores=True)),
        ("settled", settled),
        ("rows counted", replace(settled, rules=WideRules(settles_margin=False), scales=False)),
    ):
        yield exact_case(f"private standardisation, {label}", mechanism, cube, budget, corners)
    for label, mechanism in (
        (f"pure, {shape}", laplace),
        ("counted, pure", replace(laplace, counts_scores=True)),
    ):
        yield exact_case(f"private standardisation, {label}", mechanism, narrow, pure, pair)


def private_ranges(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """A crowd near the upper bound; one record more at the lower, or one brought there.

    The lowest quantile then moves by as many ranks as it can.
    """
    problem = steep_in_a_box([1.0])
    pair = one_more(unit, [[0.499]] * 60, [-0.5], [0.5], (1.0, 1.0, 1.0))
    for spent in (budget, pure):
        law = "gaussian" if spent.delta > 0 else "laplace"
        learner = ObjectivePerturbation(law)
        yield Case(f"private ranges, {law}", PrivateRanges(learner, columns=(0,)), problem, spent,
                   pair, is_tight=False, effort=300.0,
                   remark="ranges have the smallest part of the budget")  # fmt: skip
        yield exact_case(f"private ranges, {law}", PrivateRanges(learner, columns=(0,)),
                         steep_in_a_box([1.0] * 2, max_rows=2**20), spent, grid_pair(unit)
                         )  # fmt: skip


def grid_pair(unit: Unit) -> Pair:
    """More than fifty rows on a point of the grid, so that a record moves the quantile by a rank.

    One more is on the lowest point, or one comes there from the highest.
    """
    crowd = STEPS - (1 if isinstance(unit, AddRemoveOne) else 2)
    near, low, high = ([place / STEPS - 0.5, 1.0] for place in (crowd, 0, STEPS))
    return one_more(unit, [near] * 60, low, high, (1.0, 1.0, 1.0))


def sandwich_moments(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # At the edge of its straight part a loss is steep and bent at once.
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1), max_rows=2**16)
    problem = Problem(Huber(0.5), bounds, ridge=4000.0 / budget.epsilon)
    pair = number_pair(unit, [1.0, 0.0], 0.5 * (1 - 1e-6))
    yield Case("sandwich moments", SandwichMoments(), problem, budget, pair, is_tight=False,
               effort=150.0, remark=NOT_AT_ONCE)  # fmt: skip
    yield Case("sandwich moments, least squares", SandwichMoments(SufficientStatistics()),
               squares(), budget, number_pair(unit), is_tight=False, effort=150.0,
               remark=NOT_AT_ONCE)  # fmt: skip
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-1, 1), max_rows=2**16)
    steep, edge = Problem(Huber(0.5), bounds, ridge=4e5), 0.5 * (1 - 1e-6)
    # Orthogonal rows, one of them at the bound and one short of it.
    row, other = [1.0, 0.0, 0.0], [0.0, 1 - 1e-7, 0.0]
    even, outer = SandwichMoments(curvature_share=0.4, outer_share=0.4), 0.8
    if isinstance(unit, AddRemoveOne):
        even, outer = SandwichMoments(), 0.15
    yield exact_case("sandwich moments", even, steep, budget,
                     far_pair(unit, row, other, (0.0, edge, edge)))  # fmt: skip
    yield exact_case("sandwich moments, least squares",
                     SandwichMoments(SufficientStatistics(), outer_share=outer),
                     Problem(Squared(1.0), bounds, ridge=1.0), budget,
                     far_pair(unit, row, other, (0.0, 1.0, 1.0)))  # fmt: skip


NOT_AT_ONCE = "many numbers are released, each shows a little, and not all are worst at once"


def adaptive_ridge(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("adaptive ridge", AdaptiveRidge(), squares(domain=1.0, ridge=40.0 / budget.epsilon),
               budget, number_pair(unit), is_tight=False, effort=260.0,
               remark="the bound on slopes holds at the edge of the domain, and a tenth of the "
               "budget buys an eigenvalue that shows little")  # fmt: skip
    yield exact_case("adaptive ridge in a ball", AdaptiveRidge(), small_ball(), budget,
                     far_pair(unit, FAR, labels=(0.0, 60.0, -60.0)))  # fmt: skip


def sufficient_statistics(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for spent in (budget, pure):
        law = "gaussian" if spent.delta > 0 else "laplace"
        yield Case(f"sufficient statistics, {law}", SufficientStatistics(), squares(), spent,
                   number_pair(unit), is_tight=False, effort=60.0,
                   remark="moments are not released themselves, and this pair moves only some"
                   )  # fmt: skip
    bounds = Bounds(L2Ball(2.0), 3, labels=Interval(-60, 60), max_rows=2**20)
    plain = Problem(Squared(label_bound=60.0), bounds, ridge=7.0)
    # At 60 degrees and with opposite labels: X'X and X'y together change most.
    slanted = [2.5, 5.0 * math.sqrt(0.75), 0.0]
    yield exact_case("sufficient statistics", SufficientStatistics(), plain, budget,
                     far_pair(unit, FAR, slanted, (0.0, 60.0, -60.0)))  # fmt: skip
    if isinstance(unit, AddRemoveOne):
        constant = replace(plain, bounds=replace(bounds, intercept=0.5))
        for label, problem, spent, pair in (
            ("intercept", constant, budget, one_more(unit, [FAR], FAR, FAR, (60.0, 60.0, 60.0))),
            ("pure", plain, pure, far_pair(unit, FAR_DIAGONAL, labels=(0.0, 60.0, 60.0))),
        ):
            yield exact_case(f"sufficient statistics, {label}", SufficientStatistics(), problem,
                             spent, pair)  # fmt: skip


def select_then_fit(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Two columns that go with the labels alike, and a record by which one of them is ahead."""
    labels = LabelSet([-1, 1])
    wide = Bounds(LinfBall(1.0), 2, labels=labels, max_rows=2**16)
    inside = Bounds(L2Ball(1.0), 1, labels=labels, intercept=1.0, max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), wide, ridge=4000.0)
    pair = one_more(unit, np.ones((6, 2)), [1.0, -1.0], [-1.0, 1.0], (1.0, 1.0, 1.0))
    mechanism = SelectThenFit(StrongestColumns(wide, 1, is_centred=False), ObjectivePerturbation(),
                              inside, share=0.5)  # fmt: skip
    yield Case("select, then fit", mechanism, problem, budget, pair, is_tight=False, effort=100.0,
               remark="two stages, neither of which has its own worst-case pair here")  # fmt: skip
    wide = replace(wide, n_features=3)
    mechanism = SelectThenFit(StrongestColumns(wide, 1, is_centred=False),
                              ObjectivePerturbation("gaussian"), inside)  # fmt: skip
    yield exact_case("select, then fit", mechanism, replace(problem, bounds=wide), budget,
                     pulled_pair(unit))  # fmt: skip
