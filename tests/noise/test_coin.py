"""Coins of chance exp(-a/b) are exact, however small the chance."""

from __future__ import annotations

import decimal

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from discreet.errors import InputError, InputTypeError
from discreet.noise import RehearsalNoise, coin, law
from discreet.noise.words import CipherWords

KEY = bytes(range(32))
ALL_ONES = 2**64 - 1


def test_heads_come_up_as_often_as_they_should():
    cases = [(1, 1), (1, 3), (7, 2), (10, 1), (1, 10**12), (3 * 10**12, 10**12), (693147, 10**6)]
    flips, statistic = 400_000, 0.0
    for i, (a, b) in enumerate(cases):
        heads = RehearsalNoise(i).coins(np.full(flips, a), b).sum()
        chance = np.exp(-a / b)
        statistic += (heads - flips * chance) ** 2 / (flips * chance * -np.expm1(-a / b))
    assert stats.chi2.sf(statistic, len(cases)) > 1e-4


def test_each_coin_has_its_own_chance():
    numerators = np.tile(np.arange(8), 100_000)
    heads = RehearsalNoise(3).coins(numerators, 2).reshape(-1, 8).sum(axis=0)
    chances = np.exp(-np.arange(8) / 2)
    assert heads[0] == 100_000
    scores = (heads - 1e5 * chances)[1:] / np.sqrt(1e5 * chances * (1 - chances))[1:]
    assert stats.chi2.sf(np.sum(scores**2), 7) > 1e-4


def test_a_certain_coin_never_shows_tails(scripted):
    worst = [ALL_ONES, 0, ALL_ONES - 1, 2**63]
    assert coin.flip(scripted(worst), np.zeros(4, dtype=np.int64), 5).all()
    assert RehearsalNoise(1).coins(np.zeros(100_000, dtype=int), 1).all()


def test_a_hopeless_coin_never_shows_heads(scripted):
    hopeless = np.array([2**62, 10**6 + 1, 2**63 - 1])
    assert not coin.flip(scripted([0, 0, 0]), hopeless, 1).any()


@pytest.mark.parametrize(("a", "b"), [(50, 1), (45, 1), (100, 1), (1000, 7), (1, 3), (2, 10**15)])
def test_chances_below_one_word_are_decided_by_fresh_bits(a, b, scripted):
    """The script agrees with the chance in all words but the last, which decides."""
    with mp.workdps(200):
        chance = mpmath.exp(-mpf(a) / b)
        blocks = 2 + int(-mpmath.log(chance, 2)) // 64
        edge = int(mpmath.floor(chance * mpf(2) ** (64 * blocks)))
    words = [(edge >> (64 * i)) & ALL_ONES for i in reversed(range(blocks))]
    for last in (0, words[-1] - 2**30, words[-1] + 2**30, ALL_ONES):
        supply = scripted([*words[:-1], last])
        heads = coin.flip(supply, np.array([a]), b)
        assert heads.tolist() == [last < words[-1]]
        assert not supply.script


def test_extreme_chances_go_through_the_exact_path(monkeypatch):
    seen, exactly = [], coin._flip_exactly
    monkeypatch.setattr(coin, "_flip_exactly", lambda *args: seen.append(args) or exactly(*args))
    numerators = np.full(2**21, 30)  # exp(-30) = 2**-43.3: one word in 2**28 is too close to call
    coin.flip(CipherWords(KEY), numerators, 1)
    close = np.count_nonzero(CipherWords(KEY).take(2**21) < 2**36)
    assert len(seen) == close
    coin.flip(
        type("Zero", (), {"take": lambda self, n: np.zeros(n, np.uint64)})(), np.array([20]), 1
    )
    assert len(seen) == close + 1


def test_exact_decisions_are_those_of_the_filter(monkeypatch):
    numerators = np.random.default_rng(1).integers(0, 40, 5000)
    filtered = coin.flip(CipherWords(KEY), numerators, 7)
    monkeypatch.setattr(law, "FILTER_WIDTH", np.inf)
    with decimal.localcontext(decimal.Context(prec=2, rounding=decimal.ROUND_UP, Emax=5, Emin=-5)):
        exact = coin.flip(CipherWords(KEY), numerators, 7)
    np.testing.assert_array_equal(exact, filtered)


def test_numerators_must_be_counts():
    with pytest.raises(InputTypeError, match="integers"):
        RehearsalNoise(1).coins(np.array([0.5]), 2)
    with pytest.raises(InputError, match="negative"):
        RehearsalNoise(1).coins(np.array([-1]), 2)
    with pytest.raises(InputError, match="denominator"):
        RehearsalNoise(1).coins(np.array([1]), 0)
    assert RehearsalNoise(1).coins(np.array([], dtype=np.int64), 2).size == 0
    assert RehearsalNoise(1).coins(np.array([0], dtype=np.uint8), 2).tolist() == [True]


def test_an_unsigned_numerator_never_wraps_into_a_certain_coin():
    numerators = np.full(3, 2**63, dtype=np.uint64)
    try:
        heads = RehearsalNoise(1).coins(numerators, 1)
    except InputError:
        return
    assert not heads.any()


def test_scores_cause_no_floating_point_error():
    with np.errstate(all="raise"):
        assert not RehearsalNoise(1).coins(np.array([2000]), 1).any()


def test_denominators_may_be_large():
    assert RehearsalNoise(1).coins(np.array([1, 0]), 2**62).all()
