"""Random numbers of trials: their laws in exact fractions, and counts of draws."""

from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from discreet.errors import InputError
from discreet.noise import RehearsalNoise
from discreet.noise.trial_count import RATIO_BITS, SHAPE_BITS
from discreet.privacy import TrialLaw

DRAWS = 3000
RARE = 1e-4
"""The chance of a false alarm, once: noise is a rehearsal."""


@pytest.mark.parametrize("shape", [0.0, 0.25, 1.0])
def test_proposals_that_are_kept_have_the_law(shape):
    """Geometric proposals times the coins, in fractions, against the weights of the law."""
    law = TrialLaw.with_mean(5.0, shape)
    ratio, exact = Fraction(law.rate), Fraction(law.shape)
    kept, keeps = [], Fraction(1)
    for count in range(1, 60):
        if count > 1:
            keeps *= (count - 1 + exact) / count
        kept.append((1 - ratio) * ratio ** (count - 1) * keeps)
    for count in range(2, 60):
        expected = law.chance(count) / law.chance(1)
        assert float(kept[count - 1] / kept[0]) == pytest.approx(expected, rel=1e-12)


def _misfit(drawn, chance):
    """Return the chi-square statistic, numbers that are expected seldom together, and its limit."""
    counts, statistic, cells, rest, seen = Counter(drawn), 0.0, 0, float(DRAWS), 0
    for number in range(60):
        expected = DRAWS * chance(number)
        if expected >= 10:
            statistic += (counts[number] - expected) ** 2 / expected
            cells, rest, seen = cells + 1, rest - expected, seen + counts[number]
    statistic += (DRAWS - seen - rest) ** 2 / max(rest, 1.0)
    return statistic, chi2.isf(RARE, cells)


@pytest.mark.parametrize("shape", [0.0, 0.25, 1.0])
def test_draws_follow_the_negative_binomial_law(shape):
    law, noise = TrialLaw.with_mean(4.0, shape), RehearsalNoise(3)
    ratio, form = round(law.rate * 2**RATIO_BITS), round(law.shape * 2**SHAPE_BITS)
    drawn = [noise.negative_binomial(ratio, form) for _ in range(DRAWS)]
    statistic, limit = _misfit(drawn, law.chance)
    assert min(drawn) == 1
    assert statistic < limit


@pytest.mark.parametrize("mean", [0.3, 3.0])
def test_draws_follow_poissons_law(mean):
    noise, units = RehearsalNoise(5), round(mean * 2**SHAPE_BITS)
    drawn = [noise.poisson(units) for _ in range(DRAWS)]
    statistic, limit = _misfit(drawn, TrialLaw(units / 2**SHAPE_BITS, None).chance)
    assert statistic < limit


def test_another_law_would_be_noticed():
    noise = RehearsalNoise(5)
    drawn = [noise.poisson(3 << SHAPE_BITS) for _ in range(DRAWS)]
    statistic, limit = _misfit(drawn, TrialLaw.with_mean(3.25, None).chance)
    assert statistic > limit


def test_what_is_no_law_is_refused():
    with pytest.raises(InputError, match="ratio"):
        RehearsalNoise(1).negative_binomial(1 << RATIO_BITS, 0)
    with pytest.raises(InputError, match="shape"):
        RehearsalNoise(1).negative_binomial(1, (1 << SHAPE_BITS) + 1)
    with pytest.raises(InputError, match="mean"):
        RehearsalNoise(1).poisson(-1)
