"""Proximal steps end where many-digit arithmetic says, within what is declared."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Hinge, Huber, Logistic, Pinball, SmoothedHinge, Squared
from discreet.mechanisms.streaming.proximal_steps import STOPPING, ProximalSteps, implicit_slope
from discreet.penalties import Indicator
from discreet.privacy import ReplaceOne
from discreet.questions import Problem
from support.examples import ALL_LOSSES

DIGITS = 40


def exact_slope(loss, label, z):
    """The slope in many digits; of kinked losses, either end at a kink will do."""
    y = mpf(label)
    if isinstance(loss, Logistic):
        return -y / (1 + mpmath.exp(y * z))
    if isinstance(loss, Hinge):
        return -y if y * z < 1 else mpf(0)
    if isinstance(loss, Pinball):
        tau = mpf(loss.quantile)
        return 1 - tau if z > y else -tau
    if isinstance(loss, Huber):
        return max(-mpf(loss.threshold), min(mpf(loss.threshold), z - y))
    return z - y  # squared


def exact_step(problem, total, seen, row, label):
    """One proximal step, the ball inside of it for smooth losses and after it for others."""
    loss, stiffness = problem.loss, mpf(problem.ridge) * (seen + 1)
    row = [mpf(float(value)) for value in row]
    limit = stiffness * problem.domain_radius if problem.penalty is not None else None

    def inside(point):
        length = mpmath.sqrt(mpmath.fsum(value**2 for value in point))
        if limit is None or length <= limit:
            return point
        return [value * limit / length for value in point]

    def moved(slope):
        return [t - slope * x for t, x in zip(total, row, strict=True)]

    def margin(slope):
        point = inside(moved(slope)) if loss.is_smooth else moved(slope)
        return mpmath.fdot(point, row) / stiffness

    low, high = mpf(-problem.lipschitz) - 1, mpf(problem.lipschitz) + 1
    for _ in range(4 * DIGITS):
        middle = (low + high) / 2
        is_above = exact_slope(loss, label, margin(middle)) > middle
        low, high = (middle, high) if is_above else (low, middle)
    return inside(moved((low + high) / 2))


def a_problem(loss, ridge, radius):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-1, 1)
    penalty = None if radius is None else Indicator(L2Ball(radius))
    return Problem(loss, Bounds(L2Ball(1.0), 3, labels=labels), ridge, penalty=penalty)


CASES = [
    (Logistic(), 0.02, None),
    (Logistic(), 0.02, 0.3),
    (Hinge(), 0.02, None),
    (Hinge(), 0.02, 0.8),
    (Pinball(0.8), 0.1, None),
    (Huber(0.3), 0.05, 0.5),
    (Squared(1.0), 0.05, 0.7),
]


@pytest.mark.parametrize(("loss", "ridge", "radius"), CASES)
def test_a_whole_stream_ends_within_the_declared_error_of_exact_steps(loss, ridge, radius):
    problem, horizon = a_problem(loss, ridge, radius), 40
    algorithm, generator = ProximalSteps(problem, horizon), np.random.default_rng(11)
    X = generator.normal([2.0, 0.0, 0.0], 1.0, (horizon, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * generator.choice([1.0, 7.0], (horizon, 1))
    y = np.where(generator.random(horizon) < 0.8, 1.0, -1.0)
    total, inside = np.zeros(3), False
    with mpmath.workdps(DIGITS):
        exact = [mpf(0)] * 3
        for t in range(horizon):
            exact = exact_step(problem, exact, t + 1, X[t], y[t])
            total = algorithm.step(total, t + 1, X[t], y[t], total)
            apart = mpmath.sqrt(
                mpmath.fsum((a - b) ** 2 for a, b in zip(total, exact, strict=True))
            )
            assert apart <= algorithm.error
            length = np.linalg.norm(algorithm.iterate(total, t + 1))
            inside = inside or (radius is not None and length > 0.999 * radius)
    assert inside == (radius is not None)  # the domain was met


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
@settings(max_examples=30, deadline=None)
@given(
    margin=st.floats(-5, 5),
    bend=st.floats(1e-6, 1e4),
    power=st.integers(-45, -4),
    is_up=st.booleans(),
)
def test_a_slope_is_bracketed_as_closely_as_is_asked(loss, margin, bend, power, is_up):
    label, tolerance = 1.0 if is_up else -1.0, 2.0**power
    if not loss.label_range[0] <= label <= loss.label_range[1]:
        label = 1.0
    found = implicit_slope(loss, label, lambda slope: margin - slope * bend, tolerance=tolerance)

    def excess(slope):
        return float(loss.slope(label, margin - slope * bend)) - slope

    # Beyond the tolerance the sign is sure, but for the rounding of slopes and margins.
    rounding = 2.0**-45 * (abs(found) + 1) * max(1.0, loss.lipschitz(abs(margin)))
    assert excess(found - tolerance - rounding) >= -rounding
    assert excess(found + tolerance + rounding) <= rounding


def test_few_slopes_are_asked_for():
    asked = []

    class Counted(Logistic):
        def slope(self, y, z):
            asked.append(z)
            return super().slope(y, z)

    generator = np.random.default_rng(1)
    for margin, bend in zip(
        generator.normal(0, 2, 200), generator.exponential(1, 200), strict=True
    ):
        implicit_slope(Counted(), 1.0, lambda a, m=margin, b=bend: m - a * b, tolerance=2.0**-30)
    assert len(asked) < 200 * 12


def test_what_stopping_early_may_add_is_a_public_share_of_a_record():
    algorithm = ProximalSteps(a_problem(Logistic(), 0.1, None), 10_000)
    assert algorithm.tolerance * 10_000 == STOPPING
    steep = algorithm.problem.row_lipschitz
    assert STOPPING * steep < algorithm.error < (STOPPING + 1e-6) * steep
    assert algorithm.sensitivity(ReplaceOne()) >= 2 * steep + 2 * algorithm.error


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-200, 1e-19, 1e-17, 1e-8])
def test_rows_next_to_nothing_are_taken_as_they_are(size):
    for loss in (Hinge(), Logistic()):
        algorithm = ProximalSteps(a_problem(loss, 0.1, None), 100)
        before = np.array([0.3, -0.2, 0.1])
        after = algorithm.step(before.copy(), 5, np.array([size, 0.0, 0.0]), 1.0, before)
        assert np.isfinite(after).all()
        assert np.linalg.norm(after - before) <= size + algorithm.error / 100


def test_a_kink_is_met_exactly_where_a_step_would_pass_it():
    problem = a_problem(Hinge(), 0.25, None)
    algorithm = ProximalSteps(problem, 10)
    total = algorithm.step(np.zeros(3), 1, np.array([1.0, 0.0, 0.0]), 1.0, np.zeros(3))
    assert algorithm.iterate(total, 1)[0] == pytest.approx(1.0, abs=algorithm.tolerance / 0.5)
    assert math.isclose(total[0], 0.5, abs_tol=algorithm.tolerance)


def test_smooth_losses_see_the_ball_and_kinked_ones_come_back_to_it():
    for loss in (SmoothedHinge(0.01), Hinge()):
        algorithm = ProximalSteps(a_problem(loss, 0.5, 0.1), 10)
        total = algorithm.step(np.zeros(3), 1, np.array([0.6, 0.8, 0.0]), 1.0, np.zeros(3))
        np.testing.assert_allclose(algorithm.iterate(total, 1), [0.06, 0.08, 0.0], rtol=1e-12)
