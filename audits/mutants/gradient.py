"""Broken noisy gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from audits.mutants.base import Mutant
from audits.mutants.runs import of_plan, rescaled
from discreet.audit.catalogue import cases


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


MUTANTS = (moves_once(),)
