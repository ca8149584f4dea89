"""Maps of rows: bounded, each row by itself, and near the kernel that they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.kernels import RBF, ChiSquared, Laplacian, Linear, Matern, Polynomial
from discreet.preprocessing import Category, Numeric
from discreet.preprocessing.domain_points import fill_ball, fill_box
from discreet.preprocessing.fourier_map import FourierMap, draw_uniforms
from discreet.preprocessing.landmark_map import LandmarkMap
from discreet.questions.bounds import CLIPPING_SLACK

GENERATOR = np.random.default_rng(3)
ROWS = GENERATOR.uniform(-1, 1, size=(4200, 4))
POINTS = GENERATOR.uniform(0, 1, size=(25, 4))
KERNELS = (
    RBF(0.5), Laplacian(0.3), Matern(0.5, 2.0), Matern(1.5, 2.0), Matern(2.5, 2.0), Linear(),
    Polynomial(3, 0.5, 1.0), ChiSquared(1.0),
)  # fmt: skip
MAPS = (
    FourierMap(4, 0.5, 30),
    FourierMap(4, 0.5, 30, kernel="laplacian"),
    FourierMap(4, 0.5, 30, kernel="matern", nu=0.5),
    FourierMap(4, 0.5, 30, orthogonal=True, seed=4),
    *(LandmarkMap(kernel, POINTS) for kernel in KERNELS),
    LandmarkMap(Polynomial(3), POINTS, clipped_to=0.7, n_components=5),
)
every_map = pytest.mark.parametrize("mapping", MAPS, ids=lambda one: one.words)


@every_map
def test_features_are_those_of_the_row_alone(mapping):
    whole = mapping.apply(ROWS)
    for start, stop in ((0, 1), (1, 4200), (4095, 4097), (37, 44), (4199, 4200)):
        np.testing.assert_array_equal(mapping.apply(ROWS[start:stop]), whole[start:stop])
    columns = np.asfortranarray(ROWS)
    np.testing.assert_array_equal(mapping.apply(columns), whole)


@every_map
def test_features_are_within_their_ball_whatever_the_row(mapping):
    odd = np.array([[1e300] * 4, [-1e300, 1e300, 0, 0], [5e-324] * 4, [1.0] * 4, [0.0] * 4])
    features = mapping.apply(np.vstack([ROWS, odd]))
    assert (np.linalg.norm(features, axis=1) <= mapping.radius * CLIPPING_SLACK).all()
    assert np.abs(features).max() <= mapping.largest_feature * CLIPPING_SLACK
    assert features.shape[1] == mapping.width == len(mapping.names()) == len(set(mapping.names()))


def exact_kernel(mapping, differences):
    squared = (differences**2).sum(axis=-1)
    if mapping.kernel == "laplacian":
        return np.exp(-mapping.gamma * np.abs(differences).sum(axis=-1))
    if mapping.kernel == "matern":  # of smoothness 1/2: exp(-distance/length)
        return np.exp(-np.sqrt(squared) * math.sqrt(2 * mapping.gamma))
    return np.exp(-mapping.gamma * squared)


@pytest.mark.parametrize("mapping", MAPS[:4], ids=lambda one: one.words)
def test_inner_products_of_fourier_features_are_near_their_kernel(mapping):
    # A mean of 4000 cosines errs by 1/sqrt(8000) at most; five deviations, over fixed draws.
    many = FourierMap(
        4, mapping.gamma, 4000, mapping.kernel, mapping.nu, mapping.orthogonal, mapping.seed
    )
    some = ROWS[:20]
    features = many.apply(some)
    expected = exact_kernel(mapping, some[:, None] - some)
    np.testing.assert_allclose(features @ features.T, expected, atol=5 / math.sqrt(8000))


def test_orthogonal_frequencies_are_orthogonal_and_of_the_right_length():
    turns = FourierMap(4, 0.5, 400, orthogonal=True).frequencies
    gram = turns[:, :4].T @ turns[:, :4]
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-12)
    lengths = (2 * math.pi * turns) ** 2
    # Each squared length has mean 2 gamma d = 4 and variance 8; five deviations, over a fixed draw.
    assert abs(lengths.sum(axis=0).mean() - 4) < 5 * math.sqrt(8 / 400)


def test_draws_are_uniform_and_depend_on_the_number_alone():
    first, again = draw_uniforms("a 1", (10_000,)), draw_uniforms("a 1", (10_000,))
    np.testing.assert_array_equal(first, again)
    assert (first != draw_uniforms("a 2", (10_000,))).all()
    counts = np.histogram(first, bins=10, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 33  # chi-squared of nine: one in 10,000


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_nystroem_features_give_the_kernel_on_landmarks_and_never_more(kernel):
    mapping = LandmarkMap(kernel, POINTS)
    on_points = mapping.apply(POINTS)
    np.testing.assert_allclose(on_points @ on_points.T, kernel.evaluate(POINTS, POINTS), atol=1e-4)
    rows = np.abs(ROWS[:50])
    unclipped = LandmarkMap(kernel, POINTS, clipped_to=1e6).apply(rows)
    squares = (unclipped**2).sum(axis=1)
    assert (squares <= kernel.diagonal(rows) * (1 + 1e-4) + 1e-6).all()


def test_synthetic_points_fill_the_declared_domain():
    points = fill_box([Numeric(10, 20), Category(["a", "b", "c"]), Numeric(0, 1)], 64)
    assert points.shape == (64, 5)
    assert np.abs(points).max() <= 1
    assert np.histogram(points[:, 0], bins=4, range=(-1, 1))[0].tolist() == [16] * 4
    levels = points[:, 1:4] + 1 / 3
    np.testing.assert_allclose(levels.sum(axis=1), 1)
    assert (levels.round(6).sum(axis=0) >= 20).all()
    assert len(np.unique(fill_ball(5, 2.0, 40).round(9), axis=0)) == 40


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: FourierMap(2, -1.0, 5), "gamma"),
        (lambda: FourierMap(2, 1.0, 0), "n_components"),
        (lambda: FourierMap(2, 1.0, 5, kernel="polynomial"), "kernel"),
        (lambda: FourierMap(2, 1.0, 5, kernel="laplacian", orthogonal=True), "orthogonal"),
        (lambda: FourierMap(2, 1.0, 5, seed=-1), "seed"),
        (lambda: LandmarkMap(RBF(1.0), np.zeros((0, 2))), "landmarks"),
        (lambda: LandmarkMap(RBF(1.0), np.array([[np.nan]])), "finite"),
        (lambda: LandmarkMap(Linear(), np.zeros((3, 2))), "direction"),
        (lambda: LandmarkMap(RBF(1.0), POINTS, clipped_to=0.0).radius, "radius"),
    ],
)
def test_what_makes_no_map_is_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        wrong()
