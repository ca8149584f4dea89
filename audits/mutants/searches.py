"""Broken choices among models."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Integers, Vector
from discreet.audit import Pair
from discreet.audit.cases.votes import choice_of_columns
from discreet.audit.exact.laws import exponential_selection
from discreet.data import OpenRows
from discreet.mechanisms import OutputPerturbation, RepeatAndSelect, TrainAndChoose
from discreet.mechanisms.train_and_choose import pad_choices, write_choice
from discreet.noise import Noise
from discreet.privacy import (
    AddRemoveOne,
    BoundedRange,
    Budget,
    Laplace,
    Pure,
    ReplaceOne,
    SelectedTrial,
    TrialLaw,
)

CLAIMED = 1.0
LEARNERS = (OutputPerturbation("laplace"),) * 2
CHOICE = choice_of_columns()
SHORT = TrialLaw.with_mean(2)


def _told_errors(unit: Any) -> Pair:
    """One record, which is held out: every model is wrong about it, or right."""
    nothing = np.zeros((1, 2))
    return Pair((nothing, np.ones(1)), (nothing, -np.ones(1)), unit)


def exact_score_of_a_split() -> Mutant:
    """The errors of the chosen candidate are kept beside it."""
    plan: Any = TrainAndChoose(LEARNERS).plan(CHOICE, Budget(CLAIMED), ReplaceOne())

    def release(rows: OpenRows, noise: Noise) -> Vector:
        *fitted, held_out = plan.sizes.deal(rows, plan.unit, noise)
        pairs = list(zip(plan.models, fitted, strict=True))
        values = [model.fit(part, noise) for model, part in pairs]
        errors = [m.count_errors(held_out, v) for m, v in zip(plan.models, values, strict=True)]
        chosen = int(noise.candidates(np.ones(2, int), np.array(errors), plan.rate)[0][0])
        return np.append(write_choice(chosen, values[chosen]), errors[chosen])

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        return pad_choices(release(rows, noise) for _ in range(count))

    return Mutant(
        name="an exact best score left on the object",
        breaks="The errors of the chosen model are those of records, without any noise.",
        mechanism="train_and_choose",
        guarantee=plan.guarantee,
        pair=_told_errors(ReplaceOne()),
        run=Sampled(CHOICE.bounds, ReplaceOne(), released),
        original=of_plan(plan, CHOICE.bounds),
        trials=160,
    )


def exact_score_of_trials() -> Mutant:
    """Trials are compared by their exact errors, which are released with the best."""
    plan: Any = RepeatAndSelect(LEARNERS, SHORT).plan(CHOICE, Budget(CLAIMED), ReplaceOne())

    def release(rows: OpenRows, noise: Noise) -> Vector:
        fitted, held_out = plan.sizes.deal(rows, plan.unit, noise)
        value = plan.models[0].fit(fitted, noise)
        return np.append(write_choice(0, value), plan.models[0].count_errors(held_out, value))

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        return pad_choices(release(rows, noise) for _ in range(count))

    return Mutant(
        name="trials compared by exact scores",
        breaks="A score is part of a trial: without noise it tells whether one record is wrong.",
        mechanism="repeat_and_select",
        guarantee=plan.guarantee,
        pair=_told_errors(ReplaceOne()),
        run=Sampled(CHOICE.bounds, ReplaceOne(), released),
        original=of_plan(plan, CHOICE.bounds),
        trials=160,
    )


def _dealt_by(plan: Any, deal: Callable[[int], Integers]) -> Callable[..., Array]:
    """Run a search whose rows are dealt out by their position."""

    def release(rows: OpenRows, noise: Noise) -> Vector:
        *fitted, held_out = rows.deal(deal(rows.count), len(plan.sizes.tickets))
        pairs = zip(plan.models, fitted, strict=True)
        values = [model.fit(part, noise) for model, part in pairs]
        chosen = plan._choose(held_out, values, noise)
        return write_choice(chosen, values[chosen])

    return lambda rows, noise, count: pad_choices(release(rows, noise) for _ in range(count))


def parts_by_position() -> Mutant:
    """Every third row is in one part, though the number of rows is private."""
    add = AddRemoveOne()
    plan: Any = TrainAndChoose(LEARNERS).plan(CHOICE, Budget(CLAIMED), add)
    X, y = np.tile([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]], (8, 1)), np.ones(24)
    return Mutant(
        name="parts of a search by the position of rows",
        breaks="All rows after a removed one move on to another part, and all models with them.",
        mechanism="train_and_choose",
        guarantee=plan.guarantee,
        pair=Pair((X, y), (X[1:], y[1:]), add),
        run=Sampled(CHOICE.bounds, add, _dealt_by(plan, lambda count: np.arange(count) % 3)),
        original=of_plan(plan, CHOICE.bounds),
        trials=160,
    )


def _law_of_scores(rate: float) -> Callable[[], float]:
    """Return the range of log chances if one record is wrong about one model, or the other."""

    def reached() -> float:
        one, other = (
            np.log(exponential_selection([-rate * z for z in errors], 1.0).masses)
            for errors in ((1, 0), (0, 1))
        )
        return float(np.ptp(one - other)) * (1 - 1e-12)

    return reached


def doubled_rate() -> BoundMutant:
    """The rate of add/remove, where errors of models move in opposite directions."""
    return BoundMutant(
        name="the rate of added records for replaced ones",
        breaks="Another record may be wrong about one model and right about the other: twice.",
        mechanism="train_and_choose",
        measure="range",
        claimed=BoundedRange(CLAIMED).span,
        reached=_law_of_scores(CLAIMED),
        reached_by_original=_law_of_scores(CLAIMED / 2),
    )


def _both_sides(truth: float, wrong: float, draws: float) -> float:
    """Return the largest log ratio of releases of a model and of a choice, by enumeration.

    A model is one of two, by randomised response of ``truth``; then one of two candidates is
    drawn by errors, of which one depends on the record with rate ``wrong``.
    """
    model = np.log([1 / (1 + math.exp(-truth)), 1 / (1 + math.exp(truth))])
    first = np.log(exponential_selection([0.0, 0.0], 1.0).masses)
    second = np.log(exponential_selection([-wrong * draws, 0.0], 1.0).masses)
    return float(np.ptp(model) + np.abs(first - second).max()) * (1 - 1e-12)


def training_rows() -> BoundMutant:
    """Candidates are compared on the rows that they were fitted to, booked as the maximum."""
    return BoundMutant(
        name="validation on rows of the fit",
        breaks="The record moves the model and its errors: the costs of both add up.",
        mechanism="train_and_choose",
        measure="epsilon",
        claimed=CLAIMED,
        reached=lambda: _both_sides(CLAIMED, CLAIMED, 1.0),
        reached_by_original=lambda: _both_sides(CLAIMED, CLAIMED, 0.0),
    )


BASE = 0.4


def _trial_law(is_neighbour: bool) -> Vector:
    """Return chances of a bad and a good outcome: randomised response."""
    good = 1 / (1 + math.exp(BASE if is_neighbour else -BASE))
    return np.array([1 - good, good])


def _visible(law: TrialLaw) -> float:
    """Return the largest log ratio if the number of trials is told with the best of them."""
    ratios = []
    for count in range(1, law.quantile(0.999)):
        bad = [_trial_law(side)[0] ** count for side in (False, True)]
        ratios.append(abs(math.log(bad[0] / bad[1])))
    return max(ratios)


def _hidden(law: TrialLaw) -> float:
    """Return the largest log ratio of the best of a secret number of trials."""
    chances = [
        sum(law.chance(k) * _trial_law(side)[0] ** k for k in range(1, 300))
        for side in (False, True)
    ]
    return max(abs(math.log(chances[0] / chances[1])),
               abs(math.log((1 - chances[0]) / (1 - chances[1]))))  # fmt: skip


def visible_trials() -> BoundMutant:
    """How many trials there were is told."""
    law = TrialLaw.with_mean(6)
    return BoundMutant(
        name="a visible number of trials",
        breaks="That the best of many trials is a poor one is as many times as unlikely.",
        mechanism="repeat_and_select",
        measure="epsilon",
        claimed=SelectedTrial(Pure(BASE), law.rate, law.shape).pure_epsilon,
        reached=lambda: _visible(law),
        reached_by_original=lambda: _hidden(law),
    )


def discrete_for_continuous() -> BoundMutant:
    """Discrete noise in scores, booked as continuous Laplace noise."""
    rate = Fraction(CLAIMED)

    def apart(is_discrete: bool) -> float:
        """Return the total variation of noise moved by one."""
        return math.tanh(float(rate) / 2) if is_discrete else -math.expm1(-float(rate) / 2)

    return BoundMutant(
        name="discrete noise in a score booked as continuous",
        breaks="Integers moved by one step are as far apart as pure epsilon allows.",
        mechanism="repeat_and_select",
        measure="delta",
        claimed=Laplace(CLAIMED).delta(0.0),
        reached=lambda: apart(is_discrete=True),
        reached_by_original=lambda: apart(is_discrete=False),
    )


MUTANTS: tuple[Broken, ...] = (
    exact_score_of_a_split(),
    exact_score_of_trials(),
    parts_by_position(),
    doubled_rate(),
    training_rows(),
    visible_trials(),
    discrete_for_continuous(),
)
