"""The declared profile, on a grid of epsilons."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.audit.exact.laws.finite import vector
from discreet.errors import InputError
from discreet.privacy import Guarantee

LARGEST_EPSILON = 500.0
POINTS = 30


def declared_deltas(
    guarantee: Guarantee, epsilons: ArrayLike | None = None
) -> tuple[Vector, Vector]:
    """Return the epsilons asked for, or a grid over the declared profile, and the deltas there.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> declared_deltas(Guarantee(Pure(1.0), AddRemoveOne()), [0.0, 1.0])[1].round(4)
    array([0.4621, 0.    ])
    """
    _checks.instance(Guarantee, guarantee=guarantee)
    grid = default_epsilons(guarantee) if epsilons is None else grid_of(epsilons)
    return grid, guarantee.profile.deltas(grid)


def default_epsilons(guarantee: Guarantee) -> Vector:
    """Return epsilons from zero to where the declared delta is negligible.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> grid = default_epsilons(Guarantee(Pure(2.0), AddRemoveOne()))
    >>> float(grid[0]), float(grid[-1])
    (0.0, 2.0)
    """
    _checks.instance(Guarantee, guarantee=guarantee)
    top = min(guarantee.profile.pure_epsilon, LARGEST_EPSILON)
    if top == LARGEST_EPSILON:
        top = _end_of(guarantee)
    steps = np.linspace(0, 1, POINTS + 1)
    return np.union1d(top * steps, top * steps[1] * np.array([0.01, 0.1, 0.3]))


def _end_of(guarantee: Guarantee) -> float:
    """Return, to a few percent, where the declared delta is down to 1e-9 or to its floor."""
    low, high = 1e-4, LARGEST_EPSILON
    least = max(1e-9, 2 * guarantee.delta(high))
    if least >= 1:
        return 10.0
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if guarantee.delta(middle) <= least else (middle, high)
    return high


def grid_of(epsilons: ArrayLike) -> Vector:
    grid = vector(epsilons=epsilons)
    if (grid < 0).any() or (grid > LARGEST_EPSILON).any():
        raise InputError(f"epsilons must lie between 0 and {LARGEST_EPSILON:g}.")
    return grid
