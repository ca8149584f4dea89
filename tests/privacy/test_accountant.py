"""The door to dp-accounting: grids dominate, and both relations mean what they say."""

import math

import dp_accounting
import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy import (
    Approximate,
    BoundedRange,
    Gaussian,
    Laplace,
    NoPrivacy,
    Pure,
    Renyi,
    SampledGaussian,
    ShiftedGaussian,
    ZeroConcentrated,
    accountant,
    compose,
)

LAW = settings(derandomize=True, deadline=None, max_examples=200)
EXACT = [
    Gaussian(0.1),
    Gaussian(1.0),
    Pure(0.7),
    Laplace(0.7),
    Approximate(0.4, 1e-5),
    BoundedRange(0.5, 2),
    ShiftedGaussian(0.2, 0.0),
]
# Bounds on a known mechanism; they need not be convex, so a grid may lie below the bound itself.
BOUNDS = [
    (ZeroConcentrated(0.03), Gaussian(math.sqrt(0.06))),
    (Renyi((2.0, 8.0, 40.0), (0.04, 0.16, 0.8)), Gaussian(0.2)),
    (ShiftedGaussian(0.2, 0.1), Gaussian(0.2)),
]
DOMINATED = [(profile, profile) for profile in EXACT] + BOUNDS


@LAW
@given(span=st.floats(math.log(1e-9), math.log(1e6)).map(math.exp))
def test_a_natural_interval_resolves_the_span_with_a_bounded_number_of_cells(span):
    interval = accountant.natural_interval(span)
    assert span / interval >= 499
    assert 2 * span / interval <= max(accountant.MOST_CELLS, 1000)


@pytest.mark.parametrize("interval", [1e-3, 0.0137, 0.1])
@pytest.mark.parametrize(("profile", "truth"), DOMINATED, ids=repr)
def test_a_grid_of_any_width_dominates_the_truth(profile, truth, interval):
    loss = profile.loss(interval)
    for epsilon in np.linspace(-2, 4, 37):
        read = float(loss.get_delta_for_epsilon(float(epsilon)))
        assert read >= truth.delta(epsilon) * (1 - 2e-9) - 1e-15


@pytest.mark.parametrize(("profile", "truth"), BOUNDS, ids=repr)
def test_composing_bounds_that_are_not_convex_dominates_the_truth(profile, truth):
    loss = accountant.compose_losses([(profile.loss(0.01), 6)])
    for epsilon in np.linspace(0, 4, 21):
        read = float(loss.get_delta_for_epsilon(float(epsilon)))
        assert read >= Gaussian(truth.mu * math.sqrt(6)).delta(epsilon) * (1 - 1e-8) - 1e-13


@pytest.mark.parametrize("profile", EXACT, ids=repr)
def test_a_fine_grid_is_tight(profile):
    loss = profile.loss(1e-3)
    for epsilon in (0.0, 0.1, 0.3):
        read = float(loss.get_delta_for_epsilon(epsilon))
        assert read <= profile.delta(epsilon) * (1 + 2e-2) + 1e-9


@pytest.mark.parametrize("width", [0.0031, 0.05])
def test_composing_on_a_coarse_grid_only_raises_delta(width):
    loss = accountant.compose_losses(
        [(Gaussian(0.3).loss(width), 4), (Gaussian(0.8).loss(width), 1)]
    )
    for epsilon in (0.0, 0.2, 1.0, 2.0, 4.0):
        read = float(loss.get_delta_for_epsilon(epsilon))
        assert read >= Gaussian(1.0).delta(epsilon) * (1 - 2e-9)


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("reach", [0.5, 1.0, 4.0])
def test_beyond_the_reach_all_mass_counts_as_infinite(mu, reach):
    # Against the truth: delta is rounded up, and once more where dots are connected.
    loss = accountant.loss_of_deltas(Gaussian(mu).deltas, reach, 0.01)
    with mp.workdps(30):
        near = mp.mpf(reach) / mu - mp.mpf(mu) / 2
        truth = mp.ncdf(-near) - mp.exp(reach) * mp.ncdf(-near - mu)
    assert truth <= loss.get_delta_for_epsilon(50.0) <= truth * (1 + 3e-9)


def test_values_that_rise_are_replaced_by_what_came_before():
    def bumpy(epsilons):
        return Gaussian(1.0).deltas(epsilons) * (1 + 0.2 * (np.abs(epsilons - 0.5) < 0.05))

    loss = accountant.loss_of_deltas(bumpy, 5.0, 0.01)
    for epsilon in (-1.0, 0.0, 0.5, 0.52, 0.6, 2.0):
        assert float(loss.get_delta_for_epsilon(epsilon)) >= Gaussian(1.0).delta(epsilon) * (
            1 - 1e-9
        )


def test_no_privacy_is_a_certain_infinite_loss():
    assert float(NoPrivacy().loss(0.01).get_delta_for_epsilon(10.0)) == pytest.approx(1.0)


@pytest.mark.parametrize("is_replace", [False, True])
def test_both_accountants_agree_at_rate_one(is_replace):
    ratio = 0.4
    loss = accountant.loss_of_sampled_gaussian(ratio, 1.0, 3, is_replace=is_replace, interval=1e-3)
    shift = (2 if is_replace else 1) * ratio * math.sqrt(3)
    for epsilon in (0.1, 1.0, 3.0):
        read = float(loss.get_delta_for_epsilon(epsilon))
        assert read == pytest.approx(Gaussian(shift).delta(epsilon), rel=2e-3)
        assert read >= Gaussian(shift).delta(epsilon) * (1 - 1e-7)


def test_gaussians_and_laplace_agree_with_dp_accounting():
    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    theirs = PLDAccountant(relation)
    theirs.compose(dp_accounting.GaussianDpEvent(3.0), 5)
    theirs.compose(dp_accounting.LaplaceDpEvent(2.0), 2)
    ours = compose([Gaussian(1 / 3)] * 5 + [Laplace(0.5)] * 2)
    for delta in (1e-2, 1e-4, 1e-8):
        epsilon = theirs.get_epsilon(delta)
        assert epsilon * (1 - 1e-3) <= ours.epsilon(delta) <= epsilon * (1 + 1e-3)


@pytest.mark.parametrize("noise", [1.0, 20.0])
def test_one_gaussian_agrees_with_dp_accounting_in_both_relations(noise):
    for relation, factor in (("ADD_OR_REMOVE_ONE", 1), ("REPLACE_ONE", 2)):
        theirs = PLDAccountant(getattr(dp_accounting.NeighboringRelation, relation))
        theirs.compose(dp_accounting.GaussianDpEvent(noise))
        epsilon = theirs.get_epsilon(1e-6)
        ours = Gaussian(factor / noise).epsilon(1e-6)
        assert epsilon * (1 - 1e-3) <= ours <= epsilon * (1 + 1e-3)


def test_an_allowance_for_rounding_is_added_to_every_reading():
    both = compose([Gaussian(0.1), Pure(1e-3)])
    for epsilon in (0.1, 0.2):
        read = float(both._loss.get_delta_for_epsilon(epsilon))
        assert both.delta(epsilon) >= min(read + 0.99e-12, both._renyi(np.array([epsilon]))[0])


def test_the_allowance_counts_the_steps_inside_each_part():
    # A Fourier transform to the power n was seen to err by up to 1.3e-16 n, in both directions.
    steps = 100_000
    both = compose([SampledGaussian(0.02, 0.01, steps), Pure(1e-3)])
    both.delta(0.1)
    for composed in both._step_by_step:
        (loss, times), _ = composed.parts
        assert times == steps
        for tilt, known in composed._known.items():
            assert known.masses.min() >= 1.3e-16 * steps * np.linalg.norm(loss.tilt_by(tilt)[0])
