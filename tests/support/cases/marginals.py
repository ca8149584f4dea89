"""Marginals by noisy splits: numbers of several kinds, each in units of its own noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import Interval, LabelSet
from discreet.mechanisms import MarginalSplits
from discreet.noise import UNIT_RATE
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Marginals
from support.cases.base import Data, hostile_row, l1, l2
from support.cases.staged import Part, StagedCase

ADD, SWAP = AddRemoveOne(), ReplaceOne()
CLASSES, TARGET = LabelSet([-1, 1]), Interval(0, 1)


@dataclass(frozen=True)
class MarginalsCase(StagedCase):
    """One release, whose numbers have noise of several scales."""

    def parts(self, plan):
        scales = scales_of(plan.noise)
        return (
            Part(
                lambda rows, noise: plan.run(rows, noise) / scales,
                plan.sensitivity * (1 + 1e-12),  # sums of quotients are rounded
                lambda rows, noise, draws: plan.run_many(rows, noise, draws) / scales,
            ),
        )


def scales_of(noise):
    """The scale of the noise of each number: a deviation, or that of a Laplace law."""
    by_kind = noise.deviations if noise.grid else UNIT_RATE / np.array(noise.rates)
    return by_kind[noise.layout.kinds]


LAWS = (("laplace", Budget(1.0), l1), ("gaussian", Budget(1.0, 1e-6), l2))
LABELLED = (
    (None, "", None),
    (CLASSES, " with classes", np.array([-1.0, 1.0])),
    (TARGET, " with a target", np.array([0.0, 1.0])),
)
ENDS = np.array([[0.0, 0.0, 0.0], [15.0, 2.0, 15.0]])


def _cases():
    for labels, name, marks in LABELLED:
        question = Marginals((None, 3, None), labels, depth=4, max_rows=2**20)
        for law, budget, norm in LAWS:
            for unit, *sides in ((ADD, [0], [0, 1]), (SWAP, [0], [1])):
                pair = tuple(Data(ENDS[at], None if marks is None else marks[at]) for at in sides)
                yield MarginalsCase(f"{law} marginals{name}, {unit.name}", MarginalSplits(law),
                                    question, unit, budget, pair, _row(labels), norm)  # fmt: skip


def _row(labels):
    """A hostile row, or one in cells of its own, missing ones among them."""
    marks = {None: None, CLASSES: (-1.0, 1.0), TARGET: (0.0, 0.3, 1.0)}[labels]

    def draw(generator):
        if generator.integers(2):
            return hostile_row(3, marks)(generator)
        label = None if marks is None else generator.choice(marks)
        return generator.integers([17, 4, 17]).astype(np.float64), label

    return draw


CASES = tuple(_cases())
