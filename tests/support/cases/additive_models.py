"""Additive models: noisy marginals, then a minimiser in the frame that they give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.data import LabelSet
from discreet.losses import MarginLogistic
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.additive_model import frame_bounds
from discreet.mechanisms.marginal_splits import SplitNoise
from discreet.mechanisms.objective_perturbation import ExactMinimiser
from discreet.mechanisms.summing.additive_tables import AdditiveFrame
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import AdditiveProblem, Marginals
from support.cases.base import Data, hostile_row, l2
from support.cases.marginals import scales_of
from support.cases.staged import Part, StagedCase, minimiser_part
from support.silent import SilentNoise

FRAME = AdditiveFrame((np.zeros((17, 1)), np.zeros((4, 1))), 1.0, 50.0)
"""Any will do: in this one rows are their constant, so that slopes have their full size."""


@dataclass(frozen=True)
class AdditiveModelCase(StagedCase):
    """Both stages, the second as it is once the frame is public."""

    def parts(self, plan):
        scales = scales_of(plan.noise)
        marginals = Part(
            lambda rows, noise: plan.noise.hide(plan.noise.layout.count(rows), noise)[0] / scales,
            plan.noise.sensitivity * (1 + 1e-12),
        )
        return marginals, self.second_part(plan)

    def second_part(self, plan):
        """The second stage as it is with a margin that makes losses straight."""
        width = FRAME.width + 1
        bounds = frame_bounds(self.question, width)
        second = plan.second.settle(MarginLogistic(margin=40.0), self.question.ridge)
        return minimiser_part(
            second.narrow(width), lambda rows: rows.transform(FRAME.apply, bounds), self.unit
        )

    def silent_answer(self, plan, data):
        second = ExactMinimiser(plan.second.minimiser, plan.second.guarantee)
        exact = replace(plan, noise=SplitNoise(plan.noise.layout, self.unit), second=second)
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        return 2 * plan.second.minimiser.radius + plan.second.mask.grid.step


def _cases():
    question = AdditiveProblem(
        Marginals((None, 3), LabelSet([-1, 1]), depth=4, max_rows=2**20), ridge=4000.0, margin=40.0
    )
    ends, labels = np.array([[0.0, 0.0], [15.0, 2.0]]), np.array([-1.0, 1.0])
    for unit, *sides in ((AddRemoveOne(), [0], [0, 1]), (ReplaceOne(), [0], [1])):
        pair = tuple(Data(ends[at], labels[at]) for at in sides)
        row, budget = hostile_row(2, (-1.0, 1.0)), Budget(1.0, 1e-6)
        label = f"additive model, {unit.name}"
        yield AdditiveModelCase(label, AdditiveModel(), question, unit, budget, pair, row, l2)


CASES = tuple(_cases())
