"""Bounds on choices of columns hold for the mechanisms as they run."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InputError
from discreet.mechanisms.peeling import peel
from discreet.mechanisms.stability_release import StabilityTest
from discreet.noise import UNIT_RATE, RehearsalNoise
from discreet.privacy import Budget
from discreet.theory import (
    blocks_needed,
    lead_needed,
    selection_error,
    stability_needed,
    vote_chance,
)

USUAL = Budget(1.0, 1e-6)


def chance_of_release(budget, share, blocks):
    """The exact chance that the right answer passes if all other blocks agree on one wrong one."""
    test = StabilityTest.of(budget, 2, 2)
    each = math.exp(-test.rate / UNIT_RATE)
    right = np.arange(blocks // 2 + 1, blocks + 1)
    behind = test.level + test.margin - (2 * right - blocks)
    tail = each ** np.maximum(behind, 1 - behind) / (1 + each)
    passed = np.where(behind > 0, tail, 1 - tail)
    return float(binom.pmf(right, blocks, share) @ passed)


@pytest.mark.parametrize(("share", "blocks"), [(0.75, 146), (0.9, 79), (0.99, 61)])
def test_so_many_blocks_are_needed_and_are_enough(share, blocks):
    """The numbers are those of the theory of stability (S-2, item 8)."""
    assert blocks_needed(USUAL, share) == blocks
    gap = blocks * (2 * share - 1) - math.sqrt(2 * blocks * math.log(100))
    fewer = (blocks - 1) * (2 * share - 1) - math.sqrt(2 * (blocks - 1) * math.log(100))
    assert fewer < lead_needed(USUAL) <= gap
    assert 0.98 <= vote_chance(USUAL, share, blocks) <= chance_of_release(USUAL, share, blocks)


@pytest.mark.parametrize("budget", [Budget(0.5, 1e-6), Budget(3.0, 1e-9)], ids=str)
def test_a_forecast_chance_is_never_more_than_the_exact_one(budget):
    for share in (0.6, 0.8, 0.95):
        for blocks in (10, 40, 90, 200, 500):
            exact = chance_of_release(budget, share, blocks)
            assert vote_chance(budget, share, blocks) <= exact + 1e-12


def test_a_stable_answer_is_released_as_often_as_is_said():
    budget, failure = Budget(0.7, 1e-6), 0.02
    test = StabilityTest.of(budget, 1, 0)
    number = math.ceil(stability_needed(budget, failure)) + 1  # of whole numbers, the margin is one
    passed = test.passes_each(number, RehearsalNoise(1), 4000)
    assert np.mean(passed) >= 1 - 1.5 * failure  # five deviations below


def test_draws_are_behind_by_no_more_than_is_said():
    generator = np.random.default_rng(2)
    scores, size, scale = generator.integers(0, 60, 500), 3, 5
    most, failure = selection_error(scale, 500, size, 0.1), 0.1
    far = 0
    for seed in range(300):
        left = scores.astype(float)
        for pick in peel(scores, size, Fraction(1, scale), RehearsalNoise(seed)):
            is_far = left.max() - scores[pick] > most
            left[pick] = -np.inf
            if is_far:
                far += 1
                break
    assert far <= 0.1 * 300 + 5 * math.sqrt(300 * failure * (1 - failure))


def test_what_cannot_be_promised_is_refused():
    for refused in (
        lambda: stability_needed(Budget(1.0)),
        lambda: stability_needed(USUAL, 0.5),
        lambda: blocks_needed(USUAL, 0.5),
        lambda: blocks_needed(USUAL, 0.5 + 1e-9),
        lambda: blocks_needed(USUAL, 1.1),
        lambda: selection_error(1.0, 3, 4),
    ):
        with pytest.raises(InputError):
            refused()
