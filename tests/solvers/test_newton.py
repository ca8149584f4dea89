"""Newton's method against closed forms, SciPy and hard starts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from discreet.solvers import newton
from discreet.solvers.newton_method import conjugate_gradient


class Smooth:
    """Logistic regression and ridge (``X`` given), or a quadratic (``H`` given), in plain NumPy.

    ``misjudged`` multiplies the Hessian of the rough inverse.
    """

    def __init__(self, ridge, linear, *, H=None, X=None, y=None, misjudged=1.0):
        self.ridge = self.strong_convexity = ridge
        self.passes_per_hessian = 2.0
        self.linear, self.H, self.X, self.y = linear, H, X, y
        self.dimension, self.misjudged, self.full_calls = linear.size, misjudged, 0

    def value_and_gradient(self, w):
        value = self.ridge / 2 * w @ w + self.linear @ w
        gradient = self.ridge * w + self.linear
        if self.H is not None:
            return float(value + w @ self.H @ w / 2), gradient + self.H @ w
        margins = self.y * (self.X @ w)
        slopes = -self.y * expit(-margins)
        return float(value + np.logaddexp(0, -margins).sum()), gradient + self.X.T @ slopes

    def hessian(self, w):
        eye = self.ridge * np.eye(self.dimension)
        if self.H is not None:
            return eye + self.H
        margins = self.X @ w
        return eye + (self.X.T * (expit(margins) * expit(-margins))) @ self.X

    def rough_inverse(self, w):
        matrix = self.misjudged * self.hessian(w)
        return lambda gradient: np.linalg.solve(matrix, gradient)

    def full_inverse(self, w):
        self.full_calls += 1
        matrix = self.hessian(w)
        return lambda gradient: np.linalg.solve(matrix, gradient)

    def known_inverse(self, w):
        return None

    def rough_start(self, w):
        return w


def logistic(seed, n=200, p=4, **options):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    y = np.where(generator.random(n) < expit(X @ np.ones(p)), 1.0, -1.0)
    return Smooth(0.5, generator.standard_normal(p), X=X, y=y, **options)


def test_a_quadratic_is_solved_in_one_step():
    generator = np.random.default_rng(1)
    A = generator.standard_normal((5, 5))
    problem = Smooth(0.1, generator.standard_normal(5), H=A @ A.T)
    solution = newton(problem, np.zeros(5), tolerance=1e-10, most_steps=1)
    exact = -np.linalg.solve(A @ A.T + 0.1 * np.eye(5), problem.linear)
    np.testing.assert_allclose(solution.point, exact, rtol=1e-9, atol=1e-12)
    assert solution.is_within(1e-10)


def test_a_quadratic_of_condition_ten_to_the_ten_is_solved_to_its_tolerance():
    spectrum = np.diag(np.logspace(0, 10, 6) - 1)
    problem = Smooth(1.0, np.ones(6), H=spectrum)
    solution = newton(problem, np.full(6, 3.0), tolerance=1e-7)
    assert solution.is_within(1e-7)
    np.testing.assert_allclose(solution.point, -1 / np.logspace(0, 10, 6), atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_agrees_with_scipy(seed):
    problem = logistic(seed)
    solution = newton(problem, np.zeros(4), tolerance=1e-10)
    reference = minimize(
        problem.value_and_gradient, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-7}
    )
    assert solution.is_within(1e-10)
    np.testing.assert_allclose(solution.point, reference.x, atol=1e-6)


@pytest.mark.parametrize("start", [1e2, -1e4, 1e6])
def test_a_start_where_every_curvature_has_vanished_does_not_hurt(start):
    problem = logistic(7)
    near = newton(problem, np.zeros(4), tolerance=1e-10).point
    far = newton(problem, np.full(4, start), tolerance=1e-10)
    assert far.is_within(1e-10)
    np.testing.assert_allclose(far.point, near, atol=1e-9)


@pytest.mark.parametrize("misjudged", [0.01, 100.0])
def test_a_rough_inverse_that_misleads_is_replaced_by_the_full_one(misjudged):
    problem = logistic(3, misjudged=misjudged)
    assert newton(problem, np.zeros(4), tolerance=1e-10).is_within(1e-10)
    assert problem.full_calls >= 1


def test_a_rough_inverse_that_serves_is_kept():
    near = newton(logistic(3), np.zeros(4), tolerance=1e-2).point
    problem = logistic(3, misjudged=1.1)
    problem.passes_per_hessian = 20.0
    assert newton(problem, near, tolerance=1e-10).is_within(1e-10)
    assert problem.full_calls == 0


def test_the_certificate_is_the_gradient_at_the_point_even_when_steps_run_out():
    problem = logistic(5)
    solution = newton(problem, np.full(4, 50.0), tolerance=1e-12, most_steps=1)
    _, gradient = problem.value_and_gradient(solution.point)
    assert solution.residual == np.linalg.norm(gradient)
    assert not solution.is_within(1e-12)


def test_an_unreachable_tolerance_ends_with_an_honest_certificate():
    solution = newton(logistic(5), np.zeros(4), tolerance=0.0)
    assert solution.residual < 1e-10


def test_the_start_is_not_changed():
    start = np.full(4, 2.0)
    newton(logistic(5), start, tolerance=1e-10)
    np.testing.assert_array_equal(start, 2.0)


def test_conjugate_gradients_solve_to_a_twentieth_and_keep_zero():
    generator = np.random.default_rng(2)
    A = generator.standard_normal((20, 20))
    matrix = A @ A.T + np.eye(20)
    target = generator.standard_normal(20)
    found = conjugate_gradient(lambda v: matrix @ v, target)
    assert np.linalg.norm(matrix @ found - target) <= 0.05 * np.linalg.norm(target) * (1 + 1e-9)
    np.testing.assert_array_equal(conjugate_gradient(lambda v: matrix @ v, np.zeros(20)), 0.0)


class TwoSlopes(Smooth):
    """Rows pulled straight until their margins pass a bend, and a ridge that hardly holds."""

    def value_and_gradient(self, w):
        margins = self.X @ w
        bend = np.maximum(0.5 - np.abs(1 - margins), 0)
        value = (np.maximum(1 - margins, 0) + bend**2 / 2).sum() + self.ridge / 2 * w @ w
        return float(value), self.ridge * w - self.X.T @ np.clip(1.5 - margins, 0, 1)

    def hessian(self, w):
        bent = np.abs(1 - self.X @ w) <= 0.5
        return self.ridge * np.eye(self.dimension) + self.X[bent].T @ self.X[bent]


def test_a_straight_loss_with_little_ridge_does_not_send_the_method_round_in_circles():
    generator = np.random.default_rng(5)
    X = generator.standard_normal((20, 3))
    X *= 0.99 / np.linalg.norm(X, axis=1, keepdims=True)
    signal = X @ np.arange(1.0, 4) + generator.standard_normal(20) / 2
    problem = TwoSlopes(1e-3, np.zeros(3), X=X * np.sign(signal)[:, None])
    assert newton(problem, np.zeros(3), tolerance=1e-9, most_steps=500).is_within(1e-9)
