"""The Gaussian profile against 80-digit arithmetic, and numbers from the literature."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, InputTypeError
from discreet.privacy import Gaussian
from discreet.privacy.gaussian import mills_ratio

LAW = settings(derandomize=True, deadline=None, max_examples=150)
MUS = [1e-6, 1e-4, 0.01, 0.3, 0.999, 1.0, 1.001, 2.0, 7.0, 50.0]
EPSILONS = [0.0, 1e-4, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
DELTAS = [1e-300, 1e-100, 1e-30, 1e-12, 1e-6, 1e-3, 0.1]


def exact(epsilon, mu):
    """Return Phi(mu/2 - eps/mu) - e**eps Phi(-mu/2 - eps/mu) with 80 digits."""
    with mp.workdps(80):
        epsilon, mu, root = mp.mpf(epsilon), mp.mpf(mu), mp.sqrt(2)
        near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        return (mp.erfc(near / root) - mp.exp(epsilon) * mp.erfc(far / root)) / 2


def exact_epsilon(delta, mu):
    """Return the epsilon at which the profile equals delta, by bisection with 80 digits."""
    low, high = mp.mpf(0), mp.mpf(mu) ** 2 / 2 + 40 * mp.mpf(mu)
    with mp.workdps(80):
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if exact(middle, mu) > delta else (low, middle)
        return low


def assert_just_above(got, truth, room):
    assert truth <= got <= truth * (1 + room)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta_is_above_the_truth_by_less_than_two_in_a_billion(mu, epsilon):
    truth, got = exact(epsilon, mu), Gaussian(mu).delta(epsilon)
    if truth > 1e-300:
        assert_just_above(got, truth, 2e-9)
    else:
        assert 0 < got < 2e-300


@LAW
@given(log_mu=st.floats(math.log(1e-6), math.log(50)), sigmas=st.floats(-8, 36))
def test_delta_is_never_optimistic_anywhere_in_its_range(log_mu, sigmas):
    mu = math.exp(log_mu)
    epsilon = max(0.0, mu * sigmas + mu**2 / 2)
    truth, got = exact(epsilon, mu), Gaussian(mu).delta(epsilon)
    assert_just_above(got, truth, 2e-9)


@pytest.mark.parametrize("mu", [1e-6, 0.01, 0.3, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_above_the_truth_by_less_than_one_in_a_million(mu, delta):
    got = Gaussian(mu).epsilon(delta)
    if exact(0, mu) <= delta * (1 - 1e-8):
        assert got == 0
    else:
        assert_just_above(got, exact_epsilon(delta, mu), 1e-6)


@LAW
@given(mu=st.floats(1e-6, 50), epsilon=st.floats(0, 50), factor=st.floats(1, 2))
def test_a_larger_shift_is_never_more_private(mu, epsilon, factor):
    assert Gaussian(mu * factor).delta(epsilon) >= Gaussian(mu).delta(epsilon) * (1 - 1e-11)


def test_delta_is_continuous_where_the_formula_changes():
    below, above = Gaussian(1.0), Gaussian(math.nextafter(1.0, 2.0))
    grid = np.linspace(0, 30, 301)
    np.testing.assert_allclose(below.deltas(grid), above.deltas(grid), rtol=1e-11)
    edge = 8.0**2 / 2 - 8.0  # near = -1 for mu = 8
    sides = Gaussian(8.0).deltas([edge * (1 - 1e-13), edge * (1 + 1e-13)])
    assert sides[0] == pytest.approx(sides[1], rel=1e-10)


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 1.0, 10.0, 40.0, 1e5])
def test_mills_ratio_agrees_with_many_digits(x):
    with mp.workdps(60):
        truth = mp.erfc(x / mp.sqrt(2)) / 2 / mp.npdf(x)
    assert float(mills_ratio(np.array([x]))[0]) == pytest.approx(float(truth), rel=1e-14)


# muG of section 3 of the theory notes: golden_values.py, run independently of this library.
@pytest.mark.parametrize(
    ("epsilon", "delta", "mu"),
    [
        (0.1, 1e-6, 0.027545),
        (0.5, 1e-6, 0.124106),
        (1.0, 1e-6, 0.236704),
        (1.0, 1e-5, 0.268051),
        (3.0, 1e-6, 0.647727),
        (8.0, 1e-6, 1.531545),
    ],
)
def test_the_published_shift_spends_the_published_budget(epsilon, delta, mu):
    assert Gaussian(mu - 1e-6).delta(epsilon) < delta < Gaussian(mu + 1e-6).delta(epsilon)


# dp-accounting 0.6: PLD of GaussianDpEvent(5), add/remove and replace, at delta = 1e-6.
def test_noise_of_five_sensitivities_has_the_epsilons_of_dp_accounting():
    assert Gaussian(1 / 5).epsilon(1e-6) == pytest.approx(0.834, abs=5e-4)
    assert Gaussian(2 / 5).epsilon(1e-6) == pytest.approx(1.766, abs=5e-4)


# Balle, Wang (2018): delta(0) is the total variation distance 2 Phi(mu/2) - 1.
@LAW
@given(mu=st.floats(1e-6, 12))
def test_delta_at_zero_is_the_total_variation_distance(mu):
    assert Gaussian(mu).delta(0.0) == pytest.approx(math.erf(mu / math.sqrt(8)), rel=2e-9)


@LAW
@given(mu=st.floats(1e-6, 50), order=st.floats(1.0001, 1e6))
def test_the_renyi_curve_is_the_order_times_half_the_squared_shift(mu, order):
    got, truth = Gaussian(mu).rdp([order])[0], mp.mpf(order) * mp.mpf(mu) ** 2 / 2
    assert_just_above(got, truth, 2e-9)


def test_absurd_shifts_neither_warn_nor_leave_zero_to_one():
    for mu in (1e100, 1e-100, 1e-200, 1e-300):
        deltas = Gaussian(mu).deltas([0.0, 1.0, 1e6])
        assert np.all((deltas >= 0) & (deltas <= 1))
        assert np.all(np.diff(deltas) <= 0)


@pytest.mark.parametrize("mu", [0.0, -1.0, math.nan, math.inf])
def test_a_shift_that_is_not_positive_is_refused(mu):
    with pytest.raises(InputError, match="mu must be a positive number; got"):
        Gaussian(mu)


@pytest.mark.parametrize("mu", ["1", None, True, [1.0]])
def test_a_shift_of_another_type_is_refused(mu):
    with pytest.raises(InputTypeError, match="mu must be a number; got a value of type"):
        Gaussian(mu)
