"""One release a class, each against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import EachAgainstTheRest, ObjectivePerturbation, OutputPerturbation
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import OneVsRest, Problem
from support.cases.base import Data, hostile_row, l1, l2
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


def _cases():
    add, swap = AddRemoveOne(), ReplaceOne()
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
    question = OneVsRest(Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0), classes=3)
    gaussian = EachAgainstTheRest(OutputPerturbation("gaussian"))
    laplace = EachAgainstTheRest(ObjectivePerturbation("laplace"))
    nothing, up, diagonal = [0.0] * 3, [5.0, 0.0, 0.0], [5.0] * 3

    def case(label, mechanism, unit, budget, first, second):
        y = np.array([0.0, 1.0])
        pair = (Data(np.array(first), y[: len(first)]), Data(np.array(second), y[: len(second)]))
        return OneVsRestCase(f"one vs rest, {label}", mechanism, question, unit, budget, pair,
                             hostile_row(3, [0, 1, 2]), l1 if budget is pure else l2)  # fmt: skip

    yield case("gaussian, add_remove", gaussian, add, approximate, [nothing], [nothing, up])
    # Turned about, a record pulls the other way in all three problems; relabelled, in two.
    yield case("gaussian, replace", gaussian, swap, approximate,
               [nothing, up], [nothing, [-x for x in up]])  # fmt: skip
    yield case("pure, add_remove", laplace, add, pure, [nothing], [nothing, diagonal])


CASES = tuple(_cases())
