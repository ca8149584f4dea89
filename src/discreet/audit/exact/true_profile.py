"""The true profile of a pair of laws, and its largest loss.

Hockey-stick divergence in both orders, and the largest log-likelihood ratio of a cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.audit.exact.declared_profile import grid_of
from discreet.audit.exact.laws.base import CellMasses, OutputLaw

BLOCK = 2**15
"""So many numbers at once are compared: epsilons times cells."""

CAUTION = 3.0
"""Times the change from coarser grids: against scalar laws, one change is too little one in 20."""


def true_deltas(first: OutputLaw, second: OutputLaw, epsilons: ArrayLike) -> Vector:
    """Return the delta of a pair of laws at each epsilon, the larger of both orders.

    Parameters
    ----------
    first, second
        The laws of what is released on two neighbouring data sets.
    epsilons
        From 0 to 500.

    Examples
    --------
    >>> from discreet.audit.exact.laws import MovedNoise
    >>> from discreet.privacy import Laplace
    >>> pair = MovedNoise(0, 1, "laplace"), MovedNoise(1, 1, "laplace")
    >>> float(true_deltas(*pair, [0.5])[0].round(4)), round(Laplace(1.0).delta(0.5), 4)
    (0.2212, 0.2212)
    """
    return profile_of(cells_of(first, second), grid_of(epsilons))[0]


def largest_loss(first: OutputLaw, second: OutputLaw) -> float:
    """Return the largest log ratio of the two masses of a cell: no pure epsilon is below it.

    Masses lost in rounding do not count.

    Examples
    --------
    >>> from discreet.audit.exact.laws import FiniteLaw
    >>> round(largest_loss(FiniteLaw([0.75, 0.25]), FiniteLaw([0.5, 0.5])), 4)
    0.6931
    """
    return loss_of(cells_of(first, second))


def cells_of(first: OutputLaw, second: OutputLaw) -> CellMasses:
    _checks.instance(OutputLaw, first=first, second=second)
    return first.cell_masses(second)


def profile_of(cells: CellMasses, epsilons: Vector) -> tuple[Vector, Vector]:
    """Return delta at each epsilon, and how far it can be too large."""
    forward = _deltas_in_order(
        cells.first, cells.second, cells.first_error, cells.second_error, epsilons
    )
    back = _deltas_in_order(
        cells.second, cells.first, cells.second_error, cells.first_error, epsilons
    )
    is_back = back[0] - back[1] > forward[0] - forward[1]
    true, error = np.where(is_back, back, forward)
    if cells.coarser:
        changes = [np.abs(true - profile_of(coarse, epsilons)[0]) for coarse in cells.coarser]
        error = error + CAUTION * np.max(changes, axis=0)
        off = max(abs(float(masses.sum()) - 1) for masses in (cells.first, cells.second))
        error = error + off * (1 + np.exp(epsilons))
    return np.minimum(true, 1.0), error


def _deltas_in_order(
    ours: Vector, theirs: Vector, our_error: Vector, their_error: Vector, epsilons: Vector
) -> tuple[Vector, Vector]:
    true, error = np.zeros_like(epsilons), np.zeros_like(epsilons)
    rows = max(1, BLOCK // ours.size)
    for start in range(0, epsilons.size, rows):
        block = slice(start, start + rows)
        factors = np.exp(epsilons[block])[:, None]
        gaps = ours - factors * theirs
        errors = np.where(gaps > 0, our_error + factors * their_error, 0.0)
        true[block], error[block] = np.maximum(gaps, 0.0).sum(axis=1), errors.sum(axis=1)
    return true, error * (1 + 1e-9) + 1e-15 * true


def loss_of(cells: CellMasses) -> float:
    sides = (
        _loss(cells.first - cells.first_error, cells.second + cells.second_error),
        _loss(cells.second - cells.second_error, cells.first + cells.first_error),
    )
    return max(0.0, *sides)


def _loss(least: Vector, most: Vector) -> float:
    matters = least > 1e-300
    with np.errstate(divide="ignore"):
        return float((np.log(least[matters]) - np.log(most[matters])).max())
