"""What a distance costs, against sums in many digits: never below the least, hardly above."""

import math

import mpmath as mp
import numpy as np
import pytest

from discreet.privacy import (
    Composition,
    Gaussian,
    Laplace,
    Pure,
    SampledGaussian,
    ShiftedGaussian,
    WithinDistance,
    compose,
)

TAUS = (2.0**-100, 2.0**-80, 1e-12, 1e-3)
MUS = (1e-3, 0.1, 1.0, 5.0, 12.0, 80.0)


def slow(mu):
    """Return a Gaussian profile that does not know that it has a closed form."""
    return Composition([Gaussian(0.6 * mu), Gaussian(0.8 * mu)])


def least_sum(mu, tau, epsilon):
    """Minimise delta(e) + (1 + e**e) tau over e up to epsilon, in forty digits."""
    with mp.workdps(40):
        mu, tau = mp.mpf(mu), mp.mpf(tau)

        def total(e):
            e = mp.mpf(e)
            ideal = mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)
            return ideal + (1 + mp.exp(e)) * tau

        low, high = mp.mpf(0), mp.mpf(min(epsilon, -math.log(tau) + 1))
        for _ in range(45):  # it falls before its minimum and rises after it
            a, b = (2 * low + high) / 3, (low + 2 * high) / 3
            low, high = (low, b) if total(a) < total(b) else (a, high)
        return min(total(low), total(mp.mpf(min(epsilon, -math.log(tau) + 1))))


@pytest.mark.parametrize("make", [Gaussian, slow], ids=["closed", "slow"])
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("mu", MUS)
def test_the_bound_is_never_below_the_least_sum_and_hardly_above(mu, tau, make):
    profile = WithinDistance(make(mu), tau)
    for epsilon in (0.0, 0.01, 1.0, 8.0, 25.0, 60.0, 150.0, 1000.0, 1e5):
        truth = min(least_sum(mu, tau, epsilon), 1)
        delta = profile.delta(epsilon)
        assert delta >= truth * (1 - mp.mpf("1e-11"))
        assert delta <= truth * (1 + mp.mpf("1e-8")) + mp.mpf("1e-300")


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("mu", MUS)
def test_a_slow_profile_turns_where_a_closed_one_does(mu, tau):
    (merged, _), *_ = slow(mu)._merged
    assert merged.bound(np.array([1.0])) == slow(mu).bound(np.array([1.0]))
    fast, walked = WithinDistance(merged, tau), WithinDistance(slow(mu), tau)
    if fast.delta(1e6) < 0.5:  # nearer to one, sums differ by less than rounding
        assert walked._turn == fast._turn
    assert walked.delta(1e6) == pytest.approx(fast.delta(1e6), rel=1e-12)


@pytest.mark.parametrize(
    "ideal",
    [
        compose([ShiftedGaussian(3.0, 0.2), Gaussian(0.06)]),
        compose([ShiftedGaussian(2.0, 0.2, is_replace=True), Gaussian(0.04), Gaussian(0.5)]),
        SampledGaussian(2.0, 0.1, 50),
        compose([Laplace(1.0), Laplace(0.4)]),
    ],
    ids=["objective", "beside", "sampled", "laplace"],
)
@pytest.mark.parametrize("tau", [2.0**-80, 1e-9])
def test_no_other_epsilon_on_a_fine_grid_does_better(ideal, tau):
    profile = WithinDistance(ideal, tau)
    grid = np.linspace(0, -math.log(tau), 300)
    sums = ideal.deltas(grid) + (1 + np.exp(grid)) * tau
    assert profile.delta(1e5) <= min(1.0, sums.min()) * (1 + 1e-6)
    assert profile.delta(1e5) >= ideal.delta(-math.log(tau)) * (1 - 1e-9)


def test_looking_for_the_turn_of_a_slow_profile_takes_few_looks(monkeypatch):
    looks, bound = [], Composition.bound

    def counted(profile, epsilons):
        looks.append(epsilons.size)
        return bound(profile, epsilons)

    monkeypatch.setattr(Composition, "bound", counted)
    for mu in (1.0, 3.0, 5.0):
        looks.clear()
        assert WithinDistance(slow(mu), 2.0**-80).delta(1000.0) < 1
        assert sum(looks) <= 30  # five grids of sixty-five would be 325


@pytest.mark.parametrize("ideal", [Gaussian(0.5), slow(0.5), Pure(3.0)], ids=repr)
@pytest.mark.parametrize("tau", [2.0**-80, 1e-6])
def test_many_epsilons_are_answered_as_one_by_one(ideal, tau):
    profile = WithinDistance(ideal, tau)
    epsilons = np.array([0.0, 0.1, 2.9, 3.0, 3.1, 20.0, 50.0, 60.0, 800.0])
    one_by_one = [profile.delta(epsilon) for epsilon in epsilons.tolist()]
    np.testing.assert_array_equal(profile.deltas(epsilons), one_by_one)


def test_what_is_lost_in_rounding_costs_no_second_look(monkeypatch):
    looks, bound = [], Composition.bound

    def counted(profile, epsilons):
        looks.append(epsilons.size)
        return bound(profile, epsilons)

    monkeypatch.setattr(Composition, "bound", counted)
    near = WithinDistance(slow(0.5), 2.0**-110)
    assert near.delta(1.0) == Gaussian(slow(0.5)._merged[0][0].mu).delta(1.0)
    assert looks == [1]
