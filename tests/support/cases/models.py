"""Models whose coefficients are drawn: straight losses, whose laws are known in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.exact.laws import exponential_selection
from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import ExponentialSampling, Localization
from discreet.mechanisms.sampling.energy import Energy
from discreet.mechanisms.sampling.lattice import region_of
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem
from support.cases.base import Case, Data, hostile_row

RIDGE = 2.0


@dataclass(frozen=True)
class ModelCase(Case):
    """Coefficients drawn from a ball, of a loss that is straight in it."""

    def silent_answer(self, plan, data):
        X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
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


def straight_problem(width, domain=1.0, ridge=RIDGE, max_rows=2**16):
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=max_rows)
    return Problem(MarginLogistic(40.0), bounds, ridge=ridge, penalty=Indicator(L2Ball(domain)))


def worst_rows(width, unit, crowd=0):
    """A row along the first axis: there or not, or of either class; a crowd of its class."""
    axis = [[1.0] + [0.0] * (width - 1)]
    if unit.count_is_public:
        labels = [1.0] * crowd
        return Data(axis * (crowd + 1), [*labels, 1.0]), Data(axis * (crowd + 1), [*labels, -1.0])
    crowd = max(crowd, 1)
    return Data(axis * crowd, [1.0] * crowd), Data(axis * (crowd + 1), [1.0] * (crowd + 1))


def _cases():
    pure = Budget(1.0)
    for unit in (AddRemoveOne(), ReplaceOne()):
        for width in (1, 2):
            yield ModelCase(
                f"exponential sampling, {width} coefficients, {unit.name}",
                ExponentialSampling(),
                straight_problem(width),
                unit,
                pure,
                worst_rows(width, unit),
                hostile_row(width, [-1, 1]),
            )
        yield ModelCase(
            f"localization, {unit.name}",
            Localization(),
            straight_problem(2, domain=10.0, ridge=40.0),
            unit,
            pure,
            worst_rows(2, unit),
            hostile_row(2, [-1, 1]),
        )


CASES = tuple(_cases())
