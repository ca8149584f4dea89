"""The chance of a false alarm, by enumeration of all counts, and what true alarms certify."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit import Evidence
from discreet.audit.statistical.certify import (
    Claim,
    chance_at_least,
    chance_at_most,
    largest_epsilon,
    largest_mu,
    largest_share,
    limit_by_epsilon,
    limit_by_mu,
    p_value,
)
from discreet.privacy import Approximate, Gaussian, Laplace, Pure, ZeroConcentrated

CHANCES = np.unique(np.concatenate([np.linspace(0.002, 0.998, 250), np.geomspace(1e-4, 0.5, 60)]))

PROMISES = {
    "nothing may show": limit_by_epsilon(0.0, 0.0),
    "epsilon 1/2": limit_by_epsilon(0.5, 0.0),
    "epsilon 1": limit_by_epsilon(1.0, 0.0),
    "epsilon 2, delta 1/20": limit_by_epsilon(2.0, 0.05),
    "mu 1/2": limit_by_mu(0.5),
    "mu 1": limit_by_mu(1.0),
    "laplace": Claim.of(Laplace(1.0)).allows(),
    "gaussian": Claim.of(Gaussian(0.5)).allows(),
}


def false_alarms(trials, allowed, level, *, truth=None):
    """Return, for each chance on one data set, that of a refutation if the other is at the edge."""
    fewest = np.array([fewest_hits(misses, trials, allowed, level) for misses in range(trials + 1)])
    misses = binom.pmf(np.arange(trials + 1)[:, None], trials, CHANCES)
    hits = binom.sf(fewest[:, None] - 1, trials, np.clip((truth or allowed)(CHANCES), 0, 1))
    return (misses * hits).sum(axis=0)


def fewest_hits(misses, trials, allowed, level):
    low, high = -1, trials + 1
    while high - low > 1:
        middle = (low + high) // 2
        is_refuted = p_value(middle, misses, trials, allowed) <= level
        low, high = (low, middle) if is_refuted else (middle, high)
    return high


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize(("trials", "level"), [(20, 0.2), (35, 0.05), (60, 0.05), (60, 2.5e-4)])
def test_a_true_promise_is_refuted_at_most_as_often_as_stated(promise, trials, level):
    assert false_alarms(trials, PROMISES[promise], level).max() <= level


@pytest.mark.parametrize("promise", ["nothing may show", "epsilon 1/2", "epsilon 1", "mu 1"])
@pytest.mark.parametrize("level", [0.1, 0.01])
def test_the_test_is_not_absurdly_careful(promise, level):
    assert false_alarms(60, PROMISES[promise], level).max() >= 0.3 * level


def test_the_enumeration_notices_a_level_that_is_not_kept():
    """Against a promise of four fifths of what is true, alarms are far too frequent."""
    truth = PROMISES["epsilon 1"]
    alarms = false_alarms(60, lambda chance: 0.8 * truth(chance), 0.05, truth=truth)
    assert alarms.max() > 3 * 0.05


def test_a_claim_allows_the_least_of_all_its_bounds():
    for profile in (Pure(0.7), Laplace(2.0), Gaussian(0.3), Approximate(1.0, 1e-3)):
        claim = Claim.of(profile)
        for share in (0.0, 0.5, 1.0, 3.0):
            factors = np.exp(share * claim.epsilons)[:, None]
            direct = factors * CHANCES + claim.deltas[:, None]
            reverse = 1 - (1 - CHANCES - claim.deltas[:, None]) / factors
            least = np.minimum(direct, reverse).min(axis=0, initial=1.0)
            np.testing.assert_allclose(claim.allows(share)(CHANCES), least, rtol=1e-12)


def test_more_hits_or_fewer_misses_never_weaken_the_evidence():
    allowed = PROMISES["epsilon 1/2"]
    table = np.array([[p_value(a, b, 25, allowed) for b in range(26)] for a in range(26)])
    assert (np.diff(table, axis=0) <= 1e-12).all()
    assert (np.diff(table, axis=1) >= -1e-12).all()
    assert table.min() >= 0
    assert table.max() <= 1


def test_the_supremum_over_the_unknown_chance_is_not_missed_between_the_cells():
    """A brute-force search over ten thousand chances finds nothing above the reported value."""
    for trials, hits, misses in [(30, 25, 9), (200, 120, 30), (1000, 40, 2), (50, 50, 30)]:
        for name, allowed in PROMISES.items():
            fine = np.concatenate([np.linspace(0, 1, 10_001)[1:], np.geomspace(1e-9, 1e-3, 500)])
            tails = binom.sf(hits - 1, trials, np.clip(allowed(fine), 0, 1))
            product = float((tails * binom.cdf(misses, trials, fine)).max())
            exact = min(1.0, product * (1 - math.log(product)))
            reported = p_value(hits, misses, trials, allowed)
            assert reported >= exact * (1 - 1e-9), name
            assert reported <= 1.35 * exact + 1e-15, name


def test_clopper_pearson_is_right_for_every_count():
    trials, tail = 30, 0.01
    low, high = (bound(np.arange(31), trials, tail) for bound in (chance_at_least, chance_at_most))
    counts = np.arange(1, 31)
    np.testing.assert_allclose(binom.sf(counts - 1, trials, low[1:]), tail, rtol=1e-6)
    np.testing.assert_allclose(binom.cdf(counts - 1, trials, high[:-1]), tail, rtol=1e-6)
    assert low[0] == 0
    assert high[-1] == 1


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_profile_of_a_pure_claim_allows_what_its_epsilon_allows(epsilon):
    by_claim = Claim.of(Pure(epsilon), near=epsilon).allows()(CHANCES)
    by_epsilon = np.clip(limit_by_epsilon(epsilon, 0.0)(CHANCES), 0, 1)
    np.testing.assert_allclose(by_claim, by_epsilon, rtol=1e-8)


@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
def test_the_profile_of_a_gaussian_allows_what_its_mu_allows_and_hardly_more(mu):
    near = Gaussian(mu).epsilon(1e-6)
    by_claim = Claim.of(Gaussian(mu), near=near).allows()(CHANCES)
    by_mu = limit_by_mu(mu)(CHANCES)
    assert (by_claim >= by_mu * (1 - 1e-12)).all()
    assert (by_claim <= by_mu * 1.003).all()


@pytest.mark.parametrize("profile", [Gaussian(0.7), Approximate(1.0, 1e-3), ZeroConcentrated(0.1)])
def test_a_claim_allows_no_more_than_its_epsilon_at_its_delta(profile):
    """Therefore a lower bound above the claimed epsilon never goes with a claim not refuted."""
    epsilon = profile.epsilon(1e-3)
    by_claim = Claim.of(profile, near=epsilon).allows()(CHANCES)
    assert (by_claim <= limit_by_epsilon(epsilon, 1e-3)(CHANCES) * (1 + 1e-8)).all()


def test_the_lower_bounds_are_the_last_values_that_are_refuted():
    seen = Evidence("", hits=700, misses=200, trials=1000, level=1e-3)
    epsilon, mu = seen.epsilon(0.01), seen.mu
    for factor, is_refuted in [(0.9999, True), (1.0001, False)]:
        by_epsilon = p_value(700, 200, 1000, limit_by_epsilon(factor * epsilon, 0.01))
        by_mu = p_value(700, 200, 1000, limit_by_mu(factor * mu))
        assert (by_epsilon <= 1e-3) == (by_mu <= 1e-3) == is_refuted


def test_events_together_say_as_much_as_the_one_that_says_most():
    some = [Evidence("", hits, 200, 1000, 1e-3) for hits in (150, 500, 700, 600, 700)]
    claim = Claim.of(Gaussian(0.9))
    assert largest_epsilon(some, 0.01) == max(seen.epsilon(0.01) for seen in some) > 0
    assert largest_mu(some) == max(seen.mu for seen in some) > 0
    assert largest_share(some, claim) == max(seen.share(claim) for seen in some) > 0
    assert largest_mu(some[:1]) == 0.0


@pytest.mark.parametrize("profile", [Pure(0.8), Laplace(1.3), Gaussian(0.9)])
def test_a_claim_is_refuted_exactly_if_all_of_its_loss_is_certified(profile):
    claim = Claim.of(profile)
    for hits in range(300, 900, 60):
        seen = Evidence("", hits, 250, 1000, 1e-3)
        assert seen.refutes(claim) == (seen.share(claim) >= 1)


def test_the_share_of_a_pure_claim_is_the_share_of_its_epsilon():
    seen = Evidence("", 600, 200, 1000, 1e-3)
    assert seen.share(Claim.of(Pure(1.6))) == pytest.approx(seen.epsilon(0.0) / 1.6, rel=1e-4)


def test_equal_counts_certify_nothing():
    seen = Evidence("", 500, 500, 1000, 1e-3)
    assert (seen.epsilon(0.0), seen.mu, seen.share(Claim.of(Pure(1.0)))) == (0.0, 0.0, 0.0)


def test_an_event_of_chance_delta_certifies_nothing_at_that_delta():
    """Hits without any miss look infinitely telling; within delta they are allowed."""
    seen = Evidence("", hits=40, misses=0, trials=10_000, level=1e-3)
    assert seen.epsilon(0.0) > 0.5
    assert seen.epsilon(0.01) == 0.0


def test_the_complement_certifies_a_claim_too():
    """Always against nearly always: the event's ratio is near one, its complement's is not."""
    seen = Evidence("", hits=10_000, misses=9_900, trials=10_000, level=1e-3)
    assert seen.epsilon(0.0) > 1.5
