"""The least noise is enough, and a little less is not."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import CalibrationError, InputTypeError
from discreet.privacy import (
    Budget,
    Gaussian,
    Laplace,
    NoPrivacy,
    Pure,
    ShiftedGaussian,
    calibrate,
    calibrate_from,
    compose,
    gaussian_multiplier,
    within,
)

LAW = settings(derandomize=True, deadline=None, max_examples=6)
FAMILIES = {
    "gaussian": lambda noise: Gaussian(1 / noise),
    "laplace": lambda noise: Laplace(1 / noise),
    "pure": lambda noise: Pure(1 / noise),
    "near": lambda noise: within(Gaussian(1 / noise), 1e-30),
    "objective": lambda noise: ShiftedGaussian(1 / noise, 0.05),
    "objective_replace": lambda noise: ShiftedGaussian(1 / noise, 0.05, is_replace=True),
}


@pytest.mark.parametrize("family", FAMILIES)
@LAW
@given(
    epsilon=st.floats(math.log(0.1), math.log(20)).map(math.exp),
    delta=st.floats(math.log(1e-15), math.log(1e-3)).map(math.exp),
)
def test_the_noise_meets_the_budget_and_one_billionth_less_does_not(family, epsilon, delta):
    profile_of, budget = FAMILIES[family], Budget(epsilon, delta)
    noise = calibrate(profile_of, budget)
    assert profile_of(noise).delta(epsilon) <= delta
    assert profile_of(noise * (1 - 1e-9)).delta(epsilon) > delta


@LAW
@given(epsilon=st.floats(1e-3, 100))
def test_pure_noise_is_one_over_epsilon(epsilon):
    for family in ("laplace", "pure"):
        noise = calibrate(FAMILIES[family], Budget(epsilon))
        assert 1 / noise <= epsilon
        assert noise == pytest.approx(1 / epsilon, rel=1e-11)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_larger_budget_never_needs_more_noise(family):
    budgets = [Budget(e, d) for e, d in ((0.2, 1e-8), (0.5, 1e-8), (0.5, 1e-6), (3.0, 1e-4))]
    noises = [calibrate(FAMILIES[family], budget) for budget in budgets]
    assert noises == sorted(noises, reverse=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_infinite_budget_needs_no_noise(family):
    assert calibrate(FAMILIES[family], Budget(math.inf)) == 0.0
    assert calibrate(FAMILIES[family], Budget(math.inf, 0.1)) == 0.0


@pytest.mark.parametrize("family", ["gaussian", "near", "objective", "objective_replace"])
@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
def test_gaussian_noise_cannot_be_pure(family, epsilon):
    with pytest.raises(CalibrationError, match=r"no amount of noise .* delta = 0"):
        calibrate(FAMILIES[family], Budget(epsilon))


def test_a_distance_above_delta_cannot_be_drowned():
    with pytest.raises(CalibrationError, match="no amount of noise"):
        gaussian_multiplier(Budget(1.0, 1e-9), distance=1e-6)


def test_a_distance_costs_noise():
    budget = Budget(1.0, 1e-6)
    near, plain = gaussian_multiplier(budget, distance=1e-8), gaussian_multiplier(budget)
    assert plain < near < plain * 1.01


# golden_values.py of the theory notes: one over muG.
@pytest.mark.parametrize(
    ("epsilon", "delta", "noise"),
    [
        (0.1, 1e-6, 36.304690),
        (0.5, 1e-6, 8.057618),
        (1.0, 1e-6, 4.224679),
        (1.0, 1e-5, 3.730632),
        (3.0, 1e-6, 1.543861),
        (8.0, 1e-6, 0.652935),
    ],
)
def test_the_gaussian_multiplier_has_its_published_values(epsilon, delta, noise):
    assert gaussian_multiplier(Budget(epsilon, delta)) == pytest.approx(noise, abs=1e-6)


@pytest.mark.parametrize("epsilon", [1e-4, 50.0, 1e5])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.1])
def test_extreme_budgets_are_met(epsilon, delta):
    noise = gaussian_multiplier(Budget(epsilon, delta))
    assert 0 < noise < math.inf
    assert Gaussian(1 / noise).delta(epsilon) <= delta


def test_a_budget_must_be_a_budget():
    with pytest.raises(InputTypeError, match="budget must be a Budget; got a value of type float"):
        calibrate(FAMILIES["gaussian"], 1.0)


@pytest.mark.parametrize("guess", [1e-3, 0.5, 4.2, 4.23, 300.0])
@pytest.mark.parametrize("precision", [1e-1, 1e-3, 1e-6])
def test_a_guess_leads_to_the_same_noise_within_the_precision(guess, precision):
    seen = []

    def profile_of(noise):
        seen.append(noise)
        return Gaussian(1 / noise)

    budget = Budget(1.0, 1e-6)
    best = calibrate(lambda noise: Gaussian(1 / noise), budget)
    found = calibrate_from(guess, profile_of, budget, precision=precision)
    assert best * (1 - 1e-9) <= found <= best * (1 + precision)
    assert found in seen
    assert len(seen) < 60


def test_a_guess_does_not_help_where_no_noise_is_enough():
    with pytest.raises(CalibrationError, match="no amount of noise"):
        calibrate_from(1.0, lambda noise: NoPrivacy(), Budget(1.0, 1e-6), precision=1e-3)


@pytest.mark.parametrize("epsilon", [100.0, 1000.0, 1e5, 1e300])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6])
def test_where_an_epsilon_is_too_large_for_a_distance_the_refusal_names_one_that_is_not(
    delta, epsilon
):
    def beside_much(share):
        """What is released already takes a share of what the ideal budget allows."""

        def profile_of(noise):
            first = Gaussian(share / gaussian_multiplier(Budget(epsilon, delta)))
            return within(compose([first, Gaussian(1 / noise)]), 2.0**-80)

        return profile_of

    with pytest.raises(CalibrationError, match="use an epsilon of at most") as refused:
        calibrate(beside_much(0.999), Budget(epsilon, delta))
    epsilon = float(re.search(r"at most (\d+)", str(refused.value))[1])
    profile_of = beside_much(0.3)
    noise = calibrate(profile_of, Budget(epsilon, delta))
    assert profile_of(noise).delta(epsilon) <= delta


def test_where_delta_is_too_small_for_a_distance_the_refusal_says_so():
    with pytest.raises(CalibrationError, match="within 1e-06 of its law; use a larger delta"):
        gaussian_multiplier(Budget(1.0, 1e-9), distance=1e-6)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-20, 1e-9, 1e300])
@pytest.mark.parametrize("delta", [1e-9, 0.5, 0.999])
def test_any_budget_that_can_be_met_is(epsilon, delta):
    noise = gaussian_multiplier(Budget(epsilon, delta))
    assert Gaussian(1 / noise).delta(epsilon) <= delta


def test_a_budget_too_small_for_any_noise_asks_for_a_larger_one():
    with pytest.raises(CalibrationError, match="use a larger budget"):
        gaussian_multiplier(Budget(1e-20, 1e-30))
