"""Shapes that only rise, or only fall: the nearest such one to a released shape.

The projection on a convex cone of L2 of the noisy marginal, so if the truth is monotone the error
of a shape there never grows. It reads released numbers alone, and costs nothing.
"""

from __future__ import annotations

from scipy.optimize import isotonic_regression

from discreet._types import Array, Vector

LEAST_WEIGHT = 1e-9
"""Of a cell without rows, beside the shares of others."""


def make_monotone(values: Array, shares: Vector, increasing: bool) -> Array:
    """Return the nearest values that rise or fall, line by line; the last cell stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> make_monotone(np.array([[0.0, 2.0, 1.0, 9.0]]), np.full(4, 0.25), increasing=True)
    array([[0. , 1.5, 1.5, 9. ]])
    """
    projected = values.copy()
    for line in projected:
        line[:-1] = isotonic_regression(
            line[:-1], weights=shares[:-1] + LEAST_WEIGHT, increasing=increasing
        ).x
    return projected
