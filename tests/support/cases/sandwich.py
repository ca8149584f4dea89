"""Second moments beside coefficients: each matrix, and the counts, in units of their noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.mechanisms.released_sandwich import NoiseLevels, ReleasedSandwich
from discreet.mechanisms.sandwich_moments import count_shortened
from support.cases.staged import Part, StagedCase, minimiser_part


@dataclass(frozen=True)
class SandwichCase(StagedCase):
    """The releases of a sandwich, the later ones at public coefficients; any will do.

    Under replacement coefficients and moments are not worst at once, so a case shows one or the
    other.
    """

    @property
    def point(self):
        return np.zeros(self.question.bounds.n_features)

    def parts(self, plan):
        first = () if self.unit.rows_are_public else (self._first(plan),)
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


KINDS = {
    "sandwich_moments": SandwichCase,
}
