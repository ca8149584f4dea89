"""Accelerated gradient keeps its promise on the number of steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from discreet.solvers import accelerated_gradient, iterations_needed


class Smooth:
    """A quadratic form, or a sum of logistic losses, plus a ridge and a linear term."""

    def __init__(self, ridge, linear, *, H=None, X=None):
        self.strong_convexity, self.linear, self.H, self.X = ridge, linear, H, X
        self.dimension = linear.size

    @property
    def smoothness(self):
        top = self.H if self.H is not None else self.X.T @ self.X / 4
        return float(np.linalg.eigvalsh(top)[-1]) + self.strong_convexity

    def value_and_gradient(self, w):
        value = self.strong_convexity / 2 * w @ w + self.linear @ w
        gradient = self.strong_convexity * w + self.linear
        if self.H is not None:
            return float(value + w @ self.H @ w / 2), gradient + self.H @ w
        margins = self.X @ w
        return float(value + np.logaddexp(0, -margins).sum()), gradient - self.X.T @ expit(-margins)


def quadratic(seed, ridge, spread=100.0):
    generator = np.random.default_rng(seed)
    Q = np.linalg.qr(generator.standard_normal((6, 6)))[0]
    H = (Q * np.linspace(0, spread, 6)) @ Q.T
    return Smooth(ridge, 10 * generator.standard_normal(6), H=(H + H.T) / 2)


def logistic(seed, ridge):
    generator = np.random.default_rng(seed)
    return Smooth(ridge, generator.standard_normal(5), X=generator.standard_normal((60, 5)))


def solve(problem, tolerance):
    """Run with the promised number of steps, from a point some way off."""
    start = np.full(problem.dimension, 10.0 / math.sqrt(problem.dimension))
    _, gradient = problem.value_and_gradient(start)
    steps = iterations_needed(
        problem.smoothness, problem.strong_convexity, np.linalg.norm(gradient), tolerance
    )
    return accelerated_gradient(
        problem,
        start,
        smoothness=problem.smoothness,
        tolerance=tolerance,
        most_steps=steps,
    )


@pytest.mark.parametrize("ridge", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_promised_number_of_steps_is_enough(seed, ridge):
    for problem in (quadratic(seed, ridge), logistic(seed, ridge)):
        solution = solve(problem, tolerance=1e-8)
        assert solution.is_within(1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_certified_point_is_within_tolerance_over_ridge_of_the_minimiser(seed):
    problem = quadratic(seed, ridge=2.0)
    full = problem.H + problem.strong_convexity * np.eye(problem.dimension)
    exact = -np.linalg.solve(full, problem.linear)
    for tolerance in (1e-2, 1e-5, 1e-8):
        solution = solve(problem, tolerance)
        assert np.linalg.norm(solution.point - exact) <= tolerance / 2.0 + 1e-11


def test_too_few_steps_are_not_certified():
    problem = quadratic(1, ridge=0.1)
    solution = accelerated_gradient(
        problem, np.zeros(6), smoothness=problem.smoothness, tolerance=1e-8, most_steps=3,
    )  # fmt: skip
    assert not solution.is_within(1e-8)


def test_more_accuracy_needs_more_steps():
    needed = [iterations_needed(100.0, 1.0, 10.0, 10.0**-k) for k in range(1, 10)]
    assert needed == sorted(set(needed))


def test_a_step_too_small_to_move_a_float_is_not_taken_for_a_minimum():
    # The declared smoothness is far above the true curvature, as max_rows makes it.
    problem = Smooth(1.0, np.array([-1e5]), H=np.zeros((1, 1)))
    start = np.array([1e5 - 1e-4])  # the gradient is 1e-4 here, and the minimiser 1e5
    solution = accelerated_gradient(problem, start, smoothness=1e8, tolerance=1e-6, most_steps=10)
    assert not solution.is_within(1e-6) or abs(solution.point[0] - 1e5) <= 1e-6
