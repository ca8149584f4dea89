"""One release a class, each against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from support.cases.staged import StagedCase, minimiser_part


@dataclass(frozen=True)
class OneVsRestCase(StagedCase):
    """As many releases as classes."""

    def parts(self, plan):
        def relabelled(number):
            return lambda rows: rows.relabel(lambda y: np.where(y == number, 1.0, -1.0))

        return tuple(
            minimiser_part(plan.one, relabelled(number), self.unit)
            for number in range(plan.classes)
        )

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step."""
        grid = plan.one.grid if hasattr(plan.one, "grid") else plan.one.mask.grid
        return 2 * plan.one.minimiser.radius + grid.step


KINDS = {
    "one_vs_rest": OneVsRestCase,
}
