"""Intervals from noisy splits: exact without noise, and as often right as they say with it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from discreet.mechanisms.summing.dyadic_splits import place_numbers, split_counts
from discreet.statistics.noisy_tree import Confidence, Noisy, NoisyTree, solve, split_weights

DEPTH = 6
SURE = Confidence(0.95, is_laplace=False)


def tree_of(values, deviations=None, noise=None):
    """The tree of values in [0, 1], with noise on its splits."""
    counts = np.bincount(place_numbers(np.asarray(values), 0.0, 1.0, DEPTH), minlength=2**DEPTH)
    splits = split_counts(counts).astype(float)
    if deviations is None:
        deviations = np.zeros(DEPTH)
    else:
        each = np.repeat(deviations, 2 ** np.arange(DEPTH))
        splits = splits + noise.normal(size=splits.size) * each
    return NoisyTree(splits, deviations, Noisy(float(len(values)), 0.0), counts.astype(float))


def test_split_weights_make_any_sum_of_a_function_of_the_cell():
    generator = np.random.default_rng(0)
    counts, values = generator.integers(0, 50, size=16), generator.normal(size=16)
    weights = np.concatenate(split_weights(values))
    assert weights @ split_counts(counts) + values.mean() * counts.sum() == pytest.approx(
        values @ counts
    )


def test_without_noise_a_mean_has_the_interval_of_the_textbook():
    values = np.random.default_rng(1).random(400)
    tree = tree_of(values)
    found = tree.mean(tree.places, SURE, (0.0, 1.0))
    placed = (np.floor(values * 2**DEPTH) + 0.5) / 2**DEPTH
    half = norm.ppf(0.975) * placed.std() / 20
    assert found.value == pytest.approx(placed.mean())
    assert (found.low, found.high) == pytest.approx((placed.mean() - half, placed.mean() + half))


def test_without_noise_a_share_has_wilsons_interval():
    found = SURE.share(Noisy(30.0, 0.0), Noisy(100.0, 0.0), 0.3)
    # Wilson (1927) for 30 of 100: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
    z, p, n = norm.ppf(0.975), 0.3, 100
    root = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    middle, scale = p + z**2 / (2 * n), 1 + z**2 / n
    assert (found.low, found.high) == pytest.approx(((middle - root) / scale,
                                                     (middle + root) / scale))  # fmt: skip


def test_a_total_lost_in_noise_leaves_the_whole_range_with_a_reason():
    lost = Noisy(30.0, 100.0)
    tree = NoisyTree(np.zeros(3), np.ones(2), lost, np.ones(4))
    for found in (SURE.share(Noisy(3.0, 1.0), lost, 0.1), tree.mean(tree.places, SURE, (0, 1))):
        assert (found.low, found.high) == (0.0, 1.0)
        assert "too few rows" in found.reason
    assert solve(-1.0, 0.0, 0.0, 0.5, (0.0, 1.0))[1:3] == (0.0, 1.0)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("scale", [0.0, 4.0])
def test_intervals_of_means_and_quantiles_cover_the_law_that_rows_come_from(q, scale):
    """300 tables of 800 rows; under 95 % coverage fewer than 270 has a chance below 1e-4."""
    truth = 0.35 + 0.1 * norm.ppf(q)
    deviations = scale * 2.0 ** (np.arange(DEPTH) / 4) / 0.5
    covered = np.zeros(2)
    for seed in range(300):
        noise = np.random.default_rng(seed)
        tree = tree_of(np.clip(noise.normal(0.35, 0.1, size=800), 0, 1), deviations, noise)
        mean, found = tree.mean(tree.places, SURE, (0.0, 1.0)), tree.quantile(q, SURE)
        covered += [mean.low - 2.0**-7 <= 0.35 <= mean.high + 2.0**-7,
                    found.low <= truth <= found.high]  # fmt: skip
    assert covered.min() >= 270


def test_a_quantile_of_one_value_repeated_is_its_cell():
    found = tree_of(np.full(1000, 0.7)).quantile(0.5, SURE)
    assert found.low <= 0.7 <= found.high
    assert found.high - found.low <= 3 * 2.0**-DEPTH


def test_heavy_tails_are_reached_farther_for():
    wide, narrow = Confidence(0.95, is_laplace=True), SURE
    assert wide.reach(1.0, 1.0) > narrow.reach(1.0, 1.0) == pytest.approx(1.96, abs=1e-3)
    assert wide.reach(0.0, 1.0) == pytest.approx(1.96, abs=1e-3)
    # the 97.5 % point of a Laplace law of variance one is ln(20) / sqrt(2)
    assert wide.reach(1.0, 1.0) >= math.log(20) / math.sqrt(2)
