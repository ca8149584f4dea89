"""Output and objective perturbation, where the slope of the loss is at its bound near zero.

So worst pairs attain it. Those of Laplace noise lie on the diagonal: there an l2 ball is longest in
l1.
"""

from __future__ import annotations

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic, PseudoHuber
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Problem
from support.cases.additive import ObjectiveNoiseCase, OutputNoiseCase
from support.cases.base import Data, hostile_row, l1, l2

ADD, SWAP = AddRemoveOne(), ReplaceOne()
NOTHING, AXIS, DIAGONAL = [[0.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]], [[5.0, 5.0, 5.0]]


def _pair_of_classes(row, unit):
    if unit is SWAP:
        return Data(NOTHING + row, [1, 1]), Data(NOTHING + row, [1, -1])
    return Data(NOTHING, [1]), Data(NOTHING + row, [1, 1])


def _cases():
    labelled = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
    ranged = Bounds(L2Ball(1.0), 3, labels=Interval(-60, 60), intercept=0.5, max_rows=2**20)
    steep = Problem(MarginLogistic(margin=40.0), labelled, ridge=4000.0)
    robust = Problem(PseudoHuber(threshold=0.5), ranged, ridge=4000.0)
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    classes, numbers = hostile_row(3, [-1, 1]), hostile_row(3, [-60, 0, 60])
    for made, kind in (
        (OutputPerturbation, OutputNoiseCase),
        (ObjectivePerturbation, ObjectiveNoiseCase),
    ):
        name = made().name.replace("_", " ")
        for law, budget, row in (
            ("gaussian", approximate, AXIS),
            ("laplace", pure, DIAGONAL),
            ("radial", pure, AXIS),
        ):
            in_l1 = law == "laplace" and made is OutputPerturbation
            distance = l1 if in_l1 else l2
            for unit in (ADD, SWAP):
                yield kind(f"{name}, {law}, classes, {unit.name}", made(law), steep, unit, budget,
                           _pair_of_classes(row, unit), classes, distance)  # fmt: skip
            if in_l1:
                continue  # made for a row on the diagonal, which the constant column leaves
            yield kind(f"{name}, {law}, numbers, replace", made(law), robust, SWAP, budget,
                       (Data(row, [60.0]), Data(row, [-60.0])), numbers, distance)  # fmt: skip
        yield kind(f"{name}, any law, classes, replace", made(), steep, SWAP, approximate,
                   _pair_of_classes(AXIS, SWAP), classes, l2)  # fmt: skip


CASES = tuple(_cases())
