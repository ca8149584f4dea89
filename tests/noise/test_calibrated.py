"""Calibration closes: the scale pays for the sensitivity that snapping itself adds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import CalibrationError, InputError, InputTypeError
from discreet.noise import gaussian_grid, laplace_grid
from discreet.noise.grid import FINE_BITS, FINEST_BITS

fixed = settings(derandomize=True, deadline=None)
public_facts = {
    "sensitivity": st.floats(1e-30, 1e30),
    "dimension": st.integers(1, 10**9),
    "error": st.just(0.0) | st.floats(1e-40, 1e30),
    "reach": st.floats(1e-6, 2.0**30),
}


def built(make, **facts):
    try:
        return make(**facts)
    except CalibrationError:
        return None


@fixed
@given(multiplier=st.floats(1e-4, 1e6), **public_facts)
def test_gaussian_scales_pay_for_the_widened_sensitivity(
    multiplier, sensitivity, dimension, error, reach
):
    grid = built(
        gaussian_grid,
        multiplier=multiplier,
        sensitivity=sensitivity,
        dimension=dimension,
        error=error,
        bound=reach * multiplier * (sensitivity + error),
    )
    assume(grid is not None)
    widened = Fraction(sensitivity) + 2 * Fraction(error) + Fraction(grid.spread_l2(dimension))
    assert Fraction(grid.scale) >= Fraction(multiplier) * widened


@fixed
@given(epsilon=st.floats(1e-6, 1e4), **public_facts)
def test_laplace_scales_pay_for_the_widened_sensitivity(
    epsilon, sensitivity, dimension, error, reach
):
    grid = built(
        laplace_grid,
        epsilon=epsilon,
        sensitivity=sensitivity,
        dimension=dimension,
        error=error,
        bound=reach * (sensitivity + error) / epsilon,
    )
    assume(grid is not None)
    root = Fraction(math.isqrt(dimension << 200) + 1, 1 << 100)  # at least sqrt(dimension)
    widened = Fraction(sensitivity) + 2 * root * Fraction(error)
    widened += Fraction(grid.spread_l1(dimension))
    assert Fraction(grid.scale) * Fraction(epsilon) >= widened


@fixed
@given(multiplier=st.floats(0.01, 100), dimension=st.integers(1, 10**9), reach=st.floats(1e-3, 1e9))
def test_a_grid_is_as_fine_as_it_need_be_and_as_coarse_as_it_must(multiplier, dimension, reach):
    grid = built(
        gaussian_grid, multiplier=multiplier, sensitivity=1.0, dimension=dimension, bound=reach
    )
    assume(grid is not None)
    assert 12 <= grid.bits <= FINEST_BITS
    assert grid.bound / grid.step <= 2**52
    share = 2 * multiplier * math.sqrt(dimension) * 2.0**-grid.bits
    assert share <= 0.5
    if share > 2.0**-20 and grid.bits < FINEST_BITS:  # coarser than wished: the bound forced it
        finer = multiplier / (1 - share / 2) * 2.0 ** -(grid.bits + 1)
        assert grid.bound / finer > 2**52 * (1 - 1e-9)
    if grid.bits > FINE_BITS:  # finer than usual: the dimension asked for it
        assert 2 * share > 2.0**-20


@fixed
@given(multiplier=st.floats(0.01, 100), dimension=st.integers(1, 10**7))
def test_the_price_of_the_grid_is_negligible_when_there_is_room(multiplier, dimension):
    grid = gaussian_grid(
        multiplier=multiplier, sensitivity=1.0, dimension=dimension, bound=multiplier
    )
    assert multiplier <= grid.scale <= multiplier * (1 + 2.0**-19)


def test_the_worked_example_has_36_bits_and_costs_less_than_a_millionth():
    grid = gaussian_grid(multiplier=5.0, sensitivity=1.0, dimension=20_000_000, bound=65_000 * 5.0)
    assert grid.bits == 36
    assert 0 < grid.scale / 5.0 - 1 < 1e-6


def test_the_example_that_once_gave_a_negative_scale_is_refused():
    facts = {"multiplier": 5.0, "sensitivity": 1.0, "dimension": 20_000_000}
    # Room for twelve bits only: the denominator would be 1 - 10.9.
    with pytest.raises(CalibrationError):
        gaussian_grid(**facts, bound=5.0 * 2.0**40)
    with pytest.raises(CalibrationError):
        gaussian_grid(**facts, bound=1.0, room=2.0**12)


def test_a_bound_beyond_twelve_bits_is_refused():
    facts = {"multiplier": 1.0, "sensitivity": 1.0, "dimension": 1}
    assert gaussian_grid(**facts, bound=2.0**40).bits == 12
    with pytest.raises(CalibrationError):
        gaussian_grid(**facts, bound=2.0**41)
    assert gaussian_grid(**facts, bound=2.0, room=2.0**13).bits == 12
    with pytest.raises(CalibrationError):
        gaussian_grid(**facts, bound=2.0, room=2.0**12)
    with pytest.raises(CalibrationError):
        laplace_grid(epsilon=1.0, sensitivity=1.0, dimension=1, bound=2.0**41)


@pytest.mark.parametrize("dimension", [1, 1000])
def test_twelve_bits_are_used_while_their_widening_stays_below_one_half(dimension):
    """At k = 12 the share 2 nu sqrt(p) / 4096 passes one half at nu sqrt(p) = 1024."""
    largest = 1024 / math.sqrt(dimension)
    tight = {"sensitivity": 1.0, "dimension": dimension}
    grid = gaussian_grid(multiplier=largest * 0.999, bound=largest * 2.0**40, **tight)
    assert grid.bits == 12
    assert grid.scale == pytest.approx(2 * largest, rel=0.01)
    with pytest.raises(CalibrationError):
        gaussian_grid(multiplier=largest * 1.001, bound=1.9 * largest * 2.0**40, **tight)


def test_room_limits_the_units_that_a_value_may_take():
    for room in (2.0**20, 2.0**40):
        grid = gaussian_grid(multiplier=1.0, sensitivity=1.0, dimension=4, bound=50.0, room=room)
        assert abs(grid.snap([50.0])[0]) <= room


def test_a_scale_too_small_for_a_normal_step_is_refused():
    with pytest.raises(CalibrationError, match="too small"):
        gaussian_grid(multiplier=1e-300, sensitivity=1e-5, dimension=1, bound=1e-305)
    with pytest.raises(CalibrationError, match="too small"):
        laplace_grid(epsilon=1.0, sensitivity=5e-324, dimension=1, bound=5e-324)


def test_a_scale_beyond_every_float_is_refused():
    with pytest.raises(CalibrationError):
        gaussian_grid(multiplier=1e200, sensitivity=1e200, dimension=1, bound=1.0)
    with pytest.raises(CalibrationError):
        gaussian_grid(multiplier=1e300, sensitivity=1e-300, dimension=10, bound=1.0)
    with pytest.raises(CalibrationError):
        laplace_grid(epsilon=5e-324, sensitivity=1e10, dimension=10, bound=1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"multiplier": 0.0},
        {"multiplier": math.inf},
        {"sensitivity": -1.0},
        {"bound": math.nan},
        {"error": -1e-9},
        {"error": math.inf},
        {"dimension": 0},
    ],
)
def test_facts_that_are_not_facts_are_refused(change):
    facts = {"multiplier": 1.0, "sensitivity": 1.0, "dimension": 1, "bound": 1.0}
    with pytest.raises(InputError):
        gaussian_grid(**{**facts, **change})


def test_a_dimension_is_a_whole_number():
    with pytest.raises(InputTypeError):
        laplace_grid(epsilon=1.0, sensitivity=1.0, dimension=2.0, bound=1.0)


def test_facts_in_single_precision_are_widened_before_they_are_multiplied():
    rng = np.random.default_rng(0)
    for multiplier, sensitivity in rng.uniform(0.5, 9, (300, 2)).astype(np.float32):
        grid = gaussian_grid(
            multiplier=multiplier, sensitivity=sensitivity, dimension=10, bound=10.0
        )
        widened = Fraction(float(sensitivity)) + Fraction(grid.spread_l2(10))
        assert Fraction(float(grid.scale)) >= Fraction(float(multiplier)) * widened
