"""How much an audit could have found, against enumeration and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from discreet.audit import Evidence
from discreet.audit.statistical.certify import Claim
from discreet.audit.statistical.power import Reach, equivalent_mu
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Gaussian,
    Guarantee,
    Laplace,
    Pure,
    ZeroConcentrated,
)

UNIT = AddRemoveOne()


def exact_power(reach, hit, miss, claim):
    """Sum, over every pair of counts that refutes the claim, its chance."""
    total = 0.0
    for misses in range(reach.trials + 1):
        low, high = -1, reach.trials + 1
        while high - low > 1:
            middle = (low + high) // 2
            seen = Evidence("", middle, misses, reach.trials, reach.level)
            low, high = (low, middle) if seen.refutes(claim) else (middle, high)
        total += binom.pmf(misses, reach.trials, miss) * binom.sf(high - 1, reach.trials, hit)
    return total


@pytest.mark.parametrize("trials", [50, 90])
def test_power_is_the_chance_by_enumeration_to_refute_half_the_laplace_noise(trials):
    promise, reach = Guarantee(Pure(1.0), UNIT), Reach(trials, 0.01)
    claim = Claim.of(promise.profile, near=1.0, far=2.0)
    hit, miss = reach._best_event((np.array([0.5]), np.array([0.5 * math.exp(-2)])), claim)
    best = reach.power(promise, claim)
    assert 0.02 < best < 0.98
    assert best >= exact_power(reach, hit, miss, claim) - 0.05
    assert reach._chance(hit, miss, claim) == pytest.approx(
        exact_power(reach, hit, miss, claim), abs=0.03
    )


def test_power_is_how_often_simulated_counts_refute_the_gaussian_claim():
    promise = Guarantee(Gaussian(0.5), UNIT, quoted_delta=1e-6)
    reach = Reach(300, 1e-2)
    claim = Claim.of(promise.profile, near=promise.epsilon())
    threshold = 0.5
    hit, miss = ndtr(1 - threshold), ndtr(-threshold)
    random = np.random.default_rng(3)
    counts = zip(
        random.binomial(300, hit, 400).tolist(), random.binomial(300, miss, 400).tolist(),
        strict=True,
    )  # fmt: skip
    caught = np.mean([Evidence("", a, b, 300, 1e-2).refutes(claim) for a, b in counts])
    assert reach._chance(hit, miss, claim) == pytest.approx(caught, abs=0.08)
    assert reach.power(promise, claim) == pytest.approx(caught, abs=0.1)


def test_power_grows_with_trials_from_nothing_to_certainty():
    promise = Guarantee(Pure(1.0), UNIT)
    claim = Claim.of(promise.profile)
    powers = [Reach(trials, 2.5e-4).power(promise, claim) for trials in (30, 150, 600, 3000)]
    assert powers == sorted(powers)
    assert powers[0] < 0.05
    assert powers[-1] > 0.999


def test_the_ceiling_is_what_an_open_book_certifies_and_grows_with_the_logarithm_of_trials():
    ceilings = [Reach(trials, 2.5e-4).ceiling(0.0) for trials in (1000, 10_000, 100_000)]
    np.testing.assert_allclose(np.diff(ceilings), math.log(10), atol=0.1)
    assert Reach(1000, 2.5e-4).ceiling(0.0) < math.log(1000)
    assert Reach(1000, 2.5e-4).ceiling(0.1) < ceilings[0]


def test_the_equivalent_mu_has_the_claimed_epsilon_at_the_claimed_delta():
    promise = Guarantee(ZeroConcentrated(0.1), UNIT, quoted_delta=1e-5)
    assert Gaussian(equivalent_mu(promise)).epsilon(1e-5) == pytest.approx(promise.epsilon())


def test_the_equivalent_mu_of_a_pure_claim_tells_two_data_sets_apart_as_well():
    mu = equivalent_mu(Guarantee(Pure(1.5), UNIT))
    assert Gaussian(mu).delta(0.0) == pytest.approx(Pure(1.5).delta(0.0))


@pytest.mark.parametrize(
    "promise",
    [
        Guarantee(Approximate(1.0, 1e-3), UNIT, quoted_delta=1e-9),
        Guarantee(ZeroConcentrated(0.1), UNIT, quoted_delta=0.0),
        Guarantee(Gaussian(0.5), UNIT, quoted_delta=0.0),
        Guarantee(Laplace(30.0), UNIT),
        Guarantee(Gaussian(30.0), UNIT, quoted_delta=1e-6),
    ],
)
def test_power_is_a_chance_even_if_the_claim_has_no_epsilon_or_a_huge_one(promise):
    claim = Claim.of(promise.profile)
    power = Reach(200, 1e-3).power(promise, claim)
    assert 0 <= power <= 1
    assert math.isfinite(equivalent_mu(promise))
