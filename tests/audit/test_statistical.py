"""Audits from end to end: what they certify, what they refute, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from discreet.audit import Pair, audit
from discreet.audit.scores import Direction
from discreet.audit.scores.base import Score
from discreet.audit.statistical.runs import as_run, collect_outputs
from discreet.errors import AuditError, DiscreetError, InputError, InputTypeError, UnitMismatch
from discreet.linear_model import LogisticRegression
from discreet.noise import (
    RehearsalNoise,
    gaussian_grid,
    laplace_grid,
    release_gaussian,
    release_laplace,
)
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    ReplaceOne,
    ZeroConcentrated,
)

ADD = AddRemoveOne()
PURE = Guarantee(Pure(1.0), ADD)
FIVE, SIX = np.zeros((5, 1)), np.zeros((6, 1))
PAIR = Pair(FIVE, SIX, ADD)


@dataclass(frozen=True)
class Count:
    """The number of records with noise from a grid."""

    release: Callable
    grid: object

    def many(self, data, count, seed):
        return self.release(np.full(count, float(len(data))), self.grid, RehearsalNoise(seed))


def laplace_count(epsilon):
    grid = laplace_grid(epsilon=epsilon, sensitivity=1.0, dimension=1, bound=100.0)
    return Count(release_laplace, grid)


def gaussian_count(mu):
    grid = gaussian_grid(multiplier=1 / mu, sensitivity=1.0, dimension=1, bound=100.0)
    return Count(release_gaussian, grid)


def coin(data, seed):
    """Randomised response at epsilon 1, in words."""
    is_true = np.random.default_rng(seed).random() < math.e / (1 + math.e)
    return "six" if (len(data) == 6) == is_true else "five"


# What is certified.


def test_laplace_noise_reaches_nine_tenths_of_its_epsilon_and_is_not_violated():
    found = audit(laplace_count(1.0), PAIR, Guarantee(Laplace(1.0), ADD), trials=40_000, seed=1)
    assert not found.violated
    assert 0.9 <= found.lower_bound <= 1.0
    assert found.lower_bound <= found.share <= 1.0
    assert found.power > 0.999
    assert found.ceiling > 5


def test_gaussian_noise_reaches_nine_tenths_of_its_mu_and_is_not_violated():
    promise = Guarantee(Gaussian(1.0), ADD, quoted_delta=1e-6)
    found = audit(gaussian_count(1.0), PAIR, promise, trials=40_000, seed=1)
    assert not found.violated
    assert 0.9 <= found.lower_mu <= 1.0
    assert found.claimed_mu == 1.0
    assert found.lower_bound <= found.lower_bound_if_gaussian <= found.claimed


@pytest.mark.parametrize(
    ("run", "promise"),
    [
        (laplace_count(2.0), PURE),
        (laplace_count(2.0), Guarantee(Laplace(1.0), ADD)),
        (gaussian_count(1.0), Guarantee(Gaussian(0.5), ADD, quoted_delta=1e-6)),
        (gaussian_count(1.0), Guarantee(ZeroConcentrated(0.125), ADD, quoted_delta=1e-6)),
    ],
)
def test_half_the_noise_is_violated(run, promise):
    found = audit(run, PAIR, promise, trials=6000, seed=2)
    assert found.violated
    assert found.share > 1
    assert found.power > 0.95
    assert "violated" in str(found)


def test_naive_floats_give_their_data_set_away_by_themselves():
    """The noise is right, yet tails of 5 + noise hold floats that 6 + noise never is."""

    def count(data, seed):
        return len(data) + np.random.default_rng(seed).laplace()

    found = audit(count, PAIR, PURE, trials=40_000, seed=1)
    assert found.violated
    assert min(seen.misses for seen in found.evidence) == 0


def test_randomised_response_in_words_reaches_its_epsilon():
    found = audit(coin, PAIR, PURE, trials=8000, seed=1)
    assert not found.violated
    assert 0.8 < found.lower_bound <= 1.0
    assert audit(coin, PAIR, Guarantee(Pure(0.5), ADD), trials=8000, seed=1).violated


def test_true_promises_are_hardly_ever_called_violated():
    """With confidence 1/2, of twenty-four audits of noise that is just enough, few say so."""
    promise = Guarantee(Laplace(1.0), ADD)
    found = [
        audit(laplace_count(1.0), PAIR, promise, trials=200, confidence=0.5, seed=seed).violated
        for seed in range(24)
    ]
    assert sum(found) <= 6


def test_a_promise_of_another_kind_at_the_same_epsilon_is_not_violated():
    for profile in (Pure(1.0), Approximate(1.0, 1e-3)):
        promise = Guarantee(profile, ADD, quoted_delta=1e-3)
        assert not audit(laplace_count(1.0), PAIR, promise, trials=4000, seed=3).violated


def test_a_promise_without_an_epsilon_at_its_delta_is_audited_as_a_profile():
    promise = Guarantee(Gaussian(0.5), ADD, quoted_delta=0.0)
    found = audit(gaussian_count(1.5), PAIR, promise, trials=4000, seed=1)
    assert found.claimed == math.inf
    assert found.violated
    assert type(found).from_json(found.to_json()) == found


def test_the_data_sets_may_come_in_either_order():
    for pair in ((FIVE, SIX), (SIX, FIVE)):
        assert audit(laplace_count(2.0), pair, PURE, trials=4000, seed=4).violated


def test_a_difference_in_the_spread_alone_is_found():
    def spread(data, seed):
        return np.random.default_rng(seed).normal(scale=1.0 if len(data) == 5 else 4.0)

    assert audit(spread, PAIR, Guarantee(Pure(0.3), ADD), trials=4000, seed=1).violated


def test_a_rare_outcome_that_only_one_data_set_has_is_found():
    def leaky(data, seed):
        random = np.random.default_rng(seed)
        return 99.0 if len(data) == 6 and random.random() < 0.05 else random.integers(5)

    assert audit(leaky, PAIR, Guarantee(Pure(1.0), ADD), trials=4000, seed=1).violated
    forgiving = Guarantee(Approximate(0.1, 0.1), ADD, quoted_delta=0.1)
    assert not audit(leaky, PAIR, forgiving, trials=4000, seed=1).violated


def test_a_further_score_is_tried_beside_the_standard_ones():
    def hidden(data, seed):
        values = np.random.default_rng(seed).normal(size=3)
        values[2] = values[0] * values[1] + (len(data) - 5.5) * 0.5
        return values

    class Knowing(Score):
        name = "knowing"

        def learn(self, first, second):
            return lambda values: values[:, 2] - values[:, 0] * values[:, 1]

    found = audit(hidden, PAIR, Guarantee(Pure(1.0), ADD), trials=2000, seed=1, scores=[Knowing()])
    assert any(seen.event.startswith("knowing") for seen in found.evidence)
    assert found.violated


# Estimators.


def labelled(rows):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 2)) / 4
    y = np.where(X[:, 0] > 0, 1, -1)
    return X[:rows], y[:rows]


def test_a_private_estimator_is_audited_as_it_is_and_keeps_its_promise():
    X, y = labelled(30)
    model = LogisticRegression(epsilon=1.0, delta=0.0, classes=[-1, 1], data_norm=1.0)
    found = audit(model, ((X, y), (X[1:], y[1:])), model.fit(X, y).privacy_, trials=150, seed=1)
    assert not found.violated
    assert found.subject == "LogisticRegression"
    assert found.seed == 1


def test_an_estimator_without_noise_is_violated():
    X, y = labelled(30)
    found = audit(Ridge(), ((X, y), (X[1:], y[1:])), PURE, trials=150, seed=1)
    assert found.violated
    assert found.lower_bound == pytest.approx(found.ceiling)


# The same again.


def test_an_audit_with_a_seed_can_be_repeated_with_any_number_of_workers():
    options = {"trials": 600, "seed": 7}
    once = audit(coin, PAIR, PURE, **options)
    with joblib.parallel_config(backend="threading"):
        again = audit(coin, PAIR, PURE, n_jobs=2, **options)
    assert once == again
    assert once != audit(coin, PAIR, PURE, trials=600, seed=8)
    assert type(once).from_json(once.to_json()) == once


def test_a_run_that_takes_no_seed_has_none_in_its_result():
    random = np.random.default_rng(0)
    found = audit(lambda data: len(data) + random.laplace(), PAIR, PURE, trials=200, seed=7)
    assert found.seed is None
    assert audit(coin, PAIR, PURE, trials=200).seed is None


def test_numbers_of_numpy_are_as_good_as_any():
    found = audit(coin, PAIR, PURE, trials=np.int64(200), seed=np.uint32(3))
    assert type(found).from_json(found.to_json()) == found


def test_events_are_learned_and_chosen_on_the_first_half_and_tested_on_the_second():
    class Spy(Score):
        name = "spy"
        seen: list[np.ndarray]

        def learn(self, first, second):
            self.seen = [first, second]

            def score(values):
                self.seen.append(values)
                return values[:, 0]

            return score

    spy, run, trials = Spy(), laplace_count(2.0), 800
    first, second = collect_outputs(as_run(run), PAIR, trials, seed=1, n_jobs=1, verbose=0)
    audit(run, PAIR, PURE, trials=trials, seed=1, scores=[spy])
    np.testing.assert_array_equal(np.concatenate(spy.seen[0:4:2]), first[:400])
    np.testing.assert_array_equal(np.concatenate(spy.seen[1:4:2]), second[:400])
    tested = spy.seen[4:]
    assert tested
    for values in tested:
        assert np.array_equal(values, first[400:]) or np.array_equal(values, second[400:])


def test_the_level_is_divided_among_all_events_that_may_be_tested():
    found = audit(coin, PAIR, PURE, trials=400, confidence=0.99, seed=1)
    assert len(found.evidence) <= 4
    for seen in found.evidence:
        assert seen.level == pytest.approx(0.01 / 4)
        assert seen.trials == 200


# What is refused.


def raises(data):
    raise ZeroDivisionError("no rows")


BAD_RUNS = [
    (raises, "raised ZeroDivisionError on the first data set: no rows"),
    (lambda data: np.zeros(len(data)), "shape alone tells them apart"),
    (lambda data, seed: np.zeros(1 + seed % 2), "different sizes: 1, 2 numbers"),
    (lambda data: math.nan, "not finite on the first data set in 200 of 200 trials"),
    (lambda data: math.inf if len(data) == 6 else 0.0, "not finite on the second data set"),
    (lambda data: 3.0, "same value in every trial"),
    (lambda data: [], "no numbers at all"),
    (lambda data: object(), "without numbers"),
    ("text", "must be a function of a data set"),
]


@pytest.mark.parametrize(("run", "complaint"), BAD_RUNS)
def test_a_run_from_which_nothing_can_be_learned_gives_an_error_and_no_number(run, complaint):
    with pytest.raises(AuditError, match=complaint):
        audit(run, PAIR, PURE, trials=200, seed=1)


X3, Y3 = np.eye(3), np.arange(3)
NO_NEIGHBOURS = {
    "arrays": (X3, X3[:1]),
    "tuples": ((X3, Y3), (X3, Y3 + 1)),
    "pandas": (pd.DataFrame(X3), pd.DataFrame(X3[:1])),
    "polars": (pl.DataFrame(X3), pl.DataFrame(X3[:1])),
    "sparse": ((sp.csr_array(X3), Y3), (sp.csr_array(X3[:1]), Y3[:1])),
}


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()])
@pytest.mark.parametrize("form", NO_NEIGHBOURS)
def test_data_sets_that_are_no_neighbours_are_refused_before_anything_runs(form, unit):
    with pytest.raises(InputError, match="neighbours under"):
        audit(raises, NO_NEIGHBOURS[form], Guarantee(Pure(1.0), unit), trials=200)


def test_neighbours_of_another_unit_are_refused():
    with pytest.raises(UnitMismatch, match="'add_remove', the guarantee is for 'replace'"):
        audit(coin, PAIR, Guarantee(Pure(1.0), ReplaceOne()), trials=200)


@pytest.mark.parametrize(
    ("changes", "error", "complaint"),
    [
        ({"pair": FIVE}, InputError, "pair must be a Pair"),
        ({"pair": (FIVE,)}, InputError, "pair must be a Pair"),
        ({"guarantee": 1.0}, InputTypeError, "guarantee must be a Guarantee"),
        ({"guarantee": Guarantee(NoPrivacy(), ADD)}, InputError, "promises nothing"),
        ({"trials": 7}, InputError, "trials must be at least 8"),
        ({"trials": 100.5}, InputTypeError, "trials must be a whole number"),
        ({"trials": 20}, InputError, r"20 trials cannot refute epsilon = 1 .*use at least \d+"),
        ({"confidence": 1.0}, InputError, "confidence must be at least 0.5 and below 1"),
        ({"confidence": 0.1}, InputError, "confidence must be at least 0.5 and below 1"),
        ({"confidence": math.nan}, InputError, "confidence must lie between 0 and 1"),
        ({"confidence": "high"}, InputTypeError, "confidence must be a number"),
        ({"seed": -1}, InputError, "seed must be at least 0"),
        ({"seed": 1.5}, InputTypeError, "seed must be a whole number"),
        ({"scores": ["histogram"]}, InputTypeError, "score must be a Score"),
        ({"scores": [Direction([1.0, 2.0])]}, DiscreetError, "the direction has 2 numbers"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(changes, error, complaint):
    arguments = {"run": coin, "pair": PAIR, "guarantee": PURE, "trials": 200} | changes
    with pytest.raises(error, match=complaint):
        audit(**arguments)


def test_the_number_of_trials_that_is_asked_for_suffices():
    with pytest.raises(InputError, match="use at least") as told:
        audit(coin, PAIR, Guarantee(Pure(4.0), ADD), trials=50)
    enough = int(str(told.value).split("at least ")[1].rstrip(".").replace(",", ""))
    assert not audit(coin, PAIR, Guarantee(Pure(4.0), ADD), trials=enough, seed=1).violated


def test_a_score_that_gives_too_few_numbers_is_refused():
    class Short(Score):
        name = "short"

        def learn(self, first, second):
            return lambda values: values[:1, 0]

    with pytest.raises(AuditError, match="'short' must give one number for each"):
        audit(coin, PAIR, PURE, trials=200, scores=[Short()])


def test_a_score_that_gives_no_numbers_is_left_out():
    class Nothing(Score):
        name = "nothing"

        def learn(self, first, second):
            return lambda values: np.full(len(values), math.nan)

    found = audit(coin, PAIR, PURE, trials=400, seed=1, scores=[Nothing()])
    assert all("nothing" not in seen.event for seen in found.evidence)


def test_data_sets_of_an_unknown_kind_are_taken_on_trust():
    found = audit(lambda data, seed: coin([0] * data, seed), (5, 6), PURE, trials=200, seed=1)
    assert not found.is_pair_checked
    assert "taken on trust" in str(found)
