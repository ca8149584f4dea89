"""The path of a Gaussian process: the factor dominates, adversaries gain nothing, floats hold."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from audits.adaptive_queries import steer_path
from audits.mutants.oracles import near_duplicates
from discreet.audit.cases.oracles import POINTS, queries_of, wide_pair
from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, InputError
from discreet.geometry import L2Ball
from discreet.kernels import BoundedKernel, CallableKernel, Linear
from discreet.losses import Hinge
from discreet.mechanisms import GaussianProcess
from discreet.mechanisms.gaussian_process import least_jitter, solve_in_order
from discreet.mechanisms.query_answering import ANSWERED, TranscriptEntry
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import KernelQueries
from support.cases import case_labelled
from support.cases.base import data_of
from support.cases.oracles import factor_of

CASE = case_labelled("gaussian process, add_remove")
BUDGET = Budget(1.0, 1e-6)


def linear_queries(columns, answers):
    bounds = Bounds(L2Ball(1.0), columns, labels=LabelSet([-1, 1]), max_rows=1000)
    return KernelQueries(Hinge(), bounds, 100.0, BoundedKernel(Linear(), 1.0), answers)


def dominance(factor, points):
    """Return the largest eigenvalue of C^-1 K C^-T, for a linear kernel, with many digits."""
    with mpmath.workdps(60):
        seen = mpmath.inverse(mpmath.matrix(factor.tolist())) * mpmath.matrix(points.tolist())
        return float(max(mpmath.eigsy(seen.T * seen, eigvals_only=True)))


@pytest.mark.parametrize("seed", range(3))
def test_the_factor_dominates_the_kernel_on_near_duplicates(seed):
    points = near_duplicates(seed, answers=20)
    question = linear_queries(6, 20)
    plan = GaussianProcess().plan(question, BUDGET, AddRemoveOne())
    small = replace(plan, precision=replace(plan.precision, jitter=least_jitter(question)))
    for one in (plan, small):
        factor = factor_of(one, points)
        assert dominance(factor, question.accept(points)) <= 1 + 1e-6
        np.testing.assert_allclose(
            (factor**2).sum(axis=1), (points**2).sum(axis=1) + one.precision.jitter, rtol=1e-12
        )


def test_the_recursion_of_a_run_is_the_one_of_the_proof():
    """Given the same answers, means of neighbours differ by C q with C q = d."""
    plan = CASE.plan()
    first, second = (plan.fit(data.open(CASE)) for data in CASE.worst_pair)
    points = plan.question.accept(np.array(POINTS))
    own, other = plan.start(), plan.start()
    moved = []
    noise = RehearsalNoise(2)
    for point in points:
        row = own.extend(point)
        entry = plan.answer(first, own, point, row, noise)
        mean = second.predict(point) + plan.scale * other.path(row)
        secret = (entry.value - mean) / (plan.scale * row[-1])
        moved.append(entry.secret - secret)
        own.append(entry)
        other.append(TranscriptEntry(point, row, secret, entry.value, ANSWERED, 0.0))
    gaps = [first.predict(point) - second.predict(point) for point in points]
    expected = -np.linalg.solve(factor_of(plan, POINTS), gaps) / plan.scale
    np.testing.assert_allclose(moved, expected, atol=1e-7)
    assert np.linalg.norm(moved) <= plan.sensitivity / plan.scale
    assert np.linalg.norm(moved) >= 0.99 * plan.sensitivity / plan.scale


def test_runs_together_have_the_answers_of_single_runs():
    plan = CASE.plan()
    rows = CASE.worst_pair[1].open(CASE)
    together = plan.run_many(rows, RehearsalNoise(4), 1)
    np.testing.assert_allclose(together[0], plan.run(rows, RehearsalNoise(4)), rtol=1e-12)


def test_noise_has_the_covariance_of_the_kernel():
    """4000 runs: a covariance errs by some 1/sqrt(4000); the bound is five times that."""
    plan = CASE.plan()
    data = CASE.worst_pair[1]
    drawn = plan.run_many(data.open(CASE), RehearsalNoise(9), 4000) / plan.scale
    points = np.array(POINTS)
    expected = plan.question.kernel.evaluate(points, points)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.08)


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_an_adversary_who_steers_names_the_data_no_more_often_than_mu_allows(unit):
    """A likelihood test of whole transcripts: at most ndtr(mu / 2), five deviations beside."""
    question = replace(queries_of(POINTS), max_answers=25, points=())
    plan = GaussianProcess().plan(question, BUDGET, unit)
    games = 40
    right = steer_path(plan, data_of(wide_pair(unit)), question.bounds, games=games, seed=1)
    allowed = float(ndtr(plan.sensitivity / plan.scale / 2))
    assert right / games <= allowed + 5 * math.sqrt(0.25 / games)


def test_noise_does_not_grow_with_the_number_of_answers():
    scales = [
        GaussianProcess()
        .plan(replace(queries_of(POINTS), max_answers=most), BUDGET, AddRemoveOne())
        .scale
        for most in (4, 64, 1024)
    ]
    assert max(scales) <= 1.01 * min(scales)


def test_a_kernel_that_is_not_semidefinite_is_refused_at_the_point_that_shows_it():
    def wrong(rows, points):
        return -np.ones((len(rows), len(points))) + 2 * (rows[:, :1] == points[:, :1].T)

    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=10)
    kernel = BoundedKernel(CallableKernel(wrong, "wrong"), 1.0)
    question = KernelQueries(Hinge(), bounds, 10.0, kernel, 5)
    transcript = GaussianProcess().plan(question, BUDGET, AddRemoveOne()).start()
    for place in (0.1, 0.2):  # of two points the matrix is semidefinite still
        point = np.array([place])
        transcript.append(TranscriptEntry(point, transcript.extend(point), 0.0, 0.0, ANSWERED, 0.0))
    with pytest.raises(InputError, match="semidefinite"):
        transcript.extend(np.array([0.3]))
    assert transcript.count == 2


def test_budgets_and_questions_without_a_proof_are_refused():
    with pytest.raises(CalibrationError, match="delta"):
        GaussianProcess().plan(queries_of(POINTS), Budget(1.0), AddRemoveOne())
    with pytest.raises(InputError, match="intercept"):
        replace(queries_of(POINTS), bounds=replace(queries_of(POINTS).bounds, intercept=1.0))
    with pytest.raises(InputError, match="finite"):
        replace(queries_of(POINTS), points=((math.nan, 0.0, 0.0),))


def test_substitution_solves_the_system_of_the_factor():
    generator = np.random.default_rng(1)
    factor = np.tril(generator.normal(size=(12, 12))) + 5 * np.eye(12)
    values = generator.normal(size=12)
    np.testing.assert_allclose(
        solve_in_order(factor, values), np.linalg.solve(factor @ factor.T, values), rtol=1e-10
    )
