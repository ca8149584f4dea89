"""Measurements of sets, checked in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.geometry import Box, L2Ball, LinfBall, Simplex

law = settings(derandomize=True, deadline=None, max_examples=200)
radii = st.floats(1e-100, 1e100)
dimensions = st.integers(1, 10**6)
limits = st.lists(
    st.tuples(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100)).map(sorted), min_size=1
)


def is_just_above(measure, squared_truth):
    """Never below the truth, and above it by a hair at most."""
    return squared_truth <= Fraction(measure) ** 2 <= squared_truth * (1 + Fraction(2, 10**15)) ** 2


@given(radius=radii, dimension=dimensions)
@law
def test_the_sum_norm_of_a_euclidean_ball_is_not_understated(radius, dimension):
    truth = dimension * Fraction(radius) ** 2
    assert is_just_above(L2Ball(radius).reach(dimension, 1), truth)
    assert is_just_above(L2Ball(radius).diameter(dimension, 1), 4 * truth)


@given(radius=radii, dimension=dimensions)
@law
def test_the_corner_of_a_cube_is_not_understated(radius, dimension):
    ball = LinfBall(radius)
    assert is_just_above(ball.reach(dimension, 2), dimension * Fraction(radius) ** 2)
    assert is_just_above(ball.reach(dimension, 1), (dimension * Fraction(radius)) ** 2)


@given(total=radii)
@law
def test_the_side_of_a_simplex_is_not_understated(total):
    assert is_just_above(Simplex(total).diameter(2), 2 * Fraction(total) ** 2)
    assert Simplex(total).diameter(1) == 0.0


@given(pairs=limits)
@law
def test_boxes_are_not_understated(pairs):
    lower, upper = zip(*pairs, strict=True)
    box, dimension = Box(lower, upper), len(pairs)
    widths = [Fraction(high) - Fraction(low) for low, high in pairs]
    farthest = [max(abs(Fraction(low)), abs(Fraction(high))) for low, high in pairs]
    for measure, exact in ((box.diameter, widths), (box.reach, farthest)):
        # Below the normal range the hair is one subnormal step, too wide for the relative check.
        if 0 < max(exact) < Fraction(np.finfo(float).tiny):
            assert Fraction(measure(dimension, 1)) >= sum(exact)
            assert Fraction(measure(dimension, 2)) ** 2 >= sum(width**2 for width in exact)
            continue
        assert is_just_above(measure(dimension, 1), sum(exact) ** 2)
        assert is_just_above(measure(dimension, 2), sum(width**2 for width in exact))
        assert is_just_above(measure(dimension, math.inf), max(exact) ** 2)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-200])
def test_boxes_whose_squares_vanish_are_not_understated(tiny):
    box = Box([0.0, 0.0], [tiny, tiny])
    assert Fraction(box.reach(2)) ** 2 >= 2 * Fraction(tiny) ** 2
    assert Fraction(box.diameter(2)) ** 2 >= 2 * Fraction(tiny) ** 2


def test_measurements_that_need_no_rounding_are_exact():
    assert L2Ball(0.1).reach(5) == L2Ball(0.1).reach(5, math.inf) == 0.1
    assert LinfBall(0.1).diameter(5, math.inf) == 0.2
    assert Box([0.0, -3.0], [0.1, 0.2]).reach(2, math.inf) == 3.0
