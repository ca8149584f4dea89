"""Approximate inverses of Hessians: corrected by the last steps, or by products with vectors alone.

Limited-memory BFGS on top of an inverse that is kept, and conjugate gradients.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from discreet._types import Vector
from discreet.solvers.objective import Inverse

MOST_PAIRS = 10
MOST_STEPS = 200


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


def conjugate_gradient(multiply: Callable[[Vector], Vector], target: Vector) -> Vector:
    """Solve a positive definite system roughly: to a tenth, or better when the target is small."""
    solution = np.zeros_like(target)
    residual = target.copy()
    direction = residual.copy()
    squared = float(residual @ residual)
    norm = math.sqrt(squared)
    enough = norm * min(0.05, math.sqrt(norm) / 10)
    for _ in range(MOST_STEPS):
        if math.sqrt(squared) <= enough:
            break
        product = multiply(direction)
        step = squared / float(direction @ product)
        solution += step * direction
        residual -= step * product
        previous, squared = squared, float(residual @ residual)
        direction = residual + squared / previous * direction
    return solution
