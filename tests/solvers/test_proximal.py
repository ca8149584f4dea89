"""Accelerated proximal gradient: its own limits, and agreement with proximal Newton."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.geometry import L1Ball, L2Ball, LinfBall, Simplex
from discreet.penalties import L1, L1L2, Indicator, WithRidge
from discreet.solvers import (
    accelerated_proximal_gradient,
    certify,
    iterations_needed,
    proximal_newton,
)
from discreet.solvers.gradient import _Run
from solvers.composite import logistic, quadratic

PENALTIES = [
    Indicator(L1Ball(0.5)),
    Indicator(L2Ball(0.3)),
    Indicator(LinfBall(0.3)),
    Indicator(Simplex(1.0)),
    Indicator(L2Ball(1e3)),
    L1(0.5),
    L1L2(1.0, 5.0),
    WithRidge(Indicator(L1Ball(0.5)), 2.0),
]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def solved(problem, penalty, tolerance, most_steps=100_000):
    return accelerated_proximal_gradient(
        problem,
        penalty,
        np.zeros(problem.dimension),
        smoothness=problem.smoothness,
        tolerance=tolerance,
        most_steps=most_steps,
    )


@every_penalty
@pytest.mark.parametrize(
    "problem", [quadratic(2, 6, 100.0), quadratic(1, 1, 1.0), logistic(3, 100, 5)]
)
def test_it_agrees_with_proximal_newton(penalty, problem):
    slow = solved(problem, penalty, 1e-10)
    quick = proximal_newton(
        problem,
        penalty,
        np.zeros(problem.dimension),
        smoothness=problem.smoothness,
        tolerance=1e-11,
    )
    assert slow.is_within(1e-10)
    np.testing.assert_allclose(slow.point, quick.point, rtol=0, atol=1e-9)


@every_penalty
@pytest.mark.parametrize("condition", [10.0, 1e3, 1e5])
def test_twice_the_steps_foretold_are_enough(penalty, condition):
    problem = quadratic(4, 8, condition)
    start = penalty.prox(np.zeros(8), 1 / problem.smoothness)
    _, first = certify(problem.gradient, penalty, start, 1 / problem.smoothness)
    # At a prox of the origin some subgradient is no longer than the gradient and the pull of P.
    first = max(first, float(np.linalg.norm(problem.gradient(start))) + 10.0)
    tolerance = 1e-6 * first
    steps = 2 * iterations_needed(problem.smoothness, problem.strong_convexity, first, tolerance)
    assert solved(problem, penalty, tolerance, steps).is_within(tolerance)


def test_steps_without_restarts_are_enough_by_themselves():
    """The half of the steps that the guarantee rests on, alone."""
    problem, penalty = quadratic(4, 8, 1e4), Indicator(L1Ball(0.5))
    run = _Run(problem, penalty, problem.smoothness, 1e-5)
    first = float(np.linalg.norm(problem.gradient(np.zeros(8))))
    steps = iterations_needed(problem.smoothness, problem.strong_convexity, first, 1e-5)
    point, _ = run.descend(np.zeros(8), steps, with_restarts=False)
    assert certify(problem.gradient, penalty, point, 1 / problem.smoothness)[1] <= 1e-5


def test_restarts_help_when_the_function_curves_more_than_it_must():
    problem = quadratic(5, 10, 100.0)
    problem.strong_convexity = 1e-4
    assert solved(problem, Indicator(L2Ball(50.0)), 1e-8, 2000).is_within(1e-8)
    assert problem.passes <= 600


def test_running_out_of_steps_is_told_honestly():
    problem, penalty = quadratic(6, 8, 1e6), Indicator(L2Ball(0.5))
    best = proximal_newton(
        problem, penalty, np.zeros(8), smoothness=problem.smoothness, tolerance=1e-8
    )
    for steps in (0, 1, 2, 10):
        solution = solved(problem, penalty, 1e-8, steps)
        apart = np.linalg.norm(solution.point - best.point)
        assert not solution.is_within(1e-8)
        assert apart <= (solution.residual + best.residual) / problem.strong_convexity
