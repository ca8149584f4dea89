"""Second moments beside coefficients: each matrix, and the counts, in units of their noise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data import Bounds, Interval
from discreet.geometry import L2Ball
from discreet.losses import Huber, Squared
from discreet.mechanisms import SandwichMoments, SufficientStatistics
from discreet.mechanisms.released_sandwich import NoiseLevels, ReleasedSandwich
from discreet.mechanisms.sandwich_moments import count_shortened
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Problem
from support.cases.base import Data, hostile_row, l2
from support.cases.staged import Part, StagedCase, minimiser_part


@dataclass(frozen=True)
class SandwichCase(StagedCase):
    """The releases of a sandwich, the later ones at public coefficients; any will do.

    Under replacement coefficients and moments are not worst at once, so a case shows one or the
    other.
    """

    point: np.ndarray = field(repr=False)
    has_coefficients: bool = True

    def parts(self, plan):
        first = (self._first(plan),) if self.has_coefficients else ()
        return (*first, *self._matrices(plan), self._counts(plan))

    def _first(self, plan):
        if hasattr(plan, "learner"):
            return minimiser_part(plan.learner, lambda rows: rows, self.unit)
        statistics = plan.statistics
        return Part(
            lambda rows, noise: statistics.release_statistics(rows, noise) / statistics.grid.scale,
            statistics.sensitivity / statistics.grid.scale,
        )

    def _matrices(self, plan):
        events = [plan.events.outer]
        if hasattr(plan, "learner"):
            events = [plan.events.curvature, plan.events.outer]
        for place, event in enumerate(events):

            def run(rows, noise, place=place, event=event):
                return event.release(plan.moments.vectors(rows, self.point)[place], noise) / (
                    event.grid.scale
                )

            yield Part(run, event.profile.ideal.mu)

    def _counts(self, plan):
        event = plan.events.counts

        def run(rows, noise):
            counts = count_shortened(rows, self.question.bounds, None)
            return event.release(counts, noise) / event.grid.scale

        return Part(run, event.profile.ideal.mu)

    def silent_answer(self, plan, data):
        # Without noise nothing is said of its size, nor is a ridge added against it.
        if hasattr(plan, "statistics"):
            plan = replace(plan, statistics=replace(plan.statistics, extra_ridge=0.0))
        found = ReleasedSandwich.of(super().silent_answer(plan, data))
        levels = found.levels
        quiet = NoiseLevels(row_norm=levels.row_norm, is_quadratic=levels.is_quadratic)
        return replace(found, levels=quiet).vector()

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step; so do moments there."""
        if hasattr(plan, "statistics"):
            return 1e-9 * plan.moments.bound
        off = 2 * plan.learner.minimiser.radius + plan.learner.mask.grid.step
        return off * (1 + plan.moments.problem.ridge) + 40 * plan.moments.bound * 2.0**-20


def _cases():
    add, swap = AddRemoveOne(), ReplaceOne()
    budget = Budget(1.0, 1e-6)
    p = 3
    bounds = Bounds(L2Ball(1.0), p, labels=Interval(-1, 1), max_rows=2**16)
    # At the edge of the straight part slope and curvature are both at their bounds.
    steep = Problem(Huber(0.5), bounds, ridge=4e5)
    edge = 0.5 * (1 - 1e-6)
    squares = Problem(Squared(1.0), bounds, ridge=1.0)
    nothing, row = [0.0] * p, [1.0, *[0.0] * (p - 1)]
    other = [0.0, 1 - 1e-7, *[0.0] * (p - 2)]
    origin = np.zeros(p)
    even = SandwichMoments(curvature_share=0.4, outer_share=0.4)
    statistics = SandwichMoments(SufficientStatistics(), outer_share=0.15)

    def case(label, mechanism, problem, unit, first, second, labels, **options):
        X = [np.array(rows) for rows in (first, second)]
        pair = tuple(Data(rows, np.array(y)) for rows, y in zip(X, labels, strict=True))
        return SandwichCase(f"sandwich moments, {label}", mechanism, problem, unit, budget, pair,
                            hostile_row(p, [-1.0, 0.3, 1.0]), l2, point=origin,
                            **options)  # fmt: skip

    yield case("add_remove", SandwichMoments(), steep, add,
               [nothing], [nothing, row], ([0.0], [0.0, edge]))  # fmt: skip
    # Orthogonal rows, one of them at the bound and one short of it.
    yield case("replace, moments", even, steep, swap, [nothing, row], [nothing, other],
               ([0.0, edge], [0.0, edge]), has_coefficients=False)  # fmt: skip
    yield case("least squares, add_remove", statistics, squares, add,
               [nothing], [nothing, row], ([0.0], [0.0, 1.0]))  # fmt: skip
    yield case("least squares, replace, moments",
               SandwichMoments(SufficientStatistics(), outer_share=0.8), squares, swap,
               [nothing, row], [nothing, other], ([0.0, 1.0], [0.0, 1.0]),
               has_coefficients=False)  # fmt: skip


CASES = tuple(_cases())
