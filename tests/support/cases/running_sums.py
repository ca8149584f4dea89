"""Streams: running sums whose noise is correlated over the steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Hinge, Squared
from discreet.mechanisms import FollowTheLeader, OnlineQuadratic
from discreet.penalties import Indicator
from discreet.privacy import Budget, ReplaceOne, ZeroOutOne
from discreet.questions import Problem, Stream
from support.cases.base import Data, hostile_row, l2
from support.cases.staged import Part, StagedCase
from support.factor_matrices import matrix_of
from support.silent import SilentNoise

BUDGET = Budget(1.0, 1e-6)
ROUNDS = 64
ZERO, SWAP = ZeroOutOne(), ReplaceOne()


@dataclass(frozen=True)
class StreamCase(StagedCase):
    """Running sums; side by side stands what the Gaussian mechanism sees of all of them."""

    def parts(self, plan):
        grid, strategy = plan.release.grid, matrix_of(plan.release.factor)
        if hasattr(plan, "leader"):  # any public coefficients will do: neighbours share them
            plan = replace(plan, leader=replace(plan.leader, pull=1e300))

        def run(rows, noise):
            seen = strategy @ increments(plan, rows, noise)
            return seen.ravel() * (grid.step / grid.scale)

        return (Part(run, plan.sensitivity / grid.scale),)

    def random_pair(self, generator):
        """Of twenty hostile records one is another, or nothing."""
        first, second = super().random_pair(generator)
        if self.unit == ZERO:
            (place,) = generator.integers(20, size=1)
            second = Data(first.X.copy(), first.y)
            second.X[place] = 0.0
        return first, second

    def silent_answer(self, plan, data):
        exact = self.plan(Budget(math.inf))  # whose learning rate is its own
        if hasattr(plan, "leader"):
            plan = replace(plan, leader=exact.leader)
            return plan.run(data.open(self), SilentNoise())
        silent = replace(plan.release, grid=replace(plan.release.grid, scale=1e-3))
        return replace(plan, release=silent).run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Sparse and dense rows are clipped by different roundings, which cuts move by a unit."""
        return 1e-4


def increments(plan, rows, noise):
    """What the steps add to the noisy running sums, in units of the grid; a row for each step."""
    session, question = plan.start(noise), plan.question
    totals = np.zeros((question.updates + 1, plan.records.width))
    step = 0
    for X, y in rows.stretches(question.batch):
        session.learn(X, y)
        if len(X) == question.batch:
            step += 1
            totals[step] = session._sums._noisy
    totals[step + 1 :] = totals[step]
    return np.diff(totals, axis=0)


def _stream(first, other, label, other_label):
    """Two streams whose first records differ; later ones say nothing."""
    X = np.zeros((2, ROUNDS, len(first)))
    X[0, 0], X[1, 0] = first, other
    y = np.ones((2, ROUNDS))
    y[:, 0] = label, other_label
    return Data(X[0], y[0]), Data(X[1], y[1])


ROWS = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]))
HINGES = Stream(Problem(Hinge(), ROWS, ridge=40.0), horizon=ROUNDS, batch=2)
NUMBERS = Bounds(L2Ball(2.0), 3, labels=Interval(-1, 1))
SQUARES = Stream(
    Problem(Squared(1.0), NUMBERS, ridge=4000.0, penalty=Indicator(L2Ball(3.0))),
    horizon=ROUNDS,
    batch=2,
)
UP, TURNED = [5.0, 0.0, 0.0], [2.5, 2.5 * math.sqrt(3), 0.0]


def _leader(factor, unit):
    other = UP if unit == SWAP else [0.0] * 3
    return StreamCase(
        f"follow the leader, {factor}, {unit.name}",
        FollowTheLeader(factor, band=4 if factor == "band" else None),
        HINGES, unit, BUDGET, _stream(UP, other, 1.0, -1.0 if unit == SWAP else 1.0),
        hostile_row(3, [-1, 1]), l2,
    )  # fmt: skip


def _quadratic(unit):
    other = TURNED if unit == SWAP else [0.0] * 3
    return StreamCase(
        f"online quadratic, {unit.name}", OnlineQuadratic("square_root"), SQUARES, unit, BUDGET,
        _stream(UP, other, 1.0, -1.0), hostile_row(3, [-1.0, 0.5, 1.0]), l2,
    )  # fmt: skip


CASES = (
    _leader("square_root", ZERO),
    _leader("square_root", SWAP),
    _leader("band", SWAP),
    _leader("tree", ZERO),
    _quadratic(ZERO),
    _quadratic(SWAP),
)
