"""Compositions against exact sums, convolutions and integrals; minima; distances."""

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.errors import InputError, InputTypeError
from discreet.privacy import (
    Approximate,
    BoundedRange,
    Composition,
    Gaussian,
    Laplace,
    Minimum,
    NoPrivacy,
    Pure,
    Renyi,
    SampledGaussian,
    ShiftedGaussian,
    WithinDistance,
    ZeroConcentrated,
    compose,
    within,
)
from discreet.privacy import tilted_fft as tilted

LAW = settings(derandomize=True, deadline=None, max_examples=60)


def randomised_responses(level, times, epsilon):
    """Return delta of many randomised responses: a binomial sum with 50 digits."""
    with mp.workdps(50):
        level, epsilon = mp.mpf(level), mp.mpf(epsilon)
        yes, no = -mp.log1p(mp.exp(-level)), -mp.log1p(mp.exp(level))
        total = mp.mpf(0)
        first = max(0, int(mp.floor((epsilon / level + times) / 2)))
        for k in range(first, times + 1):
            loss = (2 * k - times) * level
            if loss <= epsilon:
                continue
            choose = mp.loggamma(times + 1) - mp.loggamma(k + 1) - mp.loggamma(times - k + 1)
            term = -mp.exp(choose + k * yes + (times - k) * no) * mp.expm1(epsilon - loss)
            total += term
            if term < total * mp.mpf(10) ** -30:
                break
        return total


def laplace_then(level, rest, epsilon):
    """Average the delta of ``rest`` over the exact privacy loss of Laplace noise."""
    ends = 0.5 * rest(epsilon - level) + 0.5 * math.exp(-level) * rest(epsilon + level)

    def density(loss):
        return 0.25 * math.exp((loss - level) / 2) * rest(epsilon - loss)

    corners = [epsilon + c for c in (-level, level, 0.0)]
    inside = [c for c in corners if -level < c < level]
    return ends + quad(density, -level, level, points=inside or None, epsabs=1e-14, limit=200)[0]


def pure_then(level, rest, epsilon):
    """Average the delta of ``rest`` over the exact privacy loss of randomised response."""
    keep = 1 / (1 + math.exp(-level))
    return keep * rest(epsilon - level) + (1 - keep) * rest(epsilon + level)


@LAW
@given(mus=st.lists(st.floats(0.01, 3), min_size=2, max_size=8), epsilon=st.floats(0, 20))
def test_gaussians_compose_exactly(mus, epsilon):
    together = Composition([Gaussian(mu) for mu in mus]).delta(epsilon)
    one = Gaussian(math.hypot(*mus)).delta(epsilon)
    assert one <= together <= one * (1 + 1e-8)


@pytest.mark.parametrize(
    ("level", "times"), [(0.1, 10), (0.1, 100), (0.5, 50), (0.013, 700), (3.0, 5), (10.0, 3)]
)
def test_randomised_responses_compose_to_the_binomial_sum(level, times):
    together = compose([Pure(level)] * times)
    spread = level * math.sqrt(times)
    for z in (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0):
        epsilon = times * level * math.tanh(level / 2) + z * spread
        truth = randomised_responses(level, times, epsilon)
        allowed = truth * (1 + 1e-4) + 2e-12 + 2e-14 * times
        assert truth <= together.delta(epsilon) <= allowed


def test_a_hundred_thousand_releases_do_not_lose_themselves_in_rounding():
    # The Fourier transform of dp-accounting errs by about 1e-16 for each composition.
    level, times = 0.0002, 100_000
    together = compose([Pure(level)] * times)
    spread = level * math.sqrt(times)
    for z in (5.0, 6.0, 6.3, 7.0):
        epsilon = times * level * math.tanh(level / 2) + z * spread
        assert together.delta(epsilon) >= randomised_responses(level, times, epsilon)


def test_an_epsilon_of_many_releases_takes_few_transforms(monkeypatch):
    made, convolved = [], tilted._convolve

    def counted(parts, tilt):
        made.append(tilt)
        return convolved(parts, tilt)

    monkeypatch.setattr(tilted, "_convolve", counted)
    together = compose([Pure(0.01)] * 1000)
    together.epsilon(1e-6)
    assert len(made) == len(set(made)) < 20  # and not one for each of fifty levels


def test_what_is_said_of_all_releases_is_worked_out_once(monkeypatch):
    asked, failure = [], Pure.failure

    def counted(profile):
        asked.append(profile)
        return failure.fget(profile)

    monkeypatch.setattr(Pure, "failure", property(counted))
    together = compose([Pure(0.01)] * 1000)
    for epsilon in (0.1, 0.5, 1.0):
        together.delta(epsilon)
    assert len(asked) <= 1000


@pytest.mark.parametrize("levels", [(1.0, 1.0), (0.3, 1.7), (2.5, 0.05)])
def test_two_laplace_releases_compose_to_their_convolution(levels):
    first, second = levels
    together = compose([Laplace(first), Laplace(second)])
    for share in (0.0, 0.1, 0.35, 0.6, 0.8, 0.95):
        epsilon = share * (first + second)
        truth = laplace_then(first, Laplace(second).delta, epsilon)
        assert truth * (1 - 1e-9) <= together.delta(epsilon) <= truth * (1 + 1e-4) + 2e-9


@settings(LAW, max_examples=15)
@given(mu=st.floats(0.05, 2), level=st.floats(0.01, 2), epsilon=st.floats(0, 6))
def test_a_gaussian_and_a_pure_release_compose_to_their_mixture(mu, level, epsilon):
    truth = pure_then(level, Gaussian(mu).delta, epsilon)
    got = compose([Gaussian(mu), Pure(level)]).delta(epsilon)
    assert truth * (1 - 2.1e-9) <= got <= truth * 1.05 + 1e-8


@pytest.mark.parametrize("mu", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("level", [0.05, 0.5, 2.0])
def test_mixed_releases_are_never_below_an_independent_integral(mu, level):
    def two(epsilon):
        return pure_then(level / 2, Gaussian(mu).delta, epsilon)

    together = compose([Gaussian(mu), Laplace(level), Pure(level / 2)])
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
        truth = laplace_then(level, two, epsilon)
        assert truth * (1 - 1e-8) <= together.delta(epsilon) <= truth * (1 + 1e-3) + 1e-8


def test_sampled_and_exact_releases_are_never_below_the_sampled_one_alone():
    sampled = SampledGaussian(1.0, 0.05, 5)
    for other in (Gaussian(0.2), Approximate(0.1, 1e-7)):
        together = compose([sampled, other])
        for epsilon in (0.1, 1.0):
            assert (
                together.delta(epsilon) >= max(sampled.delta(epsilon), other.delta(epsilon)) / 1.001
            )


@settings(LAW, max_examples=15)
@given(
    exceptions=st.lists(st.floats(0, 1e-3), min_size=2, max_size=5),
    level=st.floats(0.01, 1),
    epsilon=st.floats(0, 6),
)
def test_failures_add(exceptions, level, epsilon):
    together = compose([Approximate(level, delta) for delta in exceptions])
    assert together.failure == math.fsum(exceptions)
    total = -math.expm1(math.fsum(map(math.log1p, (-delta for delta in exceptions))))
    core = randomised_responses(level, len(exceptions), epsilon)
    truth = total + (1 - total) * float(core)
    assert truth * (1 - 1e-9) <= together.delta(epsilon) <= truth * (1 + 1e-3) + 2e-9


def test_pure_releases_stay_pure():
    together = compose([Pure(0.1), Laplace(0.2), BoundedRange(0.05, 3)])
    assert together.pure_epsilon == pytest.approx(0.45)
    assert together.epsilon(0.0) == together.pure_epsilon
    assert together.delta(together.epsilon(0.0)) == 0


def test_one_release_without_privacy_spoils_the_whole():
    together = compose([Gaussian(0.1), NoPrivacy()])
    assert not together.is_private
    assert together.delta(100.0) == 1
    assert together.epsilon(0.5) == math.inf


def test_more_releases_are_never_more_private():
    parts = [Pure(0.3), Gaussian(0.4), BoundedRange(0.2), ShiftedGaussian(0.2, 0.05)]
    wholes = [compose(parts[:k]) for k in range(1, 5)]
    for fewer, more in pairwise(wholes):
        for epsilon in (0.0, 0.3, 1.0, 2.0):
            assert fewer.delta(epsilon) <= more.delta(epsilon) + 2e-12


def test_the_renyi_curve_of_a_composition_is_the_sum():
    parts = [Pure(0.3), Gaussian(0.4), ShiftedGaussian(0.2, 0.05)]
    orders = np.array([1.01, 2.0, 50.0])
    total = np.sum([part.rdp(orders) for part in parts], axis=0)
    np.testing.assert_array_equal(compose(parts).rdp(orders), total)


def test_nested_compositions_are_flattened_and_distances_add():
    inner = compose([within(Pure(0.1), 1e-20), Gaussian(0.2)])
    outer = compose([inner, within(Laplace(0.3), 2e-20), compose([Pure(0.1), Pure(0.2)])])
    assert outer.distance == pytest.approx(3e-20, rel=1e-12, abs=0)
    assert outer.ideal == Composition(
        [Pure(0.1), Gaussian(0.2), Laplace(0.3), Pure(0.1), Pure(0.2)]
    )


def test_composing_one_profile_changes_nothing():
    assert compose([Gaussian(0.2)]) == Gaussian(0.2)
    near = WithinDistance(Gaussian(0.2), 1e-20)
    assert compose([near]) == near


def test_the_order_of_releases_does_not_matter_to_the_answer():
    parts = [Pure(0.3), Gaussian(0.4), Laplace(0.2)]
    one, other = compose(parts), compose(parts[::-1])
    for epsilon in (0.1, 0.5, 1.5):
        assert one.delta(epsilon) == pytest.approx(other.delta(epsilon), rel=1e-6, abs=1e-13)


@settings(LAW, max_examples=30)
@given(
    tau=st.floats(math.log(1e-30), math.log(1e-2)).map(math.exp),
    epsilon=st.floats(0, 30),
    further=st.floats(0, 5),
)
def test_a_distance_costs_one_plus_e_to_the_epsilon_and_delta_keeps_falling(tau, epsilon, further):
    for ideal in (Gaussian(0.5), Pure(1.0), Approximate(1.0, 1e-6), ZeroConcentrated(0.1)):
        near = WithinDistance(ideal, tau)
        most = ideal.delta(epsilon) + (1 + math.exp(epsilon)) * tau
        assert ideal.delta(epsilon) + 2 * tau <= near.delta(epsilon) * (1 + 1e-12)
        assert near.delta(epsilon) <= most * (1 + 1e-6)
        assert near.delta(epsilon + further) <= near.delta(epsilon) * (1 + 1e-9)


def test_a_larger_distance_is_never_more_private():
    for epsilon in (0.0, 0.5, 2.0, 20.0):
        deltas = [within(Gaussian(0.3), tau).delta(epsilon) for tau in (0.0, 1e-12, 1e-6, 0.1, 1.0)]
        assert deltas == sorted(deltas)


def test_the_cost_of_a_distance_is_attained_in_order_of_magnitude():
    # Two laws at distance tau from randomised response: move tau from "no" to "yes" under P.
    tau, level = 1e-4, 1.0
    keep = 1 / (1 + math.exp(-level))
    for epsilon in (0.2, 0.6):
        attack = (keep + tau) - math.exp(epsilon) * (1 - keep - tau)
        assert attack <= WithinDistance(Pure(level), tau).delta(epsilon)
        assert attack >= WithinDistance(Pure(level), tau).delta(epsilon) - 1e-8


def test_a_distance_destroys_purity_but_not_the_ideal():
    near = within(Pure(1.0), 1e-20)
    assert near.epsilon(0.0) == math.inf
    assert near.ideal == Pure(1.0)
    assert within(Pure(1.0), 0.0) == Pure(1.0)
    assert within(near, 1e-20).distance == 2e-20
    np.testing.assert_array_equal(near.rdp([2.0]), Pure(1.0).rdp([2.0]))


def test_a_minimum_is_at_most_each_bound_and_at_least_the_truth():
    # Gaussian noise of shift 0.3, described by three bounds that are all true of it.
    truth = Gaussian(0.3)
    bounds = [ZeroConcentrated(0.045), Gaussian(0.35), Approximate(1.0, truth.delta(1.0))]
    best = Minimum(bounds)
    epsilons = np.linspace(0, 4, 401)
    pointwise = np.min([bound.deltas(epsilons) for bound in bounds], axis=0)
    assert np.all(best.deltas(epsilons) <= pointwise * (1 + 1e-8))
    assert np.all(best.deltas(epsilons) >= truth.deltas(epsilons) * (1 - 1e-8))


def test_a_minimum_is_convex_where_its_bounds_cross():
    best = Minimum([Approximate(0.2, 0.05), Approximate(1.5, 1e-3)])
    pointwise = min(bound.delta(0.7) for bound in best.bounds)
    left, right = best.delta(0.2), best.delta(1.5)
    share = (math.exp(1.5) - math.exp(0.7)) / (math.exp(1.5) - math.exp(0.2))
    assert best.delta(0.7) <= right + share * (left - right) + 1e-3 < pointwise


def test_a_minimum_keeps_the_best_of_everything():
    best = Minimum([Pure(0.5), ZeroConcentrated(0.01), Renyi((2.0,), (0.001,))])
    assert best.pure_epsilon == best.epsilon(0.0) == 0.5
    assert best.rdp([2.0])[0] == 0.001
    assert Minimum([NoPrivacy(), Pure(0.5)]).is_private
    assert not Minimum([NoPrivacy()]).is_private


def test_a_composed_minimum_is_never_below_the_composed_truth():
    once = Minimum([ZeroConcentrated(0.045), Gaussian(0.35)])
    thrice = compose([once] * 3)
    for epsilon in (0.0, 0.3, 1.0, 2.0, 3.0):
        assert thrice.delta(epsilon) >= Gaussian(0.3 * math.sqrt(3)).delta(epsilon) * (1 - 1e-8)
        assert thrice.delta(epsilon) <= Gaussian(0.35 * math.sqrt(3)).delta(epsilon) * 1.01 + 1e-10


@pytest.mark.parametrize("make", [Composition, Minimum, compose])
def test_an_empty_list_is_refused(make):
    with pytest.raises(InputError, match="at least one profile is needed"):
        make([])


@pytest.mark.parametrize("make", [Composition, Minimum, compose])
def test_anything_but_profiles_is_refused(make):
    with pytest.raises(
        InputTypeError, match="profile must be a Profile; got a value of type float"
    ):
        make([Gaussian(1.0), 0.5])


@pytest.mark.parametrize("make", [Composition, Minimum])
def test_distances_must_be_stated_outside(make):
    with pytest.raises(InputError, match="distance"):
        make([WithinDistance(Gaussian(1.0), 1e-9)])
    with pytest.raises(InputError, match="distances add"):
        WithinDistance(WithinDistance(Gaussian(1.0), 1e-9), 1e-9)


@pytest.mark.parametrize("tau", [-1e-9, 1.1, math.nan])
def test_a_distance_that_is_no_probability_is_refused(tau):
    with pytest.raises(InputError, match="tau must lie between 0 and 1; got"):
        WithinDistance(Gaussian(1.0), tau)
