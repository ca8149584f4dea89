"""A small interactive mechanism: each batch of records is summed once, with noise of its own.

Not for use: it learns nothing but sums of labelled rows. Every record enters one sum, so that the
whole transcript costs what one sum does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.mechanisms import InteractiveMechanism, InteractivePlan, Session
from discreet.mechanisms.base import YES, Verdict, grid_tolerances, public_facts
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid
from discreet.privacy import Gaussian, Guarantee, NoPrivacy, gaussian_multiplier, within
from discreet.questions import Stream

NO_NOISE_STEP = 2.0**-30


class BatchSumsSession(Session):
    """The sum of the open batch, in units of the grid, and the last noisy one."""

    def __init__(self, plan, noise):
        super().__init__(plan.question)
        self._plan, self._noise = plan, noise
        self._open = np.zeros(plan.question.bounds.width, dtype=np.int64)
        self._public = np.zeros(plan.question.bounds.width)

    def _learn(self, X, y):
        seen = self._seen
        for x, label in zip(X, y, strict=True):
            self._open += self._plan.units(x * label)
            seen += 1
            self._close_if_full(seen)

    def _skip(self):
        self._close_if_full(self._seen + 1)

    def _close_if_full(self, seen):
        plan = self._plan
        if seen % plan.question.batch == 0:
            self._public = plan.values(self._open + plan.noise(self._noise, self._open.size))
            self._open = np.zeros_like(self._open)

    def answer(self):
        return self._public

    def _pack(self):
        return {"open": self._open, "public": self._public}


@dataclass(frozen=True, eq=False)
class BatchSumsPlan(InteractivePlan):
    question: Stream
    grid: Grid | None
    guarantee: Guarantee

    @property
    def sensitivity(self):
        width = self.question.bounds.width
        reach = self.guarantee.unit.spread(self.question.bounds.row_norm())
        return reach + self.grid.spread_l2(width)

    @property
    def tolerances(self):
        return grid_tolerances(self.grid)

    def units(self, row):
        if self.grid is None:
            return np.rint(row / NO_NOISE_STEP).astype(np.int64)
        return self.grid.snap(row)

    def values(self, units):
        return units * NO_NOISE_STEP if self.grid is None else self.grid.values(units)

    def noise(self, noise: Noise, size):
        return 0 if self.grid is None else noise.gaussian(size, self.grid.bits)

    def start(self, noise):
        return BatchSumsSession(self, noise)

    def _unpack(self, packed, noise):
        session = BatchSumsSession(self, noise)
        session._open, session._public = packed["open"].copy(), packed["public"].copy()
        return session


@dataclass(frozen=True)
class BatchSums(InteractiveMechanism):
    """Sums of the rows of each batch, times their labels."""

    @property
    def name(self):
        return "batch_sums"

    def accepts(self, question, unit):
        return YES if isinstance(question, Stream) else Verdict(False, "use a Stream.")

    def _plan(self, question, budget, unit):
        facts = public_facts(question.bounds, unit)
        if not budget.is_private:
            return BatchSumsPlan(question, None, Guarantee(NoPrivacy(), unit, facts))
        width, reach = question.bounds.width, question.bounds.row_norm()
        distance = distance_of_gaussian(width) * question.updates
        grid = gaussian_grid(
            multiplier=gaussian_multiplier(budget, distance=distance),
            sensitivity=unit.spread(reach),
            dimension=width,
            bound=reach,
            room=2.0**61 / question.horizon,
        )
        reached = (unit.spread(reach) + grid.spread_l2(width)) / grid.scale
        profile = within(Gaussian(reached * (1 + 1e-15)), distance)
        return BatchSumsPlan(
            question, grid, Guarantee(profile, unit, facts, quoted_delta=budget.delta)
        )
