"""Counts that are not negative, nearest to noisy ones and with the same total."""

from __future__ import annotations

import numpy as np

from discreet._types import Vector


def project_counts(counts: Vector, total: float | None = None) -> Vector:
    """Return the nearest counts that are not negative, with the same total, or one if that is less.

    Or with a total that is known better, if one is given; it has to be positive.

    They serve point estimates and pictures, which are then in range and agree with one another, and
    bins that follow the counts; intervals are made of the counts as released.

    Examples
    --------
    >>> project_counts(np.array([10.0, -2.0, 4.0]))
    array([9., 0., 3.])
    """
    if total is None:
        total = max(float(counts.sum()), 1.0)
    falling = np.sort(counts)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    shift = shifts[np.flatnonzero(falling > shifts)[-1]]
    projected: Vector = np.maximum(counts - shift, 0.0)
    return projected
