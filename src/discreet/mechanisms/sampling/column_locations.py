"""A location of each column: one drawn coefficient each, within one budget.

M-estimators of location (medians, Huber's) by the exponential mechanism, composed over columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.mechanisms.base import Plan, public_facts
from discreet.mechanisms.sampling.sampled_model import (
    plan_draw,
    plan_without_noise,
    span_of_columns,
)
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Unit
from discreet.questions.locations import ColumnLocations


@dataclass(frozen=True, eq=False)
class LocationsPlan(Plan):
    """The plan of each column; each has the guarantee of all together."""

    question: ColumnLocations
    columns: tuple[Plan, ...]
    guarantee: Guarantee
    reason: str

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        answers: Vector = self.run_many(rows, noise, 1)[0]
        return answers

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        answers = [
            self._middle(j) + plan.run_many(self.relabel(rows, j), noise, draws)[:, 0]
            for j, plan in enumerate(self.columns)
        ]
        box = self.question.bounds.features
        return np.asarray(box.project(np.column_stack(answers)))

    def relabel(self, rows: OpenRows, j: int) -> OpenRows:
        """Return ones that carry the entries of a column, less its middle, as labels."""
        middle = self._middle(j)
        return rows.entries(j, lambda values: values - middle, self.question.problem(j).bounds)

    def _middle(self, j: int) -> float:
        return self.question.middle(j)


def plan_locations(question: ColumnLocations, budget: Budget, unit: Unit) -> LocationsPlan:
    """Plan one draw for each column, all of the same range."""
    count = question.bounds.n_features
    problems = [question.problem(j) for j in range(count)]
    if not budget.is_private:
        silent = tuple(plan_without_noise(problem, unit) for problem in problems)
        return LocationsPlan(question, silent, silent[0].guarantee, silent[0].reason)
    span, profile, reason = span_of_columns(budget, count)
    facts = public_facts(question.bounds, unit)
    guarantee = Guarantee(profile, unit, facts, budget.delta or 1e-9)
    plans = tuple(plan_draw(problem, unit, span, guarantee, reason) for problem in problems)
    return LocationsPlan(question, plans, guarantee, reason)
