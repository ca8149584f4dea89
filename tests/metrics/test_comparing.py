"""Two models on the same rows: counts, gain, and a p-value valid for every number of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.dummy import DummyRegressor
from sklearn.svm import LinearSVC

from discreet import Budget, MemoryLedger
from discreet.errors import InputError, InputTypeError
from discreet.metrics import CountNoise, compare_models
from discreet.metrics.comparing import MISSED, Comparison, _chance_of_lead, _p_value
from discreet.privacy import AddRemoveOne, Guarantee, Pure
from discreet.record import Release


def by_column(column):
    """Return a model that predicts the second class where a column is positive."""
    model = LinearSVC().fit(X, Y)
    model.coef_, model.intercept_ = np.eye(2)[[column]], np.zeros(1)
    return model


def _rows(count=300):
    draw = np.random.default_rng(4)
    y = draw.integers(0, 2, count)
    signs = 2 * y - 1
    right = [draw.random(count) < share for share in (0.7, 0.8)]
    X = np.column_stack([np.where(one, signs, -signs) for one in right]).astype(float)
    return X, y, right


X, Y, RIGHT = _rows()
FIRST, SECOND = by_column(0), by_column(1)


def test_without_noise_counts_are_those_of_discordant_rows():
    found = compare_models(FIRST, SECOND, X, Y, epsilon=math.inf)
    first, second = RIGHT
    expected = [0, (first == second).sum(), (first & ~second).sum(), (second & ~first).sum()]
    assert found.counts.tolist() == expected
    assert found.gain == pytest.approx(second.mean() - first.mean())
    low, high = found.interval()
    assert low < found.gain < high


def test_one_charge_pays_and_a_record_changes_one_cell():
    ledger = MemoryLedger(Budget(1.0))
    compare_models(FIRST, SECOND, X, Y, epsilon=0.5, ledger=ledger)
    assert [entry.purpose for entry in ledger.history()] == ["compare_models"]
    whole = compare_models(FIRST, SECOND, X, Y, epsilon=math.inf).counts
    for place in (0, 150, 299):
        rows, labels = np.delete(X, place, axis=0), np.delete(Y, place)
        less = compare_models(FIRST, SECOND, rows, labels, epsilon=math.inf).counts
        assert np.abs(whole - less).sum() == 1


@pytest.mark.parametrize("scale", [0.5, 1.2])
@pytest.mark.parametrize("discordant", [0, 7, 30])
def test_the_p_value_is_valid_by_exact_summation(scale, discordant):
    # Discordant rows are fair coins; every outcome is summed up with its chance.
    noise = CountNoise("laplace", scale)
    table = noise.sum_of(1)
    near = np.abs(table.places) <= 12 * scale
    places, chances = table.places[near], table.chances[near]
    size = dict.fromkeys((0.01, 0.05, 0.2), 1 - chances.sum() ** 2)
    known = {}
    for heads in range(discordant + 1):
        chance = binom.pmf(heads, discordant, 0.5)
        if chance < 1e-6:
            continue
        for up, one in zip(places.tolist(), chances, strict=True):
            for down, other in zip(places.tolist(), chances, strict=True):
                pair = discordant - heads + down, heads + up
                if pair not in known:
                    known[pair] = _p_value(*pair, noise, MISSED) if pair[1] > pair[0] else 1.0
                for level in size:
                    size[level] += chance * one * other * (known[pair] <= level)
    assert all(found <= level for level, found in size.items())


def test_more_discordant_rows_make_a_lead_likelier_two_by_two():
    noise = CountNoise("laplace", 2.0).sum_of(2)
    for lead in (1, 2, 5, 11):
        chances = [_chance_of_lead(lead, rows, noise) for rows in range(60)]
        assert all(chances[m + 2] >= chances[m] - 1e-12 for m in range(58))


def test_alternatives_are_mirror_images_and_training_rows_are_refused():
    made = Release(np.array([0.0, 900.0, 30.0, 70.0]), Guarantee(Pure(1.0), AddRemoveOne()),
                   "noisy_histogram", 0, "0.1")  # fmt: skip
    noise = CountNoise("laplace", 1.0)
    found = Comparison(made, noise)
    assert found.p_value_against("less") == 1.0
    assert found.p_value_against("two-sided") == pytest.approx(2 * found.p_value)
    assert found.p_value >= MISSED
    with pytest.raises(InputError, match="other rows"):
        Comparison(made, noise, on_training_rows=True).p_value_against("greater")


def test_models_that_cannot_be_compared_are_refused():
    other = by_column(0)
    other.classes_ = np.array(["no", "yes"])
    with pytest.raises(InputError, match="same classes"):
        compare_models(FIRST, other, X, Y)
    with pytest.raises(InputTypeError, match="classifiers"):
        compare_models(FIRST, DummyRegressor().fit(X, Y), X, Y)
