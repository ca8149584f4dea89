r"""Cells of rows by class and score: a grid of log-odds that is fixed, and bins that follow a law.

.. math:: z_j = 2.2 \sinh(3.6\, j / B), \quad |j| < B/2

Bins of equal width in the probability would waste their rows on rare classes. The cell of a row is
made of that row alone, to the last bit: comparisons, arithmetic, and functions that SciPy evaluates
one number at a time.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_expit

from discreet._types import Array, Integers, Vector

WIDTH, STEEPNESS = 2.2, 3.6
LIMIT = WIDTH * math.sinh(STEEPNESS / 2)
"""Log-odds beyond this lose as much as there: probabilities of .0015 and .9985."""

FIXED_SHARE = 0.15
"""The part of the edges that lies as on the fixed grid, wherever scores are."""

LEAST_BINS = 8
BINS_WITH_HALVES, BINS_ALONE = 0.6, 1.0
"""Factors of the number of bins that balances what bins hide against the noise on them."""


def fixed_edges(count: int) -> Vector:
    """Return the log-odds between ``count`` bins, an even number.

    Examples
    --------
    >>> fixed_edges(8).round(2).tolist()
    [-3.96, -2.26, -1.02, 0.0, 1.02, 2.26, 3.96]
    """
    places = np.arange(1 - count // 2, count // 2)
    return np.asarray(WIDTH * np.sinh(STEEPNESS * places / count))


def ends_of(edges: Vector) -> tuple[Vector, Vector]:
    """Return the low and the high end of each bin; beyond the outer ones nothing is told apart."""
    far = float(np.abs(edges).max(initial=0.0))
    reach = LIMIT if far < LIMIT else far + 1
    return np.append(-reach, edges), np.append(edges, reach)


def losses_at(log_odds: Vector) -> Array:
    """Return the log losses of a row of the first and of the second class, a line each."""
    return np.stack([-log_expit(-log_odds), -log_expit(log_odds)])


def bins_of(edges: Vector, log_odds: Vector) -> Integers:
    """Return the bin of each row; one at an edge is in the bin below."""
    return np.searchsorted(edges, log_odds, side="left")


def upper_halves(edges: Vector, classes: Integers, log_odds: Vector, coins: Vector) -> Integers:
    """Return one where a coin brings a row to the upper end of its bin, zero elsewhere.

    The chance is such that the mean log loss at the ends is that of the row.
    """
    low, high = ends_of(edges)
    places = bins_of(edges, log_odds)
    at_low, at_high = (losses_at(ends)[classes, places] for ends in (low, high))
    inside = np.minimum(np.maximum(log_odds, low[places]), high[places])
    own = np.where(classes == 1, -log_expit(inside), -log_expit(-inside))
    range_of = at_high - at_low
    chances = np.divide(own - at_low, range_of, out=np.zeros_like(own), where=range_of != 0)
    return (coins < chances).astype(np.int64)


def place_rows(edges: Vector, rows: Array, *, has_halves: bool) -> Integers:
    """Return the cell of each row: zero for none, then class by class, bin by bin, half by half.

    Examples
    --------
    >>> rows = np.array([[0, 0, 0.5], [1, -9, 0.5], [2, 0.5, 0.9], [2, 0.5, 0.1]])
    >>> place_rows(np.zeros(1), rows, has_halves=True).tolist()
    [0, 1, 7, 8]
    """
    kinds, log_odds = np.rint(rows[:, 0]).astype(np.int64), rows[:, 1]
    classes = np.maximum(kinds - 1, 0)
    cells = classes * (edges.size + 1) + bins_of(edges, log_odds)
    if has_halves:
        cells = 2 * cells + upper_halves(edges, classes, log_odds, rows[:, 2])
    return np.where(kinds == 0, 0, 1 + cells)


def bins_after(totals: tuple[float, float], rate: float, most: int, *, has_halves: bool) -> int:
    """Return how many bins the rows of the rarer class can fill.

    Examples
    --------
    >>> bins_after((1800.0, 200.0), 0.9, 2048, has_halves=True)
    20
    """
    factor = BINS_WITH_HALVES if has_halves else BINS_ALONE
    wanted: float = factor * (max(min(totals), 1.0) * rate) ** (2 / 3)
    return min(max(2 * round(min(wanted, 2.0 * most) / 2), min(LEAST_BINS, most)), most)


def follow(mass: Vector, count: int, thresholds: tuple[float, ...]) -> Vector:
    """Return edges between bins of about equal mass, and the thresholds among them.

    Examples
    --------
    >>> follow(np.array([0.0, 1.0, 0.0, 0.0]), 4, (0.0,)).round(2).tolist()
    [-1.72, -1.08, -0.45, 0.0]
    """
    cells = mass.size
    shares = (1 - FIXED_SHARE) * mass / mass.sum() + FIXED_SHARE / cells
    reached = np.append(0.0, np.cumsum(shares))
    ends = np.concatenate([[-LIMIT], fixed_edges(cells), [LIMIT]])
    wanted = reached[-1] * np.arange(1, count) / count
    return np.unique(np.concatenate([np.interp(wanted, reached, ends), thresholds]))
