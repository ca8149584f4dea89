"""Streams: running sums whose noise is correlated over the steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.privacy import Budget
from support.cases.staged import Part, StagedCase
from support.factor_matrices import matrix_of
from support.silent import SilentNoise


@dataclass(frozen=True)
class RunningSumsCase(StagedCase):
    """Running sums; side by side stands what the Gaussian mechanism sees of all of them."""

    def parts(self, plan):
        grid, strategy = plan.release.grid, matrix_of(plan.release.factor)
        if hasattr(plan, "leader"):  # any public coefficients will do: neighbours share them
            plan = replace(plan, leader=replace(plan.leader, pull=1e300))

        def run(rows, noise):
            seen = strategy @ increments(plan, rows, noise)
            return seen.ravel() * (grid.step / grid.scale)

        return (Part(run, plan.sensitivity / grid.scale),)

    def silent_answer(self, plan, data):
        exact = self.plan(Budget(math.inf))  # whose learning rate is its own
        if hasattr(plan, "leader"):
            plan = replace(plan, leader=exact.leader)
            return plan.run(data.open(self), SilentNoise())
        silent = replace(plan.release, grid=replace(plan.release.grid, scale=1e-3))
        return replace(plan, release=silent).run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Sparse and dense rows are clipped by different roundings, which cuts move by a unit."""
        return 1e-4


def increments(plan, rows, noise):
    """What the steps add to the noisy running sums, in units of the grid; a row for each step."""
    session, question = plan.start(noise), plan.question
    totals = np.zeros((question.updates + 1, plan.records.width))
    step = 0
    for X, y in rows.stretches(question.batch):
        session.learn(X, y)
        if len(X) == question.batch:
            step += 1
            totals[step] = session._sums._noisy
    totals[step + 1 :] = totals[step]
    return np.diff(totals, axis=0)


KINDS = {
    "follow_the_leader": RunningSumsCase,
    "online_quadratic": RunningSumsCase,
}
