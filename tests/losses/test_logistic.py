"""What is special about the logistic loss."""

import mpmath as mp
import numpy as np
from scipy.special import expit, log_expit
from sklearn.metrics import log_loss

from discreet.losses import Logistic

Z = np.linspace(-30, 30, 601)


def test_value_is_minus_the_log_probability_of_the_label():
    for y in (-1.0, 1.0):
        np.testing.assert_allclose(Logistic().value(y, Z), -log_expit(y * Z), rtol=1e-14)


def test_mean_value_is_the_log_loss_of_scikit_learn():
    y = np.where(np.arange(Z.size) % 3, 1.0, -1.0)
    z = Z / 6
    expected = log_loss(y, Logistic().probability(z))
    np.testing.assert_allclose(Logistic().value(y, z).mean(), expected, rtol=1e-12)


def test_probability_is_the_logistic_function():
    np.testing.assert_array_equal(Logistic().probability(Z), expit(Z))


def test_bound_on_the_slope_is_one_half_where_only_the_origin_is_in_reach():
    assert 0.5 <= Logistic().lipschitz(0.0) <= 0.5 * (1 + 1e-14)


def test_both_derivatives_together_are_as_exact_as_each_alone():
    # Certificates of minimisers allow a slope sixteen roundings.
    margins = np.concatenate([Z, [0.0, -0.0, 5e-324, 36.7, 709.7, 709.8, 745.2, 1e5, 1e300]])
    margins = np.concatenate([margins, -margins])
    for y in (-1.0, 1.0):
        slopes, curvatures = Logistic().slope_and_curvature(y, margins)
        np.testing.assert_allclose(slopes, Logistic().slope(y, margins), rtol=1e-14, atol=1e-300)
        with mp.workdps(50):
            for z, slope, curvature in zip(margins, slopes, curvatures, strict=True):
                s = 1 / (1 + mp.exp(mp.mpf(y * z))) if y * z < 1e4 else mp.mpf(0)
                assert abs(mp.mpf(float(slope)) + y * s) <= 8 * mp.mpf(2) ** -53
                assert abs(mp.mpf(float(curvature)) - s * (1 - s)) <= 8 * mp.mpf(2) ** -53
        assert (np.abs(slopes) <= 1).all()
        assert (curvatures >= 0).all()
