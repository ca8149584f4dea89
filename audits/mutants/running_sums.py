"""Broken running sums of streams."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.attacks import Combination
from audits.mutants.base import BoundMutant, Mutant
from audits.mutants.runs import Sampled, of_plan, on_grid
from discreet._types import Array, Integers
from discreet.audit import Pair
from discreet.data import Bounds, Interval, LabelSet, OpenRows
from discreet.geometry import L2Ball
from discreet.losses import Hinge, Squared
from discreet.mechanisms import FollowTheLeader, OnlineQuadratic
from discreet.mechanisms.streaming.toeplitz_factor import ToeplitzFactor
from discreet.mechanisms.streaming.tree_factor import TreeFactor
from discreet.noise import Noise
from discreet.penalties import Indicator
from discreet.privacy import Budget, ReplaceOne, Unit, ZeroOutOne
from discreet.questions import Problem, Stream

BUDGET = Budget(4.0, 1e-3)
SWAP, ZERO = ReplaceOne(), ZeroOutOne()
LINE = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
STEPS = 16


def leader(factor: str, unit: Unit, steps: int = STEPS) -> Any:
    stream = Stream(Problem(Hinge(), LINE, ridge=1.0), horizon=steps)
    return FollowTheLeader(factor).plan(stream, BUDGET, unit)


def claimed_mu(plan: Any) -> float:
    return float(plan.guarantee.profile.ideal.mu)


def moved(plan: Any, counted: int = 1) -> Array:
    """What exchanging the first record moves each sum by: it is counted in the first so many."""
    records, change = plan.records, np.zeros((plan.question.updates, 1))
    for step in range(counted):
        sums = np.zeros((2, 1), dtype=np.int64)
        for label, total in zip((1.0, -1.0), sums, strict=True):
            records.add(records.prepare(np.ones((1, 1))), np.array([label]), np.zeros(1), total)
        change[step] = (sums[0] - sums[1]) * records.unit
    return change


def seen(factor: ToeplitzFactor, change: Array) -> float:
    """Return the norm of what the Gaussian mechanism sees of a change of the sums."""
    strategy = np.zeros((factor.steps, factor.steps))
    for step in range(factor.steps):
        row = factor.row(step)
        strategy[step, step - row.size + 1 : step + 1] = row[::-1]
    return float(np.linalg.norm(strategy @ change) * 2.0**-factor.coefficient_bits)


def short_columns() -> BoundMutant:
    plan = leader("square_root", SWAP)
    moves = seen(plan.release.factor, moved(plan))
    coefficients = plan.release.factor.coefficients
    short = float(np.linalg.norm(coefficients[:2]) / np.linalg.norm(coefficients))
    return BoundMutant(
        name="the norm of columns without what later steps see",
        breaks="Noise for two steps, but a record is in every running sum from its own on.",
        mechanism="follow_the_leader",
        measure="mu",
        claimed=claimed_mu(plan),
        reached=lambda: moves / (plan.release.grid.scale * short),
        reached_by_original=lambda: moves / plan.release.grid.scale,
    )


def half_the_nodes() -> BoundMutant:
    plan = leader("tree", ZERO)
    moves = float(np.linalg.norm(moved(plan))) / 2 * math.sqrt(plan.release.factor.levels)
    return BoundMutant(
        name="the nodes of a tree that are right children left out of the account",
        breaks="Nodes above the first record are all left children: none of them can be left out.",
        mechanism="follow_the_leader",
        measure="mu",
        claimed=claimed_mu(plan),
        reached=lambda: moves / (plan.release.grid.scale / math.sqrt(2)),
        reached_by_original=lambda: moves / plan.release.grid.scale,
    )


def replaced_as_zeroed_out() -> BoundMutant:
    plan, zeroed = leader("square_root", SWAP), leader("square_root", ZERO)
    moves = seen(plan.release.factor, moved(plan))
    return BoundMutant(
        name="a replaced record counted as one that is zeroed out",
        breaks="A gradient is exchanged for its opposite, and moves its sum twice.",
        mechanism="follow_the_leader",
        measure="mu",
        claimed=claimed_mu(plan),
        reached=lambda: moves / zeroed.release.grid.scale,
        reached_by_original=lambda: moves / plan.release.grid.scale,
    )


def counted_twice() -> BoundMutant:
    plan = leader("square_root", SWAP)
    return BoundMutant(
        name="a record counted in the batch that ends and in the next one",
        breaks="Batches overlap by a record, which is then in two sums; their columns add up.",
        mechanism="follow_the_leader",
        measure="mu",
        claimed=claimed_mu(plan),
        reached=lambda: seen(plan.release.factor, moved(plan, 2)) / plan.release.grid.scale,
        reached_by_original=lambda: (
            seen(plan.release.factor, moved(plan)) / plan.release.grid.scale
        ),
    )


def redrawn_nodes() -> BoundMutant:
    """After each step the tree is started again from its exact sums, and its nodes drawn anew.

    Running sums then have independent noise, each of the deviation of its nodes: what they say of
    the first record adds up over all of them.
    """
    plan = leader("tree", SWAP, 64)
    factor: TreeFactor = plan.release.factor
    moves = float(np.linalg.norm(moved(plan))) / plan.release.grid.scale

    def told() -> float:
        return moves * math.sqrt(float((1 / factor.deviations(factor.steps) ** 2).sum()))

    return BoundMutant(
        name="a tree that is restarted and draws its nodes again",
        breaks="A node that is released twice with noise of its own each time is averaged.",
        mechanism="follow_the_leader",
        measure="mu",
        claimed=claimed_mu(plan),
        reached=told,
        reached_by_original=lambda: moves * factor.column_norm(),
    )


def two_lattices() -> BoundMutant:
    """With C = [[1, 0], [1/2, 1]] and whole noise, a parity of the releases is that of a sum."""

    def parities(sums: tuple[int, int], inverse: Array, scale: int) -> set[int]:
        noise: Integers = np.stack(np.meshgrid(np.arange(-8, 9), np.arange(-8, 9))).reshape(2, -1)
        released = scale * np.array(sums)[:, None] + inverse @ noise
        return set(np.rint(2 * released[1] + released[0]).astype(int) % 2)

    def chance(inverse: Array, scale: int) -> float:
        first, second = parities((0, 0), inverse, scale), parities((1, 0), inverse, scale)
        return float(first.isdisjoint(second))

    return BoundMutant(
        name="whole noise through a factor that is not whole",
        breaks="C q is off the lattice of the noise: releases of neighbours lie on two lattices "
        "that do not meet.",
        mechanism="follow_the_leader",
        measure="delta",
        claimed=BUDGET.delta,
        reached=lambda: chance(np.array([[1.0, 0.0], [-0.5, 1.0]]), 1),
        # In units of halves 2 C q is whole, and the noise is as fine as they are.
        reached_by_original=lambda: chance(np.array([[0.5, 0.0], [-0.25, 0.5]]) * 4, 4),
    )


def state_in_the_model() -> Mutant:
    plan = leader("tree", ZERO, 3)

    def with_state(rows: OpenRows, noise: Noise, count: int) -> Array:
        found = []
        for _ in range(count):
            session = plan.start(noise)
            for X, y in rows.stretches(1):
                session.learn(X, y)
            found.append([*session.answer(), *session.pack()["noise"].ravel()])
        return np.array(found, dtype=np.float64)

    X = np.array([[1.0], [0.0], [0.0]])
    labels = np.ones(3)
    scale = plan.leader.pull + plan.question.problem.ridge
    # Of three steps the first two are one node and the third another: levels one and zero.
    own = np.array([-scale / plan.release.grid.step, -1.0, -1.0])
    return Mutant(
        name="the noise of a stream stored beside its public model",
        breaks="Whoever has both takes the noise off the running sum.",
        mechanism="follow_the_leader",
        guarantee=plan.guarantee,
        pair=Pair((X, labels), (0 * X, labels), ZERO),
        run=Sampled(LINE, ZERO, with_state),
        original=of_plan(plan, plan.question.bounds),
        trials=300,
        scores=(Combination(own),),
        original_scores=(),
    )


def without_the_angle() -> Mutant:
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1))
    problem = Problem(Squared(1.0), bounds, ridge=1.0, penalty=Indicator(L2Ball(1.0)))
    stream = Stream(problem, horizon=1)
    plans: list[Any] = [OnlineQuadratic().plan(stream, BUDGET, unit) for unit in (SWAP, ZERO)]

    def sums_with(plan: Any) -> Sampled:
        def noisy(rows: OpenRows, noise: Noise, count: int) -> Array:
            X, y = rows.gather()
            total = np.zeros(plan.records.width, dtype=np.int64)
            plan.records.add(plan.records.prepare(X), y, np.zeros(0), total)
            grid = plan.release.grid
            units = np.rint(total * (plan.records.unit / grid.step)).astype(np.int64)
            return on_grid(units, grid, noise, count, laplace=False)

        return Sampled(stream.bounds, SWAP, noisy)

    x, turned = np.array([[1.0, 0.0]]), np.array([[0.5, math.sqrt(0.75)]])
    return Mutant(
        name="moments of a replaced record with the noise for one",
        breaks="A record turned by 60 degrees and with the opposite label moves X'X and X'y by the "
        "root of 4.5, not of 2.",
        mechanism="online_quadratic",
        guarantee=replace(plans[0].guarantee),
        pair=Pair((x, np.ones(1)), (turned, -np.ones(1)), SWAP),
        run=sums_with(plans[1]),
        original=sums_with(plans[0]),
        trials=24000,
    )


MUTANTS = (
    short_columns(),
    half_the_nodes(),
    replaced_as_zeroed_out(),
    counted_twice(),
    redrawn_nodes(),
    two_lattices(),
    state_in_the_model(),
    without_the_angle(),
)
