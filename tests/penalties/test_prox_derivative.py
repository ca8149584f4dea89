"""Derivatives of proxes and projections against difference quotients."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.penalties import L1, L1L2, L2, Indicator, L1Within, WithRidge
from support.examples import SIMPLE_SETS

PENALTIES = [
    L2(0.7),
    L1(0.5),
    L1L2(0.3, 0.8),
    *(Indicator(region) for region in SIMPLE_SETS),
    L1(0.5, spares_last=True),
    *(L1Within(L1(0.4, spares_last=True), region) for region in SIMPLE_SETS),
    WithRidge(L1(0.5), 0.8),
    *(WithRidge(Indicator(region), 0.9) for region in SIMPLE_SETS),
]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
POINTS = np.random.default_rng(4).standard_normal((40, 3)) * 1.2


@every_penalty
@pytest.mark.parametrize("step", [0.2, 1.0])
def test_the_derivative_is_the_difference_quotient(penalty, step):
    tiny = 1e-6
    for point in POINTS:
        moves = tiny * np.eye(3)
        quotients = [
            (penalty.prox(point + move, step) - penalty.prox(point - move, step)) / (2 * tiny)
            for move in moves
        ]
        np.testing.assert_allclose(penalty.prox_derivative(point, step), quotients, atol=1e-5)


@every_penalty
def test_the_derivative_is_symmetric_with_eigenvalues_between_zero_and_one(penalty):
    kinks = [np.zeros(3), np.full(3, 0.5), np.array([1.5, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])]
    for point in [*POINTS, *kinks, *(penalty.prox(point, 1.0) for point in POINTS)]:
        derivative = penalty.prox_derivative(point, 1.0)
        np.testing.assert_array_equal(derivative, derivative.T)
        spectrum = np.linalg.eigvalsh(derivative)
        assert spectrum[0] >= -1e-14
        assert spectrum[-1] <= 1 + 1e-14


def test_the_derivative_survives_points_whose_norm_overflows():
    derivative = L2Ball(1.0).projection_derivative([1.5e308, 1.5e308])
    assert np.all(np.abs(derivative) < 1e-300)


def test_a_derivative_needs_one_point_and_a_positive_step():
    with pytest.raises(InputError, match="one point"):
        L2Ball(1.0).projection_derivative(np.zeros((2, 3)))
    with pytest.raises(InputError, match="step"):
        L1(1.0).prox_derivative(np.zeros(2), 0.0)
