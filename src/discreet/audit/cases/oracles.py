"""Kernel models that answer public points."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import class_pair, far_pair, one_more
from discreet.audit.statistical.pair import Pair
from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel, Linear
from discreet.losses import Hinge
from discreet.mechanisms import BoundedUpdates, GaussianProcess, NetUpdates, ProjectedKernel
from discreet.privacy import AddRemoveOne, Budget, Unit
from discreet.questions import KernelQueries
from discreet.questions.bounds import Bounds, LabelSet

STRAIGHT, BY_CLASS = BoundedKernel(Linear(), 1.0), (1.0, 1.0, -1.0)

Points = tuple[tuple[float, ...], ...]


def hinge_queries(
    points: Points, ridge: float, kernel: BoundedKernel, answers: int
) -> KernelQueries:
    """Ask about points as wide as they are, with a loss that is straight near zero."""
    bounds = Bounds(L2Ball(1.0), len(points[0]), labels=LabelSet([-1, 1]), max_rows=1000)
    return KernelQueries(Hinge(), bounds, ridge, kernel, answers, points)


def straight_queries(points: Points, rounds: int = 1) -> KernelQueries:
    """Ask about a linear kernel on a line, with a hinge whose slope is one near zero."""
    return hinge_queries(points, 40.0, STRAIGHT, rounds)


def projected_kernel(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("projected kernel, one landmark", ProjectedKernel(), straight_queries(((1.0,),)),
               budget, class_pair(unit))  # fmt: skip
    axes = hinge_queries(((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)), 40.0, STRAIGHT, 3)
    pair = far_pair(unit, [1.0, 0.0], labels=BY_CLASS)
    yield exact_case("projected kernel, straight", ProjectedKernel(), axes, budget, pair)
    if isinstance(unit, AddRemoveOne):  # both rows have features: one at the landmark
        pair = one_more(unit, [[1.0, 0.0]], [1.0, 0.0], [1.0, 0.0], BY_CLASS)
    kernel = BoundedKernel(RBF(1.0), 1.0, constant=0.5)
    constant = hinge_queries(((1.0, 0.0),), 40.0, kernel, 1)
    yield exact_case("projected kernel, constant", ProjectedKernel(), constant, budget, pair)


def net_updates(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """The account is of zCDP; the law of a draw and an answer is a little better."""
    question = straight_queries(((1.0,), (0.25,)), rounds=2)
    yield Case("net updates, two points", NetUpdates(patience=0.0), question, budget,
               class_pair(unit), is_tight=False, effort=20.0,
               remark="zCDP accounts a little more than the law of a release")  # fmt: skip
    once = hinge_queries(((0.5, 0.0), (1.0, 0.0)), 40.0, STRAIGHT, 1)
    yield exact_case("net updates", NetUpdates(), once, budget,
                     far_pair(unit, [1.0, 0.0], labels=BY_CLASS))  # fmt: skip


PLACE, AROUND = (0.6,), ((0.6001,), (0.6,), (0.59999,))
"""Where the record is that differs, and points around it that are asked about."""

POINTS = ((0.6, 0.0, 0.0), (0.6001, 0.0, 0.0), (0.0, 0.3, 0.0), (0.6, 0.0, 1e-5))
"""The same of three columns: its place, near duplicates of it, and another place."""


def queries_of(points: Points, ridge: float = 200.0) -> KernelQueries:
    """Ask a kernel model about points, where its loss is straight as far as minimisers go."""
    return hinge_queries(points, ridge, BoundedKernel(RBF(2.0), 1.0), len(points))


def query_pair(
    unit: Unit, other: tuple[float, ...] = (-0.5,), place: tuple[float, ...] = PLACE
) -> Pair:
    """One record where nobody else is: there or not, or of the one class or the other."""
    return one_more(unit, [other], place, place, (1.0, 1.0, -1.0))


def wide_pair(unit: Unit) -> Pair:
    """The same of three columns."""
    return query_pair(unit, (-0.5, 0.1, 0.0), POINTS[0])


def gaussian_process(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Asked where the record is, once or again and again around it."""
    yield Case("gaussian process", GaussianProcess(), queries_of((PLACE,)), budget,
               query_pair(unit))  # fmt: skip
    yield Case("gaussian process, near duplicates", GaussianProcess(), queries_of(AROUND), budget,
               query_pair(unit), effort=2.0)  # fmt: skip
    yield exact_case("gaussian process", GaussianProcess(), queries_of(POINTS), budget,
                     wide_pair(unit))  # fmt: skip


def bounded_updates(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    mechanism = BoundedUpdates(updates=2, threshold=0.02)
    yield Case("bounded updates", mechanism, queries_of(AROUND), budget,
               query_pair(unit), is_tight=False, effort=2.0,
               remark="the bound holds for any number of queries, and few are asked")  # fmt: skip
    yield exact_case("bounded updates", BoundedUpdates(updates=2), queries_of(POINTS), budget,
                     wide_pair(unit))  # fmt: skip
