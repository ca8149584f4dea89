"""How many sums of gradients are released, over which rows, and with how much noise.

Composition, with subsampling, of Gaussian mechanisms; the noise is calibrated to the whole of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from discreet.mechanisms.share import BudgetShare as Share
from discreet.mechanisms.summing.batches import AllRows, Batches
from discreet.mechanisms.summing.gradient_sums import GradientProblem
from discreet.noise import Grid, distance_of_gaussian, gaussian_grid
from discreet.privacy import Gaussian, Profile, Unit, calibrate, calibrate_from

GRID_ROOM = 2.0**50
"""Grid units of the largest sum: three roundings on the way to the grid are below half a step."""

PRECISION = 5e-4
"""How closely the noise of sampled sums is calibrated; each trial composes many steps."""


@dataclass(frozen=True)
class Schedule:
    """How many sums are released, and over which rows."""

    steps: int
    batches: Batches

    @property
    def sentence(self) -> str:
        return f"{self.steps:,} step{'s' * (self.steps > 1)} over {self.batches.sentence()}"

    def distance(self, problem: GradientProblem) -> float:
        """Bound how far noise and batches as drawn are from the ideal ones."""
        one = distance_of_gaussian(problem.width)
        return self.steps * (one + self.batches.distance(problem.bounds.max_rows))

    def grid(self, share: Share[GradientProblem], multiplier: float) -> Grid:
        """Return the grid and the noise of every step."""
        problem = share.problem
        return gaussian_grid(
            multiplier=multiplier,
            sensitivity=self.batches.sensitivity(problem.row_lipschitz, share.unit),
            dimension=problem.width,
            bound=problem.bounds.max_rows * problem.largest_slope,
            room=GRID_ROOM,
        )

    def profile_on(self, share: Share[GradientProblem], grid: Grid) -> Profile:
        """Return the profile of all steps, snapping included."""
        problem, spread = share.problem, grid.spread_l2(share.problem.width)
        moved = self.batches.sensitivity(problem.row_lipschitz, share.unit)
        return self.profile((moved + spread) / grid.scale, share.unit)

    def profile(self, mu: float, unit: Unit) -> Profile:
        """Return the profile of all steps, ``mu`` the shift over the noise in one."""
        return self.batches.profile(mu * (1 + 1e-15), self.steps, unit)


@lru_cache(maxsize=256)
def least_multiplier(share: Share[GradientProblem], schedule: Schedule) -> float:
    """Return the least noise in one step over what it is measured against."""
    distance = schedule.distance(share.problem)

    def together(noise: float) -> Profile:
        return share.together(schedule.profile(1 / noise, share.unit), distance)

    if isinstance(schedule.batches, AllRows):
        return calibrate(together, share.budget)
    guess = _guess(share, schedule)
    # Snapping widens what one record moves, and the grid makes up for that exactly.
    return calibrate_from(guess, together, share.budget, precision=PRECISION)


def _guess(share: Share[GradientProblem], schedule: Schedule) -> float:
    r"""Return roughly the noise that batches need.

    Many steps are nearly Gaussian, with :math:`\mu = q \sqrt{T (e^{m^2} - 1)}`, m the shift over
    the noise in one (Bu, Dong, Long, Su 2020).
    """
    mu = 1 / calibrate(lambda noise: share.together(Gaussian(1 / noise), 0.0), share.budget)
    shift = mu / (schedule.batches.rate * math.sqrt(schedule.steps))
    whole = share.unit.spread(1.0) / schedule.batches.sensitivity(1.0, share.unit)
    return whole / math.sqrt(math.log1p(shift**2))
