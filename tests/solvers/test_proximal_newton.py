"""Proximal Newton against exact optimality conditions, fifty digits, SciPy and hard problems."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, Simplex, WholeSpace
from discreet.penalties import L1, L1L2, Indicator, WithRidge
from discreet.solvers import certify, newton, proximal_newton
from solvers.composite import Quadratic, bent, logistic, on_face, quadratic

UNIT = 2.0**-53
PENALTIES = [
    Indicator(L1Ball(0.5)),
    Indicator(L2Ball(0.3)),
    Indicator(LinfBall(0.3)),
    Indicator(Simplex(1.0)),
    L1(0.5),
    L1(100.0),
    L1L2(10.0, 5.0),
    WithRidge(Indicator(L1Ball(0.5)), 2.0),
    WithRidge(Indicator(L2Ball(0.3)), 2.0),
]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def solved(problem, penalty, tolerance=0.0, **options):
    start = np.zeros(problem.dimension)
    return proximal_newton(
        problem, penalty, start, smoothness=problem.smoothness, tolerance=tolerance, **options
    )


def near_rounding(problem, point):
    """A few dozen roundings of the terms that the residual is the sum of."""
    terms = problem.smoothness * np.linalg.norm(point) + np.linalg.norm(problem.gradient(point))
    return 32 * UNIT * terms


def unseen(problem, penalty, point):
    """What the rounding of the prox, of the gradient and of the last sum can hide."""
    off = penalty.prox_error(1 + 2 * np.linalg.norm(point), problem.dimension)
    return (2 * problem.smoothness + 1) * off + near_rounding(problem, point)


@every_penalty
@pytest.mark.parametrize("p", [1, 5, 50, 200])
@pytest.mark.parametrize("condition", [1.0, 1e4, 1e8])
def test_quadratics_are_solved_to_rounding_however_they_are_conditioned(penalty, p, condition):
    problem = quadratic(p, p, condition)
    solution = solved(problem, penalty)
    assert solution.residual <= near_rounding(problem, solution.point)
    assert problem.passes <= 16
    step = 1 / problem.smoothness
    point, residual = certify(problem.gradient, penalty, solution.point, step)
    assert residual <= near_rounding(problem, point)


@every_penalty
@pytest.mark.parametrize(("n", "p"), [(20, 1), (300, 5), (1000, 200)])
def test_logistic_regressions_are_solved_to_rounding(penalty, n, p):
    problem = logistic(n, n, p, ridge=0.1)
    solution = solved(problem, penalty)
    assert solution.residual <= near_rounding(problem, solution.point)
    assert problem.passes <= 30
    step = 1 / problem.smoothness
    point, residual = certify(problem.gradient, penalty, solution.point, step)
    assert residual <= near_rounding(problem, point)


def exact_minimiser(problem, penalty, near):
    """Fifty digits, from the face that ``near`` lies on; the optimality conditions are checked."""
    signs = np.sign(near)
    zeros = np.where(signs == 0, 0.0, np.nan)
    match penalty:
        case L1(weight=weight):
            point, slope, _ = on_face(problem, zeros, weight * signs)
            for value, gradient, sign in zip(point, slope, signs, strict=True):
                assert value * sign > 0 if sign else abs(gradient) <= weight
        case Indicator(region=LinfBall(radius=radius)):
            held = np.where(np.abs(near) == radius, near, np.nan)
            point, slope, _ = on_face(problem, held, np.zeros(len(near)))
            for value, gradient, fixed in zip(point, slope, held, strict=True):
                assert abs(value) <= radius if np.isnan(fixed) else gradient * fixed <= 0
        case Indicator(region=L1Ball(radius=radius)):
            point, slope, multiple = on_face(problem, zeros, signs, radius)
            assert multiple >= 0
            for value, gradient, sign in zip(point, slope, signs, strict=True):
                assert value * sign > 0 if sign else abs(gradient) <= multiple
        case Indicator(region=Simplex(total=total)):
            point, slope, multiple = on_face(problem, zeros, signs, total)
            for value, gradient, sign in zip(point, slope, signs, strict=True):
                assert value * sign > 0 if sign else gradient >= -multiple
        case Indicator(region=L2Ball(radius=radius)):
            point = in_ball(problem, radius)
    return point


def in_ball(problem, radius):
    """The multiple of the point that has to be added to the gradient, by bisection."""
    with mpmath.workdps(50):
        H, target = mpmath.matrix(problem.H.tolist()), mpmath.matrix(problem.target.tolist())

        def at(multiple):
            return mpmath.lu_solve(H + multiple * mpmath.eye(H.rows), H * target)

        low, high = mpmath.mpf(0), mpmath.mpf(10) ** 12
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if mpmath.norm(at(middle)) > radius else (low, middle)
        return list(at(high))


def distance(point, exact):
    with mpmath.workdps(50):
        gaps = (mpmath.mpf(ours) - truth for ours, truth in zip(point.tolist(), exact, strict=True))
        return float(mpmath.sqrt(mpmath.fsum(gap**2 for gap in gaps)))


@pytest.mark.parametrize(
    "penalty",
    [L1(0.5), L1(30.0), *(Indicator(kind(0.5)) for kind in (L1Ball, L2Ball, LinfBall, Simplex))],
    ids=repr,
)
@pytest.mark.parametrize("condition", [10.0, 1e4, 1e8])
@pytest.mark.parametrize("p", [1, 6])
def test_the_certificate_bounds_the_distance_to_the_exact_minimiser(penalty, condition, p):
    problem = quadratic(3 * p, p, condition)
    exact = exact_minimiser(problem, penalty, solved(problem, penalty).point)
    for tolerance in (0.0, 1e-6, 1e-3, 1e9):
        solution = solved(problem, penalty, tolerance)
        hidden = unseen(problem, penalty, solution.point)
        allowed = (solution.residual + hidden) / problem.strong_convexity
        assert distance(solution.point, exact) <= allowed


@every_penalty
@pytest.mark.parametrize("step", [0.01, 1.0, 30.0])
def test_a_certificate_from_anywhere_with_any_step_is_true(penalty, step):
    problem = logistic(5, 200, 4)
    best = solved(problem, penalty)
    generator = np.random.default_rng(6)
    for _ in range(20):
        point = generator.standard_normal(4) * 10 ** generator.uniform(-3, 1)
        there, residual = certify(problem.gradient, penalty, point, step / problem.smoothness)
        apart = np.linalg.norm(there - best.point)
        assert apart <= (residual + best.residual) / problem.strong_convexity + 1e-12
        assert penalty.value(there) < math.inf


def test_a_certificate_with_a_wrong_gradient_is_not_true():
    """What shows that the last test can fail."""
    problem, penalty = logistic(5, 200, 4), Indicator(L2Ball(0.5))
    best, shift = solved(problem, penalty), np.array([60.0, 0.0, 0.0, -60.0])
    there = best.point
    for _ in range(50):
        there, residual = certify(lambda w: problem.gradient(w) + shift, penalty, there, 0.01)
    assert np.linalg.norm(there - best.point) > residual / problem.strong_convexity + 1e-3


@pytest.mark.parametrize(
    "penalty",
    [Indicator(WholeSpace()), Indicator(L1Ball(100.0)), Indicator(L2Ball(50.0)), L1(0.0)],
    ids=repr,
)
def test_a_minimiser_in_the_interior_is_that_of_newton(penalty):
    problem = logistic(8, 400, 6)
    free = newton(problem, np.zeros(6), tolerance=1e-12).point
    np.testing.assert_allclose(solved(problem, penalty).point, free, rtol=0, atol=1e-12)


def test_a_minimiser_at_a_vertex_is_found_exactly():
    problem = Quadratic(np.diag([2.0, 3.0, 1.0]), np.array([10.0, 1.0, -1.0]))
    for region in (L1Ball(1.0), Simplex(1.0)):
        np.testing.assert_array_equal(solved(problem, Indicator(region)).point, [1.0, 0.0, 0.0])
    corner = solved(problem, Indicator(LinfBall(0.5))).point
    np.testing.assert_array_equal(corner, [0.5, 0.5, -0.5])
    np.testing.assert_array_equal(solved(problem, L1(100.0)).point, np.zeros(3))


def test_a_set_of_a_single_point_is_no_trouble():
    point = solved(quadratic(1, 3, 10.0), Indicator(Box([1, 2, 3], [1, 2, 3]))).point
    np.testing.assert_array_equal(point, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_in_a_box_agrees_with_scipy(seed):
    problem = logistic(seed, 300, 5)
    solution = solved(problem, Indicator(LinfBall(0.7)))
    reference = minimize(
        problem.value_and_gradient,
        np.zeros(5),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-0.7, 0.7)] * 5,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000},
    )
    np.testing.assert_allclose(solution.point, reference.x, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_in_a_simplex_agrees_with_scipy(seed):
    problem = logistic(seed, 300, 5)
    solution = solved(problem, Indicator(Simplex(1.0)))
    reference = minimize(
        problem.value_and_gradient,
        np.full(5, 0.2),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * 5,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(5)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(solution.point, reference.x, atol=1e-5)


@every_penalty
def test_a_start_where_every_curvature_has_vanished_does_not_hurt(penalty):
    problem = logistic(7, 200, 4, ridge=0.01)
    near = solved(problem, penalty)
    for start in (1e2, -1e4, 1e6):
        far = proximal_newton(
            problem, penalty, np.full(4, start), smoothness=problem.smoothness, tolerance=0.0
        )
        assert far.residual <= near_rounding(problem, far.point)
        np.testing.assert_allclose(far.point, near.point, atol=1e-10)


@pytest.mark.parametrize(
    "penalty", [Indicator(L2Ball(5.0)), Indicator(L1Ball(20.0)), L1(0.5), L1(5.0)], ids=repr
)
@pytest.mark.parametrize("shape", [(20, 3, 1e-3, 0.5), (500, 10, 1e-2, 0.05), (20, 40, 1e-4, 0.1)])
def test_a_straight_loss_with_little_ridge_does_not_send_the_method_round_in_circles(
    penalty, shape
):
    problem = bent(5, *shape)
    solution = solved(problem, penalty, most_steps=300)
    assert solution.residual <= near_rounding(problem, solution.point)


def test_few_passes_suffice_for_many_rows_and_an_active_ball():
    problem, penalty = logistic(0, 20_000, 50), Indicator(L1Ball(5.0))
    tolerance = 16 * UNIT * problem.smoothness * 5.0
    solution = solved(problem, penalty, tolerance)
    assert solution.is_within(tolerance)
    assert np.count_nonzero(solution.point) < 50
    assert problem.hessians <= 4
    assert problem.passes <= 12


def test_convergence_is_superlinear():
    problem, penalty = logistic(0, 2000, 10, ridge=0.01), Indicator(L2Ball(3.0))
    residuals = [solved(problem, penalty, most_steps=steps).residual for steps in range(1, 12)]
    assert residuals[-1] < 1e-11
    reductions = [b / a for a, b in itertools.pairwise(residuals) if b > 1e-11]
    assert min(reductions) < 1e-2


@every_penalty
def test_the_certificate_belongs_to_the_point_even_when_steps_run_out(penalty):
    problem = logistic(5, 200, 4)
    best = solved(problem, penalty)
    for steps in range(4):
        solution = solved(problem, penalty, most_steps=steps)
        apart = np.linalg.norm(solution.point - best.point)
        assert apart <= (solution.residual + best.residual) / problem.strong_convexity + 1e-12


@every_penalty
def test_a_hessian_that_is_singular_in_floating_point_ends_with_an_honest_certificate(penalty):
    problem = quadratic(9, 20, 1e17)
    problem.strong_convexity = 1.0
    solution = solved(problem, penalty)
    assert solution.residual <= near_rounding(problem, solution.point)


def test_the_start_is_not_changed():
    start = np.full(4, 2.0)
    problem = logistic(5, 200, 4)
    proximal_newton(problem, L1(1.0), start, smoothness=problem.smoothness, tolerance=1e-9)
    np.testing.assert_array_equal(start, 2.0)
