"""Additive models of a number: targets in units of a threshold that the marginals give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import Interval
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.additive_objectives import TargetSettings
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import AdditiveProblem, Marginals
from support.cases.additive_models import AdditiveModelCase
from support.cases.base import Data, hostile_row, l2


@dataclass(frozen=True)
class AdditiveTargetCase(AdditiveModelCase):
    """Both stages; targets are counted from ``centre``, in the smallest unit that can come."""

    attained = 0.995  # of a smooth loss slopes only come near their largest

    centre: float

    def frame(self, plan, rows, frame, region):
        settings = TargetSettings(50.0, 1.0, 1.0, self.question.ridge, self.centre, 0.04)
        return super().frame(plan, plan.objective.place(rows, settings), frame, region)


def _cases():
    question = AdditiveProblem(
        Marginals((None, 3), Interval(0, 1), depth=4, max_rows=2**20), ridge=4000.0
    )
    ends, targets = np.array([[0.0, 0.0], [15.0, 2.0]]), np.array([0.0, 1.0])
    for unit, centre, *sides in ((AddRemoveOne(), 0.0, [0], [0, 1]), (ReplaceOne(), 0.5, [0], [1])):
        pair = tuple(Data(ends[at], targets[at]) for at in sides)
        row, budget = hostile_row(2, (0.0, 0.3, 1.0)), Budget(1.0, 1e-6)
        label = f"additive model of a number, {unit.name}"
        yield AdditiveTargetCase(
            label, AdditiveModel(), question, unit, budget, pair, row, l2, centre
        )


CASES = tuple(_cases())
