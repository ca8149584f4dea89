"""Newton's method with an inverse that is kept as long as it serves.

The first inverse comes from some of the rows, and each step corrects it a little. A step with it
costs one pass over the data; while such steps shrink the gradient well, no Hessian of all rows is
ever formed. When going on would take more passes than a new Hessian costs and saves, the full one
takes over; at once, if the objective found it in passing. Steps are halved until the value falls
enough, or stays level to rounding while the gradient shrinks, so the method cannot run away.
"""

from __future__ import annotations

import math

import numpy as np

from discreet._types import Vector
from discreet.solvers.inverses import Secants
from discreet.solvers.objective import Objective, Solution

SUFFICIENT = 1e-4
"""The share of the predicted decrease that a step must achieve (Armijo)."""

ROUNDING = 1e-9
GOOD_PROGRESS = 0.3
MOST_HALVINGS = 40
STEPS_WITH_IT = 3
"""How many steps a Hessian of the last point needs, roughly: such steps are very good ones."""


def newton(
    objective: Objective, start: Vector, *, tolerance: float, most_steps: int = 200
) -> Solution:
    """Minimise until the computed gradient norm is at most ``tolerance``, or steps run out.

    Parameters
    ----------
    objective
        What is minimised, with inverses of its Hessian, rough and full.
    start
        Where to begin, unless the objective knows better.
    tolerance
        It ends where the computed gradient norm is at most this.
    most_steps
        It also ends after so many steps.

    Examples
    --------
    >>> class Distance:
    ...     dimension, strong_convexity, passes_per_hessian = 2, 1.0, 1.0
    ...     def value_and_gradient(self, w):
    ...         gap = w - np.array([3.0, -0.5])
    ...         return float(gap @ gap) / 2, gap
    ...     def rough_inverse(self, w):
    ...         return lambda vector: 0.5 * vector
    ...     def full_inverse(self, w):
    ...         return lambda vector: vector
    ...     def known_inverse(self, w):
    ...         return None
    ...     def rough_start(self, w):
    ...         return w
    >>> newton(Distance(), np.zeros(2), tolerance=1e-9).point.round(6)
    array([ 3. , -0.5])
    """
    point = objective.rough_start(start)
    value, gradient = objective.value_and_gradient(point)
    norm = float(np.linalg.norm(gradient))
    secants, is_full = Secants(objective.rough_inverse(point)), False
    for _ in range(most_steps):
        if norm <= tolerance:
            break
        direction = -secants.apply(gradient)
        slope = float(gradient @ direction)
        step = 1.0
        for _ in range(MOST_HALVINGS):
            candidate = point + step * direction
            new_value, new_gradient = objective.value_and_gradient(candidate)
            new_norm = float(np.linalg.norm(new_gradient))
            # Near the minimum values agree to rounding; there the gradient decides.
            is_level = new_value <= value + ROUNDING * abs(value)
            is_better = is_level and new_norm <= GOOD_PROGRESS * norm
            if new_value <= value + SUFFICIENT * step * slope or is_better:
                break
            step /= 2
        else:
            if is_full:
                break
            secants, is_full = Secants(objective.full_inverse(point)), True
            continue
        progress = new_norm / norm
        secants.learn(candidate - point, new_gradient - gradient)
        point, value, gradient, norm = candidate, new_value, new_gradient, new_norm
        known = None if norm <= tolerance else objective.known_inverse(point)
        if known is not None:
            secants, is_full = Secants(known), True
            continue
        steps_left = _steps_left(norm, tolerance, progress if step == 1 else 1.0)
        if steps_left > objective.passes_per_hessian + STEPS_WITH_IT:
            secants, is_full = Secants(objective.full_inverse(point)), True
    return Solution(point, norm)


def _steps_left(norm: float, tolerance: float, progress: float) -> float:
    """Return how many steps are left if each shrinks the gradient as the last one did."""
    if norm <= tolerance:
        return 0.0
    if progress >= 1 or tolerance == 0:
        return math.inf
    return math.log(norm / tolerance) / -math.log(progress)
