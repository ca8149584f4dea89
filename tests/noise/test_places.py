"""Uniform sets of places."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InputError
from discreet.noise import RehearsalNoise


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_all_sets_of_places_are_equally_likely(size):
    noise, draws = RehearsalNoise(size), 3000
    sets = dict.fromkeys(combinations(range(6), size), 0)
    for _ in range(draws):
        sets[tuple(noise.places(6, size).tolist())] += 1
    assert (
        chisquare(list(sets.values())).pvalue > 1e-6
    )  # the rate of false alarms, once and for all


@pytest.mark.parametrize(("population", "size"), [(1, 1), (10, 0), (10, 10), (10**9, 1000)])
def test_places_are_different_and_inside(population, size):
    places = RehearsalNoise(1).places(population, size)
    assert len(np.unique(places)) == size
    assert np.all((places >= 0) & (places < population))


def test_more_places_than_there_are_is_refused():
    with pytest.raises(InputError):
        RehearsalNoise(1).places(3, 4)
