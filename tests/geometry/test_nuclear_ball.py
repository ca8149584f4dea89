"""The nuclear ball: projections, their declared error, their derivative, what it refuses."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball, NuclearBall
from discreet.geometry import nuclear_ball as module
from discreet.penalties import Indicator

SHAPES = [(1, 1), (3, 2), (2, 4), (5, 1), (1, 4), (4, 4)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def matrices(shape, count=12):
    generator = np.random.default_rng(shape[0] * 10 + shape[1])
    for number in range(count):
        matrix = generator.standard_normal(shape) * 10.0 ** generator.integers(-3, 4)
        if number % 4 == 0:
            matrix = np.outer(matrix[:, 0], matrix[0])
        yield matrix.ravel()
    yield np.zeros(shape).ravel()
    yield np.eye(*shape).ravel()


def exactly(radius, shape, point):
    """Project with 40 digits: singular values fall by one amount, and stop at zero."""
    with mp.workdps(40):
        matrix = mp.matrix(point.reshape(shape).tolist())
        if shape[0] < shape[1]:
            left, values, right = mp.svd_r(matrix.T)
        else:
            left, values, right = mp.svd_r(matrix)
        values = list(values)
        if sum(values) <= radius:
            return matrix
        level = max((sum(sorted(values)[-k:]) - radius) / k for k in range(1, len(values) + 1))
        kept = mp.diag([max(value - level, 0) for value in values])
        found = left * kept * right
        return found.T if shape[0] < shape[1] else found


@every_shape
def test_the_error_of_a_projection_is_within_what_is_declared(shape):
    ball = NuclearBall(1.3, shape)
    for point in matrices(shape):
        found = ball.project(point).reshape(shape)
        with mp.workdps(40):
            gap = float(mp.norm(mp.matrix(found.tolist()) - exactly(mp.mpf(1.3), shape, point)))
        assert gap <= ball.projection_error(float(np.linalg.norm(point)) * (1 + 1e-12), point.size)


def test_what_is_declared_is_small():
    assert NuclearBall(1.0, (20, 5)).projection_error(2.0, 100) < 2e-12


@every_shape
def test_projections_lie_in_the_ball_and_are_nearest(shape):
    ball = NuclearBall(0.7, shape)
    generator = np.random.default_rng(1)
    for point in matrices(shape):
        found = ball.project(point)
        assert ball.contains(found)
        for _ in range(5):
            other = ball.project(generator.standard_normal(point.size))
            assert (point - found) @ (other - found) <= 1e-9 * (1 + np.linalg.norm(point))


@every_shape
def test_the_derivative_is_the_difference_quotient(shape):
    ball, tiny = NuclearBall(1.3, shape), 1e-6
    generator = np.random.default_rng(2)
    for _ in range(6):
        point = 1.5 * generator.standard_normal(ball.dimension)
        moves = tiny * np.eye(point.size)
        quotients = [
            (ball.project(point + m) - ball.project(point - m)) / (2 * tiny) for m in moves
        ]
        np.testing.assert_allclose(ball.projection_derivative(point), quotients, atol=1e-5)


def test_a_column_has_one_singular_value():
    generator = np.random.default_rng(3)
    for point in generator.standard_normal((10, 4)):
        found = NuclearBall(0.5, (4, 1)).project(point)
        # LAPACK's singular values are within a few units in the last place of the largest.
        np.testing.assert_allclose(found, L2Ball(0.5).project(point), rtol=0, atol=1e-13)


def test_reach_and_corners():
    ball = NuclearBall(2.0, (3, 2))
    assert ball.reach(6) == ball.reach(6, math.inf) == 2.0
    assert ball.reach(6, 1) >= 2 * math.sqrt(6)
    assert ball.diameter(6) == 4.0
    direction = np.arange(6.0) - 2
    corner = ball.vertex(direction)
    values = np.linalg.svd(direction.reshape(3, 2), compute_uv=False)
    assert corner @ direction == pytest.approx(-2.0 * values[0])


def test_a_decomposition_that_is_off_is_not_used(monkeypatch):
    def sloppy(matrix, **options):
        left, values, right = SVD(matrix, **options)
        return left * (1 + 1e-12), values, right

    monkeypatch.setattr(module.np.linalg, "svd", sloppy)
    with pytest.raises(np.linalg.LinAlgError, match="not found exactly enough"):
        NuclearBall(1.0, (3, 2)).project(np.ones(6))


SVD = np.linalg.svd


def test_it_is_a_set_for_coefficients():
    ball = NuclearBall(1.0, (2, 2))
    with pytest.raises(InputError, match="for coefficients"):
        ball.clip_rows(np.zeros((3, 4)))
    with pytest.raises(InputError, match="centre"):
        ball.uniform(None, 4)
    assert Indicator(ball).radius(4) == 1.0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0.0, (2, 2)), InputError),
        ((1.0, (0, 2)), InputError),
        ((1.0, 4), InputError),
        ((1.0, (2, 2, 2)), InputError),
        ((1.0, (2.5, 2)), InputTypeError),
    ],
    ids=str,
)
def test_what_is_no_ball_is_refused(arguments, error):
    with pytest.raises(error):
        NuclearBall(*arguments)
