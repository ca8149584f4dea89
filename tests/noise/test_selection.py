"""Candidates are drawn with chances proportional to exp(-score * rate), exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from discreet.errors import InputError, InputTypeError
from discreet.noise import RehearsalNoise, law, selection
from discreet.noise.words import CipherWords

KEY = bytes(range(32))
COUNTS = np.array([1, 1000, 3, 250_000, 1, 7])
SCORES = np.array([0, 5, 1, 13, 40, 2])


def chances(counts, scores, rate):
    return softmax(np.log(counts) - scores * float(rate))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1), Fraction(3, 2)])
def test_groups_come_up_as_often_as_they_should(rate):
    draws = 400_000
    groups, members = RehearsalNoise(5).candidates(COUNTS, SCORES, rate, draws)
    expected = draws * chances(COUNTS, SCORES, rate)
    seen = np.bincount(groups, minlength=6)
    common = expected > 5
    statistic = np.sum((seen - expected)[common] ** 2 / expected[common])
    assert stats.chi2.sf(statistic, common.sum() - 1) > 1e-4
    assert (members >= 0).all()
    assert (members < COUNTS[groups]).all()


def test_members_of_a_group_are_equally_likely():
    _, members = RehearsalNoise(1).candidates(np.array([7]), np.array([3]), Fraction(1), 70_000)
    assert stats.chisquare(np.bincount(members, minlength=7)).pvalue > 1e-4


def test_one_candidate_far_ahead_of_very_many_is_found_at_once():
    counts, scores = np.array([2**38, 1, 2**39]), np.array([10**6, 0, 10**6])
    groups, members = RehearsalNoise(1).candidates(counts, scores, Fraction(1), 1000)
    assert set(groups) == {1}
    assert set(members) == {0}


def test_only_differences_of_scores_matter():
    one = RehearsalNoise(2).candidates(COUNTS, SCORES, Fraction(1, 3), 500)
    other = RehearsalNoise(2).candidates(COUNTS, SCORES + 2**60, Fraction(1, 3), 500)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("rate", [Fraction(1, 2**40), Fraction(0.1), Fraction(7), Fraction(10**6)])
def test_the_envelope_is_above_the_weight_and_hardly_so(rate):
    # Below the weight the draw would not be exact; far above it would be slow.
    generator = np.random.default_rng(0)
    counts, scores = generator.integers(1, 2**20, 300), generator.integers(0, 2000, 300)
    scores[0] = 0
    groups = selection._Groups.of(counts, scores, rate)
    context = law.decimal_context(60)
    for count, score, envelope in zip(counts, scores, groups.envelope, strict=True):
        exponent = context.divide(Decimal(-int(score) * rate.numerator), Decimal(rate.denominator))
        weight = context.multiply(context.exp(exponent), Decimal(int(count) << groups.bits))
        assert weight <= int(envelope)
        assert int(envelope) <= float(weight) * (1 + 2.0**-19) + 2
    assert int(groups.envelope.sum()) == groups.cumulative[-1] < 2**62


def test_exact_decisions_are_those_of_the_filter(monkeypatch):
    def draw():
        return selection.choose(CipherWords(KEY), COUNTS, SCORES, Fraction(0.3), 3000)

    filtered = draw()
    monkeypatch.setattr(law, "FILTER_WIDTH", np.inf)
    np.testing.assert_array_equal(draw(), filtered)


@pytest.mark.parametrize("score", [50, 800, 2000])
def test_no_candidate_is_too_far_behind_to_be_drawn(score, scripted):
    # One that floats cannot tell from impossible is kept if enough bits are zero, and only then.
    groups = selection._Groups.of(np.array([1, 1]), np.array([0, score]), Fraction(1))
    zeros = [0] * (3 + 2 * score // 64)
    assert groups._keeps_exactly(scripted(zeros), 1, 0)
    assert not groups._keeps_exactly(scripted([]), 1, 2**63)


def test_bounds_of_each_draw_are_its_own():
    counts = np.array([1, 2, 3, 2**40 - 6])
    groups, members = RehearsalNoise(3).candidates(counts, np.zeros(4, int), Fraction(1), 2000)
    assert set(groups) == {3}
    assert abs(members.mean() / 2**39 - 1) < 0.06  # 4.6 standard errors


@pytest.mark.parametrize(
    ("counts", "scores", "rate", "error"),
    [
        ([1.5], [0], Fraction(1), InputTypeError),
        ([1], [0.5], Fraction(1), InputTypeError),
        ([1], [0], 1.0, InputTypeError),
        ([1], [0], Fraction(0), InputError),
        ([0], [0], Fraction(1), InputError),
        ([1, 1], [0], Fraction(1), InputError),
        ([1], [-1], Fraction(1), InputError),
        ([1], [2**62 + 1], Fraction(1), InputError),
        ([2**40, 1], [0, 0], Fraction(1), InputError),
    ],
)
def test_bad_arguments_are_refused(counts, scores, rate, error):
    with pytest.raises(error):
        RehearsalNoise(1).candidates(np.array(counts), np.array(scores), rate)
