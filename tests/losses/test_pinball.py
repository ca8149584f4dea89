"""What is special about the pinball losses."""

import math

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

from discreet.errors import InputError, InputTypeError
from discreet.losses import Pinball, SmoothedPinball

Z = np.linspace(-3, 3, 1201)
every_quantile = pytest.mark.parametrize("quantile", [0.05, 0.5, 0.9])


@every_quantile
def test_mean_pinball_is_that_of_scikit_learn(quantile):
    y = np.sin(7 * Z)
    expected = mean_pinball_loss(y, Z, alpha=quantile)
    np.testing.assert_allclose(Pinball(quantile).value(y, Z).mean(), expected, rtol=1e-12)


@every_quantile
def test_the_best_constant_is_the_quantile(quantile):
    y = np.arange(101.0)
    candidates = np.arange(0.0, 100.0, 0.5)
    totals = [Pinball(quantile).value(y, candidate).sum() for candidate in candidates]
    assert candidates[np.argmin(totals)] == math.floor(101 * quantile)


@every_quantile
def test_the_slope_at_the_kink_is_a_subgradient(quantile):
    assert -quantile <= Pinball(quantile).slope(1.0, 1.0) <= 1 - quantile


@every_quantile
@pytest.mark.parametrize("width", [1e-9, 0.1, 2.0])
def test_smoothing_adds_at_most_an_eighth_of_the_width_and_only_near_the_label(quantile, width):
    added = SmoothedPinball(quantile, width).value(0.5, Z) - Pinball(quantile).value(0.5, Z)
    assert added.min() >= 0
    assert added.max() == pytest.approx(width / 8, rel=1e-6, abs=1e-12)
    assert np.all(added[np.abs(Z - 0.5) >= width / 2] == 0)


@every_quantile
def test_the_smoothed_slope_is_a_straight_ramp(quantile):
    width = 0.4
    z = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])
    slopes = SmoothedPinball(quantile, width).slope(0.0, z)
    np.testing.assert_allclose(slopes + quantile, [0, 0.25, 0.5, 0.75, 1], atol=1e-15)


@pytest.mark.parametrize("kind", [Pinball, lambda quantile: SmoothedPinball(quantile, 1.0)])
def test_the_quantile_must_lie_strictly_between_zero_and_one(kind):
    for wrong in (0.0, 1.0, -0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="quantile"):
            kind(wrong)
    with pytest.raises(InputTypeError, match="quantile"):
        kind("median")
