"""A mean, a count, a quantile, a histogram: what they say, and how often they are right."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from discreet import (
    MemoryLedger,
    private_count,
    private_histogram,
    private_mean,
    private_quantile,
)
from discreet.errors import InputError, NotAccepted
from discreet.privacy import Budget
from support.odd_cells import ODD

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

AGES = np.random.default_rng(0).integers(20, 80, size=4000).astype(float)
RANGE = (0, 120)


def test_without_noise_a_mean_is_the_mean_and_its_interval_that_of_the_textbook():
    found = private_mean(AGES, RANGE, epsilon=math.inf)
    half = 1.959964 * AGES.std() / math.sqrt(AGES.size)
    assert float(found) == pytest.approx(AGES.mean())
    assert found.interval == pytest.approx((AGES.mean() - half, AGES.mean() + half), rel=1e-4)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_a_mean_covers_where_its_numbers_came_from(epsilon, delta, unit):
    """200 samples; under 95 % coverage fewer than 177 has a chance of 1e-4."""
    covered = 0
    for seed in range(200):
        rows = np.random.default_rng(seed).choice(AGES, size=1000)
        found = private_mean(rows, RANGE, epsilon=epsilon, delta=delta, unit=unit, rehearsal=seed)
        covered += found.interval[0] <= AGES.mean() <= found.interval[1]
    assert covered >= 177


def test_missing_values_are_left_out_of_a_mean_and_those_beyond_count_as_the_ends():
    rows = [10.0, None, 200.0, math.nan, "30"]
    assert float(private_mean(rows, RANGE, epsilon=math.inf)) == pytest.approx((10 + 120 + 30) / 3)


@pytest.mark.parametrize("what", ODD)
def test_an_odd_cell_never_stops_a_statistic(what):
    rows = [1.0, 2.0, ODD[what], 3.0]
    for ask in (private_mean, private_histogram):
        ledger = MemoryLedger(Budget(10.0, 1e-3))
        ask(rows, bounds=RANGE, epsilon=1.0, delta=0.0, ledger=ledger)
        assert len(ledger.history()) == 1
    private_quantile(rows, 0.5, RANGE, epsilon=1.0)
    private_histogram(rows, levels=[1, 2], epsilon=1.0)


def test_a_count_covers_the_number_of_rows():
    frame = pd.DataFrame({"ward": ["a"] * 300, "age": 4.0})
    found = [private_count(frame, epsilon=0.5, rehearsal=seed) for seed in range(300)]
    covered = sum(one.interval[0] <= 300 <= one.interval[1] for one in found)
    assert covered >= 270  # a chance below 1e-4 if 95 % are covered
    assert private_count(frame, epsilon=math.inf).interval == (300, 300)
    with pytest.raises(NotAccepted, match="public"):
        private_count(frame, epsilon=0.5, unit="replace")


def test_a_quantile_covers_and_a_histogram_counts():
    covered = 0
    for seed in range(100):
        found = private_quantile(AGES, 0.25, RANGE, epsilon=0.5, rehearsal=seed)
        covered += found.interval[0] <= np.quantile(AGES, 0.25) <= found.interval[1]
    assert covered >= 85
    exact = private_histogram(AGES, bounds=RANGE, bins=6, epsilon=math.inf)
    assert exact.value.tolist() == [*np.histogram(AGES, 6, RANGE)[0], 0]
    assert exact.edges.tolist() == [0, 20, 40, 60, 80, 100, 120]
    noisy = [
        private_histogram(AGES, bounds=RANGE, bins=6, epsilon=0.5, rehearsal=seed)
        for seed in range(100)
    ]
    hits = [(one.interval[:, 0] <= exact.value) & (exact.value <= one.interval[:, 1])
            for one in noisy]  # fmt: skip
    assert np.mean(hits) >= 0.92


def test_a_histogram_of_levels_counts_all_else_apart():
    found = private_histogram(["a", "b", None, "b", "z"], levels=["a", "b"], epsilon=math.inf)
    assert dict(zip(found.cells, found.value.tolist(), strict=True)) == {
        "a": 1, "b": 2, "anything else": 2,
    }  # fmt: skip
    assert found.edges is None


def test_what_was_charged_is_said():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    for ask in (
        lambda: private_mean(AGES, RANGE, epsilon=0.2, ledger=ledger),
        lambda: private_quantile(AGES, 0.5, RANGE, epsilon=0.2, ledger=ledger),
        lambda: private_count(AGES, epsilon=0.2, ledger=ledger),
        lambda: private_histogram(AGES, bounds=RANGE, epsilon=0.2, ledger=ledger),
    ):
        found = ask()
        number = len(ledger.history())
        assert f"Charged epsilon 0.2 at delta {found.privacy_.quoted_delta:g}" in repr(found)
        assert f"charge {number} of its ledger" in repr(found)
        assert "Charged epsilon" in found._repr_html_()
    assert "Nothing is promised" in repr(private_count(AGES, rehearsal=1))


def test_a_release_says_how_large_its_noise_is():
    count = private_count(AGES, epsilon=0.5)
    assert count.release.noise_scale == pytest.approx(2.0, rel=1e-6)  # Laplace: one over epsilon
    cells = private_histogram(AGES, bounds=RANGE, epsilon=0.5)
    assert cells.release.noise_scale == pytest.approx(2.0, rel=1e-6)
    assert private_count(AGES, epsilon=math.inf).release.noise_scale is None


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: private_mean(AGES, 5), "bounds must be two numbers"),
        (lambda: private_mean(AGES, "ab"), "bounds must be two numbers"),
        (lambda: private_mean(AGES, (5, 1)), "low must be below high"),
        (lambda: private_mean(AGES, RANGE, level=0), "level"),
        (lambda: private_quantile(AGES, 2, RANGE), "q must lie"),
        (lambda: private_histogram(AGES), "declare bounds"),
        (lambda: private_histogram(AGES, bounds=RANGE, levels=[1, 2]), "declare bounds"),
        (lambda: private_histogram(AGES, bounds=RANGE, bins=0), "bins"),
        (lambda: private_mean(np.ones((3, 2)), RANGE), "column"),
    ],
)
def test_what_is_wrong_is_said(ask, words):
    with pytest.raises(InputError, match=words):
        ask()
