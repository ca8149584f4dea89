"""Broken histograms of bins that follow a first release."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.data import OpenRows
from discreet.mechanisms import FollowingHistogram
from discreet.mechanisms.following_histogram import FollowingPlan, NoiseOnCounts, count_scores
from discreet.mechanisms.summing.score_cells import fixed_edges, place_rows
from discreet.noise import UNIT_RATE, Noise
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import FollowingCounts

ADD = AddRemoveOne()
QUESTION = FollowingCounts(4, (), most_bins=2)
PURE = Budget(2.0)
LOW, HIGH = [1.0, -3.0, 0.9], [2.0, 3.0, 0.1]
PAIR = Pair(np.array([LOW]), np.array([LOW, HIGH]), ADD)
ALTERNATE = np.array([LOW, [2.0, -3.0, 0.9]] * 15)
"""Rows of both classes in turn, each in the upper half of its bin with a chance near one half."""


def _plan() -> Any:
    return FollowingHistogram("laplace").plan(QUESTION, PURE, ADD)


def _mutant(name: str, breaks: str, release: Any, pair: Pair, trials: int) -> Mutant:
    plan: FollowingPlan = _plan()

    def released(rows: OpenRows, noise: Noise, draws: int) -> Array:
        return np.array([release(plan, rows, noise) for _ in range(draws)])

    return Mutant(
        name=name,
        breaks=breaks,
        mechanism="following_histogram",
        guarantee=plan.guarantee,
        pair=pair,
        run=Sampled(QUESTION.bounds, ADD, released),
        original=of_plan(plan, QUESTION.bounds),
        trials=trials,
    )


def edges_of_exact_counts() -> Mutant:
    def release(plan: FollowingPlan, rows: OpenRows, noise: Noise) -> Vector:
        exact = count_scores(rows, QUESTION, fixed_edges(QUESTION.cells), has_halves=False)[1:]
        edges = plan.edges_after(exact.astype(np.float64))
        return np.concatenate([edges, plan.release_second(rows, edges, noise)])

    return _mutant(
        "edges that follow exact counts",
        "Edges are made of the first histogram without its noise: they tell of each row.",
        release, PAIR, 400,
    )  # fmt: skip


def noise_on_the_first_release_only() -> Mutant:
    def release(plan: FollowingPlan, rows: OpenRows, noise: Noise) -> Vector:
        edges = plan.edges_after(plan.release_first(rows, noise))
        counts = count_scores(rows, QUESTION, edges, has_halves=True)
        return np.concatenate([edges, NoiseOnCounts().hide(counts, noise)])

    return _mutant(
        "noise on the release that finds the edges alone",
        "The second histogram is released as it is.",
        release, PAIR, 400,
    )  # fmt: skip


def published_coins() -> Mutant:
    coins = np.tile([0.05, 0.95], 16)

    def release(plan: FollowingPlan, rows: OpenRows, noise: Noise) -> Vector:
        matrix = np.asarray(rows.gather()[0])
        matrix[:, 2] = coins[: len(matrix)]
        edges = plan.edges_after(plan.release_first(rows, noise))
        places = place_rows(edges, matrix, has_halves=True)
        counts = np.bincount(places, minlength=1 + 4 * (edges.size + 1))
        return np.concatenate([edges, plan.second.hide(counts, noise)])

    return _mutant(
        "coins of a published list, in the order of rows",
        "Without the first row each other has the coin of the one before, and another half.",
        release, Pair(ALTERNATE, ALTERNATE[1:], ADD), 600,
    )  # fmt: skip


def first_release_for_free() -> BoundMutant:
    plan: FollowingPlan = _plan()
    rates = [part.rate or 0 for part in (plan.first, plan.second)]
    whole = sum(rates) / UNIT_RATE
    return BoundMutant(
        name="the release that finds the edges is not charged",
        breaks="The second has all of epsilon: what the first shows comes on top.",
        mechanism="following_histogram",
        measure="epsilon",
        claimed=plan.guarantee.epsilon(0.0),
        reached=lambda: whole + rates[0] / UNIT_RATE,
        reached_by_original=lambda: whole,
    )


MUTANTS: tuple[Broken, ...] = (
    edges_of_exact_counts(),
    noise_on_the_first_release_only(),
    published_coins(),
    first_release_for_free(),
)
