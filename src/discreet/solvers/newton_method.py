"""Newton's method with an inverse that is kept as long as it serves.

The first inverse comes from some of the rows, and each step corrects it a little (limited-memory
BFGS). A step with it costs one pass over the data; while such steps shrink the gradient well, no
Hessian of all rows is ever formed. When going on would take more passes than a new Hessian costs
and saves, the full one takes over; at once, if the objective found it in passing. Steps are halved
until the value falls enough, or stays level to rounding while the gradient shrinks, so the method
cannot run away.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from discreet._types import Vector
from discreet.solvers.objective import Inverse, Objective, Solution

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
