"""What is special about the margin logistic loss."""

import math

import numpy as np
import pytest

from discreet.errors import InputError, InputTypeError
from discreet.losses import Hinge, Logistic, MarginLogistic

Z = np.linspace(-12, 12, 2401)
every_margin = pytest.mark.parametrize("margin", [0.0, 0.5, 2.0, 5.0])


def test_without_a_margin_it_is_the_logistic_loss():
    ours, theirs = MarginLogistic(0.0), Logistic()
    for y in (-1.0, 1.0):
        np.testing.assert_allclose(ours.value(y, Z), theirs.value(y, Z), rtol=1e-13)
        np.testing.assert_allclose(ours.slope(y, Z), theirs.slope(y, Z), rtol=1e-13)
        np.testing.assert_allclose(ours.curvature(y, Z), theirs.curvature(y, Z), rtol=1e-13)
    np.testing.assert_allclose(ours.probability(Z), theirs.probability(Z), rtol=1e-13)


def test_rescaled_it_is_within_log_two_over_m_of_the_hinge():
    for margin in (1.0, 10.0, 1e3):
        rescaled = MarginLogistic(margin).value(1.0, margin * Z) / margin
        gaps = rescaled - Hinge().value(1.0, Z)
        assert gaps.min() >= -1e-12
        assert gaps.max() <= math.log(2) / margin * (1 + 1e-12)


@every_margin
def test_the_margin_minimises_the_expected_loss_at_its_probability(margin):
    loss = MarginLogistic(margin)
    for z in (-6.0, -1.0, 0.0, 0.3, 4.0):
        p = loss.probability(z)
        risk = p * loss.value(1.0, Z) + (1 - p) * loss.value(-1.0, Z)
        assert abs(Z[risk.argmin()] - z) <= 0.02
        best = p * loss.value(1.0, z) + (1 - p) * loss.value(-1.0, z)
        assert best <= risk.min() * (1 + 1e-14)


@every_margin
def test_the_expected_slope_vanishes_at_its_probability(margin):
    loss = MarginLogistic(margin)
    p = loss.probability(Z)
    expected = p * loss.slope(1.0, Z) + (1 - p) * loss.slope(-1.0, Z)
    np.testing.assert_allclose(expected, 0.0, atol=1e-13)  # several roundings of exp


@every_margin
def test_probability_increases_from_zero_to_one_symmetrically(margin):
    probability = MarginLogistic(margin).probability
    assert np.all(np.diff(probability(Z)) > 0)
    np.testing.assert_allclose(probability(Z) + probability(-Z), 1.0, rtol=1e-13)
    np.testing.assert_array_equal(probability(np.array([-1e300, 0.0, 1e300])), [0.0, 0.5, 1.0])


def test_small_probabilities_keep_their_digits():
    """Far below -m the link is s(m + z) to first order: s(m - z) is 1 there."""
    z = -60.0
    assert MarginLogistic(2.0).probability(z) == pytest.approx(math.exp(2.0 + z), rel=1e-13)


def test_bound_on_the_curvature_is_that_at_the_end_of_a_short_reach():
    loss = MarginLogistic(5.0)
    assert loss.smoothness(1.0) == pytest.approx(float(loss.curvature(1.0, 1.0)), rel=1e-12)
    assert loss.smoothness(5.0) == 0.25


@pytest.mark.parametrize("margin", [-0.1, math.nan, math.inf])
def test_the_margin_must_be_zero_or_more(margin):
    with pytest.raises(InputError, match="margin"):
        MarginLogistic(margin)


def test_the_margin_must_be_a_number():
    with pytest.raises(InputTypeError, match="margin"):
        MarginLogistic("2")
