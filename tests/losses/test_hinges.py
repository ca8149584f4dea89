"""What relates the three hinges."""

import numpy as np
import pytest
from sklearn.metrics import hinge_loss

from discreet.losses import Hinge, HuberHinge, SmoothedHinge

Z = np.linspace(-6, 6, 2401)
every_width = pytest.mark.parametrize("width", [1e-9, 0.1, 0.5, 1.0, 4.0])


def test_mean_hinge_is_that_of_scikit_learn():
    y = np.where(np.arange(Z.size) % 3, 1.0, -1.0)
    np.testing.assert_allclose(Hinge().value(y, Z).mean(), hinge_loss(y, Z), rtol=1e-12)


def test_hinge_has_no_slope_at_its_kink():
    assert Hinge().slope(1.0, 1.0) == 0.0


@every_width
def test_huber_hinge_is_above_the_hinge_by_at_most_a_quarter_width(width):
    gaps = HuberHinge(width).value(1.0, Z) - Hinge().value(1.0, Z)
    assert gaps.min() >= 0
    assert gaps.max() == pytest.approx(width / 4, rel=1e-6, abs=1e-12)


@every_width
def test_smoothed_hinge_is_below_the_hinge_by_at_most_half_the_width(width):
    gaps = Hinge().value(1.0, Z) - SmoothedHinge(width).value(1.0, Z)
    assert gaps.min() >= -1e-15
    assert gaps.max() == pytest.approx(width / 2, rel=1e-6, abs=1e-12)


@every_width
def test_huber_hinge_is_a_smoothed_hinge_moved_by_its_width(width):
    ours, theirs = HuberHinge(width), SmoothedHinge(2 * width)
    for y in (-1.0, 1.0):
        np.testing.assert_allclose(ours.value(y, Z), theirs.value(y, Z - y * width), atol=1e-14)


@pytest.mark.parametrize("width", [0.25, 0.5, 2.0])
def test_huber_hinge_is_the_formula_of_chaudhuri_monteleoni_and_sarwate(width):
    flat, bent = 1 + width < Z, np.abs(1 - Z) <= width
    expected = np.select([flat, bent], [0.0, (1 + width - Z) ** 2 / (4 * width)], default=1 - Z)
    np.testing.assert_allclose(HuberHinge(width).value(1.0, Z), expected, atol=1e-15)


def test_no_curvature_is_in_reach_before_the_bend():
    assert HuberHinge(0.5).smoothness(0.4) == 0.0
    assert SmoothedHinge(0.5).smoothness(0.4) == 0.0


def test_a_wide_bend_keeps_the_slope_below_one():
    assert HuberHinge(4.0).lipschitz(1.0) == pytest.approx(6 / 8)
    assert SmoothedHinge(4.0).lipschitz(1.0) == pytest.approx(2 / 4)
