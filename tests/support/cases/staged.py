"""Mechanisms that release more than once: every release in units of its own noise, side by side.

Given what was released before, each release is a mechanism of its own, whose noise moves from one
total to another. Side by side, and each divided by the scale of its noise, the releases are one
vector with standard noise, so sensitivities, true profiles and scores are read off as for one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.mechanisms.minimising.linear_term import LaplaceTerm
from discreet.mechanisms.output_perturbation import OutputPerturbationPlan
from support.cases.base import Case
from support.silent import SilentNoise


@dataclass(frozen=True)
class Part:
    """One of several releases, in units of its noise."""

    run: Callable[[Any, Any], Any]  # of rows and noise
    sensitivity: float
    run_together: Callable[[Any, Any, int], Any] | None = None  # many times over, sharing work

    def run_many(self, rows, noise, draws):
        """Return as many releases, one a row."""
        if self.run_together is not None:
            return self.run_together(rows, noise, draws)
        return np.array([self.run(rows, noise) for _ in range(draws)])


@dataclass(frozen=True)
class StagedCase(Case):
    """A mechanism of several releases, all of them side by side."""

    @property
    def is_pure(self):
        return self.budget.delta == 0

    @abstractmethod
    def parts(self, plan):
        """Return the releases of a plan."""

    def apart(self, plan, pair):
        """How far apart the releases of two data sets are without noise."""
        first, second = self.centres(plan, pair)
        return self.distance(second - first)

    def centres(self, plan, pair):
        """Return what the releases of two data sets would be without noise."""
        parts = self.parts(plan)
        return tuple(side_by_side(parts, data.open(self), SilentNoise()) for data in pair)

    def sensitivity(self, plan):
        """What the plan declares about that distance."""
        return self.distance(np.array([part.sensitivity for part in self.parts(plan)]))


def side_by_side(parts, rows, noise):
    """Return every release, one after the other, in units of its noise."""
    return np.concatenate([part.run(rows, noise) for part in parts])


def minimiser_part(plan, prepare, unit):
    """A minimiser: its linear term, or its output noise, is what it is divided by."""
    if isinstance(plan, OutputPerturbationPlan):
        return Part(
            lambda rows, noise: plan.run(prepare(rows), noise) / plan.grid.scale,
            plan.sensitivity / plan.grid.scale,
            lambda rows, noise, draws: plan.run_many(prepare(rows), noise, draws) / plan.grid.scale,
        )
    problem = plan.minimiser.problem
    in_noise = (problem if plan.settled is None else plan.settled).ridge / plan.scale
    order = 1 if isinstance(plan.term, LaplaceTerm) else 2
    # Where losses are straight, minimisers are as far apart as the slopes of rows.
    slopes = unit.spread(problem.lipschitz * problem.bounds.row_norm(order)) / plan.scale
    width = problem.bounds.width
    off = 2 * plan.minimiser.radius + plan.mask.grid.spread_l2(width)
    return Part(
        lambda rows, noise: plan.run(prepare(rows), noise) * in_noise,
        slopes + off * in_noise * (math.sqrt(width) if order == 1 else 1.0),
        lambda rows, noise, draws: plan.run_many(prepare(rows), noise, draws) * in_noise,
    )
