"""Objectives that are settled by more than the noisy sums, or noise that is settled with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Mutant
from audits.mutants.runs import Sampled, of_plan
from audits.mutants.stages import ADD, FRAMED, SMALL_DELTA, promised
from discreet._types import Array
from discreet.audit import Pair
from discreet.data import OpenRows
from discreet.losses import MarginLogistic
from discreet.mechanisms import ObjectivePerturbation, PrivateStandardisation
from discreet.mechanisms.signal_rules import Settings, SignalRules, WideRules
from discreet.mechanisms.summing.standard_frame import Framing, StandardFrame
from discreet.noise import Noise
from discreet.privacy import Gaussian
from discreet.questions.problem import Problem

SETTLED = PrivateStandardisation(
    ObjectivePerturbation(settles_later=True), share=0.06, rules=SignalRules()
)
PROBLEM = Problem(MarginLogistic(), FRAMED, ridge=3.0)
ZEROS, ONES = np.zeros((60, 1)), np.ones(60)
ONE_LONGER = Pair((ZEROS, ONES), (np.concatenate([ZEROS, [[1.0]]]), np.append(ONES, 1.0)), ADD)

Peek = Callable[[Any, OpenRows, StandardFrame], Settings]
"""What somebody settles who looks at the rows, and not at the frame alone; the plan comes first."""


def _peeking(
    name: str, breaks: str, peek: Peek, settled: PrivateStandardisation = SETTLED
) -> Mutant:
    """Return the mechanism with settings that somebody corrected by looking at the rows."""
    plan: Any = settled.plan(PROBLEM, SMALL_DELTA, ADD)

    def run(rows: OpenRows, noise: Noise, count: int) -> Array:
        return np.array([one(rows, noise) for _ in range(count)])

    def one(rows: OpenRows, noise: Noise) -> Array:
        frame = plan._frame(rows, noise)
        settings = peek(plan, rows, frame)
        loss = plan.rules.loss(settings, PROBLEM.loss)
        framing = Framing(
            replace(frame, length=settings.length), plan.replan.bounds(frame.region), FRAMED
        )
        second = plan.second.settle(loss, settings.ridge)
        return settings.append_to(np.asarray(second.run_in_frame(rows, noise, framing)))

    return Mutant(
        name=name,
        breaks=breaks,
        mechanism="private_standardisation",
        guarantee=promised(SMALL_DELTA),
        pair=ONE_LONGER,
        run=Sampled(FRAMED, ADD, run),
        original=of_plan(plan, FRAMED),
        trials=200,
    )


def exact_count() -> Mutant:
    def peek(plan: Any, rows: OpenRows, frame: StandardFrame) -> Settings:
        settings: Settings = plan._settle(replace(frame, count=float(rows.count)))
        return settings

    return _peeking(
        "margin and ridge settled by the exact number of rows",
        "What is settled is published, and tells the number of rows.",
        peek,
    )


def exact_count_of_wide_rows() -> Mutant:
    def peek(plan: Any, rows: OpenRows, frame: StandardFrame) -> Settings:
        settings: Settings = plan._settle(replace(frame, count=float(rows.count)))
        return settings

    return _peeking(
        "margin and ridge of wide rows settled by their exact number",
        "Nothing else is released of columns, but their number is, and what it settles.",
        peek,
        replace(SETTLED, share=0.001, rules=WideRules(), scales=False),
    )


def exact_lengths() -> Mutant:
    def peek(plan: Any, rows: OpenRows, frame: StandardFrame) -> Settings:
        typical = float(np.sqrt(np.mean(rows.gather()[0][:, 0] ** 2)))
        return replace(plan._settle(frame), length=1 + typical)

    return _peeking(
        "rows clipped to their exact typical length",
        "The length is published, and one record lengthens an exact mean.",
        peek,
    )


def exact_correlation() -> Mutant:
    def peek(plan: Any, rows: OpenRows, frame: StandardFrame) -> Settings:
        full, labels = rows.gather()
        product = abs(float(np.mean(full[:, 0] * labels)))
        return replace(plan._settle(frame), margin=3 * (1 - min(product, 1.0)))

    return _peeking(
        "a margin settled by how columns go with labels",
        "The margin is published, and labels were in no sum that has noise.",
        peek,
    )


def noise_settled_too() -> BoundMutant:
    # Losses that are straight where it matters: each stage is a Gaussian that moves.
    problem = Problem(MarginLogistic(margin=40.0), FRAMED, ridge=4000.0)
    plan: Any = replace(SETTLED, rules=SignalRules(settles_margin=False)).plan(
        problem, SMALL_DELTA, ADD
    )

    def reached(noise: float) -> float:
        apart = math.hypot(
            plan.moments.sensitivity(2, ADD) / plan.sums.grid.scale,
            plan.second.minimiser.problem.bounds.row_norm() / noise,
        )
        return Gaussian(apart).delta(SMALL_DELTA.epsilon)

    # "With a thousand rows a tenth less noise will do."
    return BoundMutant(
        name="noise of the second stage settled by the noisy count",
        breaks="A guarantee is for every outcome of the sums, also for those with much signal.",
        mechanism="private_standardisation",
        measure="delta",
        claimed=SMALL_DELTA.delta,
        reached=lambda: reached(0.9 * plan.second.scale),
        reached_by_original=lambda: reached(plan.second.scale),
    )


MUTANTS = (
    exact_count(),
    exact_count_of_wide_rows(),
    exact_lengths(),
    exact_correlation(),
    noise_settled_too(),
)
