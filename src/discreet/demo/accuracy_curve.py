"""What privacy costs: the accuracy of repeated fits at several epsilons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """The median of some fits, and the band that four out of five lie in."""

    low: float
    median: float
    high: float


@dataclass(frozen=True, eq=False)
class AccuracyCurve:
    """Test accuracies, one row of fits for each epsilon, and what to compare them with.

    Examples
    --------
    >>> curve = AccuracyCurve((0.1, 1.0), [[0.6, 0.7, 0.8], [0.8, 0.8, 0.8]], 0.81, 0.6, 100, 1e-6)
    >>> curve.spreads[1].median
    0.8
    """

    epsilons: Sequence[float]
    accuracies: Sequence[Sequence[float]]
    without_privacy: float
    majority: float
    patients: int
    delta: float

    @property
    def spreads(self) -> list[Spread]:
        """The spread of the fits at each epsilon."""
        return [spread(fits) for fits in self.accuracies]


def spread(fits: Sequence[float]) -> Spread:
    """Return the 10 %, 50 % and 90 % points.

    Examples
    --------
    >>> spread([0.5, 0.6, 0.7]).median
    0.6
    """
    low, median, high = np.quantile(fits, [0.1, 0.5, 0.9]).tolist()
    return Spread(low, median, high)
