"""Smooth functions that count passes, and exact minimisers of quadratics plus penalties."""

from __future__ import annotations

import mpmath
import numpy as np
from scipy.special import expit


class Counted:
    """A smooth function that counts how often it is asked for a gradient or a Hessian."""

    def __init__(self, dimension, strong_convexity, smoothness):
        self.dimension, self.strong_convexity = dimension, strong_convexity
        self.passes_per_hessian = 2.0
        self.smoothness, self.gradients, self.hessians = smoothness, 0, 0

    @property
    def passes(self):
        return self.gradients + self.hessians

    def gradient(self, w):
        return self.value_and_gradient(w)[1]


class Quadratic(Counted):
    """Half the squared distance from a target, in the metric of H."""

    def __init__(self, H, target):
        spectrum = np.linalg.eigvalsh(H)
        super().__init__(len(target), spectrum[0] * (1 - 1e-6), spectrum[-1] * (1 + 1e-6))
        self.H, self.target = H, target

    def value_and_gradient(self, w):
        self.gradients += 1
        slope = self.H @ (w - self.target)
        return float((w - self.target) @ slope) / 2, slope

    def hessian(self, w):
        self.hessians += 1
        return self.H.copy()


class Logistic(Counted):
    """The logistic loss of rows in the unit ball, a ridge and a linear term."""

    def __init__(self, X, y, ridge, linear=0.0):
        super().__init__(X.shape[1], ridge, len(X) / 4 + ridge)
        self.X, self.y, self.ridge, self.linear = X, y, ridge, np.zeros(X.shape[1]) + linear

    def value_and_gradient(self, w):
        self.gradients += 1
        margins = self.y * (self.X @ w)
        value = np.logaddexp(0, -margins).sum() + self.ridge / 2 * w @ w + self.linear @ w
        return float(value), self.X.T @ (-self.y * expit(-margins)) + self.ridge * w + self.linear

    def hessian(self, w):
        self.hessians += 1
        margins = self.X @ w
        curvature = expit(margins) * expit(-margins)
        return (self.X.T * curvature) @ self.X + self.ridge * np.eye(self.dimension)

    def rough_inverse(self, w):
        return self.full_inverse(w)

    def full_inverse(self, w):
        matrix = self.hessian(w)
        return lambda gradient: np.linalg.solve(matrix, gradient)

    def known_inverse(self, w):
        return None

    def rough_start(self, w):
        return w


class Bent(Counted):
    """A hinge rounded off within ``bend`` of its corner: straight, then curved, then flat."""

    def __init__(self, X, ridge, bend):
        super().__init__(X.shape[1], ridge, len(X) / (2 * bend) + ridge)
        self.X, self.ridge, self.bend = X, ridge, bend

    def value_and_gradient(self, w):
        self.gradients += 1
        short = 1 - self.X @ w
        rounded = np.clip(short + self.bend, 0, 2 * self.bend)
        losses = rounded**2 / (4 * self.bend) + np.maximum(short - self.bend, 0)
        value = losses.sum() + self.ridge / 2 * w @ w
        return float(value), self.ridge * w - self.X.T @ (rounded / (2 * self.bend))

    def hessian(self, w):
        self.hessians += 1
        bent = self.X[np.abs(1 - self.X @ w) <= self.bend]
        return self.ridge * np.eye(self.dimension) + bent.T @ bent / (2 * self.bend)


def quadratic(seed, p, condition, scale=1.0):
    """A quadratic in random directions, with curvatures from 1 to ``condition``."""
    generator = np.random.default_rng(seed)
    directions, _ = np.linalg.qr(generator.standard_normal((p, p)))
    H = (directions * np.logspace(0, np.log10(condition), p)) @ directions.T
    return Quadratic((H + H.T) / 2, scale * generator.standard_normal(p))


def logistic(seed, n, p, ridge=1.0, signal=4.0):
    """Rows in the unit ball, and labels that follow a random direction."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    margins = X @ (signal * generator.standard_normal(p))
    return Logistic(X, np.where(generator.random(n) < expit(margins), 1.0, -1.0), ridge)


def bent(seed, n, p, ridge, bend):
    """Rows on the unit sphere, turned by labels that follow a fixed direction, with noise."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signal = X @ np.arange(1.0, p + 1) + generator.standard_normal(n) / 2
    return Bent(X * np.sign(signal)[:, None], ridge, bend)


def on_face(problem, held, pull, total=None):
    """Solve, with fifty digits, for the entries that are not held fixed.

    ``held`` has the fixed entries and NaN elsewhere. The gradient there is minus ``pull``; if a
    ``total`` is given, minus an unknown multiple of it, and the entries times ``pull`` sum to it.
    Returns the point, its gradient and the multiple.
    """
    with mpmath.workdps(50):
        p, free = problem.dimension, np.flatnonzero(np.isnan(held))
        H, target = mpmath.matrix(problem.H.tolist()), mpmath.matrix(problem.target.tolist())
        point = mpmath.matrix([0.0 if np.isnan(value) else value for value in held.tolist()])
        slope = H * (point - target)
        count, multiple = len(free), mpmath.mpf(1)
        size = count + (total is not None)
        system, right = mpmath.zeros(size, size), mpmath.zeros(size, 1)
        for i, row in enumerate(free.tolist()):
            for j, column in enumerate(free.tolist()):
                system[i, j] = H[row, column]
            right[i] = -slope[row]
            if total is None:
                right[i] -= mpmath.mpf(float(pull[row]))
            else:
                system[i, count] = system[count, i] = mpmath.mpf(float(pull[row]))
        if total is not None:
            right[count] = mpmath.mpf(total)
        if size:
            solved = mpmath.lu_solve(system, right)
            for i, row in enumerate(free.tolist()):
                point[row] = solved[i]
            multiple = solved[count] if total is not None else multiple
        slope = H * (point - target)
        return [point[i] for i in range(p)], [slope[i] for i in range(p)], multiple
