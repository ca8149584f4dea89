"""Broken draws from entropic minimisers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import of_plan, open_data
from discreet.audit.cases import cases
from discreet.data import Bounds, Interval
from discreet.geometry import LinfBall
from discreet.losses import Huber
from discreet.mechanisms.minimising.entropic import EntropicMinimiser
from discreet.mechanisms.simplex_sampling import span_of
from discreet.privacy import AddRemoveOne, Unit
from discreet.questions.mixture import Mixture


def moves_once() -> Mutant:
    case = cases("simplex_sampling", "replace", 4.0, 1e-3)[1]
    plan: Any = case.plan()
    solver = replace(plan.solver, entropy=plan.solver.entropy / 2)
    return Mutant(
        name="a replaced record moves shares once",
        breaks="The entropy is for adding a record; replacing one moves logarithms twice as far.",
        mechanism="simplex_sampling",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, solver=solver), case.question.bounds),
        original=of_plan(plan, case.question.bounds),
        trials=2000,
    )


def nearly_without_entropy() -> Mutant:
    case = cases("simplex_sampling", "add_remove", 1.0)[0]
    plan: Any = case.plan()
    solver = replace(plan.solver, entropy=plan.solver.entropy / 20)
    return Mutant(
        name="draws from the minimiser without its entropy",
        breaks="The best shares are a corner as a rule, and one record says which.",
        mechanism="simplex_sampling",
        guarantee=plan.guarantee,
        pair=cases("simplex_sampling", "add_remove", 20.0)[0].pair,
        run=of_plan(replace(plan, solver=solver), case.question.bounds),
        original=of_plan(plan, case.question.bounds),
        trials=1000,
    )


ENTROPY, SLOPE = 400.0, 20.0


def bent(kappa: float, unit: Unit) -> tuple[Mixture, Any, Any]:
    """Rows in common that bend against one record, at columns that hold little.

    The record moves the two columns that hold nearly everything, and the margins of the common
    rows with them; their gradients then change the other two columns further than the record did.
    """
    common, away = round(kappa * ENTROPY), round(2.5 * ENTROPY / SLOPE)
    bounds = Bounds(LinfBall(1.0), 4, labels=Interval(-1e3, 1e3), max_rows=common + away + 1)
    rows = np.repeat([[1.0, -1, -1, 1], [-1.0, -1, 1, 1]], [common, away], axis=0)
    labels = np.repeat([0.0, -1e3], [common, away])
    one = np.array([[1.0, -1, 1, -1]])
    first = np.vstack([rows, one]), np.append(labels, -1e3)
    second = np.vstack([rows, -one]), np.append(labels, -1e3)
    if isinstance(unit, AddRemoveOne):
        second = rows, labels
    return Mixture(Huber(SLOPE), bounds, entropy=ENTROPY), first, second


def range_on(kappa: float, unit: Unit) -> tuple[EntropicMinimiser, float]:
    """Return the range of the log ratios on that pair, from the integers that draws follow."""
    question, *pair = bent(kappa, unit)
    solver = EntropicMinimiser(question, ENTROPY)
    first, second = (solver.solve(open_data(data, question.bounds, unit)) for data in pair)
    return solver, float(np.ptp(first - second) * solver.step)


def unbent() -> BoundMutant:
    unit = AddRemoveOne()

    def share(of: str) -> float:
        solver, reached = range_on(1.0, unit)
        straight = 2 * unit.spread(solver.question.row_lipschitz) / solver.entropy
        return reached / (straight if of == "straight" else span_of(solver, unit))

    return BoundMutant(
        name="rows in common count as if they did not bend",
        breaks="One record moves the shares, and with them the gradients of all other rows.",
        mechanism="simplex_sampling",
        measure="epsilon",
        claimed=1.0,
        reached=lambda: share("straight"),
        reached_by_original=lambda: share("span"),
    )


MUTANTS: tuple[Broken, ...] = (moves_once(), nearly_without_entropy(), unbent())
