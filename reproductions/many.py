"""Many runs of one mechanism on the same rows, at the price of a few.

A run of output perturbation is the minimiser plus noise, so the minimiser is found once. A run of
objective perturbation minimises anew, so all its runs take their Newton steps together. What the
mechanisms add beyond this is the mask that hides the solver's rounding; the tests hold that a run
of the mechanism itself differs by no more than that.
"""

from __future__ import annotations

import numpy as np

from discreet.losses import Loss
from discreet.mechanisms.minimising.linear_term import RadialTerm
from discreet.noise import RehearsalNoise

MOST_STEPS = 100
AT_ONCE = 50  # runs; more of them no longer fit the processor's cache


def unit_terms(width: int, seeds: range) -> np.ndarray:
    """Draw one radial vector of scale one for each seed, as the mechanisms do at their scale."""
    return np.array([RadialTerm(1.0).draw(width, RehearsalNoise(seed)) for seed in seeds])


def minimisers(
    loss: Loss,
    X: np.ndarray,
    y: np.ndarray,
    *,
    ridge: float,
    linear: np.ndarray,
    start: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the minimiser for each linear term: one row for each row of ``linear``.

    Needs a loss whose third derivative is at most its second, and rows of norm at most one: then
    Newton steps damped by ln(1 + d)/d, d their length, converge from anywhere (Sun and Tran-Dinh,
    2019). A whole step is taken instead where it halves the gradient.
    """
    parts = [linear[i : i + AT_ONCE] for i in range(0, len(linear), AT_ONCE)]
    return np.vstack([_minimise(loss, X, y, ridge, part, start) for part in parts])


def _minimise(
    loss: Loss,
    X: np.ndarray,
    y: np.ndarray,
    ridge: float,
    linear: np.ndarray,
    start: np.ndarray | float,
) -> np.ndarray:
    width, labels = X.shape[1], y[:, None]
    first, second = np.triu_indices(width)
    products = X[:, first] * X[:, second]

    def gradient(points: np.ndarray, linear: np.ndarray) -> np.ndarray:
        return loss.slope(labels, X @ points.T).T @ X + ridge * points + linear

    def step(points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        hessians = np.empty((len(points), width, width))
        hessians[:, first, second] = loss.curvature(labels, X @ points.T).T @ products
        hessians[:, second, first] = hessians[:, first, second]
        hessians[:, range(width), range(width)] += ridge
        return -np.linalg.solve(hessians, gradients[:, :, None])[:, :, 0]

    points = np.zeros_like(linear) + start
    gradients = gradient(points, linear)
    for _ in range(MOST_STEPS):
        sizes = np.linalg.norm(gradients, axis=1)
        left = np.flatnonzero(sizes > 1e-10 * len(X))
        if left.size == 0:
            return points
        steps = step(points[left], gradients[left])
        points[left] += steps
        gradients[left] = gradient(points[left], linear[left])
        is_worse = np.linalg.norm(gradients[left], axis=1) > 0.5 * sizes[left]
        if is_worse.any():
            again, steps = left[is_worse], steps[is_worse]
            lengths = np.linalg.norm(steps, axis=1, keepdims=True)
            points[again] += steps * (np.log1p(lengths) / lengths - 1)
            gradients[again] = gradient(points[again], linear[again])
    raise ArithmeticError(f"no minimiser within {MOST_STEPS} steps")
