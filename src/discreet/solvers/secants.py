"""What the last steps taught about the Hessian, on top of an inverse that is kept."""

from __future__ import annotations

from collections import deque

import numpy as np

from discreet._types import Vector
from discreet.solvers.objective import Inverse

MOST_PAIRS = 10


class Secants:
    """An approximate inverse Hessian, corrected by recent steps (limited-memory BFGS).

    Examples
    --------
    >>> secants = Secants(lambda gradient: gradient)
    >>> secants.learn(np.array([1.0, 0.0]), np.array([4.0, 0.0]))  # curvature 4 along the first
    >>> secants.apply(np.array([4.0, 1.0]))
    array([1., 1.])
    """

    def __init__(self, inverse: Inverse) -> None:
        self._inverse = inverse
        self._pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=MOST_PAIRS)

    def learn(self, step: Vector, change: Vector) -> None:
        """Note by how much a step changed the gradient."""
        curvature = float(step @ change)
        if curvature > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self._pairs.append((step, change, curvature))

    def apply(self, gradient: Vector) -> Vector:
        """Apply the corrected inverse."""
        rest, shares = gradient, []
        for step, change, curvature in reversed(self._pairs):
            share = float(step @ rest) / curvature
            rest = rest - share * change
            shares.append(share)
        moved = self._inverse(rest)
        for (step, change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            moved = moved + (share - float(change @ moved) / curvature) * step
        return moved
