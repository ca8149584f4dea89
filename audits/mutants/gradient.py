"""Broken noisy gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import Mutant
from audits.mutants.runs import of_plan, rescale
from discreet._types import Integers, Vector
from discreet.audit import Pair
from discreet.audit.cases import Case, cases
from discreet.data import OpenRows
from discreet.mechanisms import NoisyGradient
from discreet.mechanisms.accelerated_gradient import SchattenNorm
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS
from discreet.mechanisms.summing.gradient_sums import ExactDirections
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax
from discreet.privacy import AddRemoveOne


def _case_labelled(label: str, unit: str, epsilon: float) -> Case:
    return next(
        case for case in cases("noisy_gradient", unit, epsilon, 1e-3) if case.label == label
    )


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
        run=of_plan(replace(plan, grid=rescale(plan.grid, 0.5)), bounds),
        original=of_plan(plan, bounds),
        trials=3000,
    )


class _Differences(ExactDirections):
    """The sum of the differences from the rows, not made unit vectors."""

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        matrix, _ = prepared.gather()
        total: Integers = np.rint((point - matrix).sum(axis=0) / self.unit).astype(np.int64)
        return total


def not_unit_vectors() -> Mutant:
    case = _case_labelled("noisy gradient, directions", "add_remove", 1.0)
    plan: Any = case.plan()
    bounds = case.question.bounds
    nothing, far = np.array([[0.0]]), np.array([[0.0], [100.0]])
    return Mutant(
        name="a row pulls at the median with its distance",
        breaks="Directions are not divided by their length: a row a hundred away pulls a hundred "
        "times as hard as the noise is made for.",
        mechanism="noisy_gradient",
        guarantee=plan.guarantee,
        pair=Pair(nothing, far, AddRemoveOne()),
        run=of_plan(replace(plan, sums=_Differences(plan.problem)), bounds),
        original=of_plan(plan, bounds),
        trials=300,
    )


class _EachItsOwn(ExactSoftmax):
    """The sum of gradients of one logistic loss a class, at the origin and a margin out of reach.

    Their slopes are all one: negative for the class of the row, and positive for all others.
    """

    def units(self, prepared: OpenRows, point: Vector) -> Integers:
        matrix, labels = prepared.gather()
        own = np.arange(self.problem.several.classes)[:, None] == labels
        units = 2.0 ** (self.slope_bits + ENTRY_BITS)
        total: Integers = np.rint(np.where(own, -units, units) @ matrix).astype(np.int64)
        return total.ravel()


def as_many_losses_as_classes() -> Mutant:
    case = _case_labelled("noisy gradient, softmax", "replace", 4.0)
    question: Any = replace(case.question, classes=12)  # type: ignore[type-var]
    plan: Any = case.mechanism.plan(question, case.budget, case.pair.unit)
    bounds = question.bounds
    return Mutant(
        name="a loss for each class, with the noise of softmax",
        breaks="Slopes of softmax have norm at most the root of two, whatever the number of "
        "classes; those of a loss for each class have norm up to the root of that number.",
        mechanism="noisy_gradient",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, sums=_EachItsOwn(plan.problem)), bounds),
        original=of_plan(plan, bounds),
        trials=1000,
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


def moves_once_with_momentum() -> Mutant:
    case = cases("accelerated_gradient", "replace", 4.0, 1e-3)[0]
    plan: Any = case.plan()
    bounds = case.question.bounds
    second = replace(plan.second, grid=rescale(plan.second.grid, 0.5))
    return Mutant(
        name="a replaced record moves the sum of softmax gradients once",
        breaks="The noise is for adding a record; replacing one moves the sum twice as far.",
        mechanism="accelerated_gradient",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, second=second), bounds),
        original=of_plan(plan, bounds),
        trials=3000,
    )


POWER_STEPS = 12


class _PowerSteps(SchattenNorm):
    """The largest eigenvalue by power steps from the second axis, which depend on the rows."""

    def of(self, prepared: OpenRows) -> float:
        matrix, _ = prepared.gather()
        direction, size = np.array([0.0, 1.0]), 0.0
        for _ in range(POWER_STEPS):
            turned = matrix.T @ (matrix @ direction)
            size = float(np.linalg.norm(turned))
            direction = turned / size
        return size / self._prepared_record


def steps_by_power_iteration() -> Mutant:
    case = cases("accelerated_gradient", "add_remove", 1.0, 1e-3)[-1]
    plan: Any = case.plan()
    bounds = case.question.bounds
    norm = _PowerSteps(plan.norm.sums)
    return Mutant(
        name="the step is made for an eigenvalue found by power steps",
        breaks="Where power steps lead depends on the rows: one row that is not orthogonal to the "
        "strongest direction lets them find it, and the number leaps.",
        mechanism="accelerated_gradient",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, norm=norm), bounds),
        original=of_plan(plan, bounds),
        trials=200,
    )


MUTANTS = (
    moves_once(),
    not_unit_vectors(),
    as_many_losses_as_classes(),
    fixed_as_poisson(),
    moves_once_with_momentum(),
    steps_by_power_iteration(),
)
