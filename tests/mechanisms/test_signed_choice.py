"""Draws from very many candidates with a sign: the law, by bands and one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import CalibrationError
from discreet.mechanisms import frank_wolfe
from discreet.mechanisms.frank_wolfe import draw_signed, round_rate
from discreet.noise import RehearsalNoise

SCORES = np.array([0, 37, -52, 8, 5], dtype=np.int64)


def law(scores, rate):
    weights = np.exp(float(rate) * np.concatenate([scores, -scores]))
    return weights / weights.sum()


@pytest.mark.parametrize("few", [0, 2**12], ids=["bands", "one by one"])
@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(3, 2)])
def test_candidates_are_drawn_with_their_chances(few, rate, monkeypatch):
    # A chi-squared test under fixed noise; its level is one in a thousand.
    monkeypatch.setattr(frank_wolfe, "FEW", few)
    scores = SCORES if rate < 1 else SCORES // 20
    rate, noise, draws = round_rate(rate), RehearsalNoise(3), 800
    found = np.zeros(2 * scores.size)
    for _ in range(draws):
        place, sign = draw_signed(scores, rate, noise)
        found[place + scores.size * (sign < 0)] += 1
    expected = draws * law(scores, rate)
    likely = expected >= 5
    rest = [found[~likely].sum(), expected[~likely].sum()]
    seen, due = np.append(found[likely], rest[0]), np.append(expected[likely], rest[1])
    seen, due = seen[due > 0], due[due > 0]
    assert stats.chisquare(seen, due * seen.sum() / due.sum()).pvalue > 1e-3


def test_candidates_far_behind_are_drawn_too(monkeypatch):
    # All but one are behind the last band; there are so many of them that one is often drawn.
    monkeypatch.setattr(frank_wolfe, "FEW", 0)
    monkeypatch.setattr(frank_wolfe, "BANDS", 4)
    scores = np.append(np.zeros(40, dtype=np.int64), 45)
    rate, noise = round_rate(Fraction(1, 10)), RehearsalNoise(5)
    behind = sum(draw_signed(scores, rate, noise)[0] < 40 for _ in range(100))
    chance = 1 - law(scores, rate)[40]
    assert stats.binomtest(behind, 100, chance).pvalue > 1e-3


def test_a_coin_that_is_too_large_for_one_is_flipped_as_several(monkeypatch):
    monkeypatch.setattr(frank_wolfe, "MOST_COIN", 5)
    noise, rate = RehearsalNoise(7), Fraction(1, 16)
    heads = sum(frank_wolfe._keeps(13, rate, noise) for _ in range(300))
    assert stats.binomtest(heads, 300, math.exp(-13 / 16)).pvalue > 1e-3


def test_without_a_rate_the_largest_score_is_taken():
    assert draw_signed(SCORES, None, RehearsalNoise(0)) == (2, -1)
    assert draw_signed(-SCORES, None, RehearsalNoise(0)) == (2, 1)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(2**70 + 1, 2**112), Fraction(1001, 7)])
def test_a_rounded_rate_is_less_and_hardly_less(rate):
    assert (1 - 2.0**-19) * rate <= round_rate(rate) <= rate


def test_a_rate_that_coins_cannot_be_made_of_is_refused():
    with pytest.raises(CalibrationError, match="use a larger one"):
        round_rate(Fraction(1, 2**53))


def test_the_least_rate_can_be_drawn_with(monkeypatch):
    monkeypatch.setattr(frank_wolfe, "FEW", 0)
    scores = np.array([0, 2**56, -(2**57)], dtype=np.int64)
    rate, noise = round_rate(Fraction(1, 2**52)), RehearsalNoise(1)
    assert {draw_signed(scores, rate, noise) for _ in range(30)} == {(2, -1)}
