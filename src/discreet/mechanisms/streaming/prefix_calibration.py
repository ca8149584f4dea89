r"""How much noise running sums need, and what their release promises.

With s the norm of columns of the factor, D how far the sums of a step can be apart between
neighbours, p the number of entries and g the unit of the grid, a record moves what the Gaussian
mechanism sees by at most :math:`s (D + 2 g \sqrt p)`. The unit is :math:`g = \sigma 2^{-24}`, so

.. math:: \sigma = \nu s D / (1 - 2 \nu s \sqrt p \, 2^{-24})

has the noise multiplier :math:`\nu`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.errors import CalibrationError
from discreet.mechanisms.streaming.correlated_noise import CorrelatedNoise
from discreet.mechanisms.streaming.prefix_factor import ONCE, Participation, PrefixFactor
from discreet.mechanisms.streaming.toeplitz_factor import FINENESS
from discreet.mechanisms.summing.totals import INTEGER_ROOM
from discreet.noise import Grid, Noise, distance_of_gaussian
from discreet.privacy import Budget, Gaussian, Profile, gaussian_multiplier, within

MOST_UNITS = 2.0**48
"""Units of the grid that the sum of a batch may come to: floats round them by a fraction of one."""

LARGEST_SHARE = 0.5
"""Of the noise that the rounding of sums may ask for."""


@dataclass(frozen=True, eq=False)
class PrefixRelease:
    """Running sums with noise on a grid, and the profile of all of them together."""

    factor: PrefixFactor
    participation: Participation
    width: int
    apart: float  # how far the sums of one step can be apart, before they are rounded
    grid: Grid

    @property
    def sensitivity(self) -> float:
        """How far, in l2, what the Gaussian mechanism sees can be from that of a neighbour."""
        norm = self.factor.column_norm(self.participation)
        return norm * (self.apart + self.grid.spread_l2(self.width)) * (1 + 1e-15)

    @property
    def profile(self) -> Profile:
        reached = self.sensitivity / self.grid.scale * (1 + 1e-15)
        return within(Gaussian(reached), distance_of(self.factor, self.width))

    @property
    def usual_deviation(self) -> float:
        """The deviation of an entry of a running sum, over all steps."""
        return self.grid.scale * self.factor.usual_deviation

    def noise(self, noise: Noise) -> CorrelatedNoise:
        """Return the noise of the running sums, in units of the grid."""
        return self.factor.noise(self.width, self.grid.bits, noise)


def calibrate_prefix(
    factor: PrefixFactor,
    budget: Budget,
    *,
    width: int,
    apart: float,
    bound: float,
    participation: Participation = ONCE,
) -> PrefixRelease:
    """Return the release of running sums with the least noise that keeps a budget."""
    if budget.delta == 0:
        raise CalibrationError(
            "running sums have Gaussian noise, which needs delta > 0; allow a small delta, or use "
            "a mechanism that learns from all records at once."
        )
    multiplier = gaussian_multiplier(budget, distance=distance_of(factor, width))
    norm = factor.column_norm(participation)
    share = 2 * multiplier * norm * math.sqrt(width) * 2.0**-FINENESS
    if share > LARGEST_SHARE:
        raise CalibrationError(
            "no grid is fine enough for this budget and so many columns; use fewer columns or a "
            "larger epsilon."
        )
    scale = multiplier * norm * apart / (1 - share) * (1 + 2.0**-40)
    grid = Grid(scale=scale, bits=FINENESS, bound=bound)
    if bound / grid.step > MOST_UNITS or factor.steps * bound / grid.step > INTEGER_ROOM / 2:
        raise CalibrationError(
            "sums over so many records do not fit 64 bits at so little noise; use a smaller "
            "epsilon or declare a shorter horizon."
        )
    return PrefixRelease(factor, participation, width, apart, grid)


def distance_of(factor: PrefixFactor, width: int) -> float:
    """Bound the distance of all noise, as drawn, from the ideal one; each draw has its own key.

    Each vector is counted as a draw, though many are drawn together: a stream that is handed over
    draws again what was drawn ahead and not used, and each draw has at least one vector of use.
    """
    draws = math.ceil(factor.steps * factor.draws_a_step) + factor.rows_in_memory + 1
    return distance_of_gaussian(width) * draws
