"""Line searches by slopes end where the slope changes its sign, down to neighbouring floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.solvers.steady import GOOD_PROGRESS, find_crossing


@pytest.mark.parametrize("root", [1e-12, 0.3, 1.0, 7.0, 1e4])
@pytest.mark.parametrize("bend", [1.0, 1e-6, 1e6])
def test_the_slope_is_nearly_zero_where_it_ends(root, bend):
    def slope(length):
        away = length - root
        return away if away < 0 else bend * away

    assert abs(slope(find_crossing(slope))) <= GOOD_PROGRESS * root


def test_a_jump_is_narrowed_down_to_neighbouring_floats():
    edge = 1 / 3
    found = find_crossing(lambda length: -1.0 if length < edge else 1.0)
    assert found in (edge, math.nextafter(edge, 0))


def test_a_bounded_way_is_not_left():
    assert find_crossing(lambda length: length - 5.0, is_bounded=True) == 1.0


def test_a_slope_that_never_rises_ends_too():
    assert np.isfinite(find_crossing(lambda length: -1.0))
