"""Many steps: shortcuts are bounds, and what they leave out is not missed."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from discreet.privacy import FixedBatchGaussian, Gaussian, SampledGaussian, compose
from discreet.privacy.concentrated import ORDERS, renyi_delta
from discreet.privacy.stepwise import LEAST_REACH, TAIL

STEPWISE = [
    SampledGaussian(0.5, 0.01, 1000),
    SampledGaussian(2.0, 0.25, 100, is_replace=True),
    SampledGaussian(4.0, 1e-4, 30),
    SampledGaussian(0.02, 1e-3, 10_000, is_replace=True),
    FixedBatchGaussian(0.4, 64, 1024, 300),
    FixedBatchGaussian(1.0, 64, 2**23, 300),
    FixedBatchGaussian(0.3, 5, 100, 50),
]
every = pytest.mark.parametrize("profile", STEPWISE, ids=repr)


def divergence(first, second, order):
    """Return the Renyi divergence of two mixtures of unit Gaussians, in eighteen digits."""

    def density(mixture, x):
        return mp.fsum(share * mp.npdf(x, centre) for share, centre in mixture)

    with mp.workdps(18):
        centres = [centre for _, centre in (*first, *second)]
        # The integrand peaks as far out as the order times the shift.
        far = float(order) * (max(centres) - min(centres)) + 12
        moment = mp.quad(
            lambda x: density(first, x) ** order * density(second, x) ** (1 - order),
            mp.linspace(-far, far, 12),
        )
        return mp.log(moment) / (order - 1)


@pytest.mark.parametrize("order", [1.1, 2, 5.5])
@pytest.mark.parametrize("rate", [1e-3, 0.3])
@pytest.mark.parametrize("mu", [0.2, 1.0])
def test_the_quick_curve_is_above_the_integral_in_both_orders(mu, rate, order):
    with_it, without = [(1 - rate, 0), (rate, mu)], [(1, 0)]
    opposite = [(1 - rate, 0), (rate, -mu)]
    added = SampledGaussian(mu, rate).quick_rdp(np.array([float(order)]))[0]
    replaced = SampledGaussian(mu, rate, is_replace=True).quick_rdp(np.array([float(order)]))[0]
    for first, second in itertools.permutations([with_it, without]):
        assert divergence(first, second, order) <= added
    assert divergence(with_it, opposite, order) <= replaced


@every
def test_the_quick_curve_is_never_below_that_of_one_order_at_whole_orders(profile):
    orders = np.array([2.0, 3.0, 8.0, 32.0, 64.0])
    assert np.all(profile.quick_rdp(orders) >= profile.rdp(orders) * (1 - 1e-9))


@every
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9, 1e-12, 1e-16])
def test_where_the_full_renyi_curve_is_left_out_it_would_not_have_helped(profile, delta):
    curve = profile.rdp(ORDERS)
    for epsilon in profile.epsilon(delta) * np.array([0.5, 1.0, 1.3]):
        full = renyi_delta(np.array([epsilon]), ORDERS, curve)[0]
        found = profile.delta(epsilon)
        assert found <= full * (1 + 1e-9)


@every
def test_beside_a_gaussian_the_full_renyi_curve_would_not_have_helped_either(profile):
    both = compose([profile, Gaussian(0.1)])
    for delta in (1e-6, 1e-9):
        epsilon = np.array([both.epsilon(delta)])
        assert both.deltas(epsilon) <= both._renyi(epsilon) * (1 + 1e-9)


def test_the_least_deltas_are_read_off_the_full_renyi_curve():
    profile = SampledGaussian(0.5, 0.01, 1000)
    for epsilon in (20.0, 100.0):
        full = renyi_delta(np.array([epsilon]), ORDERS, profile.rdp(ORDERS))[0]
        assert 0 < profile.delta(epsilon) <= full * (1 + 1e-8)


@every
def test_a_step_reaches_as_far_as_steps_of_a_quarter_tell(profile):
    high = LEAST_REACH
    while profile.one(np.array([high]))[0] > TAIL / profile.steps and high < 1e6:
        high *= 1.25
    assert profile.reach_of_one == high


@pytest.mark.parametrize(("mu", "steps"), [(1e4, 10), (1e-9, 10**6), (1e-300, 2), (30.0, 10**8)])
def test_extreme_steps_reach_somewhere(mu, steps):
    profile = SampledGaussian(mu, 0.5, steps)
    assert LEAST_REACH <= profile.reach_of_one < math.inf
    assert 0 < profile.delta(1.0) <= 1
