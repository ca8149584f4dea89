"""Second moments at released coefficients: exact sums, and the plans around them."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, InputTypeError
from discreet.geometry import Box, L1Ball, L2Ball
from discreet.losses import Huber, Logistic, Poisson, Squared
from discreet.mechanisms import (
    NoisyGradient,
    ObjectivePerturbation,
    PrivateStandardisation,
    SandwichMoments,
    SufficientStatistics,
)
from discreet.mechanisms.released_sandwich import NoiseLevels, ReleasedSandwich
from discreet.mechanisms.sandwich_moments import (
    ENOUGH,
    SandwichPlan,
    count_shortened,
    least_squares,
)
from discreet.mechanisms.summing.second_moments import (
    CurvatureWeight,
    ResidualWeight,
    SecondMoments,
    SlopeWeight,
)
from discreet.noise import RehearsalNoise
from discreet.penalties import L1, Indicator
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne
from discreet.questions import OneVsRest, Problem
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(1.0, 1e-6)
BOUNDS = Bounds(L2Ball(3.0), 4, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=2**16)
LOGISTIC = Problem(Logistic(), BOUNDS, ridge=30.0)


def a_table(count, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(count, 4)), draw.choice([-1.0, 1.0], count)


def moments_of(problem):
    return SecondMoments(problem, (CurvatureWeight(problem), SlopeWeight(problem)))


def units(moments, X, y, point, **options):
    rows = open_rows(X, y, bounds=moments.problem.bounds, unit=ADD, **options)
    return moments.units(moments.prepare(rows), point)


# Sums.


def test_what_a_row_adds_is_to_the_last_bit_what_it_adds_alone():
    X, y = a_table(301)
    moments, point = moments_of(LOGISTIC), np.array([1.3, -0.7, 0.2, 2.1, -0.4])
    whole = units(moments, X, y, point)
    alone = sum(units(moments, X[i : i + 1], y[i : i + 1], point) for i in range(301))
    np.testing.assert_array_equal(whole, alone)
    for options in ({"block_rows": 7}, {"block_rows": 64, "threads": 2}):
        np.testing.assert_array_equal(units(moments, X, y, point, **options), whole)
    np.testing.assert_array_equal(units(moments, np.asfortranarray(X), y, point), whole)


def test_sums_are_those_of_curvatures_and_squared_slopes():
    X, y = a_table(2000)
    X *= np.minimum(1, 3 / np.linalg.norm(X, axis=1))[:, None]
    moments, point = moments_of(LOGISTIC), np.array([1.3, -0.7, 0.2, 2.1, -0.4])
    rows = open_rows(X, y, bounds=BOUNDS, unit=ADD)
    found = [
        moments.matrix(vector, weight)
        for vector, weight in zip(moments.vectors(rows, point), moments.weights, strict=True)
    ]
    full = np.column_stack([X, np.ones(len(X))])
    bends = Logistic().curvature(y, full @ point)
    slopes = np.square(Logistic().slope(y, full @ point))
    for matrix, weights in zip(found, (bends, slopes), strict=True):
        np.testing.assert_allclose(matrix, (full * weights[:, None]).T @ full, rtol=1e-4, atol=0.05)
        np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300, math.inf, math.nan])
def test_coefficients_of_any_size_are_no_error(size):
    X, y = a_table(20)
    assert np.isfinite(units(moments_of(LOGISTIC), X, y, np.full(5, size))).all()


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_matrices_of_neighbours_stay_within_the_sensitivity(unit):
    draw = np.random.default_rng(3)
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-1, 1), max_weight=2.0, max_rows=2**16)
    problem = Problem(Huber(0.5), bounds, ridge=3.0)
    moments, farthest = moments_of(problem), 0.0
    for _ in range(200):
        X = draw.normal(size=(2, 3)) * draw.choice([0.5, 5.0], (2, 1))
        y, w, point = draw.uniform(-2, 2, 2), draw.uniform(0, 3, 2), draw.normal(size=3)
        vectors = [
            moments.vectors(open_rows(X[i : i + 1], y[i : i + 1], weights=w[i : i + 1],
                                      bounds=bounds, unit=unit), point)
            for i in range(2)
        ]  # fmt: skip
        for one, other in zip(*vectors, strict=True):
            apart = np.linalg.norm(one - other if unit is SWAP else one)
            farthest = max(farthest, apart)
    assert 0.8 <= farthest <= moments.sensitivity(unit)
    assert moments.sensitivity(unit) == pytest.approx(1 if unit is ADD else math.sqrt(2), rel=1e-4)


def test_rounding_takes_a_record_beyond_one_and_is_allowed_for():
    """With a bound of 2**33 rows weighted rows keep nine digits: of some widths all round up."""
    beyond = []
    for width in range(2, 40):
        bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=2**33)
        moments = moments_of(Problem(Logistic(), bounds, ridge=30.0))
        row = np.full((1, width), 1 / math.sqrt(width))
        rows = open_rows(row, np.ones(1), bounds=bounds, unit=ADD)
        vector, _ = moments.vectors(rows, np.zeros(width))
        beyond.append((np.linalg.norm(vector) - 1) / moments.slack)
    assert 0.05 < max(beyond) <= 1


def framed(count):
    """Return a plan within a private standardisation, and rows for it."""
    plan = PrivateStandardisation(SandwichMoments()).plan(LOGISTIC, BUDGET, ADD)
    X, y = a_table(count)
    return plan, open_rows(3 * X, y, bounds=BOUNDS, unit=ADD)


def test_counts_of_a_frame_have_their_noise():
    """The noise is fixed; limits are four standard errors of 60 draws."""
    plan, rows = framed(400)
    found = [ReleasedSandwich.of(plan.run(rows, RehearsalNoise(seed))) for seed in range(60)]
    totals = np.array([one.shortened + one.whole for one in found])
    deviation = math.sqrt(2) * found[0].levels.counts
    assert abs(totals.mean() - 400) < 4 * deviation / math.sqrt(60)
    assert 1 - 4 / math.sqrt(120) < totals.std() / deviation < 1 + 4 / math.sqrt(120)


def test_how_long_rows_may_be_follows_the_noisy_number_of_rows(monkeypatch):
    """One record does not decide: what is compared comes from released sums."""
    seen, allowance = [], SandwichPlan._allowance

    def watched(self, frame):
        seen.append(frame.count)
        return allowance(self, frame)

    monkeypatch.setattr(SandwichPlan, "_allowance", watched)
    plan, rows = framed(400)
    for seed in range(12):
        plan.run(rows, RehearsalNoise(seed))
    assert np.std(seen) > 1
    assert 400 not in seen
    enough = ENOUGH * 5**1.5 / plan.second.events.mu
    wide, narrow = (
        allowance(plan.second, SimpleNamespace(count=enough * factor)) for factor in (1.01, 0.99)
    )
    assert wide > narrow


def test_weights_have_the_bounds_of_the_theory():
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(0, 10), max_weight=3.0, max_rows=100)
    poisson = Problem(Poisson(10.0, 2.0), bounds, ridge=1.0)
    assert CurvatureWeight(poisson).most == pytest.approx(3 * math.exp(2), rel=1e-9)
    steepest = max(math.exp(2), 10 - math.exp(-2))
    assert SlopeWeight(poisson).most == pytest.approx(9 * steepest**2, rel=1e-9)
    squared = Problem(Squared(10.0), bounds, ridge=1.0)
    assert ResidualWeight(squared).most == pytest.approx(900)


def test_shortened_rows_are_counted_in_either_place():
    X = np.array([[3.1, 0, 0, 0], [0, 2.9, 0, 0], [0.1, 0, 0, 0]])
    rows = open_rows(X, np.ones(3), bounds=BOUNDS, unit=ADD)
    assert count_shortened(rows, BOUNDS, None).tolist() == [1, 2]
    boxed = Bounds(Box([-1] * 4, [1] * 4), 4, labels=BOUNDS.labels, max_rows=10)
    opened = open_rows(X, np.ones(3), bounds=boxed, unit=ADD)
    assert count_shortened(opened, boxed, None).tolist() == [0, 3]  # cells are, not rows


# Plans.


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_the_shares_of_mu_squared_are_those_of_the_theory(unit):
    plan = SandwichMoments().plan(LOGISTIC, BUDGET, unit)
    events = plan.events
    shares = [
        (event.profile.ideal.mu / events.mu) ** 2
        for event in (events.curvature, events.outer, events.counts)
    ]
    np.testing.assert_allclose(shares, [0.1, 0.1, 0.001], rtol=1e-6)
    levels, factor = plan.levels, 1 if unit is ADD else math.sqrt(2)
    norm = LOGISTIC.row_norm**2
    mu = math.sqrt(0.1) * events.mu
    assert levels.curvature == pytest.approx(factor * 0.25 * norm / (math.sqrt(2) * mu), rel=1e-4)
    assert levels.outer == pytest.approx(factor * norm / (math.sqrt(2) * mu), rel=1e-4)


def test_the_guarantee_is_that_of_all_parts():
    plan = SandwichMoments(SufficientStatistics(), outer_share=0.15).plan(
        Problem(Squared(1.0), Bounds(L2Ball(1.0), 3, labels=Interval(-1, 1), max_rows=1000), 1.0),
        BUDGET,
        ADD,
    )
    parts = (plan.statistics.guarantee.profile, plan.events.outer.profile)
    mu = math.hypot(*(part.ideal.mu for part in (*parts, plan.events.counts.profile)))
    for epsilon in (0.1, 1.0, 2.0):
        assert plan.guarantee.delta(epsilon) == pytest.approx(Gaussian(mu).delta(epsilon), rel=1e-4)


def test_a_first_stage_is_counted_too():
    alone = SandwichMoments().plan(LOGISTIC, BUDGET, ADD)
    framed = PrivateStandardisation(SandwichMoments()).plan(LOGISTIC, BUDGET, ADD)
    assert framed.guarantee.epsilon(1e-6) <= 1.0
    parts = len(alone.guarantee.profile.ideal.parts)
    assert parts >= 2
    assert framed.second.learner.scale * LOGISTIC.row_norm > alone.learner.scale


def test_what_is_not_derived_is_refused():
    refuse = SandwichMoments().accepts
    assert not refuse(OneVsRest(LOGISTIC, 3), ADD)
    for penalty in (L1(1.0), Indicator(L1Ball(1.0))):
        assert not refuse(Problem(Logistic(), BOUNDS, ridge=1.0, penalty=penalty), ADD)
    wide = Bounds(L2Ball(1.0), 600, labels=LabelSet([-1, 1]), max_rows=100)
    assert "at most 512" in refuse(Problem(Logistic(), wide, ridge=1.0), ADD).reason
    with pytest.raises(CalibrationError, match="delta > 0"):
        SandwichMoments().plan(LOGISTIC, Budget(1.0), ADD)
    with pytest.raises(CalibrationError, match="Gaussian linear term alone"):
        SandwichMoments(ObjectivePerturbation("radial")).plan(LOGISTIC, BUDGET, ADD)
    with pytest.raises(CalibrationError, match="use it once"):
        SandwichMoments().plan_beside(LOGISTIC, BUDGET, ADD, times=2)
    with pytest.raises(CalibrationError, match="leave nothing"):
        SandwichMoments(curvature_share=0.5, outer_share=0.5)
    with pytest.raises(InputTypeError, match="learner must be"):
        SandwichMoments(NoisyGradient())


# The value.


def test_a_value_is_read_as_it_was_written():
    draw = np.random.default_rng(0)
    for width in (1, 2, 7):
        one, other = (np.triu(draw.normal(size=(width, width))) for _ in range(2))
        vectors = [draw.normal(size=width) for _ in range(3)]
        made = ReleasedSandwich(
            vectors[0], vectors[1], one + np.triu(one, 1).T, other + np.triu(other, 1).T,
            vectors[2], np.append(draw.normal(size=width - 1), vectors[2][-1]),
            3.0, 40.0, NoiseLevels(1, 2, 3, 4, 5, 6, 0),
        )  # fmt: skip
        again = ReleasedSandwich.of(made.vector())
        np.testing.assert_array_equal(again.vector(), made.vector())
        np.testing.assert_array_equal(again.curvature, made.curvature)
        np.testing.assert_array_equal(again.fold, made.fold)
        assert again.levels == made.levels
    with pytest.raises(InputError, match="does not hold what intervals need"):
        ReleasedSandwich.of(np.zeros(16))


def test_coefficients_of_a_frame_come_back_for_the_declared_columns():
    X, y = a_table(5000)
    mechanism = PrivateStandardisation(SandwichMoments())
    plan = mechanism.plan(LOGISTIC, Budget(math.inf), ADD)
    rows = open_rows(X, y, bounds=BOUNDS, unit=ADD)
    found = mechanism.coefficients(plan.run(rows, RehearsalNoise(0)))
    plain = PrivateStandardisation().plan(LOGISTIC, Budget(math.inf), ADD)
    np.testing.assert_allclose(found, plain.run(rows, RehearsalNoise(0)), atol=0.05)


def test_noisy_equations_are_solved_whatever_they_are():
    assert least_squares(np.diag([2.0, 0.0]), np.array([4.0, 1.0])).tolist() == [2.0, 0.0]
    assert least_squares(np.zeros((2, 2)), np.zeros(2)).tolist() == [0.0, 0.0]
    assert least_squares(np.diag([-1.0, 1.0]), np.array([4.0, 1.0])).tolist() == [-4.0, 1.0]
