"""Noise that is not fresh: used twice, or from too few seeds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from audits.mutants.attacks import SeenBefore
from audits.mutants.base import Mutant
from audits.mutants.runs import of_classes, of_plan, on_grid, open_data
from discreet._types import Array, Integers
from discreet.audit import Pair
from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import EachAgainstTheRest, GaussianSum, LaplaceSum, ObjectivePerturbation
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from discreet.questions import VectorSum
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest

ADD = AddRemoveOne()
BINARY = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**20)
CLASSES = OneVsRest(Problem(MarginLogistic(margin=40.0), BINARY, ridge=4000.0), classes=3)
ONE_MORE = Pair((np.zeros((1, 1)), np.array([0])), (np.array([[0.0], [1.0]]), np.array([0, 0])),
                ADD)  # fmt: skip


def same_noise_for_every_class() -> Mutant:
    mechanism = EachAgainstTheRest(ObjectivePerturbation("radial"))
    plan: Any = mechanism.plan(CLASSES, Budget(1.0), ADD)
    return Mutant(
        name="the same noise for every class",
        breaks="The difference of two classes' coefficients has no noise left.",
        mechanism="one_vs_rest",
        guarantee=Guarantee(Pure(1.0), ADD),
        pair=ONE_MORE,
        run=of_classes(plan, CLASSES.bounds, reuse=True),
        original=of_classes(plan, CLASSES.bounds),
        trials=400,
    )


class _TwoWorkers:
    """Two processes, each with the sum of one column; forked ones have the same noise."""

    def __init__(self, plan: Any, *, forked: bool) -> None:
        self._plan, self._forked = plan, forked

    def many(self, data: Array, count: int, seed: int) -> Array:
        noise = RehearsalNoise(seed)
        seeds = noise.below(1 << 32, 2).tolist()
        parts = []
        for worker in range(2):
            units = self._plan.totals.units(
                open_data(data[:, [worker]], self._plan.totals.question.bounds, ADD),
                self._plan.grid,
            )
            own = RehearsalNoise(seeds[0 if self._forked else worker])
            parts.append(on_grid(units, self._plan.grid, own, count, laplace=True))
        return np.concatenate(parts, axis=1)


def same_noise_in_two_processes() -> Mutant:
    plan = LaplaceSum().plan(VectorSum(Bounds(L2Ball(1.0), 1)), Budget(0.5), ADD)
    rows = np.array([[0.2, 0.1], [1.0, -1.0]])
    return Mutant(
        name="the same noise in two processes",
        breaks="Two forked workers draw the same noise; subtracting their sums removes it.",
        mechanism="laplace_sum",
        guarantee=Guarantee(Pure(1.0), ADD),
        pair=Pair(rows[:1], rows, ADD),
        run=_TwoWorkers(plan, forked=True),
        original=_TwoWorkers(plan, forked=False),
        trials=1000,
    )


BALL = Bounds(L2Ball(1.0), 2)


@cache
def _drawn(seed: int, size: int, bits: int) -> Integers:
    return RehearsalNoise(seed).gaussian(size, bits)


class _OneByte:
    """A sum whose noise is seeded with one byte."""

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def many(self, data: Array, count: int, seed: int) -> Array:
        grid = self._plan.grid
        units = self._plan.totals.units(open_data(data, BALL, ADD), grid)
        seeds = RehearsalNoise(seed).below(256, count).tolist()
        drawn = np.array([_drawn(byte, units.size, grid.bits) for byte in seeds])
        return np.asarray(grid.values(units + drawn))


def one_byte_of_seed() -> Mutant:
    plan: Any = GaussianSum().plan(VectorSum(BALL), Budget(1.0, 1e-3), ADD)
    return Mutant(
        name="noise from a seed of one byte",
        breaks="There are only 256 outcomes for each data set, and whoever tries them knows which.",
        mechanism="gaussian_sum",
        guarantee=plan.guarantee,
        pair=Pair(np.array([[0.1, 0.2]]), np.array([[0.1, 0.2], [1.0, 0.0]]), ADD),
        run=_OneByte(plan),
        original=of_plan(plan, BALL),
        trials=8000,
        scores=(SeenBefore(),),
    )


MUTANTS = (same_noise_for_every_class(), same_noise_in_two_processes(), one_byte_of_seed())
