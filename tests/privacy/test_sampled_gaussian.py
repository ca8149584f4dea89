"""Poisson batches with Gaussian noise, in both relations and through both accountants."""

import math

import dp_accounting
import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from scipy.optimize import brentq
from scipy.special import ndtr

from discreet.errors import InputError, InputTypeError
from discreet.privacy import AddRemoveOne, Gaussian, Pure, ReplaceOne, SampledGaussian, compose
from discreet.privacy.one_batch import removed_deltas

UNITS = {False: AddRemoveOne(), True: ReplaceOne()}
RELATIONS = {
    False: dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    True: dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def one_step(mu, rate, epsilon, *, is_replace):
    """Return delta of one step: the likelihood ratio is monotone, so one threshold decides."""

    def chance(threshold, shift, sign):
        return (1 - rate) * ndtr(-sign * threshold) + rate * ndtr(sign * (shift - threshold))

    def log_density(x, shift):
        return np.logaddexp(
            np.log1p(-rate) - x * x / 2, math.log(rate) - (x - shift) * (x - shift) / 2
        )

    def delta(first, second):
        def excess(x):
            return log_density(x, first) - log_density(x, second) - epsilon

        if excess(-60.0) * excess(60.0) >= 0:
            return 0.0
        threshold, sign = brentq(excess, -60.0, 60.0, xtol=1e-14), math.copysign(1, first - second)
        return chance(threshold, first, sign) - math.exp(epsilon) * chance(threshold, second, sign)

    far = -mu if is_replace else 0.0
    return max(delta(mu, far), delta(far, mu))


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
@pytest.mark.parametrize("mu", [0.2, 1.0, 4.0])
def test_at_rate_one_both_accountants_see_the_gaussian_mechanism(mu, is_replace):
    sampled = SampledGaussian(mu, 1.0, is_replace=is_replace)
    whole = Gaussian(UNITS[is_replace].spread(mu))
    orders = np.array([1.1, 2.0, 8.0, 64.0])
    np.testing.assert_allclose(sampled.rdp(orders), whole.rdp(orders), rtol=1e-8)
    for z in (0.0, 1.0, 3.0, 4.5):
        epsilon = whole.mu * z + whole.mu**2 / 2
        assert whole.delta(epsilon) * (1 - 1e-7) <= sampled.delta(epsilon)
        assert sampled.delta(epsilon) <= whole.delta(epsilon) * 1.02 + 1e-9


# The trap: handing dp-accounting's two accountants the same number under replace-one.
# Values printed by dp-accounting 0.6 for GaussianDpEvent(5) at delta = 1e-6.
def test_the_trap_this_class_avoids_is_a_factor_of_two():
    relation = RELATIONS[True]
    event = dp_accounting.GaussianDpEvent(5.0)
    right = PLDAccountant(relation).compose(event).get_epsilon(1e-6)
    wrong = RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-6)
    assert right == pytest.approx(1.766, abs=1e-3)
    assert wrong == pytest.approx(0.900, abs=1e-3)
    assert SampledGaussian(1 / 5, 1.0, is_replace=True).epsilon(1e-6) == pytest.approx(
        1.766, abs=2e-3
    )
    assert SampledGaussian(1 / 5, 1.0).epsilon(1e-6) == pytest.approx(0.834, abs=2e-3)
    assert SampledGaussian(1 / 5, 1.0, is_replace=True).rdp([8.0])[0] == pytest.approx(
        4 * SampledGaussian(1 / 5, 1.0).rdp([8.0])[0]
    )


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.1), (1.0, 0.01), (2.0, 0.5)])
def test_one_step_is_just_above_the_integral(mu, rate, is_replace):
    profile = SampledGaussian(mu, rate, is_replace=is_replace)
    for epsilon in (0.0, 0.05, 0.3, 1.0, 2.0):
        truth = one_step(mu, rate, epsilon, is_replace=is_replace)
        assert truth * (1 - 1e-12) - 1e-15 <= profile.delta(epsilon) <= truth * 1.01 + 1e-8


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
@pytest.mark.parametrize(
    ("mu", "rate", "steps"), [(1.0, 0.01, 100), (0.5, 0.2, 10), (0.23, 0.01, 10_000)]
)
def test_many_steps_agree_with_dp_accounting(mu, rate, steps, is_replace):
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(1 / mu))
    theirs = PLDAccountant(RELATIONS[is_replace]).compose(event, steps)
    ours = SampledGaussian(mu, rate, steps, is_replace=is_replace)
    for delta in (1e-3, 1e-7):
        epsilon = theirs.get_epsilon(delta)
        assert ours.delta(epsilon * (1 - 1e-3)) > delta * (1 - 1e-9)
        assert ours.delta(epsilon * 1.01 + 1e-4) <= delta


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
def test_sampled_steps_compose_as_one_run(is_replace):
    half = SampledGaussian(1.0, 0.05, 5, is_replace=is_replace)
    whole = SampledGaussian(1.0, 0.05, 10, is_replace=is_replace)
    both = compose([half, half])
    for epsilon in (0.2, 1.0):
        assert both.delta(epsilon) == pytest.approx(whole.delta(epsilon), rel=0.01)


def test_composition_with_a_pure_release_agrees_with_dp_accounting():
    event = dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(1.0))
    accountant = PLDAccountant(RELATIONS[False]).compose(event, 20)
    accountant.compose(dp_accounting.LaplaceDpEvent(1 / 0.3))
    theirs = accountant.get_epsilon(1e-6)
    both = compose([SampledGaussian(1.0, 0.05, 20), Pure(0.3)])
    assert both.delta(theirs * (1 - 1e-3)) > 1e-6 >= both.delta(theirs * 1.1)


def exact_renyi(mu, rate, order):
    """Return the Renyi divergence of a whole order: the binomial sum of Mironov et al. (2019)."""
    with mp.workdps(60):
        mu, rate = mp.mpf(mu), mp.mpf(rate)
        moment = mp.fsum(
            mp.binomial(order, k)
            * (1 - rate) ** (order - k)
            * rate**k
            * mp.exp(mu**2 * k * (k - 1) / 2)
            for k in range(order + 1)
        )
        return mp.log(moment) / (order - 1)


@pytest.mark.parametrize(
    ("mu", "rate"), [(1.0, 0.01), (0.3, 0.5), (0.1, 1e-5), (0.01, 1e-3), (0.01, 1e-6), (1.0, 1e-9)]
)
def test_the_renyi_curve_is_not_below_the_binomial_sum(mu, rate):
    for order in (2, 3, 10, 64, 256, 512):
        truth, got = exact_renyi(mu, rate, order), SampledGaussian(mu, rate).rdp([order])[0]
        assert truth * (1 - 1e-12) <= got


@pytest.mark.parametrize("mu", [0.2, 1.0])
@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_the_renyi_curve_under_replacement_is_above_the_integral(mu, rate):
    profile = SampledGaussian(mu, rate, is_replace=True)
    x = np.linspace(-26, 26, 40_001)
    middle = (1 - rate) * np.exp(-(x**2) / 2)
    first = np.log(middle + rate * np.exp(-((x - mu) ** 2) / 2))
    second = np.log(middle + rate * np.exp(-((x + mu) ** 2) / 2))
    scale = (x[1] - x[0]) / math.sqrt(2 * math.pi)
    for order in (1.1, 2.0, 5.0, 12.0):
        moment = np.exp(order * first + (1 - order) * second).sum() * scale
        assert profile.rdp([order])[0] >= math.log(moment) / (order - 1)


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
def test_no_pair_of_records_in_the_plane_beats_the_worst_pair(is_replace):
    mu, rate = 1.0, 0.3
    axis = np.linspace(-8, 8, 401)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    cell = (axis[1] - axis[0]) ** 2 / (2 * math.pi)

    def batch(a, b):
        kernel = np.exp(-((x - a) ** 2 + (y - b) ** 2) / 2)
        return (1 - rate) * np.exp(-(x**2 + y**2) / 2) + rate * kernel

    profile, first = SampledGaussian(mu, rate, is_replace=is_replace), batch(mu, 0.0)
    radii = (0.0, 0.5, 1.0) if is_replace else (0.0,)
    for radius in radii:
        for angle in np.linspace(0, math.pi, 5):
            second = batch(radius * mu * math.cos(angle), radius * mu * math.sin(angle))
            for epsilon in (0.0, 0.1, 0.4, 1.0):
                truth = np.maximum(first - math.exp(epsilon) * second, 0).sum() * cell
                assert truth <= profile.delta(epsilon) * (1 + 1e-3) + 1e-9


def test_replacement_costs_more_and_sampling_less():
    epsilons = [0.1, 0.5, 1.0]
    plain = SampledGaussian(1.0, 0.1, 2).deltas(epsilons)
    assert np.all(plain < SampledGaussian(1.0, 0.1, 2, is_replace=True).deltas(epsilons))
    assert np.all(plain > SampledGaussian(1.0, 0.05, 2).deltas(epsilons))
    assert np.all(plain < Gaussian(math.sqrt(2)).deltas(epsilons))
    assert np.all(plain < SampledGaussian(1.0, 0.1, 4).deltas(epsilons))


def test_a_sampled_record_shows_with_at_most_the_rate():
    for is_replace in (False, True):
        profile = SampledGaussian(60.0, 0.25, is_replace=is_replace)
        assert profile.delta(0.0) == pytest.approx(0.25 * (2 * ndtr(30.0) - 1), rel=1e-6)


@pytest.mark.parametrize(
    ("mu", "rate", "steps"),
    [(1.0, 1e-4, 1_000_000), (1e-4, 0.5, 1), (1e-8, 0.5, 1), (1.0, 1e-300, 1), (50.0, 1e-12, 10)],
)
def test_unusual_settings_still_have_a_profile(mu, rate, steps):
    profile = SampledGaussian(mu, rate, steps)
    deltas = profile.deltas([0.0, 0.01, 1.0])
    assert np.all((deltas > 0) & (deltas <= 1))
    assert np.all(np.diff(deltas) <= 1e-14)
    assert np.all(profile.rdp([2.0, 16.0]) >= 0)


@pytest.mark.parametrize(
    "changes",
    [{"mu": 0.0}, {"rate": 0.0}, {"rate": 1.1}, {"steps": 0}, {"mu": math.nan}, {"rate": -0.1}],
)
def test_impossible_numbers_are_refused(changes):
    with pytest.raises(InputError, match=r"must .*; got"):
        SampledGaussian(**({"mu": 1.0, "rate": 0.1} | changes))


@pytest.mark.parametrize("changes", [{"steps": 2.0}, {"is_replace": 1}, {"rate": "0.1"}])
def test_other_types_are_refused(changes):
    with pytest.raises(InputTypeError, match="must be"):
        SampledGaussian(**({"mu": 1.0, "rate": 0.1} | changes))


def test_delta_falls_where_single_losses_are_huge():
    deltas = SampledGaussian(1000.0, 1e-6, 2).deltas(np.array([1.0, 5.0, 20.0]))
    assert (np.diff(deltas) <= 0).all()
    assert 2e-6 <= deltas[0] < 2.1e-6  # one of two steps takes the row


def test_very_little_shift_is_no_error():
    assert 0 < SampledGaussian(1e-20, 1e-6, 2).delta(0.0) < 1e-12


def test_rates_near_one_are_nearly_gaussian_in_the_reverse_order():
    epsilons = np.array([1.0, 20.0, 50.0])
    np.testing.assert_array_equal(
        removed_deltas(epsilons, 10.0, 1.0), Gaussian(10.0).deltas(epsilons)
    )
    near, whole = (removed_deltas(epsilons[:2], 10.0, rate)[:2] for rate in (1 - 2.0**-53, 1.0))
    np.testing.assert_allclose(near, whole, rtol=1e-6)
