"""Renyi curves and their conversion to delta."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from discreet.errors import InputError, InputTypeError
from discreet.privacy import ORDERS, Gaussian, Laplace, Pure, Renyi, ZeroConcentrated
from discreet.privacy.concentrated import renyi_delta, zero_concentrated_delta
from discreet.privacy.profile import SMALLEST

LAW = settings(derandomize=True, deadline=None, max_examples=150)
RHOS = st.floats(math.log(1e-6), math.log(50)).map(math.exp)


def best_conversion(epsilon, rho):
    """Return the least delta over all orders (Canonne, Kamath, Steinke 2020, proposition 12)."""

    def log_delta(log_above_one):
        order = 1 + math.exp(log_above_one)
        rise = (order - 1) * (order * rho - epsilon + math.log1p(-1 / order))
        return rise - math.log(order)

    answer = minimize_scalar(log_delta, bounds=(-9, 25), method="bounded", options={"xatol": 1e-9})
    return math.exp(min(answer.fun, 0.0))


@LAW
@given(rho=RHOS, sigmas=st.floats(2, 30))
def test_delta_of_zcdp_is_the_best_conversion_to_a_hair(rho, sigmas):
    epsilon = rho + sigmas * math.sqrt(2 * rho)
    best, got = best_conversion(epsilon, rho), ZeroConcentrated(rho).delta(epsilon)
    assert got >= best * (1 - 1e-6)
    assert got <= best * 1.05


@pytest.mark.parametrize("rho", [1e-6, 0.02, 1.0, 50.0])
def test_the_best_order_of_a_grid_is_found_without_looking_at_all_of_them(rho):
    epsilons = np.concatenate([[0.0], rho * np.geomspace(1e-3, 1e6, 200)])
    orders = 1 + np.geomspace(0.2, 50, 241) * np.maximum((epsilons / rho - 1) / 2, 1e-3)[:, None]
    rise = (orders - 1) * (orders * rho - epsilons[:, None] + np.log1p(-1 / orders))
    best = np.exp(np.minimum((rise - np.log(orders)).min(axis=1), 0.0))
    got = zero_concentrated_delta(epsilons, rho)
    np.testing.assert_allclose(got, np.maximum(best, SMALLEST), rtol=1e-9)


@LAW
@given(mu=st.floats(1e-3, 8), sigmas=st.floats(-3, 30))
def test_zcdp_of_a_gaussian_is_never_below_the_gaussian(mu, sigmas):
    epsilon = max(mu * sigmas + mu**2 / 2, 0.0)
    assert ZeroConcentrated(mu**2 / 2).delta(epsilon) >= Gaussian(mu).delta(epsilon) * (1 - 1e-8)


# dp-accounting 0.6: RDP of GaussianDpEvent(5) at 1e-6 is 0.900 (and of 2.5, 1.898).
@pytest.mark.parametrize(("rho", "epsilon"), [(0.02, 0.900), (0.08, 1.898)])
def test_epsilon_of_zcdp_is_that_of_dp_accounting(rho, epsilon):
    assert ZeroConcentrated(rho).epsilon(1e-6) == pytest.approx(epsilon, abs=1e-3)


@pytest.mark.parametrize("profile", [Gaussian(0.3), Pure(0.5), Laplace(2.0)], ids=repr)
def test_any_renyi_curve_converts_to_no_less_than_the_true_delta(profile):
    epsilons = np.linspace(0, 3, 61)
    converted = renyi_delta(epsilons, ORDERS, profile.rdp(ORDERS))
    assert np.all(converted >= profile.deltas(epsilons) * (1 - 2e-9))


@LAW
@given(
    mu=st.floats(0.05, 2),
    below=st.integers(2, 20),
    above=st.integers(21, 60),
    share=st.floats(0, 1),
)
def test_between_orders_the_chord_is_above_every_true_curve(mu, below, above, share):
    order = below + share * (above - below)
    for profile in (Gaussian(mu), Pure(mu), Laplace(mu)):
        known = np.array([below, above], dtype=float)
        curve = Renyi(tuple(known), tuple(profile.rdp(known)))
        assert curve.rdp([order])[0] >= profile.rdp([order])[0] * (1 - 1e-8)


def test_outside_its_orders_a_curve_keeps_its_first_value_and_ends():
    curve = Renyi((2.0, 8.0), (0.1, 0.4))
    assert curve.rdp([1.0001, 1.9, 2.0, 8.0, 8.001]).tolist() == [0.1, 0.1, 0.1, 0.4, math.inf]


def test_a_curve_converts_at_each_of_its_orders():
    curve = Renyi((2.0, 8.0), (0.1, 0.4))
    with mp.workdps(40):
        for epsilon in (0.2, 1.0, 5.0):
            truth = min(
                mp.exp((a - 1) * (v - mp.mpf(epsilon))) * (1 - 1 / mp.mpf(a)) ** (a - 1) / mp.mpf(a)
                for a, v in ((2, mp.mpf(0.1)), (8, mp.mpf(0.4)))
            )
            assert truth <= curve.delta(epsilon) <= truth * (1 + 2e-9)


def test_a_curve_without_a_finite_value_promises_nothing():
    assert renyi_delta(np.array([1.0]), np.array([2.0]), np.array([math.inf])).tolist() == [1.0]


@LAW
@given(rho=RHOS, order=st.floats(1.001, 1e6))
def test_the_curve_of_zcdp_is_a_line(rho, order):
    assert ZeroConcentrated(rho).rdp([order])[0] == pytest.approx(rho * order, rel=2e-9)


def test_absurd_curves_neither_warn_nor_leave_zero_to_one():
    for rho in (1e-12, 1e12, 1e300, 1e-300):
        deltas = ZeroConcentrated(rho).deltas([0.0, 1e-6, 1.0, 1e6])
        assert np.all((deltas > 0) & (deltas <= 1))


@pytest.mark.parametrize("orders", [[], [1.0], [0.5, 2.0], [math.nan], [math.inf]])
def test_orders_must_be_finite_and_above_one(orders):
    with pytest.raises(InputError, match="Renyi orders must be finite numbers above one"):
        Gaussian(1.0).rdp(orders)


@pytest.mark.parametrize(
    ("orders", "values"),
    [((2.0, 2.0), (0.1, 0.1)), ((3.0, 2.0), (0.1, 0.1)), ((2.0,), (0.1, 0.2)), ((1.0,), (0.1,))],
)
def test_a_malformed_curve_is_refused(orders, values):
    with pytest.raises(InputError, match="Renyi"):
        Renyi(orders, values)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_a_value_that_is_no_divergence_is_refused(value):
    with pytest.raises(InputError, match="value must be zero or a positive number; got"):
        Renyi((2.0,), (value,))


def test_a_curve_of_other_types_is_refused():
    for orders in (5, "23", [[2.0, 3.0]], [None, 2.0]):
        with pytest.raises((InputTypeError, InputError)):
            Renyi(orders, (1.0, 1.0))


def test_a_rho_that_is_not_positive_is_refused():
    with pytest.raises(InputError, match="rho must be a positive number; got 0"):
        ZeroConcentrated(0.0)
    with pytest.raises(InputTypeError, match="rho must be a number; got"):
        ZeroConcentrated("a")
