"""Models whose coefficients are drawn: straight losses, whose laws are known in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.exact.laws import exponential_selection
from discreet.mechanisms.sampling.energy import Energy
from discreet.mechanisms.sampling.lattice import region_of
from discreet.questions.problem import Problem
from support.cases.base import Case


@dataclass(frozen=True)
class ModelCase(Case):
    """Coefficients drawn from a ball, of a loss that is straight in it."""

    def silent_answer(self, plan, data):
        counted = data.counted(self)
        X, y = np.asarray(counted.X, dtype=np.float64), np.asarray(counted.y, dtype=np.float64)
        norms = np.maximum(np.linalg.norm(X, axis=1), 1.0)
        best = (y / norms) @ X / self.question.ridge
        return self.question.penalty.nearest(best)


def coarse(plan, step_bits):
    """The same plan on a lattice with few points."""
    domain = plan.problem.penalty.region
    return replace(plan, region=region_of(domain, plan.problem.bounds.width, step_bits=step_bits))


def lattice(region):
    """All places of a coarse region."""
    places = np.indices((region.steps + 1,) * region.width).reshape(region.width, -1).T
    return places[region.holds(places)]


def law_of(plan, rows, factor=1.0):
    """The exact law of a draw on a coarse lattice, from its definition."""
    energy = Energy(plan.problem, plan.rate, rows)
    values = energy.values(plan.region.points(lattice(plan.region)))
    return exponential_selection(-factor * values, 1.0)


KINDS = {
    ("exponential_sampling", Problem): ModelCase,
    "localization": ModelCase,
}
