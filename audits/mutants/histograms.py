"""Broken histograms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Integers, Vector
from discreet.audit import Pair
from discreet.data import OpenRows
from discreet.mechanisms import NoisyHistogram
from discreet.mechanisms.noisy_histogram import LaplaceHistogramPlan, count_cells
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, Budget, Laplace, ReplaceOne, Unit
from discreet.questions import CellCounts

ADD, SWAP = AddRemoveOne(), ReplaceOne()
QUESTION = CellCounts(4)
PURE = Budget(2.0)
TOP = np.array([[3.0]])


def _plan(unit: Unit) -> Any:
    return NoisyHistogram("laplace").plan(QUESTION, PURE, unit)


def _noisy(counts: Integers, plan: LaplaceHistogramPlan, noise: Noise, draws: int) -> Array:
    drawn = noise.discrete_laplace(draws * counts.size, plan.rate).reshape(draws, -1)
    return (counts + drawn).astype(np.float64)


def _entries(rows: OpenRows) -> Vector:
    matrix, _ = rows.gather()
    return np.asarray(matrix)[:, 0]


def in_several_cells() -> Mutant:
    plan = _plan(ADD)

    def released(rows: OpenRows, noise: Noise, draws: int) -> Array:
        above = count_cells(QUESTION, rows)[::-1].cumsum()[::-1]
        return _noisy(above, plan, noise, draws)

    return Mutant(
        name="a row counted in several cells",
        breaks="Counts of rows above each edge: a row at the top is in all of them, unclipped.",
        mechanism="noisy_histogram",
        guarantee=plan.guarantee,
        pair=Pair(np.zeros((1, 1)), np.concatenate([np.zeros((1, 1)), TOP]), ADD),
        run=Sampled(QUESTION.bounds, ADD, released),
        original=of_plan(plan, QUESTION.bounds),
        trials=4000,
    )


def edges_from_the_data() -> Mutant:
    plan = _plan(ADD)

    def released(rows: OpenRows, noise: Noise, draws: int) -> Array:
        entries = _entries(rows)
        edges = np.linspace(entries.min(), entries.max() + 1e-9, 5)
        return _noisy(np.histogram(entries, edges)[0], plan, noise, draws)

    ones = np.ones((30, 1))
    rows = np.concatenate([ones, 2 * ones])
    return Mutant(
        name="histogram edges taken from the data",
        breaks="Edges between the least and the largest entry: one row moves all others.",
        mechanism="noisy_histogram",
        guarantee=plan.guarantee,
        pair=Pair(rows, np.concatenate([rows, TOP]), ADD),
        run=Sampled(QUESTION.bounds, ADD, released),
        original=of_plan(plan, QUESTION.bounds),
        trials=4000,
    )


def private_threshold() -> Mutant:
    plan = _plan(ADD)

    def released(rows: OpenRows, noise: Noise, draws: int) -> Array:
        entries = _entries(rows)
        above = entries > np.median(entries)
        return _noisy(np.bincount(above.astype(np.int64), minlength=4), plan, noise, draws)

    rows = np.array([[1.0]] * 20 + [[2.0]] * 21)
    return Mutant(
        name="scores above a private threshold",
        breaks="The threshold is the median of these rows: one row fewer moves it past many.",
        mechanism="noisy_histogram",
        guarantee=plan.guarantee,
        pair=Pair(rows, rows[:-1], ADD),
        run=Sampled(QUESTION.bounds, ADD, released),
        original=of_plan(plan, QUESTION.bounds),
        trials=4000,
    )


def moves_one_count() -> Mutant:
    plan = _plan(SWAP)
    return Mutant(
        name="a replaced record changes one count",
        breaks="The noise is for adding a record; replacing one changes two counts.",
        mechanism="noisy_histogram",
        guarantee=plan.guarantee,
        pair=Pair(np.zeros((1, 1)), TOP, SWAP),
        run=of_plan(replace(plan, rate=2 * plan.rate), QUESTION.bounds),
        original=of_plan(plan, QUESTION.bounds),
        trials=2000,
    )


def two_histograms_paid_as_one() -> Mutant:
    question = CellCounts((4, 4))
    plan: Any = NoisyHistogram("laplace").plan(question, PURE, ADD)
    row = np.zeros((1, 2))
    return Mutant(
        name="two histograms paid for as one",
        breaks="The noise is for one count that changes; a row is in a cell of either histogram.",
        mechanism="noisy_histogram",
        guarantee=plan.guarantee,
        pair=Pair(row, np.concatenate([row, row + 3]), ADD),
        run=of_plan(replace(plan, rate=2 * plan.rate), question.bounds),
        original=of_plan(plan, question.bounds),
        trials=2000,
    )


def silent_empty_cells() -> Mutant:
    plan = _plan(ADD)

    def released(rows: OpenRows, noise: Noise, draws: int) -> Array:
        counts = count_cells(QUESTION, rows)
        return _noisy(counts, plan, noise, draws) * (counts > 0)

    return Mutant(
        name="no noise on empty cells",
        breaks="Cells without rows are released as zero: a count that is not zero shows a row.",
        mechanism="noisy_histogram",
        guarantee=plan.guarantee,
        pair=Pair(np.zeros((1, 1)), np.concatenate([np.zeros((1, 1)), TOP]), ADD),
        run=Sampled(QUESTION.bounds, ADD, released),
        original=of_plan(plan, QUESTION.bounds),
        trials=4000,
    )


def _delta_of_integers(level: float) -> float:
    """Return delta at half the level of a discrete Laplace law moved by one, summed up."""
    places = np.arange(-200, 201)
    one, other = (np.exp(-level * np.abs(places - moved)) for moved in (0, 1))
    weight = np.tanh(level / 2)
    return float(weight * np.maximum(one - np.exp(level / 2) * other, 0).sum())


def _delta_of_floors(level: float) -> float:
    """Return the same of the floor of a Laplace law on a fine grid, moved by one."""
    steps = 2**8
    edges = np.arange(-40 * steps, 40 * steps) / steps

    def chances(centre: float) -> Vector:
        far = np.exp(-level * np.abs(edges - centre)) / 2
        return np.diff(np.where(edges < centre, far, 1 - far))

    return float(np.maximum(chances(0.0) - np.exp(level / 2) * chances(1.0), 0).sum())


def continuous_profile() -> BoundMutant:
    level = PURE.epsilon
    return BoundMutant(
        name="the profile of continuous Laplace noise on integers",
        breaks="A discrete Laplace law moved by one is randomised response, the worst there is.",
        mechanism="noisy_histogram",
        measure="delta",
        claimed=Laplace(level).delta(level / 2),
        reached=lambda: _delta_of_integers(level),
        reached_by_original=lambda: _delta_of_floors(level),
    )


MUTANTS: tuple[Broken, ...] = (
    in_several_cells(),
    edges_from_the_data(),
    private_threshold(),
    moves_one_count(),
    two_histograms_paid_as_one(),
    silent_empty_cells(),
    continuous_profile(),
)
