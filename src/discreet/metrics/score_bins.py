r"""Bins of scores that everybody knows beforehand: edges on the scale of log-odds.

.. math:: z_j = 2.2 \sinh(3.6\, j / B), \quad |j| < B/2

Bins of equal width in the probability would waste their rows on rare classes, and quantiles would
move with the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from discreet import _checks
from discreet._types import Booleans, Vector

WIDTH, STEEPNESS = 2.2, 3.6
USUAL_BINS = 16
"""If nobody says how many rows to expect."""


@dataclass(frozen=True)
class ScoreBins:
    """Cells between public edges of the log-odds.

    Parameters
    ----------
    count
        How many bins, an even number of at least two; one more if the threshold is no edge.
    threshold
        The probability above which a row is predicted to be of the second class; an edge.

    Examples
    --------
    >>> bins = ScoreBins(8)
    >>> bins.edges.round(2).tolist()
    [-3.96, -2.26, -1.02, 0.0, 1.02, 2.26, 3.96]
    >>> bins.nodes.round(1).tolist()
    [-5.1, -3.0, -1.6, -0.5, 0.5, 1.6, 3.0, 5.1]
    """

    count: int
    threshold: float = 0.5

    def __post_init__(self) -> None:
        _checks.whole(bins=self.count, at_least=2, at_most=4096)
        _checks.fraction(threshold=self.threshold)

    @property
    def boundary(self) -> float:
        """The log-odds of the threshold."""
        return math.log(self.threshold / (1 - self.threshold)) + 0.0

    @cached_property
    def edges(self) -> Vector:
        """The log-odds between bins, in order."""
        usual = _at(np.arange(1 - self.count // 2, self.count // 2), self.count)
        return np.unique(np.append(usual, self.boundary))

    @cached_property
    def nodes(self) -> Vector:
        """The log-odds that stand for each bin."""
        usual = _at(np.arange(-(self.count // 2), self.count // 2) + 0.5, self.count)
        if self.edges.size == self.count - 1:
            return usual
        place = int(np.searchsorted(self.edges, self.boundary))
        outer = np.concatenate([[usual[0] - 1], self.edges, [usual[-1] + 1]])
        halves = (outer[[place, place + 1]] + outer[[place + 1, place + 2]]) / 2
        return np.concatenate([usual[:place], halves, usual[place + 1 :]])

    @property
    def total(self) -> int:
        """How many bins there are."""
        return int(self.nodes.size)

    @property
    def probabilities(self) -> Vector:
        """The probability that stands for each bin."""
        return np.asarray(expit(self.nodes))

    @property
    def is_above(self) -> Booleans:
        """Which bins are predicted to be of the second class."""
        return self.nodes > self.boundary


def _at(places: Any, count: int) -> Vector:
    return np.asarray(WIDTH * np.sinh(STEEPNESS * places / count))


def bins_for(rows: int | None, epsilon: float) -> int:
    """Return how many bins so many rows can fill, at so much epsilon for a count.

    Parameters
    ----------
    rows
        How many rows are expected, from public knowledge; None if nobody says.
    epsilon
        The inverse scale of the noise on a count.

    Examples
    --------
    >>> bins_for(500, 0.1), bins_for(5000, 0.1), bins_for(50_000, 1.0), bins_for(None, 1.0)
    (2, 8, 32, 16)
    """
    if rows is None:
        return USUAL_BINS
    weight = rows * epsilon
    if weight < 100:
        return 2
    if weight < 1000:
        return 8
    return 16 if weight < 10_000 else 32
