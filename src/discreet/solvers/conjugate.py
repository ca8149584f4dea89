"""Conjugate gradients, for Hessians that are only ever multiplied."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet._types import Vector

MOST_STEPS = 200


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
