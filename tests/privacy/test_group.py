"""Group privacy: never below the truth, near it, and exact where there is a closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.privacy import (
    BoundedRange,
    Composition,
    Gaussian,
    Laplace,
    Pure,
    ShiftedGaussian,
    WithinDistance,
    ZeroConcentrated,
    group_delta,
    group_epsilon,
    group_profile,
)
from discreet.privacy import group as module

SIZES = (2, 3, 5, 10)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_gaussian_noise_is_told_apart_by_the_sum_of_the_shifts(size, delta):
    assert group_epsilon(Gaussian(0.2), size, delta) == pytest.approx(
        Gaussian(0.2 * size).epsilon(delta), rel=1e-9
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("one", [Gaussian(0.2), Laplace(0.3)], ids=repr)
def test_the_chain_is_never_below_the_truth_and_near_it(one, size):
    # Worked out as if there were no closed form; the truth is k times the shift, or the rate.
    points, deltas = module._curve(one, size)
    kinds = {Gaussian: lambda k: Gaussian(0.2 * k), Laplace: lambda k: Laplace(0.3 * k)}
    truth = kinds[type(one)](size)
    assert np.all(deltas * (1 + 1e-8) >= truth.deltas(points))
    for delta in (1e-3, 1e-6, 1e-9):
        found = float(points[np.flatnonzero(deltas <= delta)[0]])
        assert found == pytest.approx(truth.epsilon(delta), rel=5e-3)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("one", [Gaussian(0.2), Laplace(0.3)], ids=repr)
def test_between_two_points_of_the_grid_the_chain_is_not_below_the_truth_either(one, size):
    # A chord of the trade-off curve, which is concave, would be.
    points, deltas = module._curve(one, size)
    between = (points[1:] + points[:-1]) / 2
    truth = Gaussian(0.2 * size) if isinstance(one, Gaussian) else Laplace(0.3 * size)
    assert np.all(module._on_chord(points, deltas, between) * (1 + 1e-8) >= truth.deltas(between))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "one", [Laplace(0.3), BoundedRange(0.3), BoundedRange(0.1, 30, is_pure=False)], ids=repr
)
def test_closed_forms_are_never_above_the_chain_of_neighbours(one, size):
    points, deltas = module._curve(one, size)
    closed = module._closed_form(one, size)
    assert closed is not None
    assert np.all(closed.deltas(points) <= deltas * (1 + 1e-6))


@pytest.mark.parametrize("size", SIZES)
def test_a_group_under_concentrated_privacy_is_promised_what_gaussian_noise_keeps(size):
    found = group_profile(ZeroConcentrated(0.02), size, 1e-6)
    assert found.rdp([2.0, 8.0]) == pytest.approx(Gaussian(0.2 * size).rdp([2.0, 8.0]), rel=1e-6)
    assert np.all(found.deltas([0.5, 2.0, 6.0]) >= Gaussian(0.2 * size).deltas([0.5, 2.0, 6.0]))


@pytest.mark.parametrize("one", [Laplace(1e99), BoundedRange(1e99), ZeroConcentrated(1e99)])
def test_a_group_far_too_large_for_a_closed_form_has_a_profile_all_the_same(one):
    assert group_epsilon(one, 100, 1e-6) > 1e100


def test_an_equal_split_is_not_the_best_of_all():
    # The general rule (k e, delta (1 + e**e + ...)), as cards had it before.
    each = np.linspace(0.001, 3, 3000)
    powers = np.exp(np.outer(np.arange(10), each)).sum(axis=0)
    general = 10 * float(each[np.flatnonzero(Gaussian(0.2).deltas(each) * powers <= 1e-9)[0]])
    assert group_epsilon(Gaussian(0.2), 10, 1e-9) < 0.9 * general


@pytest.mark.parametrize("size", SIZES)
def test_pure_epsilons_add(size):
    assert group_epsilon(Pure(0.5), size, 0.0) == 0.5 * size
    assert group_delta(Pure(0.5), size, 0.5 * size) == 0.0
    assert group_epsilon(BoundedRange(0.5), size, 1e-6) <= 0.5 * size


def test_one_record_is_a_group_of_one():
    assert group_delta(Laplace(1.0), 1, 0.4) == Laplace(1.0).delta(0.4)
    assert group_epsilon(Gaussian(0.3), 1, 1e-6) == Gaussian(0.3).epsilon(1e-6)


@pytest.mark.parametrize("size", [2, 5])
def test_what_has_no_closed_form_is_read_off_a_table(size):
    parts = Composition((Gaussian(0.1), ShiftedGaussian(0.15, 0.1, 0.5, True, False)))
    found = group_epsilon(WithinDistance(parts, 1e-22), size, 1e-9)
    # No better than its Gaussian parts alone, and no worse than the general rule.
    assert found >= Gaussian(math.hypot(0.1, 0.15) * size).epsilon(1e-9)
    each = found / size
    powers = sum(math.exp(place * each) for place in range(size))
    assert WithinDistance(parts, 1e-22).delta(each) * powers >= 1e-9 * 0.99
    assert group_delta(WithinDistance(parts, 1e-22), size, found) <= 1e-9


def test_a_distance_is_paid_by_every_record_at_both_ends():
    near = WithinDistance(Gaussian(0.2), 1e-12)
    extra = group_delta(near, 3, 1.0) - Gaussian(0.6).delta(1.0)
    assert 6 * math.e * 1e-12 <= extra * (1 + 1e-2)  # 2 k e**epsilon tau


def test_where_nothing_is_promised_nothing_is_said():
    assert group_epsilon(WithinDistance(Pure(1.0), 1e-10), 900, 1e-9) == math.inf


@pytest.mark.parametrize("size", [0, 1.5, "two"])
def test_a_group_has_members(size):
    with pytest.raises((InputError, TypeError)):
        group_delta(Pure(1.0), size, 1.0)
