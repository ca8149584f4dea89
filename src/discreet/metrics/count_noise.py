"""The law of the noise on counts, as everybody may know it: variance, cumulant, tails of sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtr

from discreet import _checks
from discreet._types import Integers, Vector
from discreet.mechanisms import Plan
from discreet.mechanisms.following_histogram import FollowingPlan
from discreet.mechanisms.noisy_histogram import GaussianHistogramPlan, LaplaceHistogramPlan

LAWS = ("laplace", "gaussian", "none")
LOST = 1e-12
"""Chances below this are left out of tables of laws."""


@dataclass(frozen=True)
class CountNoise:
    """Independent noise on every count, in whole steps, symmetric about zero.

    Parameters
    ----------
    law
        ``"laplace"``: chances proportional to ``exp(-|k| / scale)``. ``"gaussian"``: a normal law,
        rounded to whole numbers. ``"none"`` where nothing was hidden.
    scale
        Of the Laplace law, or the standard deviation before rounding; zero for none.
    step
        Of the Laplace law: one, or a part of a row where rows of a person share one weight.
    together
        How much the rows of a person weigh together, at most; None if rows are independent.

    Examples
    --------
    >>> noise = CountNoise("laplace", 1.0)
    >>> round(noise.variance, 4), round(noise.cumulant, 4)
    (1.8413, 12.013)
    """

    law: str
    scale: float
    step: float = 1.0
    together: float | None = None

    def __post_init__(self) -> None:
        _checks.one_of(LAWS, law=self.law)
        _checks.not_negative(scale=self.scale)
        _checks.positive(step=self.step)

    @classmethod
    def of_plan(cls, plan: Plan) -> CountNoise:
        """Return the law that a plan adds to counts; to those of the second of two releases."""
        if isinstance(plan, FollowingPlan):
            noise = plan.second
            law = "none" if not noise.scale else "laplace" if noise.grid is None else "gaussian"
            return cls(law, noise.scale)
        if isinstance(plan, LaplaceHistogramPlan):
            return cls("laplace", plan.scale)
        if isinstance(plan, GaussianHistogramPlan):
            return cls("gaussian", plan.grid.scale)
        return cls("none", 0.0)

    @cached_property
    def variance(self) -> float:
        """The variance of the noise on one count."""
        if self.law == "laplace":
            return self.step**2 * 0.5 / math.sinh(min(self.step / self.scale, 700.0) / 2) ** 2
        return self.scale**2 + (1 / 12 if self.law == "gaussian" else 0.0)

    @property
    def cumulant(self) -> float:
        """The fourth cumulant of the noise on one count: v + 3 v**2 for the Laplace law."""
        if self.law != "laplace":
            return 0.0
        return self.step**2 * self.variance + 3 * self.variance**2

    @property
    def crowding(self) -> float:
        r"""By how much more a sum over rows may vary than over as many independent ones.

        Of rows that weigh W together :math:`(\sum w a)^2 \le W \sum w a^2`.
        """
        return 1.0 if self.together is None else self.together

    def sum_of(self, count: int) -> NoiseTable:
        """Return the law of the sum of the noise on so many counts.

        Examples
        --------
        >>> table = CountNoise("laplace", 2.0).sum_of(3)
        >>> bool(abs(table.chances.sum() - 1) < 1e-9), int(table.places[0] + table.places[-1])
        (True, 0)
        """
        return _table(self, count)

    def _chances(self, places: Integers) -> Vector:
        if self.law == "laplace":
            return np.asarray(math.tanh(0.5 / self.scale) * np.exp(-np.abs(places) / self.scale))
        if self.law == "gaussian":
            near = np.abs(places) - 0.5
            return np.asarray(ndtr(-near / self.scale) - ndtr(-(near + 1) / self.scale))
        return np.asarray(places == 0, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NoiseTable:
    """Whole numbers and the chance of each; what is left out has a chance of next to nothing."""

    places: Integers
    chances: Vector

    def reach(self, tail: float) -> int:
        """Return the least t >= 0 such that a value of -t - 1 or less has at most this chance."""
        below = np.cumsum(self.chances) + LOST
        first = int(np.searchsorted(below, tail, side="right"))  # the first place with more
        return max(0, -int(self.places[min(first, self.places.size - 1)]))


@lru_cache(maxsize=256)
def _table(noise: CountNoise, count: int) -> NoiseTable:
    if noise.law == "none" or count == 0:
        return NoiseTable(np.zeros(1, dtype=np.int64), np.ones(1))
    far = 30 * noise.scale if noise.law == "laplace" else 9 * noise.scale
    half = math.ceil(far + 9 * math.sqrt(count * noise.variance)) + 2
    size = 1 << (2 * half + 1).bit_length()
    places = np.arange(size) - size // 2
    one = np.fft.rfft(np.fft.ifftshift(noise._chances(places)))
    chances = np.maximum(np.fft.fftshift(np.fft.irfft(one**count, size)), 0.0)
    kept = slice(size // 2 - half, size // 2 + half + 1)
    return NoiseTable(places[kept], chances[kept])
