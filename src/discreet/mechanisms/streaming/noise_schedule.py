r"""How much noise each of many releases gets, if together they may cost a given mu.

The j-th release moves by at most :math:`\Delta_j = \lambda/(t_j + o)`, and costs
:math:`\mu_j = \Delta_j/\sigma_j`; the squares add up to :math:`\mu^2`, exactly (Gaussian privacy
composes adaptively without loss).

- ``"even"`` costs the same each time: :math:`\sigma_j = \Delta_j \sqrt N/\mu`.
- ``"regret"`` has the least sum of deviations:
  :math:`\sigma_j = \Delta_j^{2/3} (\sum_i \Delta_i^{2/3})^{1/2}/\mu`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.noise import Grid, gaussian_grid

SCHEDULES = ("regret", "even")

_AT_ONCE = 2**20
_UP = 1 + 2.0**-40


@dataclass(frozen=True)
class NoiseSchedule:
    """The cost and the noise of releases after every ``every`` records, from a first one on.

    Examples
    --------
    >>> even = NoiseSchedule("even", mu=0.5, moved=1.0, offset=0, first=1, last=100, every=1,
    ...                      width=3, bound=1.0)
    >>> [round(even.grid(j).scale, 3) for j in (1, 10, 100)]
    [20.0, 2.0, 0.2]
    >>> from dataclasses import replace
    >>> regret = replace(even, kind="regret")
    >>> [round(regret.grid(j).scale, 3) for j in (1, 10, 100)]
    [6.782, 1.461, 0.315]
    """

    kind: str
    mu: float
    moved: float
    offset: int
    first: int
    last: int
    every: int
    width: int
    bound: float

    def sensitivity(self, release: int) -> float:
        """Bound how far one record moves the iterate of a release, before it is snapped."""
        return self.moved / (release * self.every + self.offset) * (1 + 1e-15)

    def cost(self, release: int) -> float:
        """Return the mu of one release."""
        if self.kind == "even":
            return self.mu / math.sqrt(self.last - self.first + 1)
        # The sum is over Delta / lambda, so that nothing overflows.
        share = 1.0 / (release * self.every + self.offset)
        return self.mu * float(np.cbrt(share)) / math.sqrt(self._shares)

    @cached_property
    def _shares(self) -> float:
        """The sum of the sensitivities to the power two thirds, in units of ``moved``."""
        return self._sum_of(2 / 3) * _UP

    def _sum_of(self, power: float) -> float:
        """Bound the sum of the sensitivities to a power, in units of ``moved``.

        It is exact up to a million releases, and an integral that is never less beyond.
        """
        until = min(self.last, self.first + _AT_ONCE)
        releases = np.arange(self.first, until + 1, dtype=np.float64)
        total = float(((releases * self.every + self.offset) ** -power).sum())
        if until == self.last:
            return total
        low, high = (release * self.every + self.offset for release in (until, self.last))
        if power == 1:
            return total + math.log(high / low) / self.every
        rest = 1 - power
        return total + (math.pow(high, rest) - math.pow(low, rest)) / (rest * self.every)

    @cached_property
    def bits(self) -> int:
        """Halvings of the scale that are a step: the same for all, and enough for the last.

        The last release is the cheapest and has the least noise.
        """
        return gaussian_grid(
            multiplier=1 / self.cost(self.last),
            sensitivity=self.sensitivity(self.last),
            dimension=self.width,
            bound=self.bound,
        ).bits

    def grid(self, release: int) -> Grid:
        """Return the grid of a release, whose scale is the deviation of its noise."""
        snapping = 2 * math.sqrt(self.width) * 2.0**-self.bits
        scale = self.sensitivity(release) / (self.cost(release) - snapping) * _UP
        return Grid(scale, self.bits, self.bound)

    @property
    def total(self) -> float:
        """What all releases cost together, snapping included: mu, rounded up."""
        return self.mu * (1 + 1e-12)

    @property
    def deviations(self) -> float:
        """The sum of all deviations, which is what regret pays for."""
        if self.kind == "even":
            evenly = math.sqrt(self.last - self.first + 1)
            return self.moved * self._sum_of(1.0) * evenly / self.mu
        return self.moved * self._shares * math.sqrt(self._shares) / self.mu
