"""The intersection of two balls: nearest points, extreme points, and the factors of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from discreet.data import Bounds
from discreet.geometry import L1Ball, L1L2Ball, L2Ball
from support.opened import open_rows

BALLS = pytest.mark.parametrize(
    "ball",
    [
        L1L2Ball(1.5, 1.0),
        L1L2Ball(1.0, 2.0),  # the l1 ball alone
        L1L2Ball(50.0, 1.0),  # the Euclidean ball alone
        L1L2Ball(1.0, 1.0),
        L1L2Ball(1.0 + 1e-9, 1.0),
        L1L2Ball(3e-50, 2e-50),
        L1L2Ball(2e40, 1e40),
    ],
    ids=repr,
)


def points_for(ball, generator, count=60, dimension=5):
    """Points in, on, near and far from the set, with ties and zeros."""
    points = generator.standard_normal((count, dimension))
    points[::5] = np.round(points[::5])
    points[1::5] *= generator.uniform(size=points[1::5].shape) < 0.4
    sizes = ball.l2_radius * 10.0 ** generator.uniform(-1, 3, (count, 1))
    return points * sizes


def check_nearest(ball, point, nearest):
    """The farthest that the set reaches from its nearest point, towards the point, is nowhere.

    A point z of a convex set is nearest to x exactly if <x - z, v - z> <= 0 for every v in it;
    half the value bounds the squared distance to the true projection.
    """
    assert ball.contains(nearest, tolerance=1e-13)
    direction = point - nearest
    farthest = ball.vertex(-direction)
    assert direction @ (farthest - nearest) <= 1e-11 * np.linalg.norm(direction) * ball.l2_radius


@BALLS
def test_no_point_of_the_set_is_nearer_than_the_projection(ball):
    generator = np.random.default_rng(1)
    for point in points_for(ball, generator):
        check_nearest(ball, point, ball.project(point))
    inside = 0.3 * ball.project(points_for(ball, generator))
    np.testing.assert_array_equal(ball.project(inside), inside)


@pytest.mark.parametrize("dimension", [1, 2, 40])
def test_other_dimensions_too(dimension):
    ball, generator = L1L2Ball(1.2, 1.0), np.random.default_rng(2)
    for point in points_for(ball, generator, dimension=dimension):
        check_nearest(ball, point, ball.project(point))


@BALLS
def test_no_point_of_the_set_is_farther_than_the_vertex(ball):
    # Weak duality: <d, v> <= a t + b |soft threshold of d at t| for every t and v in the set.
    generator = np.random.default_rng(3)
    for direction in generator.standard_normal((40, 5)):
        vertex = ball.vertex(direction)
        assert ball.contains(vertex, tolerance=1e-13)
        sizes = np.abs(direction)
        levels = np.concatenate([np.linspace(0, sizes.max(), 2001), sizes])
        kept = np.maximum(sizes[None, :] - levels[:, None], 0.0)
        bounds = ball.l1_radius * levels + ball.l2_radius * np.linalg.norm(kept, axis=1)
        reached = -direction @ vertex
        assert reached <= bounds.min() * (1 + 1e-12)
        assert reached >= bounds.min() * (1 - 1e-4)


def test_a_general_solver_finds_the_same_point():
    ball, generator = L1L2Ball(1.6, 1.0), np.random.default_rng(4)
    for point in 3 * generator.standard_normal((12, 4)):
        # Differences of two nonnegative vectors make the l1 norm linear.
        limits = [
            {"type": "ineq", "fun": lambda z: ball.l1_radius - z.sum()},
            {"type": "ineq", "fun": lambda z: ball.l2_radius**2 - ((z[:4] - z[4:]) ** 2).sum()},
        ]
        found = minimize(
            lambda z, x=point: ((z[:4] - z[4:] - x) ** 2).sum(),
            np.full(8, 0.1),
            bounds=[(0, None)] * 8,
            constraints=limits,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        ).x
        np.testing.assert_allclose(ball.project(point), found[:4] - found[4:], rtol=0, atol=1e-5)


def test_projections_of_several_rows_are_those_of_each():
    ball, generator = L1L2Ball(1.5, 1.0), np.random.default_rng(5)
    points = points_for(ball, generator)
    alone = np.array([ball.project(point) for point in points])
    np.testing.assert_array_equal(ball.project(points), alone)
    np.testing.assert_allclose(ball.project(alone), alone, rtol=0, atol=1e-13)


def hostile_rows(generator, width=9):
    rows = generator.standard_normal((80, width)) * 10.0 ** generator.uniform(-3, 3, (80, 1))
    rows[::7] *= generator.uniform(size=rows[::7].shape) < 0.3
    rows[3], rows[4], rows[5] = 0.0, 1e307, 5e-324
    rows[6], rows[8] = 1e-200, 0.0
    rows[8, 2] = -1e308
    return rows


@pytest.mark.parametrize("ball", [L1L2Ball(1.5, 1.0), L1L2Ball(1.0, 5.0), L1L2Ball(9.0, 1.0)])
def test_clipped_rows_have_both_norms_within_the_slack(ball):
    rows = hostile_rows(np.random.default_rng(6))
    same, scale = ball.clip_rows(rows)
    assert same is rows
    assert ((scale >= 0) & (scale <= 1)).all()
    allowed = 1 + (rows.shape[1] + 3) * 2.0**-53
    for row in scale[:, None] * rows:
        assert math.fsum(np.abs(row)) <= ball.l1_radius * allowed
        assert math.hypot(*row) <= ball.l2_radius * allowed
    within = (np.abs(rows).sum(axis=1) <= ball.l1_radius * 0.999) & (
        np.abs(rows).max(axis=1) <= ball.l2_radius * 0.333
    )
    assert within.any()
    assert (scale[within] == 1).all()
    # No more than needed: a shrunk row ends on one of the edges.
    shrunk = (scale < 1) & (scale > 1e-290)
    edge = np.array(
        [
            max(math.fsum(np.abs(r)) / ball.l1_radius, math.hypot(*r) / ball.l2_radius)
            for r in scale[shrunk, None] * rows[shrunk]
        ]
    )
    np.testing.assert_allclose(edge, 1.0, rtol=1e-12)


def test_a_factor_is_a_function_of_its_row_alone():
    ball, rows = L1L2Ball(1.5, 1.0), hostile_rows(np.random.default_rng(7), width=33)
    together = ball.clip_rows(rows)[1]
    in_sparse = ball.clip_sparse(sparse.csr_array(rows))[1]
    np.testing.assert_allclose(in_sparse, together, rtol=40 * 2.0**-53)
    order = np.random.default_rng(8).permutation(len(rows))
    np.testing.assert_array_equal(ball.clip_rows(rows[order])[1], together[order])
    np.testing.assert_array_equal(ball.clip_rows(np.asfortranarray(rows))[1], together)
    for i in range(len(rows)):
        assert ball.clip_rows(rows[[i]])[1][0] == together[i]
        assert ball.clip_sparse(sparse.csr_array(rows[[i]]))[1][0] == in_sparse[i]


@pytest.mark.parametrize("dimension", [1, 2, 3, 100])
@pytest.mark.parametrize(("a", "b"), [(1.5, 1.0), (1.0, 2.0), (30.0, 1.0)])
def test_reach_and_diameter_are_attained_and_never_exceeded(dimension, a, b):
    ball, generator = L1L2Ball(a, b), np.random.default_rng(9)
    points = ball.project(100 * generator.standard_normal((50, dimension)))
    corner = ball.project(1e6 * np.eye(dimension)[0])
    flat = ball.project(np.full(dimension, 1e6))
    for order, farthest in ((1, flat), (2, corner), (math.inf, corner)):
        reach = ball.reach(dimension, order)
        norms = np.linalg.norm(points, order, axis=1)
        assert norms.max() <= reach * (1 + 1e-14)
        assert np.linalg.norm(farthest, order) >= reach * (1 - 1e-12)
        assert ball.diameter(dimension, order) == 2 * reach  # the set is symmetric


def test_uniform_points_lie_inside():
    class Numbers:
        generator = np.random.default_rng(10)

        def uniform(self, count):
            return self.generator.uniform(1e-12, 1, count)

    for ball in (L1L2Ball(1.5, 1.0), L1L2Ball(1.0, 0.05), L1L2Ball(5.0, 1.0)):
        for dimension in (1, 3, 8):
            assert ball.contains(ball.uniform(Numbers(), dimension))


@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_opened_rows_keep_both_bounds(engine):
    rows = hostile_rows(np.random.default_rng(11))
    bounds = Bounds(L1L2Ball(1.5, 1.0), rows.shape[1], intercept=0.5)
    clipped, _ = open_rows(engine(rows), bounds=bounds).gather()
    clipped = clipped.toarray() if sparse.issparse(clipped) else clipped
    assert np.abs(clipped).sum(axis=1).max() <= bounds.row_norm(1)
    assert np.linalg.norm(clipped, axis=1).max() <= bounds.row_norm(2)
    assert bounds.row_norm(1) < Bounds(L2Ball(1.0), 9, intercept=0.5).row_norm(1)
    assert bounds.row_norm(2) < Bounds(L1Ball(1.5), 9, intercept=0.5).row_norm(2)
