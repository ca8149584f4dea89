"""What is special about the logistic loss."""

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
