"""Few trials find what a plain bisection finds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy import (
    BoundedRange,
    Budget,
    Gaussian,
    Laplace,
    Pure,
    ShiftedGaussian,
    ZeroConcentrated,
    calibrate,
    calibration,
    compose,
    within,
)
from discreet.privacy import profile as profiles
from discreet.privacy.bisection import Trials, least_of, lowest_place

LAW = settings(derandomize=True, deadline=None, max_examples=60)
FEW = settings(derandomize=True, deadline=None, max_examples=12)

TRIALS = 20
"""Of smooth profiles, where a plain bisection takes fifty."""

SMOOTH = {
    "gaussian": lambda noise: Gaussian(1 / noise),
    "near a gaussian": lambda noise: within(Gaussian(1 / noise), 2.0**-80),
    "objective": lambda noise: ShiftedGaussian(1 / noise, 1e-3),
    "objective, replace": lambda noise: ShiftedGaussian(1 / noise, 1e-3, is_replace=True),
    "objective, two-signed": lambda noise: ShiftedGaussian(1 / noise, 1e-3, None, False, True),
}
KINKED = {
    "laplace": lambda noise: Laplace(1 / noise),
    "near a pure": lambda noise: within(Pure(1 / noise), 2.0**-80),
    "a range": lambda noise: BoundedRange(1 / noise),
    "concentrated": lambda noise: ZeroConcentrated(1 / noise),
}
EPSILONS = st.floats(math.log(0.01), math.log(2000)).map(math.exp)
DELTAS = st.floats(math.log(1e-15), math.log(0.1)).map(math.exp)


def plainly(level_of, level, search):
    """Bisect without shortcuts."""
    return search(lambda number: level_of(number) <= level)[1]


@pytest.mark.parametrize("family", [*SMOOTH, *KINKED])
@FEW
@given(epsilon=EPSILONS, delta=DELTAS)
def test_a_calibration_comes_to_the_bits_of_a_plain_bisection(family, epsilon, delta):
    profile_of = (SMOOTH | KINKED)[family]

    def level_of(noise):
        return profile_of(noise).delta(epsilon)

    noise = calibrate(profile_of, Budget(epsilon, delta))
    assert noise == plainly(level_of, delta, calibration._bisect)


@pytest.mark.parametrize("family", [*SMOOTH, *KINKED])
@FEW
@given(scale=st.floats(-4, 4).map(math.exp), delta=DELTAS)
def test_an_epsilon_comes_to_the_bits_of_a_plain_bisection(family, scale, delta):
    profile = (SMOOTH | KINKED)[family](scale)
    found = profile.epsilon(delta)
    if profile.delta(0.0) <= delta:
        assert found == 0
        return
    assert found == min(plainly(profile.delta, delta, profiles._bisect), profile.pure_epsilon)
    if math.isfinite(found):
        assert profile.delta(found) <= delta or found == profile.pure_epsilon


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 8.0, 30.0, 100.0, 1000.0, 1e5])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("family", SMOOTH)
def test_a_smooth_calibration_looks_at_few_profiles(family, delta, epsilon):
    seen = []

    def profile_of(noise):
        seen.append(noise)
        return SMOOTH[family](noise)

    noise = calibrate(profile_of, Budget(epsilon, delta))
    assert noise in seen
    assert len(seen) <= TRIALS


@pytest.mark.parametrize("guess", [1e-9, 1e-3, 1.0, 300.0, 1e9])
def test_a_guess_changes_nothing_but_the_number_of_trials(guess):
    budget = Budget(1.0, 1e-6)
    with_guess = calibrate(SMOOTH["objective"], budget, guess=guess)
    assert with_guess == calibrate(SMOOTH["objective"], budget)


@LAW
@given(
    steps=st.lists(st.floats(0.01, 50), min_size=1, max_size=6),
    level=st.floats(1e-6, 0.9),
    guess=st.floats(-20, 20).map(math.exp),
)
def test_levels_with_jumps_and_plateaus_are_found_too(steps, level, guess):
    places = np.cumsum(steps)

    def level_of(number):
        return float(np.exp2(-np.searchsorted(places, number, side="right")))

    least = least_of(level_of, level, guess, calibration._bisect)
    assert least == plainly(level_of, level, calibration._bisect)


def test_what_does_not_fall_is_bisected_in_earnest():
    def level_of(number):
        return 1 / number + 1e-3 * math.sin(1e6 * number)

    found = least_of(level_of, 0.01, 1.0, calibration._bisect)
    assert level_of(found) <= 0.01


def test_where_nothing_is_enough_one_large_number_tells():
    tried = []

    def level_of(number):
        tried.append(number)
        return 0.5 + 0.1 / number

    assert least_of(level_of, 0.5, 1.0, calibration._bisect) == math.inf
    assert len(tried) < 6


def test_nothing_is_tried_twice_nor_where_the_answer_is_known():
    tried = []

    def level_of(number):
        tried.append(number)
        return 1 / number

    trials = Trials(level_of, 0.01)
    assert [trials.is_enough(number) for number in (50.0, 200.0, 10.0, 300.0)] == [0, 1, 0, 1]
    assert trials.try_out(50.0) is False
    assert tried == [50.0, 200.0]


@LAW
@given(
    falls=st.lists(st.integers(0, 3), max_size=70),
    rises=st.lists(st.integers(1, 3), max_size=70),
    start=st.integers(-3, 150),
)
def test_the_lowest_place_is_that_of_the_least_value(falls, rises, start):
    values = np.cumsum([0, *(-fall for fall in falls), *rises, 1])
    place = lowest_place(values.__getitem__, values.size, start)
    assert values[place] == values.min()


def test_near_the_lowest_place_few_values_are_looked_at():
    for bottom in range(2, 63):
        seen = set()

        def value(place, bottom=bottom, seen=seen):
            seen.add(place)
            return (place - bottom) ** 2

        assert lowest_place(value, 65, bottom) == bottom
        assert len(seen) == 3


@pytest.mark.parametrize("epsilon", [1.0, 40.0, 1000.0])
def test_a_calibration_beside_a_gaussian_takes_few_looks_at_the_profile(monkeypatch, epsilon):
    looks, bound = [], ShiftedGaussian.bound

    def counted(profile, epsilons):
        looks.append(epsilons.size)
        return bound(profile, epsilons)

    monkeypatch.setattr(ShiftedGaussian, "bound", counted)

    def profile_of(noise):
        both = compose([ShiftedGaussian(1 / noise, 0.1), Gaussian(0.02 / noise)])
        return within(both, 2.0**-79)

    calibrate(profile_of, Budget(epsilon, 1e-6))
    assert len(looks) <= (2 * TRIALS if epsilon == 1 else 24 * TRIALS)
