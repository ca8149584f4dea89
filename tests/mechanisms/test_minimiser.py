"""The computed minimiser lies within its public radius of the exact one, found with 50 digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, PrivacyError
from discreet.geometry import L2Ball
from discreet.losses import (
    Huber,
    HuberHinge,
    LogCosh,
    Logistic,
    MarginLogistic,
    PseudoHuber,
    Squared,
)
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.minimising.linear_term import BITS
from discreet.mechanisms.minimising.minimiser import SWIFT_AIM, Minimiser
from discreet.mechanisms.minimising.rows_objective import CAREFUL_ROWS, RowsObjective, _inverse
from discreet.mechanisms.minimising.swift_objective import SwiftObjective
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem
from discreet.solvers import Solution, newton
from support.opened import open_rows

mp.mp.dps = 50


@dataclass(frozen=True)
class Exact:
    """A loss again, in mpmath: slope and curvature as functions of label and margin."""

    loss: Any
    slope: Any
    curvature: Any


def _logistic(y, z, margin=0):
    s = 1 / (1 + mp.exp(y * z - margin))
    return s, s * (1 - s)


def _clip(value, low, high):
    return max(low, min(high, value))


LOSSES = (
    Exact(Logistic(), lambda y, z: -y * _logistic(y, z)[0], lambda y, z: _logistic(y, z)[1]),
    Exact(
        MarginLogistic(margin=3.0),
        lambda y, z: -y * _logistic(y, z, 3)[0],
        lambda y, z: _logistic(y, z, 3)[1],
    ),
    Exact(
        HuberHinge(0.5),
        lambda y, z: -y * _clip(mp.mpf(3) / 2 - y * z, 0, 1),
        lambda y, z: mp.mpf(abs(1 - y * z) <= mp.mpf(1) / 2),
    ),
    Exact(Squared(2.0), lambda y, z: z - y, lambda y, z: mp.mpf(1)),
    Exact(Huber(0.5), lambda y, z: _clip(z - y, -mp.mpf(1) / 2, mp.mpf(1) / 2),
          lambda y, z: mp.mpf(abs(z - y) <= mp.mpf(1) / 2)),
    Exact(
        PseudoHuber(0.5),
        lambda y, z: (z - y) / mp.sqrt(1 + 4 * (z - y) ** 2),
        lambda y, z: (1 + 4 * (z - y) ** 2) ** (-mp.mpf(3) / 2),
    ),
    Exact(
        LogCosh(0.5),
        lambda y, z: mp.tanh(2 * (z - y)) / 2,
        lambda y, z: mp.sech(2 * (z - y)) ** 2,
    ),
)  # fmt: skip

every_loss = pytest.mark.parametrize("exact", LOSSES, ids=lambda exact: repr(exact.loss))


def made(exact, *, ridge, p=3, rows=20, max_rows=1000, radius=50.0, intercept=None):
    """A problem and a data set for it, of rows that no clipping touches."""
    labels = LabelSet([-1, 1]) if exact.loss.is_classifier else Interval(-2, 2)
    bounds = Bounds(L2Ball(1.0), p, labels=labels, intercept=intercept, max_rows=max_rows)
    generator = np.random.default_rng(5)
    X = generator.standard_normal((rows, p))
    X *= 0.99 / np.linalg.norm(X, axis=1, keepdims=True)
    signal = X @ np.arange(1.0, p + 1) + generator.standard_normal(rows) / 2
    y = np.sign(signal) if exact.loss.is_classifier else np.clip(signal, -2, 2)
    return Problem(exact.loss, bounds, ridge=ridge, radius=radius), X, y


def exact_minimiser(exact, problem, X, y, linear, near):
    """Newton's method with 50 digits, from a point that is already good."""
    intercept = problem.bounds.intercept
    full = X if intercept is None else np.column_stack([X, np.full(len(X), intercept)])
    rows = [mp.matrix([mp.mpf(v) for v in row]) for row in full.tolist()]
    labels = [mp.mpf(v) for v in y.tolist()]
    w = mp.matrix([mp.mpf(v) for v in near.tolist()])
    b = mp.matrix([mp.mpf(v) for v in linear])
    ridge = mp.mpf(problem.ridge)
    for _ in range(12):
        gradient, hessian = ridge * w + b, ridge * mp.eye(len(w))
        for x, label in zip(rows, labels, strict=True):
            z = (x.T * w)[0]
            gradient += exact.slope(label, z) * x
            hessian += exact.curvature(label, z) * (x * x.T)
        if mp.norm(gradient) / ridge < mp.mpf(10) ** -35:
            return w
        w -= mp.lu_solve(hessian, gradient)
    raise AssertionError("the reference did not converge")


def distance(point, reference):
    return float(mp.norm(mp.matrix([mp.mpf(v) for v in point.tolist()]) - reference))


def check_radius(minimiser, exact, X, y, linear, rows):
    """The point found is as near as the public radius says."""
    point = minimiser.solve(rows, linear)
    reference = exact_minimiser(exact, minimiser.problem, X, y, linear.tolist(), point)
    assert distance(point, reference) <= minimiser.radius


@every_loss
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_computed_minimiser_is_within_its_public_radius(exact, ridge, engine):
    problem, X, y = made(exact, ridge=ridge, max_rows=100)
    rows = open_rows(engine(X), y, bounds=problem.bounds)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)


@every_loss
def test_as_many_rows_as_declared_stay_within_the_radius(exact):
    problem, X, y = made(exact, ridge=1.0, rows=300, max_rows=300, p=2, intercept=0.5)
    rows = open_rows(X, y, bounds=problem.bounds, block_rows=300)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)


@pytest.mark.parametrize(
    "exact", [exact for exact in LOSSES if exact.loss != Squared(2.0)], ids=lambda e: repr(e.loss)
)  # a squared loss has no bounded slope, so no plan
@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_a_point_stays_near_the_minimiser_of_every_linear_term_on_the_same_cell(exact, unit):
    problem, X, y = made(exact, ridge=20.0, radius=math.inf)
    plan = ObjectivePerturbation("gaussian").plan(problem, Budget(1.0, 1e-6), unit)
    rows = open_rows(X, y, bounds=problem.bounds)
    step = math.ldexp(plan.scale, -BITS)
    draws = 0 * RehearsalNoise(1).gaussian(3, BITS) + np.array([2**44, -(2**43), 12345])
    linear = (draws + 0.5) * step
    point = plan.minimiser.solve(rows, linear)
    for ends in ((0, 0, 0), (1, 1, 1), (1, 0, 1)):
        ideal = [mp.mpf(step) * (int(d) + end) for d, end in zip(draws, ends, strict=True)]
        reference = exact_minimiser(exact, plan.minimiser.problem, X, y, ideal, point)
        assert distance(point, reference) <= plan.minimiser.radius


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_output_perturbation_counts_the_radius_twice(unit):
    problem, _, _ = made(LOSSES[0], ridge=2.0, radius=math.inf)
    for law, growth in (("gaussian", 1.0), ("radial", 1.0), ("laplace", math.sqrt(3))):
        plan = OutputPerturbation(law).plan(problem, Budget(1.0, 1e-6), unit)
        without = unit.spread(plan.minimiser.problem.row_lipschitz) / 2.0 * growth
        assert plan.sensitivity >= without + 2 * growth * plan.minimiser.radius


def test_careless_solving_is_caught(monkeypatch):
    # The mutant trusts whatever Newton's method returns; here that is the start.
    exact = LOSSES[0]
    problem, X, y = made(exact, ridge=1.0)
    rows = open_rows(X, y, bounds=problem.bounds)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)
    _break_newton(monkeypatch)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)
    monkeypatch.setattr(Minimiser, "_is_certified", lambda *_: True)
    with pytest.raises(AssertionError):
        check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)


def _break_newton(monkeypatch):
    def broken(objective, start, **_):
        return Solution(start, 0.0)  # and claims to be done

    monkeypatch.setattr("discreet.mechanisms.minimising.minimiser.newton", broken)


@every_loss
@pytest.mark.parametrize("ridge", [1.0, 100.0])
def test_when_newton_fails_the_slow_method_is_certified_too(exact, ridge, monkeypatch):
    _break_newton(monkeypatch)
    problem, X, y = made(exact, ridge=ridge, max_rows=50)
    rows = open_rows(X, y, bounds=problem.bounds)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)


def _break_accelerated(monkeypatch):
    def broken(objective, start, **_):
        return Solution(start, 0.0)

    monkeypatch.setattr("discreet.mechanisms.minimising.minimiser.accelerated_gradient", broken)


@every_loss
def test_when_all_else_fails_plain_steps_are_certified(exact, monkeypatch):
    # The method that the proof counts the steps of.
    _break_newton(monkeypatch)
    _break_accelerated(monkeypatch)
    monkeypatch.setattr(Minimiser, "_refine", lambda *_: iter(()))
    problem, X, y = made(exact, ridge=20.0, max_rows=30)
    rows = open_rows(X, y, bounds=problem.bounds)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)


@every_loss
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_slopes_are_guide_enough_without_values(exact, ridge, monkeypatch):
    _break_newton(monkeypatch)
    monkeypatch.setattr(Minimiser, "_solve_slowly", lambda *_: iter(()))
    problem, X, y = made(exact, ridge=ridge, max_rows=30)
    rows = open_rows(X, y, bounds=problem.bounds)
    check_radius(Minimiser(problem), exact, X, y, np.zeros(3), rows)


@pytest.mark.parametrize("ridge", [1e-16, 1e-18])
def test_a_matrix_that_rounding_made_singular_does_not_end_a_release(ridge):
    # The same row over and over: in floats the ridge is lost beside its square.
    bounds = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]), max_rows=300)
    problem = Problem(Logistic(), bounds, ridge=ridge)
    plan = ObjectivePerturbation().plan(problem, Budget(math.inf), AddRemoveOne())
    X, y = np.full((300, 4), 0.5), np.resize([1.0, 1.0, -1.0], 300)
    point = plan.run(open_rows(X, y, bounds=bounds), RehearsalNoise(1))
    assert X[0] @ point == pytest.approx(math.log(2), rel=1e-6)


@pytest.mark.parametrize("spoilt", [-1.0, np.nan, np.inf], ids=str)
def test_a_spoilt_matrix_still_has_a_direction(spoilt):
    direction = _inverse(np.diag([1.0, spoilt]))(np.array([1.0, 0.0]))
    assert direction.shape == (2,)


def test_points_near_a_reference_share_its_rounding_errors():
    # Margins are small sums of large terms: alone, each has rounding errors of its own.
    bounds = Bounds(L2Ball(1.0), 40, labels=Interval(-1, 1), max_rows=100)
    problem = Problem(Squared(1.0), bounds, ridge=1e-9, radius=1e6)
    generator = np.random.default_rng(3)
    X = 0.15 * (1 + 1e-7 * generator.standard_normal((50, 40)))
    objective = RowsObjective(problem, open_rows(X, np.zeros(50), bounds=bounds), np.zeros(40))
    reference = np.round(1e5 * generator.standard_normal(40))
    reference[-1] = -reference[:-1].sum()
    start, errors = objective.careful_gradient(reference), {}
    for place in ("alone", "near"):
        near = reference if place == "near" else None
        ways = 2.0**-20 * generator.integers(-9, 9, (20, 40))
        changes = [objective.careful_gradient(reference + way, near) - start for way in ways]
        gaps = changes - ways @ X.T @ X
        errors[place] = float(np.linalg.norm(gaps, axis=1).max())
    assert errors["near"] < 0.7 * errors["alone"]


@pytest.mark.parametrize("garbage", [np.nan, np.inf, 1e300], ids=str)
def test_garbage_from_newton_is_never_released(garbage, monkeypatch):
    def broken(objective, start, **_):
        return Solution(np.full_like(start, garbage), 0.0)

    monkeypatch.setattr("discreet.mechanisms.minimising.minimiser.newton", broken)
    problem, X, y = made(LOSSES[0], ridge=1.0, max_rows=50)
    minimiser = Minimiser(problem)
    rows = open_rows(X, y, bounds=problem.bounds)
    with np.errstate(all="ignore"):
        try:
            check_radius(minimiser, LOSSES[0], X, y, np.zeros(3), rows)
        except PrivacyError:
            return


def test_a_point_outside_the_ball_is_not_certified():
    problem, X, y = made(LOSSES[0], ridge=1e-3)
    rows = open_rows(X, y, bounds=problem.bounds)
    free = Minimiser(problem).solve(rows, np.zeros(3))
    tight = Minimiser(replace(problem, radius=float(np.linalg.norm(free)) / 2))
    objective = RowsObjective(tight.problem, rows, np.zeros(3))
    assert Minimiser(problem)._is_certified(objective, free)
    assert not tight._is_certified(objective, free)


@every_loss
def test_a_minimiser_beyond_the_radius_is_never_returned(exact):
    problem, X, y = made(exact, ridge=0.1)
    rows = open_rows(X, y, bounds=problem.bounds)
    free = Minimiser(problem).solve(rows, np.zeros(3))
    tight = Minimiser(replace(problem, radius=float(np.linalg.norm(free)) / 2))
    with pytest.raises(PrivacyError, match="certified"):
        tight.solve(rows, np.zeros(3))


def test_what_is_returned_meets_the_tolerance_that_was_announced():
    # A slope far smaller than the margins: floats near w = 100 are too coarse for it.
    bounds = Bounds(L2Ball(1.0), 1, labels=Interval(-1000, 1000), max_rows=1000)
    minimiser = Minimiser(Problem(Huber(0.01), bounds, ridge=1e-3, radius=1000.0))
    for label in 100 + np.arange(1, 9) / 9:
        rows = open_rows(np.full((1000, 1), 0.9), np.full(1000, label), bounds=bounds)
        point = minimiser.solve(rows, np.zeros(1))
        gradient = RowsObjective(minimiser.problem, rows, np.zeros(1)).careful_gradient(point)
        assert np.linalg.norm(gradient) <= minimiser.tolerance


def test_whatever_is_certified_was_summed_in_small_blocks(monkeypatch):
    _break_newton(monkeypatch)
    exact = LOSSES[0]
    problem, X, y = made(exact, ridge=100.0, rows=600, max_rows=600)
    rows = open_rows(X, y, bounds=problem.bounds, block_rows=600)
    careful = []
    honest = RowsObjective.careful_gradient

    def watched(self, point, reference=None):
        careful.append(point.copy())
        return honest(self, point, reference)

    monkeypatch.setattr(RowsObjective, "careful_gradient", watched)
    point = Minimiser(problem).solve(rows, np.zeros(3))
    assert CAREFUL_ROWS < 600
    assert any(np.array_equal(point, seen) for seen in careful)


def test_a_problem_without_a_radius_cannot_be_certified():
    problem, _, _ = made(LOSSES[0], ridge=1.0, radius=math.inf)
    with pytest.raises(CalibrationError, match="finite radius"):
        Minimiser(problem)


def test_more_rows_or_less_ridge_make_the_radius_larger():
    def radius(**options):
        return Minimiser(made(LOSSES[0], **{"ridge": 1.0, **options})[0]).radius

    assert radius(max_rows=10**6) > radius(max_rows=10**3)
    assert radius(ridge=0.1) > radius(ridge=1.0)
    assert radius(radius=1000.0) > radius(radius=10.0)


def test_the_sharper_bound_is_never_worse_than_the_plain_one():
    for exact in LOSSES:
        for ridge in (1e-3, 1.0, 1e3):
            problem, _, _ = made(exact, ridge=ridge)
            minimiser = Minimiser(problem)
            through = 1000 * problem.row_norm * problem.smoothness * minimiser.margin_error
            plain = (minimiser.tolerance + minimiser.float_error + through) / ridge
            assert minimiser.radius <= plain * (1 + 1e-5)


def test_wide_sparse_rows_have_the_minimiser_of_the_columns_they_touch():
    # The offset identity: coordinates that no row touches are minus the linear term over the ridge.
    generator = np.random.default_rng(12)
    wide, narrow = 5000, 30
    places = np.sort(generator.choice(wide, narrow, replace=False))
    X = generator.standard_normal((200, narrow)) / 8
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    linear = generator.standard_normal(wide)
    full = np.zeros((200, wide))
    full[:, places] = X
    labels = LabelSet([-1, 1])
    broad = Bounds(L2Ball(1.0), wide, labels=labels, max_rows=1000)
    close = Bounds(L2Ball(1.0), narrow, labels=labels, max_rows=1000)
    spread = Minimiser(Problem(Logistic(), broad, ridge=2.0, radius=500.0), 100.0)
    alone = Minimiser(Problem(Logistic(), close, ridge=2.0, radius=500.0), 100.0)
    found = spread.solve(open_rows(sparse.csr_array(full), y, bounds=broad), linear)
    expected = -linear / 2.0
    expected[places] = alone.solve(open_rows(X, y, bounds=close), linear[places])
    assert np.linalg.norm(found - expected) <= spread.radius + alone.radius
    assert spread.radius + alone.radius < 1e-8


@pytest.mark.parametrize("share", [8, 4])
@pytest.mark.parametrize(
    "exact", [e for e in LOSSES if e.loss != Squared(2.0)], ids=lambda e: repr(e.loss)
)
def test_all_rows_there_may_be_and_a_minimiser_far_out_are_still_certified(exact, share):
    problem, X, y = made(exact, ridge=0.01, rows=1500, max_rows=1500, p=4)
    rows = open_rows(X, y, bounds=problem.bounds)
    free = Minimiser(problem).solve(rows, np.zeros(4))
    near = Minimiser(replace(problem, radius=share * float(np.linalg.norm(free))))
    point = near.solve(rows, np.zeros(4))
    assert np.linalg.norm(point - free) <= near.radius + Minimiser(problem).radius


@pytest.mark.parametrize("largest", [1e-140, 1e-200, 1e-300])
def test_gradients_whose_squares_vanish_are_no_certificate(largest):
    # Norms of such gradients come out as zero, wherever the point is.
    problem, X, y = made(LOSSES[0], ridge=1.0)
    with pytest.raises(InputError, match="must lie between"):
        replace(problem.bounds, max_weight=largest)
    small = replace(problem, bounds=replace(problem.bounds, max_weight=1e-100), ridge=1e-100)
    rows = open_rows(X, y, weights=np.ones(len(X)), bounds=small.bounds)
    point = Minimiser(small).solve(rows, np.zeros(3))
    usual = Minimiser(problem).solve(open_rows(X, y, bounds=problem.bounds), np.zeros(3))
    assert np.linalg.norm(point - usual) <= Minimiser(small).radius + Minimiser(problem).radius


def test_a_linear_term_that_leads_too_far_is_refused():
    # Wide rows start where the linear term leads: beyond the radius nothing can be certified.
    wide = 1600
    bounds = Bounds(L2Ball(1.0), wide, labels=LabelSet([-1, 1]), max_rows=100)
    minimiser = Minimiser(Problem(Logistic(), bounds, ridge=1.0, radius=10.0))
    X = sparse.random_array((20, wide), density=0.01, rng=np.random.default_rng(1), format="csr")
    rows = open_rows(X, np.ones(20), bounds=bounds)
    linear = np.zeros(wide)
    linear[7] = 40.0
    with pytest.raises(PrivacyError, match="certified"):
        minimiser.solve(rows, linear)
    linear[7] = 2.0
    assert np.linalg.norm(minimiser.solve(rows, linear)) <= 10.0


@every_loss
def test_newtons_method_reaches_the_tolerance_with_hessians_in_single_precision(exact):
    problem, X, y = made(exact, ridge=1.0, max_rows=100)
    minimiser, rows = Minimiser(problem), open_rows(X, y, bounds=problem.bounds)
    linear = np.zeros(problem.bounds.width)
    found = newton(
        SwiftObjective(problem, rows, linear), linear, tolerance=SWIFT_AIM * minimiser.tolerance
    )
    gradient = RowsObjective(problem, rows, linear).careful_gradient(found.point)
    assert np.linalg.norm(gradient) <= minimiser.tolerance


def test_a_swift_minimiser_takes_few_rows_first_and_finds_what_another_does():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(9000, 20)) / 6
    y = np.where(X[:, 0] + 0.3 * generator.normal(size=9000) > 0, 1.0, -1.0)
    bounds = Bounds(L2Ball(1.0), 20, labels=LabelSet([-1, 1]), max_rows=10**5)
    problem = Problem(Logistic(), bounds, ridge=1.0, radius=500.0)
    rows, linear = open_rows(X, y, bounds=bounds), generator.normal(size=20)
    plain, swift = (Minimiser(problem, 100.0, is_swift=each) for each in (False, True))
    points = [each.solve(rows, linear) for each in (plain, swift)]
    assert plain.radius == swift.radius
    assert 0 < np.linalg.norm(points[0] - points[1]) <= 2 * swift.radius
    exact, rough = (
        kind(problem, rows, linear).hessian(points[0]) for kind in (RowsObjective, SwiftObjective)
    )
    assert 0 < np.abs(exact - rough).max() <= 1e-6 * np.abs(exact).max()
    thin = SwiftObjective(problem, rows, linear).rough_start(np.zeros(20))
    assert 1e-3 < np.linalg.norm(thin - points[0]) < 0.5 * np.linalg.norm(points[0])
