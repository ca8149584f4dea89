"""Sizes of steps, averages and projected steps, against what they are defined to be."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.geometry import L2Ball, Simplex
from discreet.penalties import L1, Indicator
from discreet.solvers import (
    Adaptive,
    Constant,
    Decreasing,
    Growing,
    LastPoint,
    PolynomialAverage,
    Preconditioned,
    SuffixAverage,
    descend,
)


def averaged(average, points):
    so_far = np.full(2, np.nan)
    for taken, point in enumerate(points, start=1):
        so_far = average.fold(so_far, point, taken, len(points))
    return so_far


@pytest.mark.parametrize(
    ("average", "weights"),
    [
        (LastPoint(), np.eye(9)[-1]),
        (SuffixAverage(1.0), np.ones(9)),
        (SuffixAverage(0.3), np.repeat([0, 1], [6, 3])),
        (SuffixAverage(1e-9), np.eye(9)[-1]),
        (PolynomialAverage(0), np.ones(9)),
        (PolynomialAverage(1), np.arange(1, 10)),
        (PolynomialAverage(2), np.arange(1, 10) * np.arange(2, 11)),
    ],
)
def test_an_average_has_its_weights(average, weights):
    points = np.random.default_rng(0).standard_normal((9, 2))
    np.testing.assert_allclose(
        averaged(average, points), np.average(points, axis=0, weights=weights), atol=1e-12
    )


def test_steps_of_a_strongly_convex_sum_are_two_over_the_curvature_and_steps():
    ridge, gradient, path = 3.0, np.array([1.0, -2.0]), []

    def slope(point):
        path.append(point)
        return gradient

    descend(slope, np.zeros(2), steps=5, rule=Growing(ridge), average=LastPoint(), ridge=ridge)
    for taken, (here, there) in enumerate(pairwise(path), start=1):
        step = 2 / (ridge * (taken + 1))
        np.testing.assert_allclose(there, here - step * (gradient + ridge * here), atol=1e-12)


def test_the_regret_of_adaptive_steps_is_within_its_bound():
    generator, region = np.random.default_rng(3), L2Ball(1.0)
    slopes, points = [], []

    def slope(point):
        points.append(point)
        slopes.append(generator.standard_normal(3) * generator.exponential())
        return slopes[-1]

    descend(slope, np.zeros(3), steps=200, rule=Adaptive(2.0), average=LastPoint(), ridge=1e-12,
            penalty=Indicator(region))  # fmt: skip
    total = np.sum(slopes, axis=0)
    regret = np.sum(np.array(slopes) * np.array(points)) + np.linalg.norm(total)
    assert regret <= 2.0 * math.sqrt(2 * np.sum(np.square(slopes)))


@pytest.mark.parametrize(
    "rule",
    [
        Adaptive(2.0),
        Constant(10.0),
        Decreasing(2.0, 10.0),
        Growing(0.5),
        Preconditioned(2.0, 0.0, 3000),
    ],
)
def test_every_rule_approaches_the_minimiser_of_a_quadratic(rule):
    centre = np.array([0.5, -0.2])
    found = descend(lambda point: 10 * (point - centre), np.zeros(2), steps=3000, rule=rule,
                    average=SuffixAverage(0.3), ridge=0.5)  # fmt: skip
    np.testing.assert_allclose(found, centre * 10 / 10.5, atol=0.02)


def test_momentum_starts_each_step_ahead_of_where_the_path_is():
    slopes, asked = np.random.default_rng(2).standard_normal((6, 2)), []

    def gradient(point):
        asked.append(point)
        return slopes[len(asked) - 1]

    found = descend(gradient, np.ones(2), steps=6, rule=Constant(3.0), average=LastPoint(),
                    ridge=0.5, momentum=0.8)  # fmt: skip
    before = point = np.ones(2)
    for slope, place in zip(slopes, asked, strict=True):
        ahead = point + 0.8 * (point - before)
        np.testing.assert_allclose(place, ahead, atol=1e-12)
        before, point = point, ahead - (slope + 0.5 * ahead) / 3.5
    np.testing.assert_allclose(found, point, atol=1e-12)


@pytest.mark.parametrize("momentum", [-0.1, 1.0, math.nan])
def test_momentum_that_leads_nowhere_is_refused(momentum):
    with pytest.raises(InputError, match="momentum"):
        descend(lambda point: point, np.zeros(2), steps=1, rule=Constant(1.0),
                average=LastPoint(), ridge=1.0, momentum=momentum)  # fmt: skip


def path_of(rule, slopes, ridge=1.0):
    """The points a path goes through if these are its gradients, wherever it is."""
    points, left = [], iter(slopes)

    def gradient(point):
        points.append(point)
        return next(left)

    descend(gradient, np.zeros(slopes.shape[1]), steps=len(slopes), rule=rule,
            average=LastPoint(), ridge=ridge)  # fmt: skip
    return np.array(points)


SLOPES = np.random.default_rng(7).standard_normal((60, 4)) * [30.0, 5.0, 1.0, 0.1]


def stiffness_matrix(rule, slopes):
    stiffness_of = rule.start()
    for slope in slopes:
        found = stiffness_of(slope)
    return found.columns @ np.diag(found.values) @ found.columns.T


def test_preconditioned_stiffness_is_the_root_of_noise_and_products():
    rule, count = Preconditioned(diameter=3.0, noise=2.0, steps=60), 9
    inner = 60 * 4.0 * np.eye(4) + SLOPES[:count].T @ SLOPES[:count]
    found = stiffness_matrix(rule, SLOPES[:count])
    np.testing.assert_allclose(found @ found, 2 * 4 / 9 * inner, rtol=1e-9)


def test_preconditioned_steps_see_the_gradients_before_and_nothing_else():
    # The same gradients give the same path to the last bit; later ones change no earlier point.
    rule = Preconditioned(1.0, 0.5, 60)
    whole, other = path_of(rule, SLOPES), SLOPES.copy()
    np.testing.assert_array_equal(whole, path_of(rule, SLOPES.copy()))
    other[30:] *= -7
    changed = path_of(rule, other)
    np.testing.assert_array_equal(changed[:31], whole[:31])
    assert (changed[31] != whole[31]).all()


def test_preconditioned_steps_turn_with_the_gradients():
    rotation, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))
    rule = Preconditioned(1.0, 0.5, 60)
    turned = path_of(rule, SLOPES @ rotation)
    np.testing.assert_allclose(turned, path_of(rule, SLOPES) @ rotation, atol=1e-9)


def test_preconditioned_steps_do_not_know_the_unit_of_the_objective():
    once = path_of(Preconditioned(1.0, 0.5, 60), SLOPES)
    often = path_of(Preconditioned(1.0, 0.5e6, 60), 1e6 * SLOPES, ridge=1e6)
    np.testing.assert_allclose(often, once, atol=1e-9)


def test_preconditioned_steps_go_as_far_as_the_diameter_says():
    near, far = (path_of(Preconditioned(size, 0.5, 60), SLOPES, ridge=1e-9) for size in (1.0, 10.0))
    np.testing.assert_allclose(far, 10 * near, atol=1e-6)


def test_features_of_unlike_sizes_get_steps_of_their_own():
    # A quadratic that is a thousand times flatter along one axis: one size of step is too few.
    curvature, centre = np.array([1000.0, 1.0]), np.array([0.5, 0.5])

    def excess(rule):
        found = descend(lambda point: curvature * (point - centre), np.zeros(2), steps=200,
                        rule=rule, average=PolynomialAverage(3), ridge=1e-9)  # fmt: skip
        return float(curvature @ np.square(found - centre))

    assert excess(Preconditioned(2.0, 0.0, 200)) < excess(Adaptive(2.0)) / 10


def test_preconditioned_steps_refuse_a_penalty():
    with pytest.raises(InputError, match="Adaptive"):
        descend(np.zeros_like, np.zeros(2), steps=1, rule=Preconditioned(1.0, 1.0, 1),
                average=LastPoint(), ridge=1.0, penalty=L1(1.0))  # fmt: skip


def test_penalties_are_taken_as_they_are():
    options = {"average": LastPoint(), "ridge": 1e-9}
    found = descend(lambda point: point - np.array([2.0, 0.5]), np.zeros(2), steps=2000,
                    rule=Adaptive(3.0), penalty=L1(1.0), **options)  # fmt: skip
    np.testing.assert_allclose(found, [1.0, 0.0], atol=1e-2)
    inside = descend(lambda point: np.array([-1.0, 0.3]), np.zeros(2), steps=9,
                     rule=Adaptive(1.0), penalty=Indicator(Simplex(1.0)), **options)  # fmt: skip
    assert Simplex(1.0).contains(inside)


def test_a_path_without_slope_stays():
    for rule in (Adaptive(1.0), Decreasing(1.0, 1.0), Growing(1.0), Preconditioned(1.0, 0.0, 4)):
        found = descend(np.zeros_like, np.zeros(3), steps=4, rule=rule, average=LastPoint(),
                        ridge=1.0)  # fmt: skip
        np.testing.assert_array_equal(found, np.zeros(3))


@pytest.mark.parametrize(
    "wrong",
    [lambda: Adaptive(0.0), lambda: Decreasing(1.0, math.inf), lambda: Growing(-1.0),
     lambda: SuffixAverage(1.5), lambda: PolynomialAverage(-1),
     lambda: Preconditioned(0.0, 1.0, 3), lambda: Preconditioned(1.0, -1.0, 3),
     lambda: Preconditioned(1.0, 1.0, 0)],
)  # fmt: skip
def test_a_rule_that_is_none_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()
