"""Models of a number that look at the targets, or leave something about them out of the account."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from audits.mutants.stages import ADD, SMALL_DELTA, promised
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.data import Interval, LabelSet, OpenRows
from discreet.losses import PseudoHuber
from discreet.mechanisms import AdditiveModel, MarginalSplits
from discreet.mechanisms.objective_perturbation import MASK_SHARE
from discreet.noise import Noise
from discreet.privacy import Budget, Gaussian
from discreet.questions import AdditiveProblem, Marginals

TARGET = Marginals((None, 2), Interval(0, 1), depth=4, max_rows=2**20)
QUESTION = AdditiveProblem(TARGET, ridge=3.6)


def _plan(question: AdditiveProblem, budget: Budget) -> Any:
    return AdditiveModel().plan(question, budget, ADD)


PLAN = _plan(QUESTION, SMALL_DELTA)


def exact_spread_of_targets() -> Mutant:
    def one(rows: OpenRows, noise: Noise) -> Vector:
        released = PLAN.noise.hide(PLAN.noise.layout.count(rows), noise)[0]
        frame, settings = PLAN.settle_from(released)
        targets = rows.gather()[1]
        exact = 0.0 if targets is None else float(targets.std())
        known = replace(settings, threshold=max(exact, 0.1))
        coefficients = PLAN.run_in(frame, known, rows, noise).ravel()
        padding = np.zeros(PLAN.widest - coefficients.size)
        return np.concatenate([[known.threshold], coefficients, padding])

    def run(rows: OpenRows, noise: Noise, count: int) -> Array:
        return np.array([one(rows, noise) for _ in range(count)])

    rows, targets = np.tile(np.array([[0.0, 0.0]]), (60, 1)), np.tile([0.0, 0.5], 30)
    more = np.concatenate([rows, [[15.0, 1.0]]]), np.append(targets, 1.0)
    return Mutant(
        name="a threshold by the exact spread of targets",
        breaks="The threshold is published, and one record moves it.",
        mechanism="additive_model",
        guarantee=promised(SMALL_DELTA),
        pair=Pair((rows, targets), more, ADD),
        run=Sampled(QUESTION.bounds, ADD, run),
        original=of_plan(PLAN, QUESTION.bounds),
        trials=300,
    )


def slopes_of_both_signs_counted_as_one() -> BoundMutant:
    # One record alone, whose residual has either sign: the exact law of everything, by quadrature.
    budget, ridge, loss = Budget(3.0, 1e-6), 0.61, PseudoHuber(1.0)
    of_both, of_one = (
        _plan(AdditiveProblem(replace(TARGET, labels=labels), ridge), budget)
        for labels in (TARGET.labels, LabelSet([-1, 1]))
    )

    def reached(plan: Any) -> float:
        noise = plan.second.objective_noise
        spread = 14 * noise / ridge + 60
        points = np.linspace(-spread, spread, 200_001)
        without = _log_density(ridge * points, np.full_like(points, ridge), noise)
        slopes, curvatures = loss.slope(0.0, points), loss.curvature(0.0, points)
        with_it = _log_density(ridge * points + slopes, ridge + curvatures, noise)
        # The other releases are Gaussian: what is left of epsilon is theirs.
        beside = math.hypot(plan.noise.sensitivity, MASK_SHARE / noise)
        left = budget.epsilon - (without - with_it)
        deltas = ndtr(beside / 2 - left / beside) - np.exp(left) * ndtr(-beside / 2 - left / beside)
        return float((np.exp(without) * deltas).sum() * (points[1] - points[0]))

    return BoundMutant(
        name="noise for slopes of one sign, and residuals have both",
        breaks="What one record adds to the slope can be on either side of the noise.",
        mechanism="additive_model",
        measure="delta",
        claimed=budget.delta,
        reached=lambda: reached(of_one),
        reached_by_original=lambda: reached(of_both),
    )


def _log_density(slope: Vector, curvature: Vector, noise: float) -> Vector:
    """Return that of the minimiser where the objective has this slope and curvature."""
    density: Vector = np.log(curvature / noise / math.sqrt(2 * math.pi)) - (slope / noise) ** 2 / 2
    return density


def target_left_out_of_the_account() -> BoundMutant:
    plan: Any = MarginalSplits("gaussian").plan(TARGET, SMALL_DELTA, ADD)
    parts = len(TARGET.levels) + 2  # columns, the number of rows, the target

    def reached(counted: int) -> float:
        return Gaussian(plan.sensitivity * math.sqrt(parts / counted)).delta(SMALL_DELTA.epsilon)

    return BoundMutant(
        name="splits of the target left out of the account",
        breaks="A record is counted, and it is in a split of each level of its target.",
        mechanism="marginal_splits",
        measure="delta",
        claimed=SMALL_DELTA.delta,
        reached=lambda: reached(parts - 1),
        reached_by_original=lambda: reached(parts),
    )


MUTANTS: tuple[Broken, ...] = (
    exact_spread_of_targets(),
    slopes_of_both_signs_counted_as_one(),
    target_left_out_of_the_account(),
)
