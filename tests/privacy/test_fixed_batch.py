"""Batches of a fixed size, against dp-accounting and the account in print."""

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant

from discreet.errors import InputError
from discreet.privacy import FixedBatchGaussian, Gaussian, SampledGaussian, compose
from discreet.privacy.tilted_fft import ComposedLoss

SWAP = dp_accounting.NeighboringRelation.REPLACE_ONE


def renyi_epsilon(mu, size, population, steps, delta):
    """Return what dp-accounting says; it wants the noise over the sensitivity, twice the norm."""
    event = dp_accounting.SampledWithoutReplacementDpEvent(
        population, size, dp_accounting.GaussianDpEvent(1 / (2 * mu))
    )
    accountant = RdpAccountant((2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256), SWAP).compose(
        event, steps
    )
    return accountant.get_epsilon(delta)


def test_single_rows_in_print_keep_less_than_half_of_what_the_renyi_account_says():
    # Bassily, Smith, Thakurta (2014) at n = 1000, epsilon = 1, delta = 1e-6.
    noise = math.sqrt(32 * math.log(1000 / 1e-6) * math.log(1e6))
    assert renyi_epsilon(1 / noise, 1, 1000, 10**6, 1e-6) == pytest.approx(0.175, abs=1e-3)
    exact = FixedBatchGaussian(1 / noise, 1, 1000, 10**6).epsilon(1e-6)
    # A million steps are Gaussian to three digits, with shift 2 mu q sqrt(T).
    limit = Gaussian(2 / noise).epsilon(1e-6)
    assert limit * (1 - 1e-4) <= exact <= limit * 1.02


@pytest.mark.parametrize(
    ("mu", "size", "population", "steps"), [(0.3, 5, 100, 50), (0.1, 1, 10, 200)]
)
def test_many_steps_are_below_the_renyi_account(mu, size, population, steps):
    profile = FixedBatchGaussian(mu, size, population, steps)
    assert profile.epsilon(1e-6) <= renyi_epsilon(mu, size, population, steps, 1e-6)


@pytest.mark.parametrize("steps", [1, 30])
def test_it_is_above_every_pair_composed_by_itself(steps):
    # The worst pair for one step, exactly: the row against others that are opposite to it.
    fixed = FixedBatchGaussian(0.5, 1, 5, steps)
    pair = SampledGaussian(1.0, 0.2, steps)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        assert pair.delta(epsilon) * (1 - 3e-3) <= fixed.delta(epsilon)
        assert fixed.delta(epsilon) <= pair.delta(epsilon) * 2.5


def in_both_orders(mu, rate, forwards, backwards):
    """Compose the worst pair of one step, so often in one order and so often in the other."""
    pair = SampledGaussian(2 * mu, rate, forwards + backwards)
    step = pair.reach_of_one / 2000
    ways = [
        (pair.loss_of_one(step, is_reversed=is_reversed), times)
        for is_reversed, times in ((False, forwards), (True, backwards))
        if times
    ]
    return ComposedLoss(tuple(ways), 0.0)


@pytest.mark.parametrize("forwards", [0, 10, 25, 50])
def test_pairs_that_change_their_order_are_not_above_it(forwards):
    fixed, pairs = (
        FixedBatchGaussian(0.3, 5, 100, 50),
        in_both_orders(0.3, 0.05, forwards, 50 - forwards),
    )
    for epsilon in (0.2, 0.6, 1.2, 2.0):
        assert pairs.delta(epsilon) * (1 - 3e-3) <= fixed.delta(epsilon)


# What the docstring states, with room for the grids: epsilon over that of the worst known sequence.
@pytest.mark.parametrize(
    ("mu", "size", "population", "steps", "delta", "above"),
    [
        (0.5, 1, 5, 1, 1e-6, 0.0),
        (0.3, 5, 100, 50, 1e-6, 0.064),
        (0.5, 1, 100, 1000, 1e-6, 0.183),
        (0.5, 1, 100, 1000, 1e-3, 0.264),
    ],
)
def test_many_steps_are_as_far_above_the_worst_known_sequence_as_stated(
    mu, size, population, steps, delta, above
):
    known = SampledGaussian(2 * mu, size / population, steps).epsilon(delta)
    ours = FixedBatchGaussian(mu, size, population, steps).epsilon(delta)
    assert ours / known - 1 == pytest.approx(above, abs=3e-3)


def test_a_batch_of_everything_is_gaussian():
    whole = FixedBatchGaussian(0.3, 7, 7)
    for epsilon in (0.0, 0.5, 2.0):
        assert whole.delta(epsilon) == pytest.approx(Gaussian(0.6).delta(epsilon), rel=1e-8)
    assert np.all(whole.rdp([2.0, 9.0]) >= Gaussian(0.6).rdp([2.0, 9.0]) * (1 - 1e-12))


def test_steps_compose_as_one_run():
    half, whole = (FixedBatchGaussian(0.4, 2, 50, steps) for steps in (10, 20))
    for epsilon in (0.1, 0.5):
        assert compose([half, half]).delta(epsilon) == pytest.approx(whole.delta(epsilon), rel=0.01)


@pytest.mark.parametrize("wrong", [{"mu": 0.0}, {"size": 0}, {"size": 11}, {"steps": 0}])
def test_impossible_numbers_are_refused(wrong):
    with pytest.raises(InputError):
        FixedBatchGaussian(**({"mu": 1.0, "size": 1, "population": 10} | wrong))


def test_very_little_shift_is_no_error():
    assert 0 < FixedBatchGaussian(1e-12, 1, 10**9, 2).delta(0.0) < 1e-12
