"""Tilted convolution against exact Gaussians, plain sums, and distributions of dp-accounting."""

import math
from itertools import pairwise

import numpy as np
import pytest
from dp_accounting.pld import pld_pmf
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
from scipy import fft
from scipy.stats import norm

from discreet.privacy import (
    Budget,
    Gaussian,
    Laplace,
    Pure,
    SampledGaussian,
    ShiftedGaussian,
    accountant,
    calibrate,
    compose,
    gaussian_multiplier,
)
from discreet.privacy import tilted_fft as tilted
from discreet.privacy.hull import lower_hull
from discreet.privacy.tilted_fft import GridLoss, composed_delta, connect_the_dots

RELATIONS = pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])


def reading(loss, epsilons):
    """Return delta of one loss on a grid, term by term."""
    excess = -np.expm1(np.minimum(np.asarray(epsilons)[:, None] - loss.losses, 0.0))
    return excess @ loss.masses + loss.beyond


def one_against_rest(classes, noise, *, ridge, is_replace=False, first=None):
    """Return the profile of so many logistic regressions with their masks."""
    once = ShiftedGaussian(
        1 / noise, math.log1p(0.25 / ridge), joint=1 / ridge, is_replace=is_replace
    )
    before = [] if first is None else [Gaussian(first)]
    return compose([*before, *[once, Gaussian(0.02 / noise)] * classes])


def their_loss(deltas, reach, step):
    """Connect the dots as dp-accounting does."""
    places = np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
    dots = np.minimum.accumulate(deltas(places * step))
    return PrivacyLossDistribution(pld_pmf.create_pmf_pessimistic_connect_dots(step, places, dots))


def fine_delta(profile, classes, rest, epsilon, *, step):
    """Return delta of a composition from the rules themselves, by dp-accounting on a fine grid."""
    starts = np.array([rule.start for rule in profile.rules])
    span = 2 * profile.mu**2 + 26 * profile.mu
    points = np.unique(
        np.concatenate(
            [starts.min() + np.linspace(0, np.ptp(starts) + span, 4000)]
            + [start + np.linspace(0, span, 2000) for start in starts]
        )
    )
    stated = [np.where(points >= r.start, r.bound(points), 1.0) for r in profile.rules]
    hull = lower_hull(points, np.minimum(np.min(stated, axis=0), 1.0))
    reach = starts.min() + span
    whole = accountant.compose_losses(
        [
            (their_loss(hull, reach, step), classes),
            (their_loss(Gaussian(rest).deltas, Gaussian(rest).reach, step), 1),
        ]
    )
    return float(whole.get_delta_for_epsilon(epsilon))


@pytest.mark.parametrize("profile", [Gaussian(0.8), Laplace(0.7), Pure(0.31)], ids=repr)
@pytest.mark.parametrize("step", [0.01, 0.13])
def test_connected_dots_agree_on_the_grid_and_dominate_in_between(profile, step):
    loss = connect_the_dots(profile.deltas, 8.0, step)
    on_grid = step * np.arange(30)
    np.testing.assert_allclose(reading(loss, on_grid), profile.deltas(on_grid), rtol=1e-8)
    between = np.linspace(-3, 3, 61)
    assert np.all(reading(loss, between) >= profile.deltas(between) * (1 - 1e-12))
    assert np.all(loss.masses >= 0)


@pytest.mark.parametrize("profile", [Gaussian(0.8), Laplace(0.7), Pure(0.31)], ids=repr)
def test_a_loss_for_dp_accounting_has_the_dots_that_it_connects_itself(profile):
    ours, theirs = (
        accountant.loss_of_deltas(profile.deltas, 8.0, 0.01),
        their_loss(profile.deltas, 8.0, 0.01),
    )
    for epsilon in np.linspace(-2, 6, 33):
        delta = theirs.get_delta_for_epsilon(float(epsilon))
        assert ours.get_delta_for_epsilon(float(epsilon)) == pytest.approx(
            delta, rel=1e-8, abs=1e-14
        )


def test_a_bound_that_is_not_convex_keeps_total_mass_one():
    def bumpy(epsilons):
        return Gaussian(1.0).deltas(epsilons) * (1 + 0.5 * (np.abs(epsilons - 0.5) < 0.2))

    loss = connect_the_dots(bumpy, 8.0, 0.01)
    assert loss.masses.sum() == pytest.approx(1, abs=1e-7)
    epsilons = np.linspace(0, 4, 33)
    assert np.all(reading(loss, epsilons) >= Gaussian(1.0).deltas(epsilons) * (1 - 1e-9))


def test_beyond_the_reach_the_loss_is_infinite():
    loss = connect_the_dots(Gaussian(1.0).deltas, 1.0, 0.01)
    assert composed_delta([(loss, 2)], 0.0, 50.0) >= 1 - (1 - Gaussian(1.0).delta(1.0)) ** 2


@pytest.mark.parametrize("step", [1e-3, 400.0, 1e6])
def test_steps_of_any_width_are_survived(step):
    loss = connect_the_dots(Gaussian(1.0).deltas, 12.0, step)
    assert Gaussian(2.0).delta(1.0) <= composed_delta([(loss, 4)], 0.0, 1.0) <= 1.0001


@pytest.mark.parametrize("times", [1, 7, 100, 10_000])
@pytest.mark.parametrize("rest", [0.0, 0.03, 1.0])
def test_deltas_of_any_size_are_exact_to_a_share_of_themselves(times, rest):
    mu = 0.5 / math.sqrt(times)
    loss = connect_the_dots(Gaussian(mu).deltas, 40 * mu, mu / 80)
    whole = Gaussian(math.hypot(0.5, rest))
    for z in (-1.0, 0.0, 2.0, 6.0, 12.0, 20.0):
        epsilon = max(0.0, whole.mu**2 / 2 + z * whole.mu)
        ratio = composed_delta([(loss, times)], rest, epsilon) / whole.delta(epsilon)
        assert 1 - 1e-9 <= ratio <= 1 + 1e-4 * (1 + z**2)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("rest", [0.0, 0.2])
def test_every_tilt_gives_the_plain_sum_rounded_up(share, rest, monkeypatch):
    random = np.random.default_rng(7)
    parts = [
        (GridLoss(0.1, -3, random.dirichlet(np.ones(9)) * 0.99, 1e-12), 3),
        (GridLoss(0.1, -20, random.dirichlet(np.ones(33) / 4), 0.0), 2),
    ]
    plain = np.ones(1)
    for loss, times in parts:
        for _ in range(times):
            plain = np.convolve(plain, loss.masses)
    losses = 0.1 * (np.arange(plain.size) - 3 * 3 - 20 * 2)
    best = tilted._best_tilt
    monkeypatch.setattr(tilted, "_best_tilt", lambda *args: share * best(*args))
    for epsilon in (0.0, 0.75, 2.0, 4.0):
        later = Gaussian(rest).deltas if rest else lambda e: -np.expm1(np.minimum(e, 0.0))
        truth = plain @ later(epsilon - losses) + 3e-12
        got = composed_delta(parts, rest, epsilon)
        assert truth * (1 - 1e-11) <= got <= truth * (1 + 1e-8) + 1e-11


def test_a_part_longer_than_the_window_wraps_around():
    masses = np.zeros(100_001)
    masses[50_000 - 5], masses[50_000 + 5] = 0.5, 0.5
    masses[-1] = 1e-40
    loss = GridLoss(0.1, -50_000, masses, 0.0)
    # Losses of 1, 0 and -1 with chances 1/4, 1/2 and 1/4.
    truth = -0.25 * math.expm1(0.4 - 1.0)
    assert composed_delta([(loss, 2)], 0.0, 0.4) == pytest.approx(truth, rel=1e-9)


def test_a_certain_infinite_loss_has_delta_one():
    assert composed_delta([(GridLoss(0.1, 0, np.zeros(3), 1.0), 2)], 0.0, 1.0) == 1.0


@RELATIONS
@pytest.mark.parametrize(
    ("classes", "epsilon", "share"), [(2, 0.1, 1.0), (7, 1.0, 0.8), (10, 1.0, 3.0), (50, 8.0, 1.3)]
)
def test_many_minimisers_cost_what_a_very_fine_distribution_says(
    classes, epsilon, share, is_replace
):
    ridge = share * classes / epsilon
    budget = Budget(epsilon, 1e-9)

    def profile_of(noise):
        return one_against_rest(
            classes, noise, ridge=ridge, is_replace=is_replace, first=0.1 / noise
        )

    noise = calibrate(profile_of, budget)
    once = profile_of(noise).parts[1]
    rest = math.hypot(0.1, 0.02 * math.sqrt(classes)) / noise
    step = min(epsilon / 5000, once.mu / 30)
    fine = fine_delta(once, classes, rest, epsilon, step=step)
    ours = profile_of(noise).delta(epsilon)
    # A fine grid is itself above the truth, by a little; 1e-3 of noise is over 2 % of delta.
    assert ours >= fine * (1 - 5e-3)
    assert profile_of(noise * 1.001).delta(epsilon) <= fine


@pytest.mark.parametrize("classes", [2, 10, 50])
@pytest.mark.parametrize("delta", [1e-5, 1e-9, 1e-12])
def test_add_remove_costs_no_more_than_the_corner_model(classes, delta):
    # The loss of all is at most the sum of max(k, N(mu^2/2, mu^2)).
    epsilon = 1.0
    ridge = 2 * classes / epsilon
    noise = calibrate(
        lambda noise: compose(
            [ShiftedGaussian(1 / noise, math.log1p(0.25 / ridge), joint=1 / ridge)] * classes
        ),
        Budget(epsilon, delta),
    )
    mu, corner = 1 / noise, 1 / ridge
    cells = np.linspace(-9, 12, 4201) * mu
    upper = np.maximum(corner, mu**2 / 2 + cells)
    step = upper[-1] - upper[-2]
    first = math.floor(corner / step)
    masses = np.bincount(
        np.ceil(upper / step).astype(int) - first, weights=norm.pdf(cells / mu) * step / mu
    )
    model = composed_delta([(GridLoss(step, first, masses, 0.0), classes)], 0.0, epsilon)
    assert delta * (1 - 1e-3) <= model


@RELATIONS
@pytest.mark.parametrize("classes", [2, 10, 50])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_without_curvature_the_noise_tends_to_the_gaussian_one(classes, epsilon, is_replace):
    for delta, loss in ((1e-5, 0.03), (1e-12, 0.01)):
        budget = Budget(epsilon, delta)
        noise = calibrate(
            lambda noise: compose(
                [ShiftedGaussian(1 / noise, 1e-9, joint=1e-9, is_replace=is_replace)] * classes
            ),
            budget,
        )
        shift = 2 if is_replace else 1
        least = gaussian_multiplier(budget) * math.sqrt(classes) * shift
        assert 1 - 1e-9 <= noise / least <= 1 + (loss if is_replace else 2e-4)


@RELATIONS
def test_more_classes_need_more_noise_and_never_more_than_the_square_root_of_them(is_replace):
    noises = {
        classes: calibrate(
            lambda noise, classes=classes: one_against_rest(
                classes, noise, ridge=300.0, is_replace=is_replace
            ),
            Budget(1.0, 1e-9),
        )
        for classes in (2, 3, 5, 10, 20, 50)
    }
    assert list(noises.values()) == sorted(noises.values())
    for fewer, more in pairwise(noises):
        assert noises[more] / noises[fewer] <= math.sqrt(more / fewer) * 1.01


@pytest.mark.parametrize("classes", [10, 50, 100])
@RELATIONS
def test_a_calibration_is_a_few_dozen_short_transforms(classes, is_replace, monkeypatch):
    lengths, evaluations = [], []
    forward, corners = fft.rfft, tilted.lower_hull

    def rfft(masses):
        lengths.append(masses.size)
        return forward(masses)

    def hull(epsilons, *deltas):
        evaluations.append(epsilons.size)
        return corners(epsilons, *deltas)

    monkeypatch.setattr(fft, "rfft", rfft)
    monkeypatch.setattr(tilted, "lower_hull", hull)
    calibrate(
        lambda noise: one_against_rest(classes, noise, ridge=3.0 * classes, is_replace=is_replace),
        Budget(1.0, 1e-9),
    )
    assert len(evaluations) == len(lengths) <= 60
    assert max(evaluations) <= 2001
    assert max(lengths) <= 60_000


@pytest.mark.parametrize("mu", [0.0, 1e-3, 0.03, 1.0, 6.0])
@pytest.mark.parametrize("times", [1, 3, 300])
def test_losses_that_are_bounded_instead_of_weighed_never_lower_delta(mu, times, monkeypatch):
    part = 0.9 / math.sqrt(times)
    loss = connect_the_dots(Laplace(part).deltas, part, part / 300)
    for epsilon in (0.0, 0.1, 1.0, 3.0, 9.0):
        near = composed_delta([(loss, times)], mu, epsilon)
        monkeypatch.setattr(tilted, "_FAR", 1e6)
        all_weighed = composed_delta([(loss, times)], mu, epsilon)
        monkeypatch.undo()
        assert all_weighed * (1 - 1e-13) <= near <= all_weighed * (1 + 1e-12) + 1e-300


@pytest.mark.parametrize("mu", [0.0, 0.2])
@pytest.mark.parametrize("steps", [1, 10, 10_000])
def test_tilts_tried_on_few_points_are_those_of_all_points(mu, steps):
    sampled = SampledGaussian(0.8, 2e-3, steps)
    parts = [(sampled.loss_of_one(1e-3, is_reversed=way), steps) for way in (False, True)]
    for epsilon in (1e-3, 0.1, 1.0, 4.0, 30.0):

        def is_too_much(tilt, epsilon=epsilon):
            whole = sum(times * float(loss.tilt_by(tilt)[0] @ loss.losses) for loss, times in parts)
            return mu**2 * (0.5 + tilt) + whole > epsilon

        plainly, _ = tilted._octave_search(is_too_much, tilted._STEEPEST / 1e-3)
        assert tilted._best_tilt(parts, mu, epsilon) == plainly
