r"""How often a trial is repeated in secret: a random number whose law is public.

The truncated negative binomial law, for ``shape`` :math:`\eta` and :math:`\gamma = 1 - r`,

.. math:: P(K = k) \propto r^k \prod_{l=0}^{k-1} \frac{l + \eta}{l + 1}, \quad k \ge 1,

is geometric for :math:`\eta = 1` and logarithmic for :math:`\eta = 0`. The other is Poisson's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError

RATE_UNITS = 2**32
"""A ratio is a multiple of one over this, so that it can be drawn from exactly."""

SHAPE_UNITS = 2**20
"""So are shapes, and the means of Poisson laws."""

MOST_TRIALS = 10_000.0
"""The largest mean."""


@dataclass(frozen=True)
class TrialLaw:
    """The law of the number of trials.

    Parameters
    ----------
    rate
        The ratio of a negative binomial law, one minus gamma, between zero and one; the mean of a
        Poisson law.
    shape
        From 0, logarithmic, to 1, geometric; None for Poisson.

    Examples
    --------
    >>> law = TrialLaw.with_mean(10)
    >>> round(law.rate, 6), round(law.mean, 6), round(law.chance(1), 6)
    (0.9, 10.0, 0.1)
    >>> TrialLaw.with_mean(10, shape=None).chance(0) == math.exp(-10)
    True
    """

    rate: float
    shape: float | None = 1.0

    def __post_init__(self) -> None:
        if self.shape is None:
            _checks.positive(rate=self.rate)
            is_exact = float(self.rate * SHAPE_UNITS).is_integer() and self.rate <= MOST_TRIALS
        else:
            _checks.finite(rate=self.rate, shape=self.shape)
            if not 0 <= self.shape <= 1:
                raise InputError(f"shape must be between 0 and 1, or None; got {self.shape}.")
            is_exact = float(self.rate * RATE_UNITS).is_integer() and 0 < self.rate < 1
            is_exact = is_exact and float(self.shape * SHAPE_UNITS).is_integer()
        if not is_exact:
            raise InputError("this law cannot be drawn from exactly; use TrialLaw.with_mean.")

    @classmethod
    def with_mean(cls, mean: float, shape: float | None = 1.0) -> TrialLaw:
        """Return the law of about this mean.

        Parameters
        ----------
        mean
            How many trials there are on average; above 1, at most 10,000.
        shape
            From 0, logarithmic, to 1, geometric; None for Poisson.
        """
        _checks.finite(mean=mean)
        if not 1 < mean <= MOST_TRIALS:
            raise InputError(
                f"the mean number of trials must be above 1, at most 10,000; got {mean}."
            )
        if shape is None:
            return cls(round(mean * SHAPE_UNITS) / SHAPE_UNITS, None)
        _checks.finite(shape=shape)
        shape = round(shape * SHAPE_UNITS) / SHAPE_UNITS
        low, high = 1, RATE_UNITS - 1  # the mean grows with the ratio
        while low < high:
            middle = (low + high) // 2
            enough = _mean_of(middle / RATE_UNITS, shape) >= mean
            low, high = (low, middle) if enough else (middle + 1, high)
        return cls(low / RATE_UNITS, shape)

    @property
    def mean(self) -> float:
        """How many trials there are on average."""
        return self.rate if self.shape is None else _mean_of(self.rate, self.shape)

    @property
    def log_inverse_gamma(self) -> float:
        """The logarithm of one over gamma; of negative binomial laws."""
        return -math.log1p(-self.rate)

    def chance(self, count: int) -> float:
        """Return the probability of so many trials."""
        if count < 0 or (count == 0 and self.shape is not None):
            return 0.0
        if self.shape is None:
            return math.exp(count * math.log(self.rate) - self.rate - math.lgamma(count + 1))
        weight = math.log(self.chance_of_one) + (count - 1) * math.log(self.rate)
        for place in range(1, count):
            weight += math.log((place + self.shape) / (place + 1))
        return math.exp(weight)

    @property
    def chance_of_one(self) -> float:
        """The probability of one trial, which is above zero for negative binomial laws."""
        shape, rate = self.shape or 0.0, self.rate
        if shape == 0:
            return rate / self.log_inverse_gamma
        return shape * rate / math.expm1(shape * self.log_inverse_gamma)

    def quantile(self, level: float) -> int:
        """Return the least number that is not exceeded with this probability."""
        _checks.fraction(level=level)
        count, total = 0, self.chance(0)
        weight = self.chance(1)
        while total < level:
            count += 1
            total += weight
            if self.shape is None:
                weight *= self.rate / (count + 1)
            else:
                weight *= self.rate * (count + self.shape) / (count + 1)
        return count

    @property
    def words(self) -> str:
        """What it is called, for people."""
        if self.shape is None:
            return f"Poisson of mean {self.mean:.3g}"
        kind = {0.0: "logarithmic", 1.0: "geometric"}.get(self.shape, "negative binomial")
        return f"{kind} of mean {self.mean:.3g}"


def _mean_of(rate: float, shape: float) -> float:
    gamma, log_inverse = 1 - rate, -math.log1p(-rate)
    if shape == 0:
        return rate / gamma / log_inverse
    return shape * rate / gamma / -math.expm1(-shape * log_inverse)
