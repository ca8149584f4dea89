"""Additive models whose tables are made of more than released numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan, open_data
from audits.mutants.stages import ADD, SMALL_DELTA, promised
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.data import LabelSet, OpenRows
from discreet.geometry import L2Ball
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.additive_model import bounds_within
from discreet.mechanisms.additive_objectives import CLASS_POWER, CLASS_TERMS, count_terms
from discreet.mechanisms.additive_pure import region_of
from discreet.mechanisms.minimising.linear_term import pure_cost
from discreet.mechanisms.signal_rules import Settings
from discreet.mechanisms.summing.additive_tables import AdditiveFrame, make_frame
from discreet.mechanisms.summing.released_marginals import ReleasedMarginals, read_marginals
from discreet.noise import Noise, RehearsalNoise
from discreet.privacy import Budget, Gaussian
from discreet.questions import AdditiveProblem, Marginals

QUESTION = AdditiveProblem(
    Marginals((None, 2), LabelSet([-1, 1]), depth=4, max_rows=2**20), ridge=3.0
)
PLAN: Any = AdditiveModel().plan(QUESTION, SMALL_DELTA, ADD)
ROWS = np.tile(np.array([[0.0, 0.0], [9.0, 0.0]]), (30, 1))

Peek = Callable[[OpenRows, ReleasedMarginals], tuple[ReleasedMarginals, int]]
"""Which marginals and how many terms somebody takes who looks at the rows as well."""


def _exact(rows: OpenRows) -> ReleasedMarginals:
    layout = PLAN.noise.layout
    counted: Vector = layout.count(rows).astype(np.float64)
    return read_marginals(layout, counted, np.zeros(1 + sum(layout.depths)))


def _peeking(name: str, breaks: str, more: list[float], peek: Peek, times: int = 60) -> Mutant:
    def run(rows: OpenRows, noise: Noise, count: int) -> Array:
        return np.array([one(rows, noise) for _ in range(count)])

    def one(rows: OpenRows, noise: Noise) -> Vector:
        released = PLAN.noise.hide(PLAN.noise.layout.count(rows), noise)[0]
        _, settings = PLAN.settle_from(released)
        marginals, terms = peek(rows, PLAN.marginals(released))
        frame: AdditiveFrame = make_frame(QUESTION.marginals, marginals, terms, 10.0)
        framed = replace(frame, length=settings.length)
        coefficients = PLAN.run_in(framed, settings, rows, noise)[0, 0]
        padding = np.zeros(PLAN.widest - coefficients.size)
        folded = np.concatenate(framed.shapes(coefficients)[0])
        return np.concatenate([coefficients, padding, folded])

    first, labels = ROWS[:times], np.ones(times)
    second = np.concatenate([first, [more]]), np.append(labels, 1.0)
    return Mutant(
        name=name,
        breaks=breaks,
        mechanism="additive_model",
        guarantee=promised(SMALL_DELTA),
        pair=Pair((first, labels), second, ADD),
        run=Sampled(QUESTION.bounds, ADD, run),
        original=of_plan(PLAN, QUESTION.bounds),
        trials=300,
    )


def exact_quantiles() -> Mutant:
    return _peeking(
        "functions of exact ranks and quantiles",
        "The shapes of all cells are published in tables that one record moves.",
        [15.0, 0.0],
        lambda rows, marginals: (_exact(rows), 1),
    )


def exact_number_of_terms() -> Mutant:
    noise = PLAN.second.objective_noise

    def terms(count: int) -> int:
        return count_terms(CLASS_TERMS, count / (3 * noise), CLASS_POWER)

    times = next(count for count in range(8, 60) if terms(count) != terms(count + 1))
    return _peeking(
        "terms by the exact number of rows",
        "How many coefficients there are tells the number of rows.",
        [15.0, 0.0],
        lambda rows, marginals: (marginals, terms(rows.count)),
        times,
    )


def coefficient_for_one_missing_value() -> Mutant:
    def peek(rows: OpenRows, marginals: ReleasedMarginals) -> tuple[ReleasedMarginals, int]:
        number, level = marginals.columns
        shown = replace(number, shows_last=_exact(rows).columns[0].shares[-1] > 1e-6)
        return replace(marginals, columns=(shown, level)), 1

    return _peeking(
        "a coefficient for missing values because there is one",
        "One more coefficient tells that a record has no value.",
        [16.0, 0.0],
        peek,
    )


def levels_pooled_by_exact_counts() -> Mutant:
    def peek(rows: OpenRows, marginals: ReleasedMarginals) -> tuple[ReleasedMarginals, int]:
        number, level = marginals.columns
        shown = replace(level, shows_last=_exact(rows).columns[1].shares[-1] > 1e-6)
        return replace(marginals, columns=(number, shown)), 1

    return _peeking(
        "anything else apart because somebody has it",
        "One more coefficient tells that a record has a level that was not declared.",
        [0.0, 2.0],
        peek,
    )


def _left_out(name: str, breaks: str, taken: AdditiveModel, done: AdditiveModel) -> BoundMutant:
    """Return a plan whose noise is that of ``taken``, though what is released is as of ``done``."""
    # A loss that is straight where it matters: all stages are Gaussians that move.
    question = replace(QUESTION, ridge=4000.0, margin=40.0)

    def reached(planned: AdditiveModel) -> float:
        plan: Any
        full: Any
        plan, full = (one.plan(question, SMALL_DELTA, ADD) for one in (planned, done))
        row = plan.second.minimiser.problem.bounds.row_norm()
        apart = [full.noise.sensitivity, *[row / plan.second.scale] * full.fits]
        if full.counts is not None:
            apart.append(full.counts.profile.ideal.mu)
        return Gaussian(math.hypot(*apart)).delta(SMALL_DELTA.epsilon)

    return BoundMutant(
        name=name,
        breaks=breaks,
        mechanism="additive_model",
        measure="delta",
        claimed=SMALL_DELTA.delta,
        reached=lambda: reached(taken),
        reached_by_original=lambda: reached(done),
    )


def marginals_not_accounted_for() -> BoundMutant:
    return _left_out(
        "marginals left out of the account",
        "Coefficients have the whole budget, and the marginals come on top of it.",
        AdditiveModel(1e-6),
        AdditiveModel(),
    )


def fits_not_accounted_for() -> BoundMutant:
    return _left_out(
        "four fits of an additive model with the noise of one",
        "Each fit reads the rows again.",
        AdditiveModel(),
        AdditiveModel(fits=4),
    )


def score_counts_not_accounted_for() -> BoundMutant:
    return _left_out(
        "scores of an additive model counted for nothing",
        "The shapes are public, the rows that they are counted of are not.",
        AdditiveModel(),
        AdditiveModel(counts_scores=True),
    )


def lengths_from_a_running_sum() -> BoundMutant:
    released = PLAN.noise.hide(np.zeros(PLAN.noise.layout.kinds.size, np.int64), RehearsalNoise(1))
    frame, _ = PLAN.settle_from(released[0])
    short = replace(frame, length=frame.length / 4)  # so that rows are clipped
    generator = np.random.default_rng(1)
    cells = np.column_stack([generator.integers(17, size=2000), generator.integers(3, size=2000)])
    bounds = bounds_within(QUESTION, L2Ball(1.0), frame.width + 1, LabelSet([-1, 1]))

    def clipped(rows: Array) -> Array:
        opened = open_data((rows.astype(float), np.ones(len(rows))), QUESTION.bounds, ADD)
        made: Array = opened.transform(short.apply, bounds).gather()[0]
        return made

    def at_once(rows: Array) -> Array:
        made = short.apply(rows)
        sums = np.diff(np.cumsum((made**2).sum(axis=1)), prepend=0.0)
        return np.asarray(made / np.maximum(np.sqrt(sums), 1.0)[:, None])

    def moved(make: Callable[[Array], Array]) -> float:
        return float((make(cells)[1:] != make(cells[1:])).any(axis=1).sum())

    return BoundMutant(
        name="lengths of rows as steps of one running sum",
        breaks="A record moves the last bits of the rows that come after it.",
        mechanism="additive_model",
        measure="rows",
        claimed=0.0,
        reached=lambda: moved(at_once),
        reached_by_original=lambda: moved(clipped),
    )


def products_less_their_mean() -> BoundMutant:
    layout = replace(QUESTION.marginals, levels=(None, None, 20))
    question = replace(QUESTION, marginals=layout, interactions=True)
    plan: Any = AdditiveModel().plan(question, SMALL_DELTA, ADD)
    released = np.zeros(plan.noise.layout.kinds.size)
    released[-2:] = 1e6
    frame = plan.settle_from(released)[0]
    cells = np.random.default_rng(1).integers(16, size=(200, 3)).astype(float)

    def centred(rows: Array) -> Array:
        made = frame.apply(rows)
        made[:, -2] -= made[:, -2].mean()
        return made

    def moved(make: Callable[[Array], Array]) -> float:
        return float((make(cells)[1:] != make(cells[1:])).any(axis=1).sum())

    return BoundMutant(
        name="products of two columns less their mean over the rows",
        breaks="Means of products are not released: the features of all other rows move.",
        mechanism="additive_model",
        measure="rows",
        claimed=0.0,
        reached=lambda: moved(centred),
        reached_by_original=lambda: moved(frame.apply),
    )


def sums_beyond_their_region() -> BoundMutant:
    plan: Any = AdditiveModel().plan(replace(QUESTION, ridge=5.0), Budget(1.0), ADD)
    bounds = bounds_within(QUESTION, region_of(1.0, 9), 9, LabelSet([-1, 1]))
    second = plan.second.settle(Settings(50.0, 1.0, 1.0, 2.0, 5.0), bounds)

    def reached(longest: float) -> float:
        cost = pure_cost(second.minimiser.problem, ADD, longest / second.term.scale)
        return float(plan.noise.sensitivity + cost)

    return BoundMutant(
        name="noise for typical sums of entries that nobody clips",
        breaks="A row of norm one has a sum as large as the root of the number of features.",
        mechanism="additive_model",
        measure="epsilon",
        claimed=1.0,
        reached=lambda: reached(3.0),
        reached_by_original=lambda: reached(bounds.row_norm(1)),
    )


MUTANTS: tuple[Broken, ...] = (
    sums_beyond_their_region(),
    lengths_from_a_running_sum(),
    products_less_their_mean(),
    exact_quantiles(),
    exact_number_of_terms(),
    coefficient_for_one_missing_value(),
    levels_pooled_by_exact_counts(),
    marginals_not_accounted_for(),
    fits_not_accounted_for(),
    score_counts_not_accounted_for(),
)
