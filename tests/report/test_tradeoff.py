"""The curve of the best attacker, and the numbers made of profiles."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from scipy.stats import norm

from discreet.errors import InputError
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    compose,
)
from discreet.report.numbers import NOTHING, check_numbers, numbers_of
from discreet.report.tradeoff import tradeoff_of, tradeoff_through

SHARES = np.concatenate([np.geomspace(1e-9, 0.01, 40), np.linspace(0.01, 1, 400)])


def laplace_misses(alarms, epsilon):
    """The exact trade-off of Laplace noise, one unit apart."""
    rest = np.maximum(2 * (1 - alarms), 1e-300)
    threshold = np.where(alarms < 0.5, -np.log(2 * alarms), np.log(rest))
    moved = threshold / epsilon - 1
    return np.where(moved < 0, 0.5 * np.exp(epsilon * moved), 1 - 0.5 * np.exp(-epsilon * moved))


EXACT = {
    "gaussian": (Gaussian(1.0), lambda a: norm.cdf(norm.isf(a) - 1.0)),
    "narrow gaussian": (Gaussian(0.1), lambda a: norm.cdf(norm.isf(a) - 0.1)),
    "wide gaussian": (Gaussian(4.0), lambda a: norm.cdf(norm.isf(a) - 4.0)),
    "pure": (
        Pure(1.0),
        lambda a: np.maximum.reduce([1 - math.e * a, (1 - a) / math.e, np.zeros_like(a)]),
    ),
    "laplace": (Laplace(1.0), lambda a: laplace_misses(a, 1.0)),
    "approximate": (
        Approximate(1.0, 0.01),
        lambda a: np.maximum.reduce([0.99 - math.e * a, (0.99 - a) / math.e, 0 * a]),
    ),
    "two gaussians": (
        compose([Gaussian(0.6), Gaussian(0.8)]),
        lambda a: norm.cdf(norm.isf(a) - 1.0),
    ),
}


@pytest.mark.parametrize("case", EXACT)
def test_the_curve_is_never_above_the_truth_and_near_it(case):
    profile, exact = EXACT[case]
    truth, bound = exact(SHARES), tradeoff_of(profile).misses(SHARES)
    assert np.all(bound <= truth)
    assert np.max(truth - bound) < 2e-3


@pytest.mark.parametrize("case", EXACT)
def test_corners_alone_carry_the_curve(case):
    profile, _ = EXACT[case]
    curve = tradeoff_of(profile)
    epsilons = np.union1d(np.linspace(0, 20, 5000), 1.0)[:, None]
    deltas = profile.deltas(epsilons)
    lines = np.maximum(
        1 - deltas - np.exp(epsilons) * SHARES, np.exp(-epsilons) * (1 - deltas - SHARES)
    )
    best = np.maximum(lines.max(axis=0), 0)
    joined = np.interp(SHARES, curve.alarms, curve.least_misses)
    assert np.all(np.abs(joined - best) < 2e-3)
    assert np.all(joined <= best + 1e-5)  # as far as five thousand epsilons know
    assert list(curve.alarms) == sorted(set(curve.alarms))


def test_without_a_promise_the_curve_is_flat():
    assert tradeoff_of(NoPrivacy()).misses([0.0, 0.5]).tolist() == [0.0, 0.0]
    assert tradeoff_of(NoPrivacy()).best_guess == 1.0


def test_the_best_guess_is_half_the_distance_of_the_laws():
    for mu in (0.1, 0.5, 2.0):
        assert tradeoff_of(Gaussian(mu)).best_guess == pytest.approx(norm.cdf(mu / 2), abs=1e-4)
        assert tradeoff_of(Gaussian(mu)).best_guess >= norm.cdf(mu / 2)


@pytest.mark.parametrize("size", [1, 2, 4, 10])
def test_groups_are_told_apart_as_theory_says(size):
    found = tradeoff_of(Gaussian(0.2)).best_guess_about(size)
    assert norm.cdf(0.1 * size) <= found <= norm.cdf(0.1 * size) + 2e-3


def test_a_line_above_another_hides_it():
    curve = tradeoff_through(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    assert curve.misses(0.0) == pytest.approx(0.5)
    assert curve.alarms[:2] == pytest.approx((0.0, 0.5))


def test_beliefs_hold_for_gaussian_noise():
    """The loss of Gaussian noise is normal, so its exceptions can be counted exactly."""
    for mu in (0.1, 0.5, 1.5):
        belief = numbers_of(Guarantee(Gaussian(mu), AddRemoveOne()))["belief"]
        exact = norm.sf(belief["largest_loss"], loc=mu**2 / 2, scale=mu)
        assert exact <= belief["exception"]
        assert belief["largest_loss"] < 1.3 * norm.isf(1e-6, loc=mu**2 / 2, scale=mu)


def test_a_pure_guarantee_moves_even_odds_to_seventy_three_percent():
    numbers = numbers_of(Guarantee(Pure(1.0), AddRemoveOne()))
    assert numbers["belief"]["exception"] == 0
    (even,) = [one for one in numbers["belief"]["beliefs"] if one["before"] == 0.5]
    assert even["at_most"] == pytest.approx(math.e / (1 + math.e), abs=1e-9)
    assert even["at_most"] >= math.e / (1 + math.e)
    assert even["at_least"] == pytest.approx(1 / (1 + math.e), abs=1e-9)


def test_groups_of_gaussian_noise_are_covered():
    guarantee = Guarantee(Gaussian(0.2), AddRemoveOne(), quoted_delta=1e-6)
    for group in numbers_of(guarantee)["groups"]:
        exact = Gaussian(0.2 * group["size"]).epsilon(1e-6)
        assert exact <= group["epsilon"]


def lies():
    def smaller(numbers, *path, factor=0.9):
        *way, last = path
        for step in way:
            numbers = numbers[step]
        numbers[last] = numbers[last] * factor

    return {
        "quoted epsilon": lambda n: smaller(n, "quoted", "epsilon"),
        "epsilon in the table": lambda n: smaller(n, "epsilons", 2, "epsilon"),
        "delta in the table": lambda n: smaller(n, "epsilons", 1, "delta"),
        "best guess": lambda n: smaller(n, "best_guess", factor=0.99),
        "loss": lambda n: smaller(n, "belief", "largest_loss"),
        "exception": lambda n: smaller(n, "belief", "exception", factor=0.1),
        "belief": lambda n: smaller(n, "belief", "beliefs", 1, "at_most"),
        "disbelief": lambda n: smaller(n, "belief", "beliefs", 1, "at_least", factor=1.1),
        "group": lambda n: smaller(n, "groups", 0, "epsilon", factor=0.7),
        "guess about a group": lambda n: smaller(n, "groups", 1, "best_guess"),
        "curve": lambda n: smaller(n, "tradeoff", 3, "false_negatives", factor=1.01),
        "corner left out": lambda n: n["tradeoff"].__delitem__(slice(1, -1)),
        "order": lambda n: n["tradeoff"].reverse(),
    }


@pytest.mark.parametrize("lie", lies())
def test_numbers_that_promise_too_much_are_refused(lie):
    guarantee = Guarantee(Gaussian(0.5), AddRemoveOne(), quoted_delta=1e-6)
    numbers = copy.deepcopy(numbers_of(guarantee))
    check_numbers(numbers, guarantee)
    lies()[lie](numbers)
    with pytest.raises(InputError, match="do not follow"):
        check_numbers(numbers, guarantee)


def test_nothing_is_said_where_nothing_is_promised():
    guarantee = Guarantee(NoPrivacy(), AddRemoveOne())
    check_numbers(NOTHING, guarantee)
    with pytest.raises(InputError, match="do not follow"):
        check_numbers(numbers_of(Guarantee(Pure(1.0), AddRemoveOne())), guarantee)
