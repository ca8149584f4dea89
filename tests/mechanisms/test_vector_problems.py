"""Losses that are not of a margin: constants, exact sums, certificates, laws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, InputError, InputTypeError, NotAccepted
from discreet.geometry import L2Ball, LinfBall, NuclearBall, Product, WholeSpace
from discreet.mechanisms import NoisyGradient, ObjectivePerturbation, VectorPerturbation
from discreet.mechanisms.minimising.vector_objective import gradient_error, objective_of
from discreet.mechanisms.summing.gradient_sums import ExactDirections, _directions
from discreet.mechanisms.vector_perturbation import VectorMinimiser
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import SeveralOutputs, SpatialMedian
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
GENERATOR = np.random.default_rng(6)
ROWS = 3.0 * GENERATOR.standard_normal((300, 3))
FAR = Bounds(L2Ball(1e9), 3, max_rows=1000)
MEDIAN = SpatialMedian(FAR, 5.0, Indicator(L2Ball(2.0)), smoothing=0.2)
BOTH = Bounds(Product([(L2Ball(1.0), 3), (L2Ball(2.0), 2)]), 5, intercept=0.5, max_rows=1000)
OUTPUTS = SeveralOutputs(BOTH, 4.0, Indicator(NuclearBall(0.8, (4, 2))))
TABLE = GENERATOR.standard_normal((300, 5)) * 0.4


def opened(problem, rows):
    return open_rows(rows, bounds=problem.bounds, unit=ADD)


PROBLEMS = [(MEDIAN, ROWS), (OUTPUTS, TABLE)]
every_problem = pytest.mark.parametrize(("problem", "rows"), PROBLEMS, ids=["distances", "outputs"])


# Constants


@pytest.mark.parametrize("width", [1, 2, 7])
@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("stiff", [0.3, 10.0, 1e4])
def test_slope_and_curvature_of_a_distance_cost_no_more_than_is_said(width, shift, stiff):
    bounds = Bounds(L2Ball(1e9), width, max_rows=10)
    problem = SpatialMedian(bounds, stiff, Indicator(L2Ball(2.0)), smoothing=0.2)
    q = np.linspace(0, 1, 20001)
    flat = np.sqrt(1 - q**2)
    each = flat / (0.2 * stiff)
    cost = shift * q + (width - 1) * np.log1p(each) + np.log1p(each * flat**2)
    assert cost.max() <= problem.bending_cost(shift)


@every_problem
def test_declared_gradients_and_curvatures_are_never_exceeded(problem, rows):
    generator = np.random.default_rng(1)
    for row in rows[:20] * 10.0:
        data = opened(problem, row[None])
        objective = objective_of(problem, data, np.zeros(problem.width))
        for _ in range(5):
            point = problem.penalty.nearest(generator.standard_normal(problem.width))
            _, gradient = objective.value_and_gradient(point)
            own = gradient - problem.ridge * point
            assert np.linalg.norm(own) <= problem.row_lipschitz
            bends = np.linalg.eigvalsh(
                objective.hessian(point) - problem.ridge * np.eye(point.size)
            )
            assert bends[-1] <= problem.row_smoothness * (1 + 1e-9)
            assert np.sum(bends > 1e-9) <= problem.rank


@every_problem
def test_derivatives_are_those_of_the_value(problem, rows):
    objective = objective_of(problem, opened(problem, rows), np.ones(problem.width))
    point = problem.penalty.nearest(np.linspace(-0.3, 0.4, problem.width))
    moves = 1e-5 * np.eye(point.size)
    _, gradient = objective.value_and_gradient(point)
    sides = [(objective.value_and_gradient(point + m), objective.value_and_gradient(point - m))
             for m in moves]  # fmt: skip
    np.testing.assert_allclose(gradient, [(a[0] - b[0]) / 2e-5 for a, b in sides], rtol=1e-6)
    slopes = [(a[1] - b[1]) / 2e-5 for a, b in sides]
    np.testing.assert_allclose(objective.hessian(point), slopes, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(objective.careful_gradient(point), gradient, rtol=1e-10)


def test_the_declared_rounding_of_a_gradient_holds():
    point = np.array([0.3, -0.7, 1.1])
    objective = objective_of(MEDIAN, opened(MEDIAN, ROWS), np.zeros(3))
    with mp.workdps(40):
        total = [MEDIAN.ridge * mp.mpf(v) for v in point.tolist()]
        for row in ROWS.tolist():
            away = [mp.mpf(a) - mp.mpf(b) for a, b in zip(point.tolist(), row, strict=True)]
            length = mp.sqrt(sum(v * v for v in away) + mp.mpf(0.2) ** 2)
            total = [t + v / length for t, v in zip(total, away, strict=True)]
        found = objective.careful_gradient(point).tolist()
        gap = mp.norm(mp.matrix([a - b for a, b in zip(found, total, strict=True)]))
    assert float(gap) <= gradient_error(MEDIAN) + 4 * 2.0**-53 * (1000 + MEDIAN.ridge * 2)


# Exact sums of directions


def test_every_row_adds_the_same_whatever_the_other_rows_are():
    sums, point = ExactDirections(replace(MEDIAN, smoothing=0.0)), np.array([0.1, 0.2, -0.3])
    alone = [sums.units(opened(MEDIAN, row[None]), point) for row in ROWS]
    np.testing.assert_array_equal(sums.units(opened(MEDIAN, ROWS), point), np.sum(alone, axis=0))
    thin = sums.units(opened(MEDIAN, sparse.csr_array(ROWS)), point)
    np.testing.assert_array_equal(thin, np.sum(alone, axis=0))


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-160, 1e-120, 1e-3, 1.0, 1e90, 1e150, 1e300])
def test_no_direction_is_longer_than_one(size):
    generator = np.random.default_rng(2)
    for width in (1, 2, 3, 50):
        away = generator.standard_normal((40, width)) * size
        units = np.trunc(_directions(away.copy()) * math.ldexp(1 - 2.0**-39, 32))
        for row, given in zip(units.tolist(), away, strict=True):
            squared = sum(Fraction(v) ** 2 for v in row)
            assert squared <= Fraction(2) ** 64
            if np.abs(given).max() > 1e-300:
                assert squared >= Fraction(2) ** 64 * (1 - Fraction(1, 10**6))


def test_a_row_where_the_point_is_pulls_nowhere():
    sums = ExactDirections(replace(MEDIAN, smoothing=0.0))
    assert not sums.units(opened(MEDIAN, np.zeros((5, 3))), np.zeros(3)).any()


# Certificates


@pytest.mark.parametrize("seed", range(5))
def test_minimisers_of_outputs_are_within_the_declared_radius(seed):
    problem = replace(OUTPUTS, penalty=Indicator(NuclearBall(50.0, (4, 2))))
    linear = np.random.default_rng(seed).standard_normal(8)
    minimiser = VectorMinimiser(problem, 10.0)
    point = minimiser.solve(opened(problem, TABLE), linear)
    rows = opened(problem, TABLE).gather()[0]
    with mp.workdps(40):
        x = mp.matrix(np.delete(rows, [3, 4], axis=1).tolist())
        y = mp.matrix(rows[:, 3:5].tolist())
        gram = x.T * x + problem.ridge * mp.eye(4)
        right = x.T * y - mp.matrix(linear.reshape(4, 2).tolist())
        exact = gram**-1 * right
        gap = mp.norm(mp.matrix(point.reshape(4, 2).tolist()) - exact)
    assert float(gap) <= minimiser.radius < 1e-7


@every_problem
@pytest.mark.parametrize("scale", [0.1, 30.0, 3000.0])
def test_both_solvers_find_the_same_point(problem, rows, scale):
    linear = scale * np.random.default_rng(4).standard_normal(problem.width)
    minimiser = VectorMinimiser(problem, 10 * scale)
    objective = objective_of(problem, opened(problem, rows), linear)
    search, start = minimiser.search(objective), np.zeros(problem.width)
    (quick, _), (slow, _) = next(search._solve_quickly(start)), next(search._solve_slowly(start))
    np.testing.assert_allclose(quick, slow, rtol=0, atol=2e-9)
    assert problem.penalty.region.contains(minimiser.solve(opened(problem, rows), linear))


# The law, in one dimension: density of w with -b = F(w)


@pytest.mark.parametrize("smoothing", [0.05, 1.0])
@pytest.mark.parametrize("unit", [ADD, SWAP], ids=["add", "swap"])
def test_the_density_of_a_median_changes_by_no_more_than_epsilon(smoothing, unit):
    bounds = Bounds(L2Ball(1e9), 1, max_rows=100)
    problem = SpatialMedian(bounds, 1.5 / smoothing, Indicator(L2Ball(3.0)), smoothing)
    plan = VectorPerturbation().plan(problem, Budget(1.0), unit)
    w = np.linspace(-40, 40, 400_001)
    theta, inside = np.clip(w, -3, 3), np.abs(w) < 3

    def log_density(rows):
        away = theta[:, None] - np.array(rows)[None, :]
        lengths = np.sqrt(away**2 + smoothing**2)
        force = (away / lengths).sum(axis=1) + problem.ridge * theta + w - theta
        bend = (smoothing**2 / lengths**3).sum(axis=1) + problem.ridge
        return -np.abs(force) / plan.scale + np.log(np.where(inside, bend, 1.0))

    common = [0.4, 0.4, -1.0]
    for row in (0.4, 0.0, 2.0, 1e6):
        first = log_density(common)
        second = log_density([*common, row])
        if unit is SWAP:
            first = log_density([*common, -row])
        assert np.abs(second - first).max() <= plan.guarantee.epsilon(0.0)


# What is refused


def test_vector_losses_are_refused_where_there_is_no_proof():
    with pytest.raises(NotAccepted, match="learning problems"):
        ObjectivePerturbation().plan(MEDIAN, Budget(1.0, 1e-6), ADD)
    with pytest.raises(NotAccepted, match="learning problems"):
        NoisyGradient().plan(OUTPUTS, Budget(1.0, 1e-6), ADD)
    with pytest.raises(NotAccepted, match="smooth the loss"):
        VectorPerturbation().plan(replace(MEDIAN, smoothing=0.0), Budget(1.0), ADD)
    with pytest.raises(CalibrationError, match="too weak for epsilon"):
        VectorPerturbation().plan(replace(OUTPUTS, ridge=0.1), Budget(1.0), ADD)
    with pytest.raises(CalibrationError, match="delta is smaller"):
        VectorPerturbation().plan(MEDIAN, Budget(9.0, 1e-30), ADD)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: replace(MEDIAN, penalty=Indicator(WholeSpace())), InputError, "bounded domain"),
        (lambda: replace(MEDIAN, ridge=0.0), InputError, "ridge"),
        (lambda: replace(MEDIAN, bounds=replace(FAR, intercept=1.0)), InputError, "no intercept"),
        (
            lambda: replace(MEDIAN, bounds=replace(FAR, labels=LabelSet([-1, 1]))),
            InputError,
            "neither labels",
        ),
        (lambda: replace(OUTPUTS, bounds=FAR), InputTypeError, "features"),
    ],
    ids=["unbounded", "ridge", "intercept", "labels", "one set"],
)
def test_a_problem_that_is_none_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_more_outputs_leave_less_for_slopes():
    def scale(outputs):
        both = Product([(L2Ball(1.0), 2), (L2Ball(1.0), outputs)])
        domain = Indicator(NuclearBall(1.0, (2, outputs)))
        problem = SeveralOutputs(Bounds(both, 2 + outputs, max_rows=100), 20.0, domain)
        return VectorPerturbation().plan(problem, Budget(1.0), ADD).scale

    assert scale(1) < scale(4) < scale(8)


# Found by review


def test_a_smoothing_whose_square_vanishes_is_refused():
    with pytest.raises(InputError, match="smoothing"):
        SpatialMedian(FAR, 5.0, Indicator(L2Ball(2.0)), smoothing=1e-170)


def test_gradients_do_not_walk_along_smoothed_distances():
    verdict = NoisyGradient().accepts(MEDIAN, ADD)
    assert not verdict
    assert "smoothing=0" in verdict.reason


def test_rows_too_long_for_their_squares_are_refused_in_the_plan():
    wide = Bounds(Product([(L2Ball(1e85), 3), (L2Ball(1e85), 2)]), 5, max_rows=1000)
    problem = SeveralOutputs(wide, 1e171, Indicator(NuclearBall(0.8, (3, 2))))
    with pytest.raises(CalibrationError, match="rescale"):
        VectorPerturbation().plan(problem, Budget(1.0), ADD)


@pytest.mark.parametrize("count", [1000, 5000])
def test_a_certificate_is_reached_in_a_box_with_all_rows_near_its_edge(count):
    bounds = Bounds(LinfBall(1.0), 1, max_rows=5000)
    problem = SpatialMedian(bounds, 5000.0, Indicator(LinfBall(1.0)), smoothing=1e-3)
    plan = VectorPerturbation().plan(problem, Budget(10.0), ADD)
    rows = opened(problem, np.full((count, 1), 0.97))
    for seed in range(3):
        assert abs(plan.run(rows, RehearsalNoise(seed))[0]) <= 1
