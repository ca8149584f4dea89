"""Products of which each row is a function of itself, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.kernels.exact_products import multiply_alone

GENERATOR = np.random.default_rng(5)


@pytest.mark.parametrize("width", [1, 3, 17, 300])
def test_a_row_is_multiplied_as_if_it_were_alone(width):
    rows, matrix = GENERATOR.uniform(-1, 1, (5000, width)), GENERATOR.normal(size=(width, 9))
    whole = multiply_alone(rows, matrix, 1.0)
    for start, stop in ((0, 1), (1, 5000), (4095, 4097), (17, 18), (4999, 5000)):
        part = multiply_alone(rows[start:stop], matrix, 1.0)
        np.testing.assert_array_equal(part, whole[start:stop])
    reversed_ = multiply_alone(np.asfortranarray(rows[::-1]), matrix, 1.0)
    np.testing.assert_array_equal(reversed_[::-1], whole)


def test_a_product_is_near_the_exact_one():
    rows, matrix = GENERATOR.uniform(-3, 3, (20, 50)), GENERATOR.normal(size=(50, 4)) * 1e3
    found = multiply_alone(rows, matrix, 3.0)
    for place in np.ndindex(found.shape):
        pairs = zip(rows[place[0]], matrix[:, place[1]], strict=True)
        exact = sum(Fraction(x) * Fraction(w) for x, w in pairs)
        # Forty bits of each factor: errors of 2**-40 of the largest, fifty times each.
        assert abs(Fraction(found[place]) - exact) <= 2 * 50 * Fraction(4 * 4096, 2**40)


def test_what_is_too_large_is_clipped_and_what_is_not_finite_is_nan():
    rows = np.array([[5.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1.0, 1.0]])
    found = multiply_alone(rows, np.eye(2), 1.0)
    np.testing.assert_array_equal(found[3], [1.0, 1.0])
    assert np.isnan(found[1:3]).all()
    assert found[0, 0] == 2.0  # the least power of two above the bound
