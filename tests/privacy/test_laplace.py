"""The Laplace profile, in one coordinate and in several."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.errors import InputError, InputTypeError
from discreet.privacy import Laplace, Pure

LAW = settings(derandomize=True, deadline=None, max_examples=150)
LEVELS = st.floats(math.log(1e-12), math.log(300)).map(math.exp)


def one_coordinate(epsilon, shift):
    """Return delta of one coordinate at any real epsilon, straight from its distribution."""
    if epsilon >= shift:
        return 0.0
    return -math.expm1(epsilon if epsilon <= -shift else (epsilon - shift) / 2)


def two_coordinates(epsilon, first, second):
    """Average the second coordinate's delta over the privacy loss of the first."""
    ends = 0.5 * one_coordinate(epsilon - first, second)
    ends += 0.5 * math.exp(-first) * one_coordinate(epsilon + first, second)

    def density(loss):
        return 0.25 * math.exp((loss - first) / 2) * one_coordinate(epsilon - loss, second)

    corners = [c for c in (epsilon - second, epsilon + second) if -first < c < first]
    return ends + quad(density, -first, first, points=corners or None, epsabs=1e-13)[0]


@LAW
@given(level=LEVELS, share=st.floats(0, 1.5))
def test_delta_is_the_known_formula_rounded_up(level, share):
    epsilon = level * share
    with mp.workdps(60):
        truth = max(-mp.expm1((mp.mpf(epsilon) - mp.mpf(level)) / 2), mp.mpf(0))
    assert truth <= Laplace(level).delta(epsilon) <= truth * (1 + 2e-9)


@pytest.mark.parametrize("epsilon", [-0.8, 0.0, 0.3, 0.9])
def test_delta_is_the_integral_over_the_noise(epsilon):
    def gain(x):
        return max(math.exp(-abs(x)) - math.exp(epsilon - abs(x - 1)), 0.0) / 2

    truth = quad(gain, -40, 40, points=[0, (1 - epsilon) / 2, 1], limit=200)[0]
    assert Laplace(1.0).delta(epsilon) == pytest.approx(truth, rel=1e-7)


@LAW
@given(first=st.floats(0.01, 5), second=st.floats(0.01, 5), share=st.floats(0, 1.1))
def test_splitting_the_sensitivity_over_two_coordinates_never_hurts(first, second, share):
    epsilon = share * (first + second)
    together = Laplace(first + second).delta(epsilon)
    assert two_coordinates(epsilon, first, second) <= together + 1e-11


@LAW
@given(small=st.floats(0.01, 4), extra=st.floats(0, 4), share=st.floats(0, 1))
def test_the_closed_form_for_two_coordinates_in_the_notes_is_right(small, extra, share):
    large = small + extra
    epsilon = share * (large + small)
    excess = max(epsilon + small - large, 0.0)
    claimed = math.exp(-(large + small) / 2) * (1 + (2 * small - excess) / 4)
    truth = (1 - two_coordinates(epsilon, large, small)) * math.exp(-epsilon / 2)
    assert claimed == pytest.approx(truth, rel=1e-8)


def renyi_curve(level, order):
    with mp.workdps(80):
        level, order = mp.mpf(level), mp.mpf(order)
        rise = order * mp.exp((order - 1) * level) + (order - 1) * mp.exp(-order * level)
        return mp.log(rise / (2 * order - 1)) / (order - 1)


@LAW
@given(level=LEVELS, above_one=st.floats(math.log(1e-9), math.log(1e7)).map(math.exp))
def test_the_renyi_curve_is_above_the_truth(level, above_one):
    order = 1 + above_one
    truth, got = renyi_curve(level, order), Laplace(level).rdp([order])[0]
    assert got >= truth * (1 - mp.mpf(2) ** -52)
    assert got <= truth * (1 + 1e-9) + 2.0**-49 * level


@LAW
@given(level=st.floats(1e-6, 50), share=st.floats(0, 1))
def test_laplace_noise_is_never_worse_than_randomised_response(level, share):
    assert Laplace(level).delta(share * level) <= Pure(level).delta(share * level)
    orders = np.array([1.01, 1.5, 3.0, 40.0, 1e4])
    assert np.all(
        Laplace(level).rdp(orders) <= Pure(level).rdp(orders) * (1 + 1e-9) + 1e-15 * level
    )


def test_nothing_is_left_from_the_level_on():
    assert Laplace(0.7).epsilon(0.0) == 0.7
    assert Laplace(0.7).deltas([0.7, 10.0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("level", [0.0, -1.0, math.nan, math.inf])
def test_a_level_that_is_not_positive_is_refused(level):
    with pytest.raises(InputError, match="epsilon must be a positive number; got"):
        Laplace(level)


def test_a_level_of_another_type_is_refused():
    with pytest.raises(InputTypeError, match="epsilon must be a number; got a value of type"):
        Laplace(None)
