"""Minimisers of many objectives of one coefficient at once, by bisection."""

from __future__ import annotations

import numpy as np

from discreet._types import Vector
from discreet.losses import Loss

HALVINGS = 90


def minimisers(loss: Loss, rows: Vector, labels: Vector, ridge: float, tilts: Vector) -> Vector:
    """Minimise the losses of rows of one entry, plus the ridge, plus each tilt in turn.

    The slope rises, and is zero somewhere within the bracket: losses have slopes of at most one.
    """
    high = (np.abs(tilts) + np.abs(rows).sum()) / ridge
    low = -high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        slopes = ridge * middle + tilts
        for row, label in zip(rows, labels, strict=True):
            slopes += row * loss.slope(label, row * middle)
        low, high = np.where(slopes > 0, low, middle), np.where(slopes > 0, middle, high)
    return np.asarray((low + high) / 2)
