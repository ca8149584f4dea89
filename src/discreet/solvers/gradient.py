"""Accelerated gradient steps, with a penalty or without: slow, but they end after a known time."""

from __future__ import annotations

import math

import numpy as np

from discreet._types import Vector
from discreet.penalties import Penalty
from discreet.solvers.certificate import certify
from discreet.solvers.objective import Objective, Smooth, Solution


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


def accelerated_proximal_gradient(
    objective: Smooth,
    penalty: Penalty,
    start: Vector,
    *,
    smoothness: float,
    tolerance: float,
    most_steps: int,
) -> Solution:
    r"""Minimise a smooth function plus a penalty by Nesterov's method.

    Parameters
    ----------
    objective
        The smooth function.
    penalty
        What is added to it.
    start
        Where to begin.
    smoothness
        A bound on the largest curvature of the function; a step is one over it.
    tolerance
        It ends where the residual is at most this.
    most_steps
        It also ends after so many steps.

    Notes
    -----
    Momentum is dropped whenever it points uphill, which helps when the function curves more than
    it must. That voids the textbook rate, so the second half of the steps goes without, from the
    best value of the first. With q the residual at the start for any subgradient of the penalty,
    twice ``iterations_needed(smoothness, strong_convexity, q, tolerance)`` steps are enough in
    exact arithmetic: after k steps of the second half, and one more,

    .. math:: \text{residual}^2 \le 2 S (F(x_k) - F^*)
        \le 4 S (1 - \sqrt{\Lambda/S})^k (F(x_0) - F^*), \quad F(x_0) - F^* \le q^2 / (2 \Lambda).

    References
    ----------
    Nesterov (2018), Lectures on convex optimization, section 2.2. O'Donoghue, Candès (2015),
    Adaptive restart for accelerated gradient schemes.

    Examples
    --------
    >>> from discreet.penalties import L1
    >>> class Distance:
    ...     dimension, strong_convexity = 2, 1.0
    ...     def value_and_gradient(self, w):
    ...         gap = w - np.array([3.0, -0.5])
    ...         return float(gap @ gap) / 2, gap
    >>> accelerated_proximal_gradient(
    ...     Distance(), L1(1.0), np.zeros(2), smoothness=1.0, tolerance=1e-9, most_steps=10
    ... ).point
    array([2., 0.])
    """
    run = _Run(objective, penalty, smoothness, tolerance)
    first = penalty.prox(start, 1 / smoothness)
    near, is_done = run.descend(first, most_steps // 2, with_restarts=True)
    if not is_done:
        near = min(first, near, key=run.total)
        near, _ = run.descend(near, most_steps - most_steps // 2, with_restarts=False)
    point, residual = certify(run.gradient, penalty, near, 1 / smoothness)
    return Solution(point, residual)


class _Run:
    """One problem, with the step and the momentum that its constants allow."""

    def __init__(
        self, objective: Smooth, penalty: Penalty, smoothness: float, tolerance: float
    ) -> None:
        root = math.sqrt(objective.strong_convexity / smoothness)
        self._objective, self._penalty = objective, penalty
        self._step, self._momentum = 1 / smoothness, (1 - root) / (1 + root)
        self._smallest_move = tolerance / smoothness

    def gradient(self, point: Vector) -> Vector:
        return self._objective.value_and_gradient(point)[1]

    def total(self, point: Vector) -> float:
        return self._objective.value_and_gradient(point)[0] + self._penalty.value(point)

    def descend(
        self, start: Vector, most_steps: int, *, with_restarts: bool
    ) -> tuple[Vector, bool]:
        """Step until a step is so short that the residual is within the tolerance."""
        point = ahead = start
        for _ in range(most_steps):
            moved = self._penalty.prox(ahead - self._step * self.gradient(ahead), self._step)
            # The residual is at most the smoothness times the move: S I - Hessian has norm S.
            if np.linalg.norm(moved - ahead) <= self._smallest_move:
                return moved, True
            is_uphill = (ahead - moved) @ (moved - point) > 0
            momentum = 0.0 if with_restarts and is_uphill else self._momentum
            ahead = moved + momentum * (moved - point)
            point = moved
        return point, False
