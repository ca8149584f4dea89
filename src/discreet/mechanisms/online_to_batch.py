"""One pass of an online algorithm, and noise on the mean of its iterates ("POffL").

Online-to-batch conversion; proof in ``online_to_batch.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import digamma

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import Mechanism, Plan, Verdict, grid_tolerances
from discreet.mechanisms.interactive import stream_facts
from discreet.mechanisms.streaming.noisy_iterates import accepts_stream
from discreet.mechanisms.streaming.proximal_steps import ProximalSteps
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, release_gaussian
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Unit,
    gaussian_multiplier,
    within,
)
from discreet.questions import Question, Stream
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class OnlineToBatchPlan(Plan):
    """A pass of proximal steps and the grid of the noise; none if nothing is to be hidden."""

    question: Stream
    steps: ProximalSteps
    grid: Grid | None
    guarantee: Guarantee

    @property
    def sensitivity(self) -> float:
        """How far, in l2, means of neighbours can be apart on the grid."""
        width, unit = self.question.problem.width, self.guarantee.unit
        snapping = 0.0 if self.grid is None else self.grid.spread_l2(width)
        return mean_sensitivity(self.steps, unit) + 2 * adding_error(self.steps) + snapping

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        answer: Vector = self.run_many(rows, noise, 1)[0]
        return answer

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        means = np.tile(self._mean(rows), (draws, 1))
        if self.grid is not None:
            means = release_gaussian(means.ravel(), self.grid, noise).reshape(means.shape)
        penalty = self.question.problem.penalty
        return means if penalty is None else np.array([penalty.nearest(mean) for mean in means])

    def _mean(self, rows: OpenRows) -> Vector:
        """Return the mean of an iterate for each round; a missing round changes nothing."""
        steps, horizon = self.steps, self.question.horizon
        total = np.zeros(self.question.problem.width)
        sum_of_iterates, seen = np.zeros_like(total), 0
        for row, label in rows.stream():
            if label is None:
                raise PrivacyError("a learning problem was run on records without labels.")
            if seen == horizon - 1:  # the last record has no iterate after it
                break
            seen += 1
            total = steps.step(total, seen, row, label, total)
            sum_of_iterates += steps.iterate(total, seen)
        left = harmonic(horizon) - harmonic(seen + 1)
        return (sum_of_iterates + left / self.question.problem.ridge * total) / horizon


class OnlineToBatch(Mechanism):
    """The mean of the iterates of one pass over records in the order of the stream.

    The number of rounds is public. The last record is not used: no iterate comes after it.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.privacy import ReplaceOne
    >>> from discreet.questions import Bounds, LabelSet, Problem
    >>> bounds = Bounds(L2Ball(1.0), n_features=10, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Hinge(), bounds, ridge=0.1), horizon=10_000)
    >>> plan = OnlineToBatch().plan(stream, Budget(1.0, 1e-6), ReplaceOne())
    >>> round(plan.sensitivity, 5)
    0.01758
    """

    name: ClassVar[str] = "online_to_batch"

    units = ("replace", "zero_out")
    refuses_persons = "it is about rounds of a stream, one record each."

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        verdict = accepts_stream(self.name, question)
        if not verdict or not isinstance(question, Stream):
            return verdict
        if question.horizon < 2:
            return Verdict(False, "the mean of one iterate says nothing; declare a longer horizon.")
        return ProximalSteps.accepts(question.problem)

    def _plan(self, question: Stream, budget: Budget, unit: Unit) -> Plan:
        steps, width = ProximalSteps(question.problem, question.horizon), question.problem.width
        if not budget.is_private:
            return OnlineToBatchPlan(question, steps, None, Guarantee(NoPrivacy(), unit))
        distance = distance_of_gaussian(width)
        apart, error = mean_sensitivity(steps, unit), adding_error(steps)
        grid = gaussian_grid(
            multiplier=gaussian_multiplier(budget, distance=distance),
            sensitivity=apart,
            dimension=width,
            bound=steps.radius,
            error=error,
        )
        reached = (apart + 2 * error + grid.spread_l2(width)) / grid.scale
        guarantee = Guarantee(
            within(Gaussian(reached * (1 + 1e-15)), distance),
            unit,
            stream_facts(question, unit),
            quoted_delta=budget.delta,
        )
        return OnlineToBatchPlan(question, steps, grid, guarantee)


def harmonic(count: int) -> float:
    """Return 1 + 1/2 + ... + 1/count."""
    return float(digamma(count + 1.0) + np.euler_gamma)


def mean_sensitivity(steps: ProximalSteps, unit: Unit) -> float:
    """Bound how far one record moves the mean of all iterates."""
    rounds, ridge = steps.horizon, steps.problem.ridge
    return steps.sensitivity(unit) / ridge * (harmonic(rounds) - 1) / rounds * (1 + 1e-12)


def adding_error(steps: ProximalSteps) -> float:
    """Bound what rounding does to the mean: each sum of iterates is rounded thrice at most."""
    return 4 * UNIT * (steps.horizon + 4) * steps.radius
