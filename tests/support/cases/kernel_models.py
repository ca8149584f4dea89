"""Kernel models on public points: a hinge that is straight near zero, so worst pairs attain it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel, Linear
from discreet.losses import Hinge
from discreet.mechanisms import NetUpdates, ProjectedKernel
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import KernelQueries
from support.cases.additive import OutputNoiseCase
from support.cases.base import Case, Data, hostile_row, l2

ADD, SWAP = AddRemoveOne(), ReplaceOne()
NOTHING, AXIS = [[0.0, 0.0]], [[1.0, 0.0]]
RIDGE = 40.0


def pair_of_classes(unit):
    if unit is SWAP:
        return Data(NOTHING + AXIS, [1, 1]), Data(NOTHING + AXIS, [1, -1])
    return Data(NOTHING, [1]), Data(NOTHING + AXIS, [1, 1])


@dataclass(frozen=True)
class NetCase(Case):
    """One round on a net, for rows within the bounds and a linear kernel."""

    def silent_answer(self, plan, data):
        """Slopes are one: the model is the sum of rows times labels, over the ridge."""
        weights = np.asarray(data.y, float) @ np.asarray(data.X, float) / RIDGE
        predictions = np.array(self.question.points) @ weights
        place = int(np.argmax(np.abs(predictions)))
        return np.array([[place, predictions[place]]])

    def solver_error(self, plan, data):
        return 2 * plan.minimiser.radius + plan.grid.step


def _cases():
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=1000)
    straight = BoundedKernel(Linear(), 1.0)
    row = hostile_row(2, [-1, 1])
    for unit in (ADD, SWAP):
        for label, loss, kernel, points in (
            ("straight", Hinge(), straight, ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8))),
            ("constant", Hinge(), BoundedKernel(RBF(1.0), 1.0, constant=0.5), ((1.0, 0.0),)),
        ):
            question = KernelQueries(loss, bounds, RIDGE, kernel, len(points), points)
            pair = pair_of_classes(unit)
            if label == "constant" and unit is ADD:  # both rows have features: one at the landmark
                pair = Data([[1.0, 0.0]], [1]), Data([[1.0, 0.0], [1.0, 0.0]], [1, 1])
            yield OutputNoiseCase(f"projected kernel, {label}, {unit.name}", ProjectedKernel(),
                                  question, unit, Budget(1.0, 1e-6), pair, row, l2)  # fmt: skip
        net = KernelQueries(Hinge(), bounds, RIDGE, straight, 1, ((0.5, 0.0), (1.0, 0.0)))
        yield NetCase(f"net updates, {unit.name}", NetUpdates(), net, unit, Budget(1.0, 1e-6),
                      pair_of_classes(unit), row)  # fmt: skip


CASES = tuple(_cases())
