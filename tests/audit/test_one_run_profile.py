"""One fit against a whole profile: the bound holds, nothing is given away, more is flagged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.audit.one_run import audit_in_one_run, one_run_p_value, orthogonal_canaries
from discreet.audit.one_run import whole_profile as profile
from discreet.audit.one_run.rule import Rule
from discreet.audit.one_run.whole_profile import (
    DualProposal,
    best_point_p_value,
    certified_p_value,
    claim_of,
    profile_p_value,
    propose,
    scale_claim,
)
from discreet.audit.statistical.certify import Claim
from discreet.estimators import base
from discreet.linear_model import LogisticRegression
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Approximate, Gaussian, Guarantee, Laplace, Pure
from support.guess_tables import GuessTables

CLOSE = 1e-6
ABOVE = 1 - 1e-9  # what a solver that maximises may overstate
LEVEL = 0.001


def claim_at(stated, epsilons):
    epsilons = np.array(epsilons)
    return Claim(epsilons, stated.deltas(epsilons))


def points_of(claim):
    return list(zip(claim.epsilons.tolist(), claim.deltas.tolist(), strict=True))


PROFILES = [
    claim_at(Gaussian(0.8), [0.0, 0.3, 0.8, 1.5]),
    claim_at(Gaussian(0.3), [0.1, 0.4]),
    claim_at(Laplace(1.0), [0.0, 0.5, 1.0]),
    Claim(np.array([0.0, 0.4, 2.0]), np.array([0.3, 0.05, 0.001])),
]


@pytest.mark.parametrize(("canaries", "guesses"), [(2, 2), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("claim", PROFILES)
def test_no_mechanism_at_all_exceeds_the_p_value_and_one_attains_it(canaries, guesses, claim):
    everything = GuessTables(canaries, guesses)
    for correct in range(1, guesses + 1):
        best = everything.largest_chance(correct, points_of(claim))
        stated = profile_p_value(correct, guesses, canaries, claim)
        assert best * ABOVE <= stated <= best * (1 + CLOSE)


def largest_chance_of_a_law(correct, guesses, canaries, claim):
    """Maximise over laws of the number of right guesses, with privacy in both orders.

    A mechanism that draws the number, and then who is guessed and who rightly, has each such law.
    """
    laws = guesses + 1
    rows, limits, terms = [], [], 2 * guesses
    spares = terms * len(claim.epsilons)
    for place, (epsilon, delta) in enumerate(points_of(claim)):
        budget = np.zeros(laws + spares)
        for c in range(1, guesses + 1):
            pulls = {c: c, c - 1: guesses - c + 1}
            for order, (more, less) in enumerate(((c, c - 1), (c - 1, c))):
                row = np.zeros(laws + spares)
                row[more], row[less] = pulls[more], -math.exp(epsilon) * pulls[less]
                spare = laws + terms * place + 2 * (c - 1) + order
                row[spare], budget[spare] = -1, 1
                rows.append(row)
                limits.append(0.0)
        rows.append(budget)
        limits.append(canaries * delta)
    price = np.zeros(laws + spares)
    price[correct:laws] = -1
    total = np.concatenate([np.ones(laws), np.zeros(spares)])[None]
    solution = linprog(price, np.array(rows), limits, total, [1.0])
    assert solution.success
    return -solution.fun


@pytest.mark.parametrize(("canaries", "guesses"), [(12, 12), (40, 20), (60, 30)])
@pytest.mark.parametrize("claim", PROFILES)
def test_no_law_of_right_guesses_exceeds_the_p_value_and_one_attains_it(canaries, guesses, claim):
    for correct in (guesses // 2, 3 * guesses // 4, guesses - 1, guesses):
        best = largest_chance_of_a_law(correct, guesses, canaries, claim)
        stated = profile_p_value(correct, guesses, canaries, claim)
        assert best * ABOVE - 1e-9 <= stated <= best * (1 + CLOSE) + 1e-7


def test_a_bad_proposal_makes_a_weak_bound_not_a_wrong_one():
    canaries, guesses, correct, claim = 3, 3, 3, PROFILES[0]
    best = GuessTables(canaries, guesses).largest_chance(correct, points_of(claim))
    good = propose(correct, guesses, canaries, claim)
    draws = RehearsalNoise(5).below(2**20, 200 * 16).reshape(200, 16) / 2**20 - 0.25
    stated = []
    for draw in draws:
        for share in (0.01, 0.1, 1.0):
            weights = good.weights + share * draw[:4]
            tests = good.tests + share * draw[4:].reshape(4, 3)
            proposal = DualProposal(weights, tests)
            stated.append(certified_p_value(correct, guesses, canaries, claim, proposal))
    assert min(stated) >= best * ABOVE
    assert min(stated) < 1.2 * best  # some are nearly as good
    for broken in (math.nan, math.inf, -math.inf):
        proposal = DualProposal(np.full(4, broken), np.full((4, 3), broken))
        with np.errstate(invalid="ignore"):
            assert certified_p_value(correct, guesses, canaries, claim, proposal) == 1


def stated_by_the_proof(correct, guesses, canaries, claim, proposal):
    """The right-hand side of (8) in docs/auditing.md, in rational numbers."""
    weights = [max(Fraction(0), Fraction(float(weight))) for weight in proposal.weights]
    factors = [Fraction(math.exp(epsilon)) for epsilon in claim.epsilons]
    kinds = range(len(weights))

    def test(k, c):
        if not 1 <= c <= guesses:
            return Fraction(0)
        return min(max(Fraction(float(proposal.tests[k, c - 1])), Fraction(0)), weights[k])

    largest = max(
        int(c >= correct)
        - c * sum(test(k, c) for k in kinds)
        + (guesses - c) * sum(factors[k] * test(k, c + 1) for k in kinds)
        for c in range(guesses + 1)
    )
    paid = sum(weights[k] * Fraction(float(claim.deltas[k])) for k in kinds)
    return canaries * paid + largest


@pytest.mark.parametrize("claim", PROFILES)
def test_the_certificate_is_the_bound_of_the_proof_for_every_proposal(claim):
    kinds, guesses = len(claim.epsilons), 6
    draws = RehearsalNoise(7).below(2**20, 60 * kinds * 7).reshape(60, kinds, 7) / 2**20
    places = set()
    for number, draw in enumerate(draws):
        correct = 1 + number % guesses
        proposal = DualProposal(0.15 * draw[:, 0], 0.2 * draw[:, 1:] * np.arange(6) / 5 - 0.02)
        exact = stated_by_the_proof(correct, guesses, 9, claim, proposal)
        stated = certified_p_value(correct, guesses, 9, claim, proposal)
        if exact >= 1:
            assert stated == 1
        else:
            assert exact < stated <= exact * (1 + Fraction(1, 10**9))
        places.add(stated < 1)
    assert places == {True, False}


def test_a_solver_that_gives_up_leaves_the_best_point(monkeypatch):
    claim = PROFILES[0]
    assert profile_p_value(20, 20, 40, claim) < best_point_p_value(20, 20, 40, claim)
    monkeypatch.setattr(profile, "propose", lambda *arguments: None)
    assert profile_p_value(20, 20, 40, claim) == best_point_p_value(20, 20, 40, claim)


def test_the_p_value_falls_with_correct_guesses_and_rises_with_the_share():
    claim = claim_of(Guarantee(Gaussian(0.25), AddRemoveOne(), quoted_delta=1e-6), LEVEL)
    by_correct = [profile_p_value(v, 100, 300, claim) for v in range(0, 101, 5)]
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(by_correct))
    by_share = [
        profile_p_value(80, 100, 300, scale_claim(claim, s)) for s in (0, 0.3, 1, 1.1, 3, 500)
    ]
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(by_share))
    assert by_share[-1] == 1


@pytest.mark.parametrize("stated", [Approximate(1.0, 1e-6), Pure(1.0)], ids=repr)
def test_where_a_single_point_says_all_nothing_is_gained_or_lost(stated):
    guarantee = Guarantee(stated, AddRemoveOne(), quoted_delta=1e-6)
    claim = claim_of(guarantee, LEVEL)
    for correct in (150, 170, 180):
        single = one_run_p_value(correct, 200, 600, 1.0, guarantee.quoted_delta)
        whole = profile_p_value(correct, 200, 600, claim)
        assert math.isclose(single, whole, rel_tol=CLOSE)


def test_a_claim_is_looked_at_around_the_level_and_where_it_is_quoted():
    claim = claim_of(Guarantee(Gaussian(0.25), AddRemoveOne(), quoted_delta=1e-8), LEVEL)
    assert claim.deltas.max() > LEVEL > claim.deltas.min()
    assert math.isclose(claim.deltas.min(), 1e-8, rel_tol=1e-6)
    for delta in (1e-4, 0.05):  # nothing is promised below
        stated = Guarantee(Approximate(1.0, delta), AddRemoveOne(), quoted_delta=delta)
        beyond = claim_of(stated, LEVEL)
        assert beyond.epsilons.max() == 1
        assert beyond.deltas.min() == delta


def test_the_share_is_where_the_p_value_meets_the_level():
    guarantee = Guarantee(Gaussian(0.25), AddRemoveOne(), quoted_delta=1e-6)
    rule = Rule(300, 1e-6, LEVEL, claim_of(guarantee, LEVEL))
    for correct in (70, 80, 95):
        share = rule.share(correct, 100)
        assert profile_p_value(correct, 100, 300, scale_claim(rule.claim, share)) <= LEVEL
        assert profile_p_value(correct, 100, 300, scale_claim(rule.claim, 1.01 * share)) > LEVEL
        assert rule.refutes(correct, 100) == (share >= 1)
    assert rule.share(50, 100) == 0
    assert rule.share(70, 100) < 1 < rule.share(95, 100)


def test_of_a_pure_claim_the_share_is_the_certified_epsilon():
    rule = Rule(300, 0.0, LEVEL, claim_of(Guarantee(Pure(1.5), AddRemoveOne()), LEVEL))
    for correct in (75, 90, 100):
        share, epsilon = rule.share(correct, 100), rule.certify(correct, 100)
        assert epsilon / 1.5 * 0.99 <= share <= epsilon / 1.5


def test_the_power_counts_from_the_least_number_that_refutes():
    guarantee = Guarantee(Gaussian(0.25), AddRemoveOne(), quoted_delta=1e-6)
    rule = Rule(300, 1e-6, LEVEL, claim_of(guarantee, LEVEL))
    flagged = [v for v in range(60, 101) if rule.refutes(v, 100)]
    assert flagged == list(range(flagged[0], 101))
    single = [v for v in range(60, 101)
              if one_run_p_value(v, 100, 300, guarantee.epsilon(), 1e-6) <= LEVEL]  # fmt: skip
    assert flagged[0] < single[0]
    assert rule.fewest_correct(100) == flagged[0]


def test_a_large_quoted_delta_does_not_blind_the_audit():
    X, y = orthogonal_canaries(300)
    promise = Guarantee(Gaussian(0.25), AddRemoveOne(), quoted_delta=0.01)

    def fit(X, y):
        return y @ X

    result = audit_in_one_run(fit, (X, y), promise, score=lambda sum, X, y: y * (X @ sum), seed=0)
    assert result.lower_bound == 0
    assert result.violated
    assert "times the claimed one" in result.sentence()


CANARIES = 900
rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


class QuietNoise(RehearsalNoise):
    """A mutant: Gaussian noise an eighth of what was calibrated."""

    def gaussian(self, count, bits):
        return super().gaussian(count, bits) // 8


def estimator(seed):
    return LogisticRegression(
        epsilon=1.0,
        delta=1e-6,
        C=0.1,
        fit_intercept=False,
        classes=[-1, 1],
        rehearsal=seed,
        data_norm=1.0,
    )


@rehearsal
def test_an_eighth_of_the_noise_at_epsilon_one_is_flagged_by_the_profile_alone(monkeypatch):
    canaries = orthogonal_canaries(CANARIES)
    promise = estimator(None).fit(*canaries).privacy_
    honest = audit_in_one_run(estimator(4), canaries, promise, guesses=100, seed=4)
    assert not honest.violated
    monkeypatch.setattr(base, "noise_from", QuietNoise)
    mutant = audit_in_one_run(estimator(2), canaries, promise, guesses=100, seed=2)
    assert mutant.violated
    assert 0 < mutant.lower_bound < mutant.claimed  # the quoted point does not show it
