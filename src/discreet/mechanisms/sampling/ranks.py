"""Grid points scored by ranks: how far each is from a quantile, and how far a record moves that.

Ranks are counted in whole weights: of a person with several rows, those of all its rows together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet._types import Integers
from discreet.mechanisms.sampling.whole_weights import sum_by_place
from discreet.noise import Noise
from discreet.privacy import Unit

FINEST = 2**32
"""A quantile is taken as a fraction with no larger denominator: 0.05 as one in twenty."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Grid points in runs of equal score, from left to right.

    With l records below a point, g above it and n in all, its score is the number of ranks
    by which q n lies outside of [l, n - g], times the denominator of q.
    """

    starts: Integers
    counts: Integers
    scores: Integers

    @classmethod
    def of(
        cls, places: Integers, steps: int, level: Fraction, weights: Integers | None = None
    ) -> Runs:
        """Cut the grid points 0, ..., ``steps`` where a record lies; each may have a weight."""
        taken, which = np.unique(places, return_inverse=True)
        return cls.of_tally(taken, sum_by_place(which, weights, taken.size), steps, level)

    @classmethod
    def of_tally(cls, taken: Integers, tally: Integers, steps: int, level: Fraction) -> Runs:
        """Cut the grid points 0, ..., ``steps`` where records lie, of which there is a tally."""
        upto = np.cumsum(tally)
        before = np.concatenate([[0], upto])
        # A gap, a record's own place, the next gap, ..., the last gap.
        starts, counts, below, here = (np.zeros(2 * taken.size + 1, np.int64) for _ in range(4))
        starts[0::2], starts[1::2] = np.concatenate([[0], taken + 1]), taken
        counts[0::2] = np.concatenate([taken, [steps + 1]]) - starts[0::2]
        counts[1::2] = 1
        below[0::2], below[1::2] = before, before[:-1]
        here[1::2] = tally
        too_high = level.denominator * below - level.numerator * int(before[-1])
        too_low = -(too_high + level.denominator * here)
        scores = np.maximum(np.maximum(too_high, too_low), 0)
        filled = counts > 0
        return cls(starts[filled], counts[filled], scores[filled])

    def draw(self, rate: Fraction, noise: Noise, draws: int) -> Integers:
        """Draw grid points with chance proportional to exp(-score * rate)."""
        run, member = noise.candidates(self.counts, self.scores, rate, draws)
        return self.starts[run] + member

    def best(self) -> float:
        """Return the middle of the points with the least score; they lie side by side."""
        least = np.flatnonzero(self.scores == self.scores.min())
        last = self.starts[least[-1]] + self.counts[least[-1]] - 1
        return float((self.starts[least[0]] + last) / 2)


def level_of(q: float) -> Fraction:
    """Return the quantile as a fraction strictly between zero and one."""
    least = Fraction(1, FINEST)
    return min(max(Fraction(q).limit_denominator(FINEST), least), 1 - least)


def rank_range(level: Fraction, unit: Unit) -> Fraction:
    """Bound how many ranks more the score may change at one grid point than at another."""
    return Fraction(2) if unit.is_replace else 2 * max(level, 1 - level)
