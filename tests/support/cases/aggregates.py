"""Numbers of blocks of rows, averaged: means with either law, and winsorised means."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.cases.votes import MANY_NUMBERS, average_of_least, least_on_an_axis
from discreet.geometry import L2Ball
from discreet.mechanisms import NoisyAggregate
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BlockAverage
from support.cases.base import Case, Data, hostile_row
from support.silent import SilentNoise

BLOCKS = 3
"""Few, so that none of them is ever empty."""


@dataclass(frozen=True)
class AggregateCase(Case):
    """An average of blocks, with noise."""

    def silent_answer(self, plan, data):
        exact = plan
        if self.question.aggregate == "winsorised":
            without = tuple(replace(one, rate=None) for one in plan.quartiles)
            exact = replace(plan, quartiles=without)
        return exact.run(data.open(self), SilentNoise())


def _cases():
    rows = np.ones((90, 2))
    for unit in (AddRemoveOne(), ReplaceOne()):
        kept = np.vstack([rows, [[1.0, 1.0]]]) if unit.count_is_public else rows
        pair = Data(kept), Data(np.vstack([rows, [[-1.0, -1.0]]]))
        mean = average_of_least(BLOCKS)
        ball = BlockAverage(mean.bounds, least_on_an_axis, BLOCKS, L2Ball(1.0), MANY_NUMBERS)
        winsorised = average_of_least(BLOCKS, "winsorised")
        for question, budget, what in (
            (mean, Budget(1.0), "Laplace mean"),
            (ball, Budget(1.0, 1e-6), "Gaussian mean"),
            (winsorised, Budget(1.0), "winsorised, pure"),
            (winsorised, Budget(1.0, 1e-6), "winsorised, with delta"),
        ):
            yield AggregateCase(f"noisy aggregate, {what}, {unit.name}", NoisyAggregate(), question,
                                unit, budget, pair, hostile_row(2))  # fmt: skip


CASES = tuple(_cases())
