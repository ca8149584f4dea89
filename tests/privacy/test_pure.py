"""Pure epsilon is randomised response; an exception adds to it."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, InputTypeError
from discreet.privacy import Approximate, Pure

LAW = settings(derandomize=True, deadline=None, max_examples=200)
LEVELS = st.floats(math.log(1e-12), math.log(300)).map(math.exp)


def randomised_response(epsilon, level):
    with mp.workdps(80):
        keep = 1 / (1 + mp.exp(-mp.mpf(level)))
        gain = keep - mp.exp(mp.mpf(epsilon)) * (1 - keep)
        return max(gain, mp.mpf(0)) if epsilon < level else mp.mpf(0)


@LAW
@given(level=LEVELS, share=st.floats(0, 1.5))
def test_delta_is_that_of_randomised_response(level, share):
    truth, got = randomised_response(level * share, level), Pure(level).delta(level * share)
    assert truth <= got <= truth * (1 + 2e-9)


def test_nothing_is_left_from_the_level_on():
    pure = Pure(0.7)
    assert pure.epsilon(0.0) == pure.pure_epsilon == 0.7
    assert pure.deltas([0.7, 0.8, 1e6]).tolist() == [0.0, 0.0, 0.0]
    assert pure.delta(math.nextafter(0.7, 0)) > 0


def renyi_curve(level, order):
    with mp.workdps(80):
        level, order = mp.mpf(level), mp.mpf(order)
        half = mp.mpf(1) / 2
        return mp.log(mp.cosh((order - half) * level) / mp.cosh(level / 2)) / (order - 1)


@LAW
@given(level=LEVELS, above_one=st.floats(math.log(1e-3), math.log(1e7)).map(math.exp))
def test_the_renyi_curve_is_above_the_truth_but_barely(level, above_one):
    order = 1 + above_one
    truth, got = renyi_curve(level, order), Pure(level).rdp([order])[0]
    assert truth * (1 - 1e-16) <= got <= truth * (1 + 1e-8)


@pytest.mark.parametrize("level", [1e-8, 1e-3, 1.0, 5.0, 300.0])
def test_the_renyi_curve_is_not_optimistic_for_orders_next_to_one(level):
    for above_one in (1e-6, 1e-8, 1e-10, 1e-12, 1e-14):
        order = 1 + above_one
        assert Pure(level).rdp([order])[0] >= renyi_curve(level, order) * (1 - 1e-15)


def test_the_renyi_curve_ends_at_the_level():
    assert Pure(2.0).rdp([1e12])[0] == pytest.approx(2.0, rel=1e-9)
    assert Pure(2.0).rdp([1e12])[0] <= 2.0


@LAW
@given(level=st.just(0.0) | LEVELS, delta=st.floats(0, 0.5), epsilon=st.floats(0, 25))
def test_an_exception_is_a_mixture_with_total_loss(level, delta, epsilon):
    got = Approximate(level, delta).delta(epsilon)
    inside = randomised_response(epsilon, level)
    truth = mp.mpf(delta) + (1 - mp.mpf(delta)) * inside
    assert truth <= got * (1 + 1e-15)
    assert got <= truth * (1 + 2e-9)


def test_epsilon_is_infinite_below_the_exception():
    almost = Approximate(1.0, 1e-6)
    assert almost.epsilon(0.0) == math.inf
    assert almost.epsilon(0.9e-6) == math.inf
    assert almost.epsilon(1.1e-6) <= 1.0
    assert Approximate(1.0, 0.0).epsilon(0.0) == 1.0


def test_an_exception_leaves_no_renyi_curve_but_its_core_has_one():
    almost = Approximate(1.0, 1e-6)
    assert np.isinf(almost.rdp([2.0, 10.0])).all()
    np.testing.assert_array_equal(almost.core.rdp([2.0, 10.0]), Pure(1.0).rdp([2.0, 10.0]))
    assert almost.failure == 1e-6
    np.testing.assert_array_equal(Approximate(1.0, 0.0).rdp([2.0]), Pure(1.0).rdp([2.0]))


@pytest.mark.parametrize("level", [0.0, -1.0, math.nan, math.inf])
def test_a_level_that_is_not_positive_is_refused(level):
    with pytest.raises(InputError, match="epsilon must be a positive number; got"):
        Pure(level)


@pytest.mark.parametrize(
    ("level", "delta"), [(-1.0, 0.1), (math.inf, 0.1), (1.0, 1.0), (1.0, -0.1)]
)
def test_an_impossible_point_is_refused(level, delta):
    with pytest.raises(InputError, match=r"(epsilon|delta) must be .*; got"):
        Approximate(level, delta)


def test_a_level_of_another_type_is_refused():
    with pytest.raises(InputTypeError, match="epsilon must be a number; got a value of type str"):
        Pure("1")
    with pytest.raises(InputTypeError, match="delta must be a number; got a value of type str"):
        Approximate(1.0, "1e-6")
