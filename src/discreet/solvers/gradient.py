"""Accelerated gradient: slow, but with a number of steps known in advance."""

from __future__ import annotations

import math

import numpy as np

from discreet._types import Vector
from discreet.solvers.objective import Objective, Solution


def iterations_needed(
    smoothness: float, strong_convexity: float, first_gradient: float, tolerance: float
) -> int:
    r"""Return a number of steps after which the gradient is surely small enough.

    .. math:: \lceil \sqrt{S/\Lambda} \, \ln(2 S g_0^2 / (\Lambda \tau^2)) \rceil

    Parameters
    ----------
    smoothness
        :math:`S`, the largest curvature.
    strong_convexity
        :math:`\Lambda`, the least curvature; positive.
    first_gradient
        :math:`g_0`, a bound on the norm of the gradient at the start.
    tolerance
        :math:`\tau`, the norm that is wanted.

    Examples
    --------
    >>> iterations_needed(100.0, 1.0, 10.0, 1e-6)
    376
    """
    ratio = smoothness / strong_convexity
    return math.ceil(math.sqrt(ratio) * math.log(2 * ratio * (first_gradient / tolerance) ** 2))


def descents_needed(
    smoothness: float, strong_convexity: float, first_gradient: float, error: float
) -> int:
    r"""Return how many plain gradient steps lead to a gradient below 1.5 times their error.

    .. math:: \lceil 2 (S/\Lambda) \ln(S g_0^2 / (\Lambda G^2)) \rceil

    Parameters
    ----------
    smoothness
        :math:`S`, the largest curvature.
    strong_convexity
        :math:`\Lambda`, the least curvature; positive.
    first_gradient
        :math:`g_0`, a bound on the norm of the gradient at the start.
    error
        :math:`G`, how far computed gradients may be from the true ones.

    Notes
    -----
    A step along a gradient that is wrong by at most G lowers the value by
    :math:`(\|g\|^2 - G^2)/(2S)` or more. Accelerated methods need fewer steps, but pile up errors.

    Examples
    --------
    >>> descents_needed(100.0, 1.0, 10.0, 1e-6)
    7369
    """
    ratio = smoothness / strong_convexity
    shrinkage = math.log(ratio) + 2 * math.log(max(first_gradient / error, 1.0))
    return math.ceil(2 * ratio * max(shrinkage, 1.0))


def accelerated_gradient(
    objective: Objective,
    start: Vector,
    *,
    smoothness: float,
    tolerance: float,
    most_steps: int,
) -> Solution:
    """Minimise by Nesterov's method for strongly convex functions.

    Parameters
    ----------
    objective
        What is minimised; only its gradient and strong convexity are asked for.
    start
        Where to begin.
    smoothness
        A bound on the largest curvature; a step is one over it.
    tolerance
        It ends where the computed gradient norm is at most this.
    most_steps
        It also ends after so many steps; see :func:`iterations_needed`.

    Examples
    --------
    >>> class Distance:
    ...     dimension, strong_convexity = 2, 1.0
    ...     def value_and_gradient(self, w):
    ...         gap = w - np.array([3.0, -0.5])
    ...         return float(gap @ gap) / 2, gap
    >>> accelerated_gradient(
    ...     Distance(), np.zeros(2), smoothness=1.0, tolerance=1e-9, most_steps=10
    ... ).point
    array([ 3. , -0.5])
    """
    step = 1 / smoothness
    root = math.sqrt(objective.strong_convexity / smoothness)
    momentum = (1 - root) / (1 + root)
    point = ahead = start
    norm = math.inf
    for _ in range(most_steps):
        _, gradient = objective.value_and_gradient(ahead)
        norm = float(np.linalg.norm(gradient))
        if norm <= tolerance:
            return Solution(ahead, norm)
        moved = ahead - step * gradient
        ahead = moved + momentum * (moved - point)
        point = moved
    return Solution(ahead, norm)
