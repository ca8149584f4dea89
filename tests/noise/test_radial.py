"""Radial vectors have gamma norms and uniform directions, and err by no more than they say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from discreet.errors import InputError
from discreet.noise import RehearsalNoise, draw_radial
from discreet.noise.radial_noise import BITS, _sum_of_squares, coupling_error


def draws(dimension, count, scale=1.0):
    noise = RehearsalNoise(dimension)
    return np.array([draw_radial(dimension, scale, noise).vector for _ in range(count)])


@pytest.mark.parametrize("dimension", [1, 3, 50])
def test_norms_follow_the_gamma_law(dimension):
    norms = np.linalg.norm(draws(dimension, 6000, scale=2.0), axis=1)
    assert stats.kstest(norms, stats.gamma(dimension, scale=2.0).cdf).pvalue > 1e-4


def test_in_one_dimension_the_law_is_laplace():
    assert stats.kstest(draws(1, 6000)[:, 0], "laplace").pvalue > 1e-4


def test_directions_are_uniform_on_the_sphere():
    """In three dimensions each coordinate of a uniform direction is uniform (Archimedes)."""
    vectors = draws(3, 6000)
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for coordinate in directions.T:
        assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).pvalue > 1e-4
    octant = (directions > 0) @ [1, 2, 4]
    assert stats.chisquare(np.bincount(octant, minlength=8)).pvalue > 1e-4


def test_direction_and_norm_are_independent():
    vectors = draws(3, 6000)
    norms = np.linalg.norm(vectors, axis=1)
    assert stats.spearmanr(vectors[:, 0] / norms, norms).pvalue > 1e-4


def ideal(seed, dimension, scale, place):
    """Return scale * |m| * n in high precision, ``place`` saying where in its cell each X lies."""
    noise, unit = RehearsalNoise(seed), mpf(2) ** -BITS
    m, n = (
        [(int(units) + mpf(float(place()))) * unit for units in noise.gaussian(size, BITS)]
        for size in (dimension + 1, dimension)
    )
    length = mp.sqrt(mp.fsum(x * x for x in m))
    return [mpf(scale) * length * x for x in n]


@pytest.mark.parametrize("dimension", [1, 3, 1000])
@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-9, 7e12])
def test_the_coupling_error_covers_every_ideal_that_floors_to_the_same_draw(dimension, scale):
    rng = np.random.default_rng(dimension)
    places = [lambda: 0.0, lambda: 1.0, rng.random, lambda: rng.integers(2), lambda: 0.5]
    with mp.workdps(60):
        for seed, place in enumerate(places):
            drawn = draw_radial(dimension, scale, RehearsalNoise(seed))
            exact = ideal(seed, dimension, scale, place)
            gaps = (mpf(float(x)) - y for x, y in zip(drawn.vector, exact, strict=True))
            assert mp.sqrt(mp.fsum(g * g for g in gaps)) <= mpf(drawn.coupling_error)


def test_a_draw_is_the_middle_of_its_cells_up_to_a_few_roundings():
    with mp.workdps(60):
        for seed in range(20):
            drawn = draw_radial(3, 0.3, RehearsalNoise(seed)).vector
            for x, y in zip(drawn, ideal(seed, 3, 0.3, lambda: 0.5), strict=True):
                assert abs(mpf(float(x)) - y) <= 6 * mpf(2) ** -53 * abs(y)


def test_the_coupling_error_is_the_formula_rounded_up():
    for dimension in (1, 3, 1000, 20_000_000):
        with mp.workdps(40):
            formula = mpf(2) ** -44 * mpf(0.7) * (mp.sqrt(dimension) + 12) ** 2
            assert formula <= mpf(coupling_error(dimension, 0.7)) <= formula * (1 + mpf(2) ** -39)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 100_000])
def test_sums_of_squares_err_by_a_block_of_roundings(size):
    """The proof allows 258 roundings: a product, 255 additions, the exact sum and the last."""
    values = np.random.default_rng(size).standard_normal(size)
    values[0] = 1e8  # the worst order: a large first term
    exact = sum(Fraction(v) ** 2 for v in values.tolist())
    assert abs(Fraction(_sum_of_squares(values)) - exact) <= exact * Fraction(258, 2**53)


def test_small_terms_are_not_lost_behind_a_large_one():
    """A sequential sum drops all of these; blocks of 256 lose one block at most."""
    values = np.full(1_000_000, 1.0)
    values[0] = 2.0**27
    exact = 2**54 + 999_999
    assert abs(Fraction(_sum_of_squares(values)) - exact) <= 512


def test_a_radial_draw_is_compared_by_identity():
    drawn = draw_radial(2, 1.0, RehearsalNoise(1))
    assert drawn == drawn
    assert drawn != draw_radial(2, 1.0, RehearsalNoise(1))


@pytest.mark.parametrize(("dimension", "scale"), [(0, 1.0), (3, 0.0), (3, -1.0), (3, math.inf)])
def test_shapes_and_scales_that_make_no_sense_are_refused(dimension, scale):
    with pytest.raises(InputError):
        draw_radial(dimension, scale, RehearsalNoise(1))


def test_the_coupling_error_is_true_of_tiny_scales_or_they_are_refused():
    scale = 1e-315
    try:
        drawn = draw_radial(3, scale, RehearsalNoise(0))
    except Exception:
        return
    with mp.workdps(60):
        exact = ideal(0, 3, scale, lambda: 0.5)
        gaps = (mpf(float(x)) - y for x, y in zip(drawn.vector, exact, strict=True))
        assert mp.sqrt(mp.fsum(g * g for g in gaps)) <= mpf(drawn.coupling_error)
