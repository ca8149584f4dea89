r"""Guaranteed intervals for a proportion of noisy counts: Clopper and Pearson's, with noise.

With C right rows, W wrong ones and noise on both, nobody knows how many rows there are. An upper
bound on their number fails with a tenth of the error; below it, the chance that a binomial count
plus noise reaches what was seen rises with the number of rows and with the proportion, so its
solution at the bound is a limit for every smaller number.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtrc

from discreet._types import Vector
from discreet.metrics.count_noise import LOST, CountNoise, NoiseTable
from discreet.metrics.inversion import TOO_FEW, Limits, Ratio

FEW = 20.0
"""With fewer right or wrong rows than this, a share gets its guaranteed interval."""

SHARE = 0.1
"""The part of the error that the bound on the number of rows may take."""


def limits_of_proportion(
    right: float, wrong: float, cells: tuple[int, int], noise: CountNoise, level: float
) -> Limits:
    """Return an interval for the share of right rows that covers for every number of rows.

    Examples
    --------
    >>> low, high, _ = limits_of_proportion(95, 5, (1, 1), CountNoise("laplace", 1.0), 0.95)
    >>> round(low, 2), round(high, 3)
    (0.81, 0.991)
    """
    error = 1 - level
    most = round(right + wrong) + noise.sum_of(sum(cells)).reach(SHARE * error)
    if most <= 0:
        return Limits(0.0, 1.0, TOO_FEW)
    each = (1 - SHARE) * error / 2
    low = _lower_limit(round(right), most, noise.sum_of(cells[0]), each)
    high = 1 - _lower_limit(round(wrong), most, noise.sum_of(cells[1]), each)
    if low > high:
        return Limits(0.0, 1.0, TOO_FEW)
    return Limits(low, high)


def limits_of_share(
    shares: Ratio, counts: Vector, noise: CountNoise, level: float, *, is_sample: bool
) -> Limits:
    """Return guaranteed limits where few rows decide, and those of the linear test elsewhere."""
    wrong = shares.lower - shares.upper
    seen = float(shares.upper @ counts), float(wrong @ counts)
    if is_sample or min(seen) >= FEW or noise.together is not None:
        return shares.limits(counts, noise, level, is_sample=is_sample)
    cells = int(shares.upper.sum()), int(wrong.sum())
    return limits_of_proportion(*seen, cells, noise, level)


def _lower_limit(seen: int, rows: int, noise: NoiseTable, error: float) -> float:
    """Return the largest share at which so large a count still has at most this chance."""

    def excess(share: float) -> float:
        return _chance(seen, rows, share, noise) - error

    if excess(0.0) >= 0:
        return 0.0
    if excess(1.0) <= 0:
        return 1.0
    return max(0.0, float(brentq(excess, 0.0, 1.0, xtol=1e-9)) - 1e-9)


def _chance(seen: int, rows: int, share: float, noise: NoiseTable) -> float:
    """Return the chance that a binomial count plus noise is at least what was seen, or more."""
    wanted = seen - noise.places  # of the count
    beyond = np.where(wanted <= 0, 1.0, 0.0)
    inside = (wanted >= 1) & (wanted <= rows)
    beyond[inside] = bdtrc(wanted[inside] - 1, rows, share)
    return float(noise.chances @ beyond) + LOST
