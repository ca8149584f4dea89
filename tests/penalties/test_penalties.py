"""What is special about each penalty, and what relates them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.geometry import Box, L1Ball, L2Ball, Simplex
from discreet.penalties import L1, L1L2, L2, Indicator, WithRidge

W = np.array([-2.0, -0.3, 0.0, 0.4, 5.0])


def test_the_lasso_sets_small_coefficients_to_exactly_zero():
    np.testing.assert_array_equal(L1(0.5).prox(W, 1.0)[1:4], 0.0)


@pytest.mark.parametrize("step", [0.1, 1.0, 10.0])
def test_a_ridge_on_the_lasso_is_the_elastic_net(step):
    ours, theirs = WithRidge(L1(0.3), 0.8), L1L2(0.3, 0.8)
    assert ours.value(W) == pytest.approx(theirs.value(W), rel=1e-13)
    assert ours.strong_convexity == theirs.strong_convexity
    np.testing.assert_allclose(ours.prox(W, step), theirs.prox(W, step), rtol=1e-14)


def test_the_elastic_net_without_one_part_is_the_other():
    np.testing.assert_array_equal(L1L2(0.3, 0.0).prox(W, 2.0), L1(0.3).prox(W, 2.0))
    np.testing.assert_array_equal(L1L2(0.0, 0.3).prox(W, 2.0), L2(0.3).prox(W, 2.0))


@pytest.mark.parametrize("region", [L2Ball(1.0), L1Ball(2.0), Simplex(), Box([0] * 5, [1] * 5)])
@pytest.mark.parametrize("step", [1e-3, 1.0, 1e3])
def test_the_prox_of_an_indicator_is_the_projection_at_any_step(region, step):
    np.testing.assert_array_equal(Indicator(region).prox(W, step), region.project(W))


def test_an_indicator_forgives_rounding_but_no_more():
    inside = Indicator(L2Ball(1.0))
    assert inside.value(np.array([1 + 1e-10, 0.0])) == 0.0
    assert inside.value(np.array([1 + 1e-8, 0.0])) == math.inf


def test_strong_convexity_of_a_sum_is_never_rounded_above_the_truth():
    for own, added in [(0.1, 0.2), (1.0, 1e-17), (1.0, 2**-53 * 1.5), (0.7, 0.1)]:
        declared = WithRidge(L2(own), added).strong_convexity
        assert Fraction(declared) <= Fraction(own) + Fraction(added)
        assert declared == pytest.approx(own + added, rel=1e-15)


def test_strong_convexity_is_exact_when_one_part_has_none():
    assert WithRidge(L1(1.0), 0.1).strong_convexity == 0.1
    assert WithRidge(L2(0.1), 0.0).strong_convexity == 0.1


def test_penalties_beyond_the_largest_float_are_infinite_and_silent():
    huge = np.array([1e300, -1e300])
    for penalty in (L2(1.0), L1L2(1.0, 1.0), WithRidge(L1(1.0), 1.0), L1(1e100)):
        assert penalty.value(huge) == math.inf
    assert L2(0.0).value(huge) == 0.0
