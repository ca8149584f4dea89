"""What is special about the Poisson loss."""

import math

import numpy as np
import pytest
from sklearn.metrics import mean_poisson_deviance

from discreet.errors import InputError
from discreet.losses import Poisson

LOSS = Poisson(label_bound=9.0, reach=2.0)
INSIDE = np.linspace(-2, 2, 401)
COUNTS = np.arange(1.0, 8.0)[:, None]


def test_within_reach_it_is_the_poisson_loss():
    expected = np.exp(INSIDE) - COUNTS * INSIDE
    np.testing.assert_allclose(LOSS.value(COUNTS, INSIDE), expected, rtol=1e-14, atol=1e-14)


def test_within_reach_the_excess_over_the_best_margin_is_half_the_deviance():
    for y in (1.0, 3.0, 7.0):
        excess = LOSS.value(y, INSIDE[::20]) - LOSS.value(y, math.log(y))
        deviances = [mean_poisson_deviance([y], [math.exp(z)]) for z in INSIDE[::20]]
        np.testing.assert_allclose(excess, np.array(deviances) / 2, atol=1e-13)


@pytest.mark.parametrize("end", [-2.0, 2.0])
def test_beyond_reach_it_is_the_tangent_at_the_end(end):
    beyond = end + math.copysign(1.0, end) * np.array([0.0, 0.5, 3.0, 100.0])
    tangent = LOSS.value(COUNTS, end) + LOSS.slope(COUNTS, end) * (beyond - end)
    np.testing.assert_allclose(LOSS.value(COUNTS, beyond), tangent, rtol=1e-13)
    assert np.all(LOSS.curvature(COUNTS, beyond[1:]) == 0)


def test_the_bound_on_the_slope_is_set_by_small_counts_or_by_large_ones():
    assert Poisson(1.0, 2.0).lipschitz(math.inf) == pytest.approx(math.exp(2.0))
    assert Poisson(50.0, 2.0).lipschitz(math.inf) == pytest.approx(50.0 - math.exp(-2.0))


def test_a_reach_whose_exponential_is_unusable_is_refused():
    with pytest.raises(InputError, match="reach must be at most 230"):
        Poisson(1.0, 231.0)
