"""Integers of the discrete Laplace law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InputError
from discreet.noise import LARGEST_RATE, UNIT_RATE, RehearsalNoise


def _chances(rate, places):
    level = rate / UNIT_RATE
    return math.tanh(level / 2) * np.exp(-level * np.abs(places))


@pytest.mark.parametrize("rate", [UNIT_RATE // 7, UNIT_RATE // 2 + 1, UNIT_RATE, 3 * UNIT_RATE])
def test_draws_follow_the_law(rate):
    # Fixed rehearsal noise: nothing here can flake.
    drawn = RehearsalNoise(5).discrete_laplace(200_000, rate)
    reach = int(6 * UNIT_RATE / rate) + 1
    places = np.arange(-reach, reach + 1)
    seen = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=places.size)
    expected = _chances(rate, places)
    tail = math.exp(-rate / UNIT_RATE) / (1 - math.exp(-rate / UNIT_RATE))
    expected[[0, -1]] *= 1 + tail  # everything beyond
    assert expected.sum() == pytest.approx(1.0, abs=1e-12)
    assert chisquare(seen, 200_000 * expected / expected.sum()).pvalue > 1e-4


def test_very_small_and_very_large_rates_are_drawn():
    wide = RehearsalNoise(2).discrete_laplace(1000, 3)
    assert np.abs(wide).mean() == pytest.approx(UNIT_RATE / 3, rel=0.2)
    assert not RehearsalNoise(2).discrete_laplace(1000, LARGEST_RATE).any()


def test_a_rate_of_nothing_is_refused():
    with pytest.raises(InputError):
        RehearsalNoise(1).discrete_laplace(3, 0)
