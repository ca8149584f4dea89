"""Broken noisy gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from audits.mutants.base import Mutant
from audits.mutants.runs import of_plan, rescaled
from discreet.audit.catalogue import cases
from discreet.mechanisms import NoisyGradient


def moves_once() -> Mutant:
    case = cases("noisy_gradient", "replace", 4.0, 1e-3)[0]
    plan: Any = case.plan()
    bounds = case.question.bounds
    return Mutant(
        name="a replaced record moves the sum of gradients once",
        breaks="The noise is for adding a record; replacing one moves the sum twice as far.",
        mechanism="noisy_gradient",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, grid=rescaled(plan.grid, 0.5)), bounds),
        original=of_plan(plan, bounds),
        trials=8000,
    )


def fixed_as_poisson() -> Mutant:
    case = cases("noisy_gradient", "replace", 4.0, 1e-3)[-1]
    original: Any = case.plan()
    by_chance = NoisyGradient(1, 0.25, rule="strongly_convex", average="last")
    plan: Any = by_chance.plan(case.question, case.budget, case.pair.unit)
    bounds = case.question.bounds
    return Mutant(
        name="a batch of a fixed size, accounted for as if rows were drawn each by itself",
        breaks="Where the row is not drawn another is, and may be its opposite: twice as far away.",
        mechanism="noisy_gradient",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, batches=original.batches), bounds),
        original=of_plan(original, bounds),
        trials=8000,
    )


MUTANTS = (moves_once(), fixed_as_poisson())
