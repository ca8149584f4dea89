"""Broken marginals: noise for less than a row changes, or not on every number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan, open_data
from discreet._types import Array, Integers
from discreet.audit import Pair
from discreet.data import LabelSet, OpenRows
from discreet.mechanisms import MarginalSplits
from discreet.mechanisms.summing.dyadic_splits import split_counts
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne, Unit
from discreet.questions import Marginals

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(2.0, 1e-3)
QUESTION = Marginals((None, None, None), LabelSet([-1, 1]), depth=3, max_rows=2**20)
ROWS, LABELS = np.array([[0.0, 0.0, 0.0], [7.0, 7.0, 7.0]]), np.array([-1.0, 1.0])
ONE_MORE = Pair((ROWS[:1], LABELS[:1]), (ROWS, LABELS), ADD)
ANOTHER = Pair((ROWS[:1], LABELS[:1]), (ROWS[1:], LABELS[1:]), SWAP)
MISSING = Pair((ROWS[:1], LABELS[:1]), (np.array([[0.0] * 3, [8.0] * 3]), LABELS), ADD)


def _plan(unit: Unit, question: Marginals = QUESTION) -> Any:
    return MarginalSplits("gaussian").plan(question, BUDGET, unit)


def _mutant(
    name: str, breaks: str, pair: Pair, release: Callable[[Any, OpenRows, Noise, int], Array]
) -> Mutant:
    plan = _plan(pair.unit)
    return Mutant(
        name=name,
        breaks=breaks,
        mechanism="marginal_splits",
        guarantee=plan.guarantee,
        pair=pair,
        run=Sampled(
            QUESTION.bounds, pair.unit, lambda rows, noise, draws: release(plan, rows, noise, draws)
        ),
        original=of_plan(plan, QUESTION.bounds),
        trials=20_000,
    )


def noise_for_one_column() -> Mutant:
    alone = _plan(ADD, replace(QUESTION, levels=(None,), labels=None))

    def release(plan: Any, rows: OpenRows, noise: Noise, draws: int) -> Array:
        as_if_alone = replace(alone.noise, layout=plan.noise.layout)
        return as_if_alone.hide(plan.noise.layout.count(rows), noise, draws)

    return _mutant(
        "marginals with noise for one column",
        "A row is in the splits of every column, and in the label's counts.",
        ONE_MORE,
        release,
    )


def missing_in_the_middle_too() -> Mutant:
    def release(plan: Any, rows: OpenRows, noise: Noise, draws: int) -> Array:
        return plan.noise.hide(_with_middle(plan, rows), noise, draws)

    return _mutant(
        "a missing value counted in the middle cell too",
        "A row without a value moves the count of missing values, and a split of each level.",
        MISSING,
        release,
    )


def _with_middle(plan: Any, rows: OpenRows) -> Integers:
    """Return the numbers with every missing value also among the known ones."""
    numbers: Integers = plan.noise.layout.count(rows)
    each = 2**QUESTION.depth
    middle = split_counts(np.eye(each, dtype=np.int64)[each // 2])
    for start in range(0, each * QUESTION.numeric, each):
        numbers[start + 1 : start + each] += numbers[start] * middle
    return numbers


def replaced_as_if_added() -> Mutant:
    added = _plan(ADD)

    def release(plan: Any, rows: OpenRows, noise: Noise, draws: int) -> Array:
        return added.noise.hide(added.noise.layout.count(rows), noise, draws)

    return _mutant(
        "marginals of a replaced record with noise for an added one",
        "The first split moves by two, and two of every level below move by one.",
        ANOTHER,
        release,
    )


def one_count_more_for_replacing() -> BoundMutant:
    plan = _plan(SWAP)

    def reached(factor: float) -> float:
        return Gaussian(factor * plan.sensitivity).delta(BUDGET.epsilon)

    claimed, columns = plan.sensitivity**2, QUESTION.numeric
    first = 2 * plan.noise.sizes[1] ** 2 * 4.0**-plan.noise.grid.bits  # 2 w_0 of each column
    return BoundMutant(
        name="a split that moves by two taken for two that move by one",
        breaks="Squares: one number that moves by two costs four, two that move by one cost two.",
        mechanism="marginal_splits",
        measure="delta",
        claimed=BUDGET.delta,
        reached=lambda: reached((claimed / (claimed - columns * first)) ** 0.5),
        reached_by_original=lambda: reached(1.0),
    )


def silent_empty_nodes() -> Mutant:
    def release(plan: Any, rows: OpenRows, noise: Noise, draws: int) -> Array:
        numbers = plan.noise.layout.count(rows)
        return plan.noise.hide(numbers, noise, draws) * (numbers != 0)

    return _mutant(
        "no noise on splits without rows",
        "A node where nobody is shows zero: a number that is not zero shows a row.",
        ONE_MORE,
        release,
    )


def all_rows_beside_groups() -> BoundMutant:
    question = Marginals((None, 2), depth=3, max_rows=2**20, by=1)
    plan = _plan(ADD, question)
    sizes, bits = plan.noise.sizes, plan.noise.grid.bits
    tree = sum(size**2 for size in sizes[1:]) * 4.0**-bits
    claimed = plan.sensitivity**2

    def reached(factor: float) -> float:
        return Gaussian(factor * plan.sensitivity).delta(BUDGET.epsilon)

    return BoundMutant(
        name="groups, and all rows together, for the price of groups",
        breaks="A row is in the splits of its group; in those of all rows it is once more.",
        mechanism="marginal_splits",
        measure="delta",
        claimed=BUDGET.delta,
        reached=lambda: reached(((claimed + tree) / claimed) ** 0.5),
        reached_by_original=lambda: reached(1.0),
    )


def exact_range() -> Mutant:
    def release(plan: Any, rows: OpenRows, noise: Noise, draws: int) -> Array:
        gathered, labels = rows.gather()
        most = np.maximum(gathered.max(axis=0), 1.0)
        cells = np.minimum(np.floor(8 * gathered / (most + 1)), 7)
        inside = open_data((cells, labels), QUESTION.bounds, ADD)
        return plan.noise.hide(plan.noise.layout.count(inside), noise, draws)

    many = np.tile(np.array([[3.0, 3.0, 3.0]]), (40, 1)), np.ones(40)
    last = np.concatenate([many[0], ROWS[1:]]), np.ones(41)
    return replace(
        _mutant(
            "cells between zero and the largest value of these rows",
            "One row with a large value moves all others to cells on the left.",
            ONE_MORE,
            release,
        ),
        pair=Pair(many, last, ADD),
    )


MUTANTS: tuple[Broken, ...] = (
    noise_for_one_column(),
    missing_in_the_middle_too(),
    replaced_as_if_added(),
    one_count_more_for_replacing(),
    silent_empty_nodes(),
    all_rows_beside_groups(),
    exact_range(),
)
