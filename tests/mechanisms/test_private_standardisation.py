"""Private standardisation: its sums, its frame, what both stages cost together, and mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr, ndtri

from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, NotAccepted
from discreet.geometry import Box, L1Ball, L1L2Ball, L2Ball, LinfBall
from discreet.losses import MarginLogistic
from discreet.mechanisms import EachAgainstTheRest, ObjectivePerturbation, PrivateStandardisation
from discreet.mechanisms.minimising.linear_term import LaplaceTerm
from discreet.mechanisms.private_standardisation import (
    GAUSSIAN_SHARE,
    PURE_SHARE,
    PrivateStandardisationPlan,
)
from discreet.mechanisms.summing.standard_frame import (
    FEWEST,
    ColumnSums,
    ColumnTotals,
    NoisySums,
    StandardFrame,
)
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import (
    AddRemoveOne,
    Budget,
    Gaussian,
    Guarantee,
    Pure,
    ReplaceOne,
    compose,
    gaussian_multiplier,
)
from discreet.questions.bounds import CLIPPING_SLACK
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from support.cases import Data, case_labelled
from support.cases.standardisation import long_frame
from support.checks import certified_epsilon, check_joint_audit, check_joint_sensitivity
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemoveOne(), ReplaceOne()
both_units = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
CUBE_ADD, CUBE_SWAP, PURE_ADD, PURE_SWAP = (
    case_labelled(f"private standardisation, {label}")
    for label in ("cube, add_remove", "cube, replace", "pure, cube, add_remove",
                  "pure, diamond, replace")
)  # fmt: skip


def bounds_of(features=None, p=3, intercept=1.0, **more):
    features = L2Ball(2.0) if features is None else features
    return Bounds(features, p, labels=LabelSet([-1, 1]), intercept=intercept, max_rows=2**20,
                  **more)  # fmt: skip


def problem_of(bounds=None, *, ridge=2.0, margin=2.0):
    return Problem(MarginLogistic(margin), bounds or bounds_of(), ridge=ridge)


def free_ridge(epsilon, unit):
    """The rule of the defaults: rows of norm one, a jointly smooth loss."""
    return (3.0 if unit.rows_are_public else 1.4) / epsilon


def data(rows, p=3, seed=5, size=1.0):
    generator = np.random.default_rng(seed)
    X = size * generator.uniform(-1, 1, size=(rows, p)) + 0.3
    return X, np.where(X[:, 0] + generator.standard_normal(rows) > 0.3, 1.0, -1.0)


# The sums of the first stage.


@pytest.mark.parametrize("entry_bound", [None, 0.5])
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "pure"])
def test_the_first_stage_sums_clipped_entries_and_their_squares(budget, entry_bound):
    bounds = bounds_of(intercept=0.4, max_weight=3.0)
    X, y = data(200, size=1.4)
    plan = PrivateStandardisation(entry_bound=entry_bound).plan(problem_of(bounds), budget, ADD)
    rows = X * np.minimum(1, 2.0 / np.linalg.norm(X, axis=1))[:, None]
    if entry_bound is not None:
        rows = np.clip(rows, -entry_bound, entry_bound)
    for engine in (X, sparse.csr_array(X)):
        opened = open_rows(engine, y, bounds=bounds, weights=np.linspace(0, 3, 200))
        found = plan.sums.release(opened, SilentNoise())
        off, unit = 201 * plan.sums.grid.step, plan.moments.unit
        np.testing.assert_allclose(found.entries[:-1], rows.sum(axis=0) / unit, rtol=0, atol=off)
        np.testing.assert_allclose(
            found.squares[:-1], (rows**2).sum(axis=0) / unit**2, rtol=0, atol=off
        )
        # The number of rows comes with them, whatever they weigh.
        assert found.entries[-1] * unit / 0.4 == pytest.approx(200, abs=off * unit / 0.4)
        assert found.squares[-1] == 0


def regions(p):
    yield from (L2Ball(1.7), L2Ball(30.0), L1Ball(2.0), L1L2Ball(2.5, 1.4), LinfBall(1.3))
    yield from (Box([-1] * p, [1] * p), Box([0.2] * p, [3] * p))


def clipped(region, row):
    rows, factors = region.clip_rows(row[None, :])
    return rows[0] * factors[0]


def hostile_pairs(p, generator):
    """Random pairs, opposite corners, and records along different axes."""
    axes = 99 * np.eye(p)
    yield from ((99 * np.ones(p), -99 * np.ones(p)), (axes[0], -axes[0]), (axes[0], axes[-1]))
    for _ in range(20):
        size = 10.0 ** generator.integers(-1, 3)
        yield size * generator.standard_normal(p), size * generator.standard_normal(p)


@both_units
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("p", [1, 2, 6])
def test_no_pair_of_records_is_further_apart_than_the_sums_declare(unit, order, p):
    generator = np.random.default_rng(p)
    closest = 0.0
    for region in regions(p):
        for intercept in (0.1, 1.0, 5.0):
            bounds = bounds_of(region, p, intercept)
            for entry_bound in (None, 0.5):
                mechanism = PrivateStandardisation(entry_bound=entry_bound)
                moments = mechanism._moments(bounds, is_pure=order == 1)
                closest = max(closest, largest_share(moments, unit, order, generator))
    assert closest <= 1
    if p == 6:  # with fewer columns, entries and squares cannot be at their worst together
        assert closest > 0.99


def largest_share(moments, unit, order, generator):
    region, p = moments.bounds.features, moments.bounds.n_features

    def sums(row):
        entries = moments._clip(np.append(clipped(region, row), moments.bounds.intercept))
        return np.append(entries, np.square(entries)[np.array(moments.squared)])

    apart = [
        np.linalg.norm(sums(x) - (sums(other) if unit.rows_are_public else 0.0), order)
        for x, other in hostile_pairs(p, generator)
    ]
    return max(apart) / moments.sensitivity(order, unit)


# The frame.


def frame_of(plan, opened, seed=0):
    return plan._frame(opened, RehearsalNoise(seed))


@pytest.mark.parametrize("count", [-400.0, 0.0, 3.0])
def test_a_noisy_count_that_is_small_or_negative_counts_as_fifty(count):
    moments = PrivateStandardisation()._moments(bounds_of(), is_pure=False)
    entries = np.array([5.0, -6.0, 7.0, count / moments.unit])
    sums = ColumnTotals(entries, np.array([1.0, -2.0, 30.0, 0.0]), noise=10.0)
    frame = StandardFrame.of_gaussian(sums, moments, centred=True)
    np.testing.assert_allclose(frame.mean, entries[:-1] * moments.unit / FEWEST)
    assert np.isfinite(frame.scale).all()
    assert (frame.scale > 0).all()


@both_units
@pytest.mark.parametrize("budget", [Budget(0.1, 1e-9), Budget(0.1)], ids=["gaussian", "pure"])
def test_one_row_and_much_noise_still_give_numbers(unit, budget):
    problem = problem_of(ridge=40.0)
    plan = PrivateStandardisation().plan(problem, budget, unit)
    opened = open_rows([[0.1, 0.2, 0.3]], [1.0], bounds=problem.bounds, unit=unit)
    for seed in range(30):
        frame = frame_of(plan, opened, seed)
        assert np.isfinite([*frame.mean, *frame.scale, frame.length, frame.constant]).all()
    assert np.isfinite(plan.run(opened, RehearsalNoise(1))).all()


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "pure"])
def test_folded_coefficients_give_the_margins_of_the_frame(budget):
    problem = problem_of(bounds_of(intercept=0.4))
    X, y = data(500)
    plan = PrivateStandardisation().plan(problem, budget, ADD)
    frame = frame_of(plan, open_rows(X, y, bounds=problem.bounds))
    full = np.column_stack([X, np.full(500, 0.4)])
    coefficients = np.random.default_rng(0).standard_normal((3, 4))
    expected = frame.apply(full.copy()) @ coefficients.T
    np.testing.assert_allclose(full @ frame.fold(coefficients).T, expected, atol=1e-12)
    np.testing.assert_allclose(full @ frame.fold(coefficients[1]), expected[:, 1], atol=1e-12)
    again = frame.apply(sparse.csr_array(full))
    np.testing.assert_allclose(np.asarray(again), frame.apply(full.copy()), atol=1e-13)


def test_a_frame_that_does_not_centre_keeps_sparse_rows_sparse():
    moments = PrivateStandardisation()._moments(bounds_of(), is_pure=False)
    sums = ColumnTotals(
        np.array([5.0, -6.0, 7.0, 200.0]), np.array([9.0, 8.0, 30.0, 0.0]), noise=1.0
    )
    frame = StandardFrame.of_gaussian(sums, moments, centred=False)
    full = np.array([[0.0, 1.0, 0.0, 1.0], [0.5, 0.0, 0.0, 1.0]])
    framed = frame.apply(sparse.csr_array(full))
    assert sparse.issparse(framed)
    np.testing.assert_allclose(framed.toarray(), frame.apply(full.copy()), rtol=1e-15)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "pure"])
def test_rows_in_the_frame_are_within_its_region_and_functions_of_themselves(budget):
    problem = problem_of()
    X, y = data(300, size=3.0)
    X[7], y[9] = np.nan, 17.0
    plan = PrivateStandardisation().plan(problem, budget, ADD)
    frame = frame_of(plan, open_rows(X, y, bounds=problem.bounds))
    frame = replace(frame, length=frame.length / 4)  # so that many rows have to be clipped
    _, bounds = plan.replan.plan_within(frame.region, plan.second)

    def framed(kept):
        opened = open_rows(X[kept], y[kept], bounds=problem.bounds)
        return opened.transform(frame.apply, bounds).gather()

    rows, labels = framed(np.arange(300))
    for order in (1, 2):
        norms = np.linalg.norm(rows, order, axis=1)
        assert norms.max() <= bounds.row_norm(order)
        assert (norms > 0.999 * bounds.row_norm(order)).any() or order == 1
    for kept in (np.arange(299), np.arange(1, 300), np.array([7, 9, 11]), np.array([120])):
        some, some_labels = framed(kept)
        np.testing.assert_array_equal(some, rows[kept])
        np.testing.assert_array_equal(some_labels, labels[kept])


def check_frame_is_public(plan, problem, unit):
    """Data sets that led to the same noisy sums are seen in the same frame."""
    kind = StandardFrame.apply
    frames, used = [], []

    class Fixed(type(plan.sums)):
        def release(self, rows, noise):
            width = plan.moments.bounds.width
            return ColumnTotals(
                np.arange(1.0, width + 1) * 30, np.arange(width) * 9.0, self.grid.scale
            )

    def recorded(self, rows):
        frames.append(self)
        return kind(self, rows)

    fixed = replace(plan, sums=Fixed(**vars(plan.sums)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StandardFrame, "apply", recorded)
        for seed, rows in ((1, 10), (2, 200)):
            X, y = data(rows, p=problem.bounds.n_features, seed=seed)
            fixed.run(open_rows(X, y, bounds=problem.bounds, unit=unit), RehearsalNoise(1))
            used.append(frames[-1])
    one, other = used
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.scale, other.scale)
    assert (one.constant, one.length, one.region) == (other.constant, other.length, other.region)


@both_units
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "pure"])
def test_the_frame_is_made_of_noisy_sums_alone(unit, budget):
    problem = problem_of(ridge=4.0)
    check_frame_is_public(PrivateStandardisation().plan(problem, budget, unit), problem, unit)


# What both stages cost together.


def closed_form(epsilon, mu1, mu2, mu3, k):
    """The bound of the theory notes, 3.1, add/remove."""
    nu = math.hypot(mu1, mu3)
    return Gaussian(math.hypot(nu, mu2)).delta(epsilon) + ndtr(nu / 2 - (epsilon - k) / nu)


def closed_form_replace(epsilon, mu1, m2, mu3, k):
    """The bound of the theory notes, 3.1, replace: its last two terms apart."""
    nu, start = math.hypot(mu1, mu3), max(k, math.sqrt(3) * m2 + m2**2 / 2)
    rest = Gaussian(math.hypot(nu, m2 / 2)).delta(epsilon - k) + ndtr(
        nu / 2 - (epsilon - start) / nu
    )
    return Gaussian(math.hypot(nu, m2)).delta(epsilon), rest


def split(epsilon, delta):
    mu = 1 / gaussian_multiplier(Budget(epsilon, delta))
    return math.sqrt(0.03) * mu, math.sqrt(1 - 0.03 - 0.0004) * mu, 0.02 * mu


def free_k(unit, epsilon, delta):
    """Mu of both stages and of the mask, and the largest k that is free, by the theory notes."""
    if not unit.rows_are_public:
        mu1, mu2, mu3 = split(epsilon, 0.99 * delta)
        nu = math.hypot(mu1, mu3)
        return mu1, mu2, mu3, epsilon - nu * (ndtri(1 - 0.01 * delta) + nu / 2)
    mu1, m2, mu3 = split(epsilon, 0.97 * delta)
    low, high = 0.0, epsilon
    for _ in range(60):
        k = (low + high) / 2
        fits = closed_form_replace(epsilon, mu1, m2, mu3, k)[1] <= 0.03 * delta
        low, high = (k, high) if fits else (low, k)
    return mu1, m2, mu3, low


@both_units
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-9)])
def test_the_noise_is_that_of_the_closed_form(unit, epsilon, delta):
    mu1, mu2, mu3, k = free_k(unit, epsilon, delta)
    problem = problem_of(ridge=CLIPPING_SLACK**2 / k)
    plan = PrivateStandardisation().plan(problem, Budget(epsilon, delta), unit)
    assert plan.guarantee.delta(epsilon) <= delta
    assert plan.sums.profile.ideal.mu == pytest.approx(mu1, rel=0.01)
    spread = 2 if unit.rows_are_public else 1
    assert plan.second.scale <= 1.01 * spread / mu2
    # A pair whose slopes are full is as far apart as two Gaussians: no rule can do with less.
    first = plan.sums.profile.ideal.mu
    most = 1 / gaussian_multiplier(Budget(epsilon, delta))
    assert plan.second.scale >= spread / math.sqrt(most**2 - first**2) * (1 - 1e-6)
    # The closed form agrees about what was planned.
    second = CLIPPING_SLACK * spread / plan.second.scale
    if unit.rows_are_public:
        bound = sum(closed_form_replace(epsilon, first, second, mu3, k))
    else:
        bound = closed_form(epsilon, first, second, mu3, k)
    assert bound <= 1.05 * delta


@both_units
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_a_pure_epsilon_is_split_exactly(unit, epsilon):
    problem = problem_of(ridge=3.0 / epsilon)
    plan = PrivateStandardisation().plan(problem, Budget(epsilon), unit)
    first, second = plan.guarantee.profile.ideal.parts
    assert first == plan.sums.profile
    assert first.pure_epsilon == pytest.approx(PURE_SHARE * epsilon, rel=1e-9)
    assert second.pure_epsilon == pytest.approx((1 - PURE_SHARE) * epsilon, rel=1e-9)
    assert plan.guarantee.profile.pure_epsilon <= epsilon
    assert plan.guarantee.profile.pure_epsilon >= epsilon * (1 - 1e-9)
    # The linear term is made for what is left, not for the total.
    order = 1 if isinstance(plan.second.term, LaplaceTerm) else 2
    slope = plan.second.minimiser.problem.bounds.row_norm(order)
    assert unit.spread(slope) / plan.second.scale <= 0.9 * epsilon


@both_units
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_the_guarantee_keeps_the_budget_with_the_ridge_of_the_defaults(unit, epsilon, delta):
    problem = problem_of(ridge=free_ridge(epsilon, unit))
    guarantee = PrivateStandardisation().plan(problem, Budget(epsilon, delta), unit).guarantee
    assert guarantee.delta(epsilon) <= delta
    assert guarantee.epsilon(delta) <= epsilon
    assert guarantee.epsilon(delta) >= 0.999 * epsilon


@both_units
@pytest.mark.parametrize("law", [None, "laplace", "radial"])
def test_a_pure_guarantee_covers_every_region_that_noise_can_lead_to(unit, law):
    mechanism = PrivateStandardisation(ObjectivePerturbation(law))
    problem = problem_of(bounds_of(p=9), ridge=4.0)
    plan = mechanism.plan(problem, Budget(1.0), unit)
    stated = neglected_power(plan.guarantee)
    laws = set()
    for radius in np.linspace(1, math.sqrt(10), 12):
        again, bounds = plan.replan.plan_within(L1L2Ball(radius, 1.0), plan.second)
        laws.add(type(again.term))
        assert bounds.row_norm() == plan.second.minimiser.problem.row_norm
        assert again.guarantee.profile.pure_epsilon <= plan.guarantee.profile.pure_epsilon * (
            1 + 1e-14
        )
        assert neglected_power(again.guarantee) <= stated
    assert len(laws) == (2 if law is None else 1)


def neglected_power(guarantee):
    (fact,) = (fact for fact in guarantee.public_facts if "2^" in fact)
    return int(fact.split("2^")[1].split()[0])


def test_noisy_sums_never_ask_for_longer_rows_than_were_planned_for():
    generator = np.random.default_rng(0)
    indicators = (True, True, False, False, True)
    mechanism = PrivateStandardisation(indicators=indicators)
    moments = mechanism._moments(bounds_of(p=5), is_pure=True)
    for _ in range(300):
        size = 10.0 ** generator.integers(-3, 5)
        entries, squares = size * generator.standard_normal((2, 6))
        frame = StandardFrame.of_laplace(ColumnTotals(entries, squares, noise=size), moments)
        assert 1 <= frame.region.reach(6, 1) <= math.sqrt(6) * (1 + 1e-12)
        assert frame.region.l2_radius == 1


def test_an_infinite_budget_standardises_with_the_sums_themselves():
    X, y = data(400)
    problem = problem_of(bounds_of(L2Ball(9.0)), ridge=1e-3)
    plan = PrivateStandardisation().plan(problem, Budget(math.inf), ADD)
    opened = open_rows(X, y, bounds=problem.bounds)
    frame = plan._frame(opened, SilentNoise())
    np.testing.assert_allclose(frame.mean, X.mean(axis=0), atol=1e-6)
    spread = X.var(axis=0)
    np.testing.assert_allclose(frame.scale, (spread + spread.mean()) ** -0.5, rtol=1e-5)
    assert plan.guarantee.epsilon(0.5) == math.inf


# The whole of it, with one feature: sums and coefficients together, scored by their true densities.


def runs(plan, problem, records, unit, noise, trials, monkeypatch):
    """Noisy sums, frame and coefficients in the frame, of honest runs."""
    frames, sums = [], []
    make, release = PrivateStandardisationPlan._frame, NoisySums.release
    monkeypatch.setattr(
        PrivateStandardisationPlan,
        "_frame",
        lambda self, rows, noise: kept(frames, make(self, rows, noise)),
    )
    monkeypatch.setattr(
        NoisySums, "release", lambda self, rows, noise: kept(sums, release(self, rows, noise))
    )
    X, y = np.array([[x] for x, _ in records]), np.array([y for _, y in records])
    opened = open_rows(X, y, bounds=problem.bounds, unit=unit)
    released = [plan.run(opened, noise) for _ in range(trials)]
    monkeypatch.undo()
    seconds = [plan.replan.plan_within(frame.region, plan.second) for frame in frames]
    return list(zip(sums, frames, seconds, released, strict=True))


def kept(values, value):
    values.append(value)
    return value


def log_density(plan, problem, records, sums, frame, planned, released):
    """The logarithm of the density of sums and coefficients, but for the mask and a constant."""
    x, y = np.array(records).T
    unit, intercept = plan.moments.unit, problem.bounds.intercept
    exact = np.array([x.sum() / unit, len(x) * intercept / unit, (x**2).sum() / unit**2])
    noisy = np.array([*sums.entries, sums.squares[0]])
    away = (noisy - exact) / plan.sums.grid.scale
    first = -np.abs(away).sum() if plan.sums.is_pure else -(away @ away) / 2
    second, bounds = planned
    rows = frame.apply(np.column_stack([x, np.full(len(x), intercept)]))
    rows = rows * bounds.features.clip_rows(rows)[1][:, None]
    slope = released[0] / (frame.scale[0] / frame.length)
    anchor = released[1] * intercept + released[0] * frame.mean[0]
    point = np.array([slope, anchor * frame.length / frame.constant])
    margins = rows @ point
    linear = problem.ridge * point + rows.T @ problem.loss.slope(y, margins)
    curved = rows.T @ (problem.loss.curvature(y, margins)[:, None] * rows)
    size = np.abs(linear).sum() if isinstance(second.term, LaplaceTerm) else np.linalg.norm(linear)
    fall = size / second.scale if plan.sums.is_pure else (size / second.scale) ** 2 / 2
    return first - fall + math.log(np.linalg.det(curved + problem.ridge * np.eye(2)))


@both_units
@pytest.mark.parametrize("delta", [1e-3, 0.0], ids=["gaussian", "pure"])
def test_the_density_of_the_whole_certifies_no_more_than_is_claimed(unit, delta, monkeypatch):
    # The noise is fixed; with fresh noise there would be a false alarm in a thousand runs.
    epsilon, trials = 4.0, 500 if delta else 60
    bounds = bounds_of(L2Ball(1.0), p=1, intercept=0.5)
    problem = problem_of(bounds, ridge=free_ridge(epsilon, unit), margin=8.0)
    plan = PrivateStandardisation().plan(problem, Budget(epsilon, delta), unit)
    common = [(0.1, 1.0), (0.1, -1.0), (-0.1, 1.0), (-0.1, -1.0)] * 50
    first = [*common, (-1.0, 1.0)] if unit.rows_are_public else common
    second = [*common, (1.0, 1.0)]

    def ratio(one):
        return log_density(plan, problem, second, *one) - log_density(plan, problem, first, *one)

    scores = [
        np.array(list(map(ratio, runs(plan, problem, d, unit, RehearsalNoise(seed), trials,
                                      monkeypatch))))
        for seed, d in enumerate((first, second))
    ]  # fmt: skip
    if delta == 0:  # no event at all may be likelier than that
        assert 0.5 * epsilon <= np.abs(scores).max() <= epsilon
    else:
        assert 0.2 * epsilon <= certified_epsilon(*scores, delta) <= epsilon


# Mutants.


def with_sums(plan, moments, unit):
    """A plan whose first stage has other constants, and whose guarantee does not know."""
    first = plan.sums.profile.ideal
    sums = (
        NoisySums.laplace(moments, unit, first.pure_epsilon)
        if plan.sums.is_pure
        else NoisySums.gaussian(moments, unit, first.mu)
    )
    return replace(plan, sums=sums, moments=moments)


@pytest.mark.parametrize("case", [CUBE_SWAP, PURE_SWAP], ids=lambda case: case.label)
def test_forgetting_that_a_replaced_record_moves_twice_in_the_sums_is_caught(case):
    plan = case.plan()
    mutant = with_sums(plan, plan.moments, ADD)
    check_joint_sensitivity(case, plan, [case.worst_pair])
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, mutant, [case.worst_pair])
    with pytest.raises(AssertionError):
        check_joint_audit(case, mutant)


class WithoutSquares(ColumnSums):
    def sensitivity(self, order, unit):
        return unit.spread(self.bounds.row_norm(order)) / self.unit


@pytest.mark.parametrize("case", [CUBE_ADD, PURE_ADD], ids=lambda case: case.label)
def test_leaving_the_squares_out_of_the_sensitivity_is_caught(case):
    plan = case.plan()
    mutant = with_sums(plan, WithoutSquares(**vars(plan.moments)), case.unit)
    check_joint_sensitivity(case, plan, [case.worst_pair])
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, mutant, [case.worst_pair])
    with pytest.raises(AssertionError):
        check_joint_audit(case, mutant)


class WithoutIntercept(ColumnSums):
    def sensitivity(self, order, unit):
        norm, entry = self._feature_norm(order), self.entry_bound
        return norm * (math.sqrt(1 + entry**2) if order == 2 else 1 + entry)


@pytest.mark.parametrize("case", [CUBE_ADD, PURE_ADD], ids=lambda case: case.label)
def test_leaving_the_count_out_of_the_sensitivity_is_caught(case):
    # One record more is also one more in the count, by which means are divided.
    bounds = replace(case.question.bounds, intercept=1.0)
    question = case.question.restate(bounds)
    case = replace(case, question=question, frame=replace(case.frame, intercept=1.0))
    plan = case.plan()
    mutant = with_sums(plan, WithoutIntercept(**vars(plan.moments)), case.unit)
    check_joint_sensitivity(case, plan, [case.worst_pair])
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, mutant, [case.worst_pair])


def test_an_entry_bound_that_is_assumed_but_not_enforced_is_caught(monkeypatch):
    bounds = replace(CUBE_ADD.question.bounds, features=L2Ball(2.0))
    nothing, axis = np.zeros(5), 9 * np.eye(5)[0]
    case = replace(
        CUBE_ADD,
        mechanism=PrivateStandardisation(entry_bound=0.5),
        question=CUBE_ADD.question.restate(bounds),
        worst_pair=(Data(nothing[None, :], [1.0]), Data(np.array([nothing, axis]), [1.0, 1.0])),
    )
    plan = case.plan()
    check_joint_sensitivity(case, plan, [case.worst_pair])
    monkeypatch.setattr(ColumnSums, "_clip", lambda self, values: values / self.unit)
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, plan, [case.worst_pair])


class MeasuredLength(PrivateStandardisationPlan):
    """The usual length of rows, measured instead of read off the noisy sums."""

    def _frame(self, rows, noise):
        frame = super()._frame(rows, noise)
        framed = frame.apply(rows.gather()[0]) * frame.length
        return replace(frame, length=float(np.sqrt(np.square(framed).sum(axis=1).mean())))


def test_a_length_of_rows_measured_from_the_rows_is_caught():
    problem = problem_of(ridge=4.0)
    plan = PrivateStandardisation().plan(problem, Budget(1.0, 1e-6), ADD)
    check_frame_is_public(plan, problem, ADD)
    with pytest.raises(AssertionError):
        check_frame_is_public(MeasuredLength(**vars(plan)), problem, ADD)


@pytest.mark.parametrize("case", [CUBE_ADD, PURE_ADD], ids=lambda case: case.label)
def test_a_first_stage_that_is_not_paid_for_is_caught(case):
    plan = case.plan()
    alone = replace(plan.replan, beside=None)
    second = alone.plan(L2Ball(1.0))
    mutant = replace(plan, second=second, replan=alone, guarantee=second.guarantee)
    check_joint_audit(case, plan)
    with pytest.raises(AssertionError):
        check_joint_audit(case, mutant)


def test_rows_that_are_not_clipped_in_the_frame_are_caught():
    case = replace(CUBE_ADD, frame=long_frame(CUBE_ADD.question.bounds, L2Ball(1.0), 2.0))

    class Unclipped(type(case.plan().replan)):
        def plan_within(self, region, known):
            plan, bounds = super().plan_within(region, known)
            return plan, replace(bounds, features=L2Ball(1e6))

    plan = case.plan()
    mutant = replace(plan, replan=Unclipped(**vars(plan.replan)))
    check_joint_sensitivity(case, plan, [case.worst_pair])
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, mutant, [case.worst_pair])


def line_density(loss, ridge, scale, records, points):
    """The density of a minimiser with Gaussian linear term, along the line of one row."""
    slope, curvature = ridge * points, np.full_like(points, ridge)
    for y in records:
        slope = slope + loss.slope(np.float64(y), points)
        curvature = curvature + loss.curvature(np.float64(y), points)
    return np.exp(-0.5 * (slope / scale) ** 2) / (scale * math.sqrt(2 * math.pi)) * curvature


def test_a_second_stage_registered_as_gaussian_is_caught():
    # In a frame where all rows are the same unit vector, the second stage is one-dimensional. With
    # a weak ridge the determinants count: its true delta exceeds that of both stages, were the
    # second Gaussian.
    epsilon, ridge = 0.3, 1.0
    plan = PrivateStandardisation().plan(problem_of(ridge=ridge), Budget(0.3, 1e-3), ADD)
    mu, first = CLIPPING_SLACK / plan.second.scale, plan.sums.profile
    mutant = Guarantee(compose([first, Gaussian(mu), Gaussian(0.02 * mu)]), ADD)
    edges = np.linspace(-60, 60, 200_001) * plan.second.scale / 10
    points, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    worst = {}
    for level in (0.05, 0.1, 0.2, epsilon):
        pair = [line_density(MarginLogistic(2.0), ridge, plan.second.scale, d, points) * width
                for d in ([], [1.0])]  # fmt: skip
        worst[level] = max(
            np.maximum(one - math.exp(level) * other, 0).sum() for one, other in (pair, pair[::-1])
        )
        assert worst[level] <= plan.guarantee.delta(level) * (1 + 1e-6)
    assert any(worst[level] > 2 * mutant.delta(level) for level in worst)


def test_a_mask_made_for_the_frame_would_not_hide_the_solver_after_folding():
    # Columns measured in small units have large coefficients: folding stretches errors with them.
    problem = problem_of(bounds_of(L2Ball(1e-3), intercept=1e-3), ridge=4.0)
    plan = PrivateStandardisation().plan(problem, Budget(1.0, 1e-6), ADD)
    X, y = data(500, size=1e-3)
    frame = frame_of(plan, open_rows(X, y, bounds=problem.bounds))
    second, width = plan.second, problem.bounds.width
    hidden = second.mask.grid.scale * 0.02 * CLIPPING_SLACK / second.scale
    apart = 2 * second.minimiser.radius + second.mask.grid.spread_l2(width)
    assert apart <= hidden * (1 + 1e-9)
    stretched = np.linalg.norm(frame.fold(np.eye(width)), 2) * 2 * second.minimiser.radius
    assert stretched > 10 * 2 * second.minimiser.radius


# What it refuses.


def test_what_the_proof_does_not_cover_is_refused():
    mechanism, budget = PrivateStandardisation(), Budget(1.0, 1e-6)
    with pytest.raises(NotAccepted, match="intercept"):
        mechanism.plan(problem_of(bounds_of(intercept=None)), budget, ADD)
    constrained = replace(problem_of(), penalty=Indicator(L2Ball(1.0)))
    with pytest.raises(NotAccepted, match="penalty"):
        mechanism.plan(constrained, budget, ADD)
    with pytest.raises(NotAccepted, match="learning problems"):
        mechanism.plan(OneVsRest(problem_of(), 3), budget, ADD)
    several = EachAgainstTheRest(PrivateStandardisation())
    with pytest.raises(CalibrationError, match="runs once"):
        several.plan(OneVsRest(problem_of(), 3), budget, ADD)
    with pytest.raises(NotAccepted, match="intercept"):
        PrivateStandardisation(PrivateStandardisation()).plan(problem_of(), budget, ADD)
    with pytest.raises(CalibrationError, match="first stage"):
        mechanism.plan_beside(problem_of(), budget, ADD, times=2)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)])
def test_what_was_released_before_is_in_the_composition(budget):
    before = Gaussian(0.05) if budget.delta else Pure(0.1)
    alone = PrivateStandardisation().plan(problem_of(), budget, ADD)
    plan = PrivateStandardisation().plan_beside(problem_of(), budget, ADD, beside=before)
    assert before in plan.guarantee.profile.ideal.parts
    assert 0.999 <= plan.guarantee.epsilon(budget.delta) <= 1.0
    assert plan.second.scale > 1.01 * alone.second.scale


def test_a_pure_law_cannot_follow_gaussian_sums():
    mechanism = PrivateStandardisation(ObjectivePerturbation("laplace"))
    with pytest.raises(CalibrationError, match="no pure epsilon"):
        mechanism.plan(problem_of(), Budget(1.0, 1e-6), ADD)


def test_the_first_stage_takes_the_share_that_it_says():
    plan = PrivateStandardisation().plan(problem_of(), Budget(1.0, 1e-6), ADD)
    whole = 1 / gaussian_multiplier(Budget(1.0, 1e-6))
    assert plan.sums.profile.ideal.mu**2 == pytest.approx(GAUSSIAN_SHARE * whole**2, rel=1e-5)
    assert PrivateStandardisation().budget_for_second(Budget(1.0)) == Budget(1 - PURE_SHARE)
    assert PrivateStandardisation().budget_for_second(Budget(1.0, 1e-6)) == Budget(1.0, 1e-6)
