"""One fit, many canaries: the p-value is exact, broken models are flagged, private ones are not."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as WithoutPrivacy

from discreet.audit.one_run import (
    OneRunResult,
    audit_in_one_run,
    default_score,
    epsilon_certified,
    one_run_p_value,
    orthogonal_canaries,
)
from discreet.errors import InputError, InputTypeError
from discreet.estimators import base
from discreet.linear_model import LogisticRegression
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Approximate, Gaussian, Guarantee, NoPrivacy, Pure
from support.guess_tables import GuessTables

CLOSE = 1e-8


def claim(epsilon, delta=0.0, unit="add_remove"):
    profile = Pure(epsilon) if delta == 0 else Approximate(epsilon, delta)
    return Guarantee(profile, unit, quoted_delta=delta)


@pytest.mark.parametrize(("canaries", "guesses"), [(2, 2), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.05), (0.7, 0.03), (1.0, 0.0), (0.5, 0.3)])
def test_no_mechanism_at_all_exceeds_the_p_value_and_one_attains_it(
    canaries, guesses, epsilon, delta
):
    everything = GuessTables(canaries, guesses)
    for correct in range(guesses + 1):
        best = everything.largest_chance(correct, [(epsilon, delta)])
        stated = one_run_p_value(correct, guesses, canaries, epsilon, delta)
        assert math.isclose(best, stated, rel_tol=CLOSE)


def randomised_response(everything, epsilon):
    canaries = len(everything.coins[0])
    truth = expit(epsilon)
    return truth**everything.right * (1 - truth) ** (canaries - everything.right)


@pytest.mark.parametrize("canaries", [1, 4, 6])
def test_randomised_response_attains_the_p_value_of_pure_epsilon(canaries):
    everything = GuessTables(canaries, canaries)
    table = randomised_response(everything, 0.8)
    assert everything.delta(table, 0.8) < 1e-15
    for correct in range(canaries + 1):
        stated = one_run_p_value(correct, canaries, canaries, 0.8)
        assert math.isclose(everything.chance(table, correct), stated, rel_tol=CLOSE)


@pytest.mark.parametrize("canaries", [2, 5])
def test_a_leak_of_everything_with_probability_delta_stays_below_the_p_value(canaries):
    everything = GuessTables(canaries, canaries)
    leak = (everything.right == canaries).astype(float)
    table = 0.98 * randomised_response(everything, 0.8) + 0.02 * leak
    assert everything.delta(table, 0.8) <= 0.02 + 1e-12
    chances = [everything.chance(table, correct) for correct in range(1, canaries + 1)]
    stated = [one_run_p_value(v, canaries, canaries, 0.8, 0.02) for v in range(1, canaries + 1)]
    assert all(chance <= bound for chance, bound in zip(chances, stated, strict=True))
    assert math.isclose(chances[-1], stated[-1], rel_tol=CLOSE)  # nothing is given away
    ignoring_delta = one_run_p_value(canaries, canaries, canaries, 0.8)
    assert chances[-1] > ignoring_delta + 0.01


def test_the_worst_mechanism_of_the_proof_is_private_and_attains_the_p_value():
    everything, epsilon, delta = GuessTables(5, 4), 0.6, 0.01
    law = binom(4, expit(epsilon))
    for correct in range(1, 5):
        tail, chance = law.sf(correct - 1), law.pmf(correct)
        jump = 5 * delta / (correct * chance)
        weight = 1 - jump * tail + jump * (everything.right >= correct)
        same_count = np.array([math.comb(4, count) for count in range(5)])[everything.right]
        table = weight * law.pmf(everything.right) / (same_count * math.comb(5, 4))
        assert np.allclose(table.sum(axis=1), 1)
        assert everything.delta(table, epsilon) <= delta * (1 + 1e-12)
        stated = one_run_p_value(correct, 4, 5, epsilon, delta)
        assert math.isclose(everything.chance(table, correct), stated, rel_tol=CLOSE)


def test_a_bound_that_takes_leaks_as_independent_of_slips_would_be_wrong():
    """f(v) + 2 m delta max_i (f(v - i) - f(v)) / i is below what a mechanism attains."""
    attained = GuessTables(3, 3).largest_chance(1, [(0.0, 0.05)])
    tail = binom(3, 0.5).sf
    independent = tail(0) + 2 * 3 * 0.05 * max((tail(-i) - tail(0)) / i for i in (1, 2, 3))
    assert attained > independent + 0.006


def test_the_p_value_falls_with_correct_guesses_and_rises_with_epsilon_and_delta():
    by_correct = [one_run_p_value(v, 200, 600, 1.0, 1e-5) for v in range(201)]
    assert all(after <= before for before, after in itertools.pairwise(by_correct))
    for correct in (1, 120, 170, 200):
        by_epsilon = [one_run_p_value(correct, 200, 600, e, 1e-5) for e in np.linspace(0, 30, 99)]
        assert all(
            after >= before * (1 - 1e-12) for before, after in itertools.pairwise(by_epsilon)
        )
        by_delta = [one_run_p_value(correct, 200, 600, 1.0, d) for d in (0, 1e-9, 1e-4, 0.5)]
        assert all(after >= before for before, after in itertools.pairwise(by_delta))


@pytest.mark.parametrize("correct", [2000, 4999, 5000])
def test_tails_that_underflow_stay_on_the_safe_side(correct):
    tiny = one_run_p_value(correct, 5000, 5000, 0.0, 1e-7)
    assert 0 < tiny <= 1
    if correct == 5000:
        assert tiny >= 1e-7  # revealing everything with probability delta has this chance


@pytest.mark.parametrize(
    ("correct", "guesses", "delta"), [(95, 100, 0.0), (100, 100, 1e-6), (3000, 5000, 1e-9)]
)
def test_the_certified_epsilon_is_where_the_p_value_meets_the_level(correct, guesses, delta):
    bound = epsilon_certified(correct, guesses, 3 * guesses, delta)
    assert bound > 0
    assert one_run_p_value(correct, guesses, 3 * guesses, bound, delta) <= 1 - 0.999
    assert one_run_p_value(correct, guesses, 3 * guesses, bound * (1 + 1e-9), delta) > 0.001


class RandomisedResponse:
    """Releases, for each column, whether its canary is there, with random lies."""

    def __init__(self, epsilon, seed):
        self.epsilon, self.noise = epsilon, RehearsalNoise(seed)

    def __call__(self, X):
        present = (X != 0).any(axis=0)
        lies = self.noise.subset(len(present), round(expit(-self.epsilon) * 2**64))
        return (present ^ lies).astype(float)


def told(answers, X, y):
    return answers


def test_false_alarms_on_exact_randomised_response_are_as_rare_as_promised():
    """At confidence 0.9, more than 49 alarms in 300 audits have a chance below 1e-3."""
    X, _ = orthogonal_canaries(120)
    alarms = sum(
        audit_in_one_run(RandomisedResponse(1.0, seed), X, claim(1.0), score=told,
                         confidence=0.9, seed=seed).violated
        for seed in range(300)
    )  # fmt: skip
    assert binom.sf(49, 300, 0.1) < 1e-3
    assert alarms <= 49
    assert alarms >= 2  # the audit is not idle either: the exact rate is 0.047 (40 guesses)


def test_the_power_is_the_rate_of_alarms_on_twice_the_epsilon():
    X, _ = orthogonal_canaries(240)
    results = [
        audit_in_one_run(RandomisedResponse(2.0, seed), X, claim(1.0), score=told, seed=seed)
        for seed in range(200)
    ]
    power = results[0].power
    assert 0.2 < power < 0.8
    alarms = sum(result.violated for result in results)
    assert binom.cdf(alarms, 200, power) > 1e-3
    assert binom.sf(alarms - 1, 200, power) > 1e-3
    assert max(result.lower_bound for result in results) <= results[0].ceiling


def test_power_and_ceiling_grow_with_canaries():
    def silent(X):
        return np.zeros(X.shape[1])

    results = [
        audit_in_one_run(silent, orthogonal_canaries(count)[0], claim(1.0), score=told, seed=0)
        for count in (60, 300, 1500)
    ]
    assert results[0].power < results[1].power < results[2].power
    assert results[2].power > 0.999
    assert results[0].ceiling < results[1].ceiling < results[2].ceiling
    assert not any(result.violated for result in results)


def test_several_numbers_of_guesses_share_the_error():
    X, _ = orthogonal_canaries(300)
    fit = RandomisedResponse(30.0, 0)  # never lies
    one = audit_in_one_run(fit, X, claim(1.0), score=told, guesses=100, seed=5)
    three = audit_in_one_run(fit, X, claim(1.0), score=told, guesses=[20, 100, 50], seed=5)
    assert (three.looks, three.guesses) == (3, 100)
    shared = epsilon_certified(100, 100, 300, confidence=1 - 0.001 / 3)
    assert math.isclose(three.lower_bound, shared, rel_tol=1e-9)
    assert three.lower_bound < one.lower_bound


CANARIES = 900
rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


def estimator(seed):
    return LogisticRegression(
        epsilon=2.0,
        delta=1e-6,
        C=0.1,
        fit_intercept=False,
        classes=[-1, 1],
        rehearsal=seed,
        data_norm=1.0,
    )


PROMISE = claim(2.0, 1e-6)


def test_the_estimator_promises_what_is_audited():
    assert estimator(None).fit(*orthogonal_canaries(20)).privacy_.epsilon(1e-6) <= 2.0


@rehearsal
@pytest.mark.parametrize("seed", [0, 1])
def test_private_logistic_regression_is_not_flagged(seed):
    result = audit_in_one_run(estimator(seed), orthogonal_canaries(CANARIES), PROMISE, seed=seed)
    assert not result.violated
    assert result.power > 0.99


class QuietNoise(RehearsalNoise):
    """A mutant: Gaussian noise an eighth of what was calibrated."""

    def gaussian(self, count, bits):
        return super().gaussian(count, bits) // 8


@rehearsal
def test_an_estimator_with_an_eighth_of_the_noise_is_flagged(monkeypatch):
    monkeypatch.setattr(base, "noise_from", QuietNoise)
    result = audit_in_one_run(estimator(1), orthogonal_canaries(CANARIES), PROMISE, seed=1)
    assert result.violated
    assert result.sentence().startswith("Violated")


def test_a_classifier_without_privacy_is_flagged():
    model = WithoutPrivacy(fit_intercept=False)
    result = audit_in_one_run(model, orthogonal_canaries(CANARIES), PROMISE, seed=2)
    assert result.correct == result.guesses
    assert math.isclose(result.lower_bound, result.ceiling)
    assert not hasattr(model, "coef_")


def test_a_regressor_without_privacy_is_flagged():
    model = LinearRegression(fit_intercept=False)
    result = audit_in_one_run(model, orthogonal_canaries(300), claim(1.0), seed=2)
    assert result.violated


def test_replaced_canaries_are_told_from_their_alternatives():
    X, y = orthogonal_canaries(300)
    seen = []

    def fit(X, y):
        seen.append((X, y))
        return WithoutPrivacy(fit_intercept=False).fit(X, y)

    result = audit_in_one_run(
        fit, (X, y), claim(1.0, unit="replace"), alternatives=(X, -y), seed=3,
        base=(X[:2], y[:2]),
    )  # fmt: skip
    assert result.violated
    assert result.unit == "replace"
    [(rows, labels)] = seen
    assert rows.shape == (302, 300)
    assert 100 < (labels[2:] != y).sum() < 200


def test_base_rows_are_always_there_and_canaries_by_the_coin():
    X, y = orthogonal_canaries(60, width=61)
    base = np.eye(61)[60:]
    seen = []

    def fit(X, y):
        seen.append((X, y))
        return np.zeros(60)

    audit_in_one_run(fit, (X, y), claim(1.0), score=told, base=(base, [1]), seed=1)
    [(rows, labels)] = seen
    assert np.array_equal(rows[0], base[0])
    assert len(rows) == len(labels)
    assert 10 < len(rows) < 50
    assert np.array_equal(labels[1:], y[rows[1:].argmax(axis=1)])


def test_coins_differ_from_run_to_run_unless_seeded():
    X, _ = orthogonal_canaries(80)
    seen = []

    def fit(X):
        seen.append(X.sum(axis=0).tolist())
        return np.zeros(80)

    for seed in (None, None, 4, 4, 5):
        audit_in_one_run(fit, X, claim(1.0), score=told, seed=seed)
    assert seen[0] != seen[1]
    assert seen[2] == seen[3] != seen[4]


def test_coins_are_not_the_noise_of_a_fit_with_the_same_seed():
    X, _ = orthogonal_canaries(400)

    def guess_the_seed(X):
        return RehearsalNoise(4).below(2, 400).astype(float)

    assert not audit_in_one_run(guess_the_seed, X, claim(1.0), score=told, seed=4).violated


def test_results_survive_json_and_say_what_they_are():
    X, _ = orthogonal_canaries(300)
    result = audit_in_one_run(RandomisedResponse(1.0, 0), X, claim(1.0), score=told, seed=0)
    assert OneRunResult.from_json(result.to_json()) == result
    assert result.sentence().startswith("Not violated") == (not result.violated)
    assert "| lower bound |" in result.table()
    assert str(result) == result.sentence()
    nearly = dataclasses.replace(result, lower_bound=0.9999999)
    assert "| lower bound | 0.999 |" in nearly.table()
    assert "at least 0.999 " in nearly.sentence()
    for broken in ("{", "[]", "{}", result.to_json().replace('"format": 1', '"format": 9')):
        with pytest.raises((InputError, InputTypeError)):
            OneRunResult.from_json(broken)
    with pytest.raises(InputError):
        OneRunResult.from_json(result.to_json().replace('"add_remove"', '"somebody"'))


def test_a_claim_beyond_the_ceiling_is_not_called_safe():
    X, _ = orthogonal_canaries(60)
    result = audit_in_one_run(RandomisedResponse(30.0, 0), X, claim(9.0), score=told, seed=0)
    assert result.power == 0
    assert not result.violated
    assert result.sentence().startswith("Nothing can be said")


def audit_of(**changes):
    X, y = orthogonal_canaries(60)
    options = {"fit": lambda X, y: 0, "canaries": (X, y), "guarantee": claim(1.0),
               "score": lambda model, X, y: np.zeros(len(X)), "seed": 0}  # fmt: skip
    return audit_in_one_run(**options | changes)


ROWS, LABELS = orthogonal_canaries(60)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": lambda model, X, y: np.zeros(3)}, "one number for each of the 60"),
        ({"score": lambda model, X, y: np.full(60, np.nan)}, "finite"),
        ({"score": None}, "decision_function or predict"),
        ({"guesses": 0}, "guesses"),
        ({"guesses": 61}, "guesses"),
        ({"guesses": []}, "at least one"),
        ({"guesses": 9}, "10 guesses about 60"),
        ({"canaries": (ROWS[:9], LABELS[:9])}, "10 guesses about 30 canaries"),
        ({"guarantee": claim(1.0, 0.01)}, "smaller delta"),
        ({"guarantee": Guarantee(NoPrivacy(), AddRemoveOne())}, "promises nothing"),
        ({"guarantee": claim(1.0, unit="replace")}, "alternatives"),
        ({"alternatives": (ROWS, LABELS)}, "drop alternatives"),
        ({"base": (ROWS[:, :5], LABELS)}, "columns"),
        ({"base": ROWS}, "labels"),
        ({"canaries": (ROWS, LABELS[:5])}, "one label"),
        ({"canaries": LABELS}, "two axes"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": 0.0}, "confidence"),
    ],
)
def test_mistakes_are_refused_with_a_reason(changes, message):
    with pytest.raises(InputError, match=message):
        audit_of(**changes)


@pytest.mark.parametrize("changes", [{"fit": 3}, {"guesses": 2.5}, {"guarantee": 1.0}])
def test_wrong_types_are_refused(changes):
    with pytest.raises(InputTypeError):
        audit_of(**changes)


@pytest.mark.parametrize("step", ["fit", "score"])
def test_errors_of_the_caller_come_through_with_the_step(step):
    def broken(*arguments):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine") as caught:
        audit_of(**{step: broken})
    assert step in caught.value.__notes__[0]


def test_what_was_refused_was_not_fitted():
    def never(X, y):
        raise AssertionError("fitted")

    for changes in ({"guesses": 9}, {"guesses": 61}, {"base": ROWS}):
        with pytest.raises(InputError):
            audit_of(fit=never, **changes)


def test_a_gaussian_guarantee_is_audited_at_its_quoted_delta():
    promise = Guarantee(Gaussian(0.2), AddRemoveOne(), quoted_delta=1e-6)
    result = audit_of(guarantee=promise)
    assert result.delta == 1e-6
    assert result.claimed == promise.epsilon(1e-6)


def test_the_default_score_asks_for_help_where_it_has_no_answer():
    class ThreeClasses:
        classes_ = (0, 1, 2)

        def decision_function(self, X):
            return np.zeros((len(X), 3))

    with pytest.raises(InputError, match="two classes"):
        default_score(ThreeClasses(), ROWS, LABELS)
    with pytest.raises(InputError, match="score"):
        default_score(LinearRegression(), ROWS, None)


def test_orthogonal_canaries_are_orthogonal_and_balanced():
    X, y = orthogonal_canaries(64, width=70, norm=3.0, classes=("no", "yes"))
    assert np.array_equal(X @ X.T, 9 * np.eye(64))
    assert (y == "yes").sum() == 32
    with pytest.raises(InputError, match="columns"):
        orthogonal_canaries(5, width=4)
    with pytest.raises(InputError, match="two labels"):
        orthogonal_canaries(5, classes=(1, 2, 3))
