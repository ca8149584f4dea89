"""Several classes at once: exact sums of softmax gradients, their norm, their noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, LabelSet, Rows
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger
from discreet.losses import Hinge, Logistic, MarginLogistic
from discreet.losses.logistic import MarginSoftmax
from discreet.mechanisms import EachAgainstTheRest, NoisyGradient, PrivateStandardisation
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS
from discreet.mechanisms.summing.softmax_gradient import SHORTENED, ExactSoftmax
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest, Softmax
from discreet.solvers import Adaptive, Preconditioned
from support.cases import case_labelled
from support.checks import check_joint_audit
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(1.0, 1e-6)
CLASSES = Bounds(L2Ball(3.0), 4, labels=LabelSet([-1, 1]), intercept=0.7, max_rows=2**20)


def question_of(loss=None, classes=3, bounds=CLASSES, **options):
    problem = Problem(loss or MarginLogistic(), bounds, **{"ridge": 1.0, **options})
    return OneVsRest(problem, classes)


def table(count, classes=3, seed=0, width=4):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((count, width))
    pull = X @ np.random.default_rng(99).standard_normal((width, classes))
    return X, (pull + 0.3 * generator.gumbel(size=pull.shape)).argmax(axis=1).astype(float)


def gradient(question, X, y, point, **options):
    sums = ExactSoftmax(Softmax(question))
    prepared = sums.prepare(open_rows(X, y, bounds=question.bounds, **options))
    return sums.units(prepared, point), sums.unit


def clipped(X):
    shrunk = X * np.minimum(1, 3 / np.linalg.norm(X, axis=1))[:, None]
    return np.column_stack([shrunk, np.full(len(X), 0.7)])


@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_the_sum_is_the_gradient_by_differences(margin):
    question = question_of(MarginLogistic(margin))
    X, y = table(300)
    rows, loss = clipped(X), MarginSoftmax(margin)
    point = np.random.default_rng(1).standard_normal(15)

    def total(w):
        return float(loss.value(w.reshape(3, 5) @ rows.T, y).sum())

    units, unit = gradient(question, X, y, point)
    step = 1e-5 * np.eye(15)
    slopes = [(total(point + each) - total(point - each)) / 2e-5 for each in step]
    np.testing.assert_allclose(units * unit, slopes, atol=5e-3)


def whole_numbers(question, X, y, weights, point):
    """Margins in fractions and sums in Python's integers, from the same slopes."""
    sums = ExactSoftmax(Softmax(question))
    prepared = sums.prepare(open_rows(X, y, weights=weights, bounds=question.bounds))
    matrix, labels = prepared.gather()
    entries = [[int(v) for v in row] for row in matrix * 2.0**ENTRY_BITS]
    vectors = [[Fraction(v) for v in row] for row in
               sums.cut_point(point).reshape(sums.problem.shape)]  # fmt: skip
    margins = [
        [sum(a * b for a, b in zip(vector, row, strict=True)) for row in entries]
        for vector in vectors
    ]
    exact = np.array([[float(z / 2**ENTRY_BITS) for z in row] for row in margins])
    slopes = sums.problem.loss.slopes(exact, labels, exponentials=np.float32)
    per_slope = math.ldexp(SHORTENED, sums.slope_bits) / sums.problem.lipschitz
    counts = [[int(v) for v in np.trunc(row * weights * per_slope)] for row in slopes]
    return [
        sum(s * x[column] for s, x in zip(row, entries, strict=True))
        for row in counts
        for column in range(len(entries[0]))
    ]


@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0])
def test_sums_are_those_of_whole_numbers_of_any_length(size):
    question = question_of(bounds=replace(CLASSES, max_weight=2.0))
    X, y = table(200, seed=2)
    weights = np.random.default_rng(3).uniform(0, 2, 200)
    point = np.random.default_rng(4).standard_normal(15) * size
    units, _ = gradient(question, X, y, point, weights=weights)
    assert units.tolist() == whole_numbers(question, X, y, weights, point)


def test_every_row_adds_the_same_whatever_the_other_rows_are():
    question = question_of(classes=7)
    X, y = table(120, classes=7, seed=3)
    point = np.random.default_rng(5).standard_normal(35) * 3
    whole, _ = gradient(question, X, y, point)
    alone = [gradient(question, X[i : i + 1], y[i : i + 1], point)[0] for i in range(120)]
    np.testing.assert_array_equal(whole, np.sum(alone, axis=0))
    order = np.random.default_rng(1).permutation(120)
    for option in ({}, {"block_rows": 7}, {"threads": 2, "block_rows": 11}):
        again, _ = gradient(question, X[order], y[order], point, **option)
        np.testing.assert_array_equal(whole, again)
    as_sparse, _ = gradient(question, sparse.csr_array(X), y, point)
    assert np.abs(as_sparse - whole).max() <= 120 * 2**21  # clipped by other roundings, no more


@pytest.mark.parametrize("size", [1e-90, 1e-3, 1.0, 7.0, 1e90])
@pytest.mark.parametrize("classes", [3, 40])
def test_no_row_adds_more_than_the_root_of_two_times_the_largest_norm(size, classes):
    labels = LabelSet([-1, 1])
    bounds = Bounds(L2Ball(size), 4, labels=labels, max_weight=2.5, max_rows=2**27)
    question = question_of(bounds=bounds, classes=classes)
    sums = ExactSoftmax(Softmax(question))
    generator = np.random.default_rng(2)
    most = 2.0 * 4**sums.slope_bits * 4**ENTRY_BITS  # its square in whole units, if rows fill one
    shorter = math.ldexp(sums.problem.row_norm, -sums._exponent)
    largest = 0.0
    for trial in range(60):
        X = generator.standard_normal((1, 4)) * 10 * size
        y = generator.integers(0, classes, 1).astype(float)
        weights = generator.uniform(2, 3, 1)
        opened = open_rows(X, y, weights=weights, bounds=question.bounds)
        point = generator.standard_normal(4 * classes) * 10.0 ** generator.integers(-5, 5) / size
        if trial % 3 == 0:  # all chance on one wrong class
            point = np.zeros((classes, 4))
            point[int(y[0]) - 1] = 100 * X[0] / size**2
            point = point.ravel()
        units = [int(value) for value in sums.units(sums.prepare(opened), point)]
        square = sum(value * value for value in units)
        assert square <= most * shorter**2
        length = math.sqrt(square) * sums.unit
        assert length <= sums.problem.row_lipschitz
        largest = max(largest, length)
    assert largest >= 0.999 * sums.problem.row_lipschitz


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e100, 1e200, math.inf, math.nan])
def test_no_coefficients_break_a_sum(size):
    X, y = table(50)
    question, point = question_of(), np.full(15, size)
    whole, unit = gradient(question, X, y, point)
    parts = [gradient(question, X[s], y[s], point)[0] for s in (slice(0, 20), slice(20, 50))]
    np.testing.assert_array_equal(whole, sum(parts))
    assert np.linalg.norm(whole.astype(float)) * unit <= 50 * Softmax(question).row_lipschitz


def test_several_margins_and_sums_are_those_of_each_vector():
    X, y = table(30)
    question = question_of()
    vectors, weights = np.random.default_rng(0).standard_normal((2, 3, 30))
    for rows in (X, sparse.csr_array(X)):
        opened = open_rows(rows, y, bounds=question.bounds)
        margins, each = opened.sum(
            lambda block: (
                block.several_margins(vectors[:, :5]),
                np.array([block.margins(vector) for vector in vectors[:, :5]]),
            )
        )
        np.testing.assert_allclose(margins, each, atol=1e-12)
        norms, each = opened.sum(
            lambda block: (block.squared_norms(), np.square(block.rows()).sum(axis=1))
        )
        np.testing.assert_allclose(norms, each, atol=1e-12)
        sums, each = opened.sum(
            lambda block: (
                block.several_sums(weights),
                np.array([block.weighted_sum(vector) for vector in weights]),
            )
        )
        np.testing.assert_allclose(sums, each, atol=1e-12)


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=["add", "swap"])
def test_noise_is_that_of_the_root_of_two_whatever_the_number_of_classes(unit):
    one = NoisyGradient(steps=40).plan(question_of().problem, BUDGET, unit)
    scales = {
        classes: NoisyGradient(steps=40).plan(question_of(classes=classes), BUDGET, unit).grid.scale
        for classes in (3, 30)
    }
    for scale in scales.values():
        assert scale == pytest.approx(math.sqrt(2) * one.grid.scale, rel=1e-5)
    plan = NoisyGradient(steps=40).plan(question_of(), BUDGET, unit)
    moved = unit.spread(math.sqrt(2) * plan.problem.row_norm) + plan.grid.spread_l2(15)
    assert plan.guarantee.profile.ideal.mu >= math.sqrt(40) * moved / plan.grid.scale
    assert plan.guarantee.delta(1.0) <= 1e-6 < plan.guarantee.delta(0.998)


def test_it_learns_and_each_class_has_coefficients():
    X, y = table(8000)
    plan = NoisyGradient(steps=100).plan(question_of(), BUDGET, ADD)
    rows = open_rows(X, y, bounds=question_of().bounds)
    found = plan.run(rows, RehearsalNoise(1))
    assert found.shape == (3, 5)
    assert (found @ clipped(X).T).argmax(axis=0).tolist().count(0) > 0
    assert ((found @ clipped(X).T).argmax(axis=0) == y).mean() > 0.8
    assert plan.run_many(rows, RehearsalNoise(1), 2).shape == (2, 3, 5)


@pytest.mark.parametrize("mechanism", [NoisyGradient(5, 1e-3), NoisyGradient(5, batch=1)])
def test_batches_may_be_empty(mechanism):
    X, y = table(3)
    question = question_of(bounds=replace(CLASSES, max_rows=1000))
    rows = open_rows(X, y, bounds=question.bounds, unit=SWAP)
    found = mechanism.plan(question, BUDGET, SWAP).run(rows, RehearsalNoise(1))
    assert np.isfinite(found).all()


def test_without_noise_the_gradient_vanishes_at_what_is_found():
    X, y = table(300)
    question = question_of(ridge=20.0)
    plan = NoisyGradient().plan(question, Budget(math.inf), ADD)
    found = plan.run(open_rows(X, y, bounds=question.bounds), RehearsalNoise(1))
    slopes = MarginSoftmax(2.0).slopes(found @ clipped(X).T, y)
    np.testing.assert_allclose(slopes @ clipped(X) + 20.0 * found, 0.0, atol=1.0)


def test_too_many_coefficients_to_tell_directions_apart_take_steps_by_their_norms():
    bounds = replace(CLASSES, n_features=50)
    narrow, wide = (
        NoisyGradient(steps=5).plan(question_of(classes=classes, bounds=bounds), BUDGET, ADD)
        for classes in (10, 11)
    )
    assert isinstance(narrow.rule, Preconditioned)
    assert isinstance(wide.rule, Adaptive)
    assert wide.reason == "5 steps over all rows, all classes at once"


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (question_of(Hinge()), "softmax loss, which goes with Logistic.*EachAgainstTheRest"),
        (question_of(penalty=Indicator(L2Ball(1.0))), "no domain.*EachAgainstTheRest"),
        (question_of(radius=3.0), "no domain.*EachAgainstTheRest"),
    ],
    ids=["hinge", "penalty", "radius"],
)
def test_what_has_no_softmax_is_refused_before_anything_is_paid(question, why):
    ledger = MemoryLedger(Budget(2.0, 1e-5), ADD)
    X, y = table(50)
    rows = Rows(X, y, bounds=question.bounds)
    with pytest.raises(NotAccepted, match=why):
        release(NoisyGradient(), question, rows, budget=BUDGET, ledger=ledger)
    assert ledger.history() == ()
    if math.isinf(question.problem.radius):
        mechanism = EachAgainstTheRest(NoisyGradient(steps=5))
        assert release(mechanism, question, rows, budget=BUDGET).value.shape == (3, 5)


def test_a_budget_without_delta_or_with_too_many_rows_is_refused_with_the_reason():
    with pytest.raises(CalibrationError, match="delta > 0"):
        NoisyGradient().plan(question_of(), Budget(1.0), ADD)
    long = question_of(bounds=replace(CLASSES, max_rows=2**40))
    with pytest.raises(CalibrationError, match="smaller max_rows"):
        NoisyGradient().plan(long, BUDGET, ADD)


def test_after_a_standardisation_all_together_keeps_the_budget():
    X, y = table(3000)
    question = question_of(Logistic())
    mechanism = PrivateStandardisation(NoisyGradient(steps=50))
    result = release(mechanism, question, Rows(X, y, bounds=question.bounds), budget=BUDGET)
    assert 0.99 <= result.guarantee.epsilon(1e-6) <= 1.0
    assert ((result.value @ clipped(X).T).argmax(axis=0) == y).mean() > 0.7


def test_the_softmax_problem_may_be_asked_for_by_its_own_name():
    question = question_of(Logistic())
    plans = [
        NoisyGradient(steps=5).plan(asked, BUDGET, ADD) for asked in (question, Softmax(question))
    ]
    assert plans[0].problem == plans[1].problem == Softmax(question)
    assert plans[0].grid == plans[1].grid
    assert plans[0].guarantee == plans[1].guarantee


def test_what_is_no_softmax_problem_is_refused():
    question = question_of(Logistic())
    with pytest.raises(InputError, match="no case of a softmax loss"):
        Softmax(replace(question, problem=replace(question.problem, loss=Hinge())))
    with pytest.raises(InputError, match="no domain"):
        Softmax(replace(question, problem=replace(question.problem, radius=3.0)))


class _EachItsOwn(MarginSoftmax):
    """A logistic loss of its own for each class."""

    def slopes(self, margins, labels, **options):
        signs = np.where(np.arange(len(margins))[:, None] == labels, 1.0, -1.0)
        return MarginLogistic(40.0).slope(signs, margins)


class _Apart(Softmax):
    @property
    def loss(self):
        return _EachItsOwn()


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_a_mutant_is_caught(unit):
    case = case_labelled(f"noisy softmax, {unit}")
    plan = case.plan()
    check_joint_audit(case, plan)
    sums = ExactSoftmax(_Apart(case.question))
    with pytest.raises(AssertionError):
        check_joint_audit(replace(case, point=None), replace(plan, sums=sums))
    short = replace(plan, grid=replace(plan.grid, scale=plan.grid.scale / math.sqrt(2)))
    with pytest.raises(AssertionError):
        check_joint_audit(case, short)
