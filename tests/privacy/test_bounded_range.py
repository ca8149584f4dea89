"""The exact profile of bounded-range draws, and its concentrated bound."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.errors import InputError, InputTypeError
from discreet.privacy import (
    BoundedRange,
    Gaussian,
    Laplace,
    Pure,
    SampledGaussian,
    ZeroConcentrated,
    compose,
)
from discreet.privacy.bounded_range import EXACT_DRAWS, KNOTS

LAW = settings(derandomize=True, deadline=None, max_examples=120)


def over_a_fine_grid(span, draws, epsilon, points=2000):
    """Return the largest delta of m draws from the pair with losses t, t - span, over many t."""
    tilt = np.linspace(0, span, points + 2)[1:-1]
    chance = np.expm1(tilt - span) / np.expm1(-span)
    high = np.arange(draws + 1)
    loss = draws * (tilt[:, None] - span) + high * span
    gain = -np.expm1(np.minimum(epsilon - loss, 0))
    return float((binom.pmf(high, draws, chance[:, None]) * gain).sum(axis=1).max())


def exact(profile, epsilon):
    """Return what the exact formula says at one level."""
    return float(profile._exact(np.array([epsilon]))[0])


@LAW
@given(
    span=st.floats(math.log(1e-3), math.log(8)).map(math.exp),
    draws=st.sampled_from([1, 2, 3, 5, 12, 60, 300]),
    share=st.floats(0, 1),
)
def test_the_exact_formula_is_the_maximum_over_all_tilts(span, draws, share):
    profile, epsilon = BoundedRange(span, draws), share**2 * draws * span
    truth = over_a_fine_grid(span, draws, epsilon)
    assert exact(profile, epsilon) >= truth * (1 - 1e-9) - 1e-300
    assert profile.delta(epsilon) <= max(truth * 1.01, 1e-9)


@pytest.mark.parametrize(
    ("span", "draws", "epsilon"),
    [
        (1.0, 1, 0.5),
        (1.0, 1, 1 - 1e-6),
        (0.1, 3, 0.2),
        (0.1, 3, 0.29999),
        (2.0, 7, 0.0),
        (2.0, 7, 5.0),
        (1e-3, 5, 1e-3),
        (1e-8, 4, 1e-9),
        (20.0, 2, 30.0),
    ],
)
def test_delta_is_not_below_any_tilt_with_sixty_digits(span, draws, epsilon):
    got = BoundedRange(span, draws).delta(epsilon)
    with mp.workdps(60):
        wide, target = mp.mpf(span), mp.mpf(epsilon)
        candidates = [(target + i * wide) / (draws + 1) for i in range(draws + 2)]
        for tilt in [wide * i / 97 for i in range(1, 97)] + candidates:
            if 0 < tilt < wide:
                chance = mp.expm1(tilt - wide) / mp.expm1(-wide)
                total = mp.mpf(0)
                for high in range(draws + 1):
                    loss = draws * (tilt - wide) + high * wide
                    if loss > target:
                        weight = chance**high * (1 - chance) ** (draws - high)
                        total -= mp.binomial(draws, high) * weight * mp.expm1(target - loss)
                assert got >= total


@LAW
@given(
    span=st.floats(0.001, 2),
    draws=st.sampled_from([1, 10, 100, 400]),
    share=st.floats(0, 1),
)
def test_the_concentrated_bound_is_never_below_the_exact_formula(span, draws, share):
    profile, epsilon = BoundedRange(span, draws), share * draws * span
    assert ZeroConcentrated(profile.rho).delta(epsilon) >= exact(profile, epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("draws", [EXACT_DRAWS + 1, 3000])
@pytest.mark.parametrize("z", [0.0, 1.0, 3.0, 5.0])
def test_many_draws_are_answered_by_an_upper_bound(draws, z):
    span = 0.02
    epsilon = z * span * math.sqrt(draws)
    assert BoundedRange(span, draws).delta(epsilon) >= over_a_fine_grid(span, draws, epsilon, 400)


@LAW
@given(span=st.floats(1e-4, 10), share=st.floats(0, 1))
def test_one_draw_is_better_than_laplace_and_pure_noise_of_the_same_span(span, share):
    epsilon = span * share
    assert BoundedRange(span).delta(epsilon) <= Laplace(span).delta(epsilon) * (1 + 1e-9)
    assert BoundedRange(span).delta(epsilon) <= Pure(span).delta(epsilon) * (1 + 1e-9)


# Section ERM-7 of the theory notes: the draws that fit epsilon = 1, delta = 1e-6.
@pytest.mark.parametrize(("span", "draws"), [(0.05, 90), (0.02, 560)])
def test_the_published_number_of_draws_is_the_largest_that_fits(span, draws):
    assert BoundedRange(span, draws).delta(1.0) <= 1e-6 < BoundedRange(span, draws + 1).delta(1.0)


# Same place: the concentrated bound alone allows 487 draws of span 0.02.
def test_the_published_number_of_draws_fits_the_concentrated_bound():
    fitting, too_many = (ZeroConcentrated(BoundedRange(0.02, m).rho) for m in (487, 488))
    assert fitting.delta(1.0) <= 1e-6 < too_many.delta(1.0)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("span", "draws"), [(0.02, 700), (0.3, 400), (2.0, 150)])
def test_leaving_out_what_cannot_be_the_maximum_changes_nothing(span, draws, epsilon):
    profile = BoundedRange(span, draws)
    tilt = (epsilon + span * np.arange(draws + 2)) / (draws + 1)
    tilt = tilt[(tilt > 0) & (tilt < span)]
    every = profile._of_tilts(epsilon, tilt)
    assert exact(profile, epsilon) == every.max()
    assert (profile._at_most(epsilon, tilt) * (1 + 1e-9) >= every * (1 - 1e-9)).all()


def test_tiny_ranges_of_many_draws_lose_no_tilt():
    profile = BoundedRange(5.62341325190349e-17, 2048)
    epsilon = 5.089732664109125e-15
    tilt = (epsilon + profile.span * np.arange(2050)) / 2049
    tilt = tilt[(tilt > 0) & (tilt < profile.span)]
    assert exact(profile, epsilon) == profile._of_tilts(epsilon, tilt).max()


@pytest.mark.parametrize(("span", "draws"), [(0.5, 1), (0.3, 4), (0.05, 60), (20.0, 2)])
def test_many_levels_are_answered_just_above_the_exact_formula(span, draws):
    profile = BoundedRange(span, draws)
    far = min(draws * span, 4 * span * math.sqrt(draws))
    levels = np.linspace(0, far, KNOTS + 1)
    many, some = profile.deltas(levels)[::37], levels[::37]
    few = np.array([exact(profile, epsilon) for epsilon in some.tolist()])
    assert np.all(many >= few)
    assert np.all(many[:-1] <= few[:-1] * 1.003 + 1e-15)


@pytest.mark.parametrize("other", [SampledGaussian(0.5, 1e-4, 100_000), Gaussian(1.0)])
def test_beside_other_releases_the_exact_formula_is_worked_out_a_bounded_number_of_times(
    monkeypatch, other
):
    asked, work_out = [], BoundedRange._exact

    def counted(profile, epsilons):
        asked.extend(epsilons)
        return work_out(profile, epsilons)

    monkeypatch.setattr(BoundedRange, "_exact", counted)
    both = compose([other, BoundedRange(0.5)])
    assert both.delta(1.0) >= max(other.delta(1.0), BoundedRange(0.5).delta(1.0)) * (1 - 1e-3)
    both.delta(2.0)
    assert len(asked) <= KNOTS + 64


def test_delta_keeps_its_value_just_below_the_largest_loss():
    profile = BoundedRange(0.5, 30)
    assert exact(profile, 15 * (1 - 1e-9)) == exact(profile, 15 * (1 - 1e-8)) > 0


@LAW
@given(span=st.floats(1e-6, 5), draws=st.integers(1, 60), order=st.floats(1.001, 1e4))
def test_the_renyi_curve_is_above_that_of_the_worst_tilts(span, draws, order):
    tilt = np.linspace(0, span, 43)[1:-1]
    chance = np.expm1(tilt - span) / np.expm1(-span)
    moment = np.logaddexp(
        np.log(chance) + (order - 1) * tilt, np.log1p(-chance) + (order - 1) * (tilt - span)
    )
    truth = draws * moment.max() / (order - 1)
    assert BoundedRange(span, draws).rdp([order])[0] >= truth - 1e-12 * draws / (order - 1)


@pytest.mark.parametrize(("span", "draws"), [(0.3, 3), (0.1, 3), (0.7, 11), (0.01, 57)])
def test_pure_epsilon_is_not_rounded_below_the_product(span, draws):
    assert Fraction(BoundedRange(span, draws).pure_epsilon) >= Fraction(span) * draws


def test_an_enormous_span_is_no_privacy_and_no_warning():
    assert BoundedRange(1e100, EXACT_DRAWS).delta(1.0) == 1


def test_delta_is_zero_only_from_the_pure_epsilon_on():
    profile = BoundedRange(0.1, EXACT_DRAWS)
    assert profile.delta(profile.pure_epsilon) == 0
    assert profile.delta(0.99 * profile.pure_epsilon) > 0


@pytest.mark.parametrize("span", [0.0, -1.0, math.nan, math.inf])
def test_a_span_that_is_not_positive_is_refused(span):
    with pytest.raises(InputError, match="span must be a positive number; got"):
        BoundedRange(span)


def test_a_number_of_draws_that_is_not_whole_is_refused():
    with pytest.raises(InputError, match="draws must be at least 1; got 0"):
        BoundedRange(1.0, draws=0)
    with pytest.raises(InputTypeError, match="draws must be a whole number; got"):
        BoundedRange(1.0, draws=2.0)
