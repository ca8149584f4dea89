"""Projection on the L1 ball and the simplex against slow, exact bisection."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.geometry import L1Ball, L2Ball, Simplex

law = settings(derandomize=True, deadline=None, max_examples=100)
entries = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([0.0, 5e-324, 1e16, 1e16 + 2, 1e300, -1e300, 1.7e308, -1.7e308]),
    st.floats(allow_nan=False, allow_infinity=False),
)
points = st.lists(entries, min_size=1, max_size=8).map(np.array)
sizes = st.sampled_from([1.0, 0.3, 7.0, 1e-100, 1e100])


def kept(values, threshold):
    return [max(value - threshold, Fraction(0)) for value in values]


def simplex_by_bisection(values, total):
    """Find, in exact arithmetic, the threshold at which what remains sums to the total."""
    low, high = max(values) - total, max(values)
    for _ in range(60):
        middle = (low + high) / 2
        if sum(kept(values, middle)) > total:
            low = middle
        else:
            high = middle
    return kept(values, (low + high) / 2)


def ball_by_bisection(point, radius):
    magnitudes = [abs(Fraction(value)) for value in point.tolist()]
    if sum(magnitudes) <= radius:
        return point
    shares = simplex_by_bisection(magnitudes, Fraction(radius))
    return np.sign(point) * np.array(shares, dtype=float)


@given(point=points, radius=sizes)
@law
def test_ball_projection_agrees_with_bisection(point, radius):
    expected = ball_by_bisection(point, radius)
    np.testing.assert_allclose(L1Ball(radius).project(point), expected, rtol=0, atol=1e-12 * radius)


@given(point=points, total=sizes)
@law
def test_simplex_projection_agrees_with_bisection(point, total):
    values = [Fraction(value) for value in point.tolist()]
    expected = np.array(simplex_by_bisection(values, Fraction(total)), dtype=float)
    np.testing.assert_allclose(Simplex(total).project(point), expected, rtol=0, atol=1e-12 * total)


@pytest.mark.parametrize("dimension", [10**4, 10**6])
def test_projection_is_in_the_set_in_high_dimension(dimension):
    """The hardest case for running sums: one large entry and a long tail at the threshold."""
    point = np.full(dimension, 1e-9)
    point[0] = 1.0
    assert L1Ball(1.0).contains(L1Ball(1.0).project(point), tolerance=1e-12)
    assert Simplex(1.0).contains(Simplex(1.0).project(point), tolerance=1e-12)


@pytest.mark.parametrize("region", [L1Ball(1.0), L2Ball(1.0), Simplex(1.0)], ids=repr)
@pytest.mark.parametrize("width", [1, 2, 7, 300])
def test_a_projection_is_to_the_last_bit_a_function_of_its_row_alone(region, width):
    generator = np.random.default_rng(width)
    rows = generator.standard_normal((50, width)) * 10 ** generator.uniform(-3, 3, (50, 1))
    rows[::5] = np.round(rows[::5], 1)
    together = region.project(rows)
    np.testing.assert_array_equal(region.project(np.asfortranarray(rows)), together)
    np.testing.assert_array_equal(region.project(rows[::-1])[::-1], together)
    for row, projected in zip(rows, together, strict=True):
        np.testing.assert_array_equal(region.project(row), projected)
