"""What relates the losses of a residual: squared, Huber, pseudo-Huber and log-cosh."""

import math

import numpy as np
import pytest
from scipy import special
from sklearn.metrics import mean_squared_error

from discreet.losses import Huber, LogCosh, PseudoHuber, Squared

R = np.linspace(-9, 9, 1801)
every_threshold = pytest.mark.parametrize("threshold", [1e-3, 0.3, 1.0, 2.5, 1e3])
every_robust_loss = pytest.mark.parametrize("kind", [Huber, PseudoHuber, LogCosh])


def test_mean_squared_loss_is_half_that_of_scikit_learn():
    y = np.sin(R)
    expected = mean_squared_error(y, R) / 2
    np.testing.assert_allclose(Squared(1.0).value(y, R).mean(), expected, rtol=1e-12)


def test_squared_loss_of_bounded_margins_has_slope_at_most_reach_plus_label_bound():
    assert Squared(2.0).lipschitz(3.0) == pytest.approx(5.0, rel=1e-14)
    assert Squared(2.0).lipschitz(3.0) >= 5.0


def test_a_squared_loss_beyond_the_largest_float_is_infinite():
    assert Squared(1.0).value(0.0, 1e200) == math.inf


@every_threshold
def test_huber_is_that_of_scipy(threshold):
    expected = special.huber(threshold, R)
    np.testing.assert_allclose(Huber(threshold).value(0.0, R), expected, rtol=1e-13)


@every_threshold
def test_pseudo_huber_is_that_of_scipy(threshold):
    expected = special.pseudo_huber(threshold, R)
    np.testing.assert_allclose(PseudoHuber(threshold).value(0.0, R), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("threshold", [0.3, 1.0, 2.5])
def test_log_cosh_is_its_formula(threshold):
    expected = threshold**2 * np.log(np.cosh(R / threshold))
    np.testing.assert_allclose(LogCosh(threshold).value(0.0, R), expected, rtol=1e-12, atol=1e-14)


@every_robust_loss
def test_only_the_residual_matters(kind):
    y = 5.0
    for loss in (kind(0.5), kind(2.0)):
        np.testing.assert_allclose(loss.value(y, R + y), loss.value(0.0, R), rtol=1e-9, atol=1e-15)


@every_robust_loss
@pytest.mark.parametrize("residual", [1e-150, 1e-30, 1e-9, 1e-6])
def test_tiny_residuals_cost_half_their_square(kind, residual):
    assert kind(1.0).value(0.0, residual) == pytest.approx(residual**2 / 2, rel=1e-12)


@every_robust_loss
def test_a_large_threshold_gives_the_squared_loss(kind):
    np.testing.assert_allclose(kind(1e6).value(0.0, R), Squared(1.0).value(0.0, R), rtol=1e-10)


@every_robust_loss
def test_a_small_threshold_gives_the_absolute_loss(kind):
    threshold = 1e-9
    np.testing.assert_allclose(kind(threshold).value(0.0, R) / threshold, np.abs(R), atol=2e-9)


@every_threshold
def test_the_smooth_losses_lie_below_huber(threshold):
    above = Huber(threshold).value(0.0, R)
    rounding = 1e-12 * (1 + above)
    for kind in (PseudoHuber, LogCosh):
        assert np.all(kind(threshold).value(0.0, R) <= above + rounding)


def test_pseudo_huber_slope_reaches_its_threshold_without_overflow():
    loss = PseudoHuber(1e-100)
    np.testing.assert_allclose(loss.slope(0.0, np.array([-1e300, 1e300])), [-1e-100, 1e-100])


def test_joint_smoothness_of_pseudo_huber_is_not_rounded_below_the_truth():
    """(3 sqrt 3 / 4)^2 = 27/16, compared in whole numbers."""
    numerator, denominator = PseudoHuber(1.0).joint_smoothness.as_integer_ratio()
    assert 16 * numerator**2 >= 27 * denominator**2
    assert PseudoHuber(1.0).joint_smoothness == pytest.approx(1.5**1.5 * 0.5**0.5, rel=1e-14)
