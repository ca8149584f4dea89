"""Sufficient statistics: sensitivities, rounding, the law of the noise, accuracy, and mutants."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import NotAccepted
from discreet.gate import release
from discreet.geometry import Box, L1Ball, L2Ball
from discreet.losses import Logistic, PseudoHuber, Squared
from discreet.mechanisms import SufficientStatistics
from discreet.mechanisms.summing import moments as _moments
from discreet.mechanisms.summing.moments import Moments
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import VectorSum
from discreet.questions.problem import Problem
from support.cases import Data, case_labelled
from support.checks import check_exact_audit, check_sensitivity
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
MECHANISM = SufficientStatistics()
both_units = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
both_orders = pytest.mark.parametrize("order", [1, 2])
both_budgets = pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)], ids=repr)


def problem_of(p, *, features=None, label=1.0, ridge=1.0, **options):
    radius = options.pop("radius", math.inf)
    bounds = Bounds(features or L2Ball(1.0), p, labels=Interval(-label, label), **options)
    return Problem(Squared(max(label, 1e-100)), bounds, ridge=ridge, radius=radius)


def regression(p, rows, seed=5, noise=0.05):
    """Rows inside the unit ball, and labels that are nearly linear in them."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, p))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    truth = np.linspace(-0.6, 0.6, p)
    return X, np.clip(X @ truth + noise * generator.standard_normal(rows), -1, 1)


# Sensitivity.


def records_of(moments, width):
    """Return what makes the parts of records in the vector, one a row, from their definition."""
    above = math.sqrt(2) if moments.order == 2 else 1.0
    first, second = np.triu_indices(width)
    weights = np.where(first == second, 1.0, above) / moments.gram_size

    def parts(X, y):
        products = X * y[:, None] / moments.product_size
        return np.concatenate([X[:, first] * X[:, second] * weights, products], axis=1)

    return parts


@both_orders
@pytest.mark.parametrize(
    "features", [L2Ball(2.0), L1Ball(2.0), Box([-1, 0, 2], [3, 1, 5])], ids=repr
)
@pytest.mark.parametrize("intercept", [None, 0.7])
def test_no_record_nor_pair_of_records_exceeds_the_declared_sensitivity(order, features, intercept):
    problem = problem_of(3, features=features, label=9.0, intercept=intercept, max_rows=100)
    generator = np.random.default_rng(4)
    one, two = (Moments(problem, unit, order) for unit in (ADD, SWAP))
    drawn = features.project(generator.standard_normal((4000, 3)) * 4)
    if intercept is not None:
        drawn = np.column_stack([drawn, np.full(4000, intercept)])
    parts = records_of(one, drawn.shape[1])(drawn, generator.choice([-9.0, 9.0], size=4000))
    found = [np.linalg.norm(parts, order, axis=1).max()]
    found.append(np.linalg.norm(parts[::2] - parts[1::2], order, axis=1).max())
    assert found[0] <= one.sensitivity
    assert found[1] <= two.sensitivity
    assert found[0] >= 0.8 * one.sensitivity  # and the search is not idle


@both_orders
@pytest.mark.parametrize("p", [1, 2, 5])
def test_the_steepest_climb_to_a_worst_pair_stays_below_the_declared_sensitivity(order, p):
    moments = Moments(problem_of(p, label=3.0, max_rows=100), SWAP, order)

    parts, labels = records_of(moments, p), np.array([3.0, -3.0])

    def apart(z):
        x = z.reshape(2, p) / np.maximum(1, np.linalg.norm(z.reshape(2, p), axis=1))[:, None]
        first, second = parts(x, labels)
        return -np.linalg.norm(first - second, order)

    generator = np.random.default_rng(p)
    climbs = [
        -minimize(apart, generator.standard_normal(2 * p), method="Nelder-Mead").fun
        for _ in range(10)
    ]
    assert max(climbs) <= moments.sensitivity
    if order == 2 and p > 1:
        assert max(climbs) >= 0.999 * moments.sensitivity


def test_pure_neighbours_by_replacement_stay_within_the_declared_sensitivity():
    case = replace(case_labelled("sufficient statistics, pure, add_remove"), unit=SWAP)
    case = replace(case, worst_pair=case_labelled("sufficient statistics, replace").worst_pair)
    generator = np.random.default_rng(12)
    pairs = [case.worst_pair, *(case.random_pair(generator) for _ in range(100))]
    check_sensitivity(case, case.plan(), pairs)
    check_exact_audit(case, case.plan())


def test_the_l1_bound_of_the_features_is_used_where_it_is_smaller():
    ball, diamond = (
        MECHANISM.plan(problem_of(20, features=features, max_rows=1000), Budget(1.0), ADD)
        for features in (L2Ball(1.0), L1Ball(1.0))
    )
    noise = [plan.grid.scale * plan.moments.gram_size for plan in (ball, diamond)]
    assert noise[0] == pytest.approx(2 * 10.5, rel=1e-4)
    assert noise[1] == pytest.approx(2 * 1.0, rel=1e-4)


# Rounding.


def exact_vector(moments, X, y):
    """The vector in rational arithmetic, up to the last conversion."""
    p = moments.width
    rows = [[Fraction(float(entry)) for entry in x] for x in X]
    labels = [Fraction(float(label)) for label in y]
    above = math.sqrt(2) if moments.order == 2 else 1.0
    triangle = [
        float(sum(x[j] * x[k] for x in rows)) * (1.0 if j == k else above)
        for j, k in zip(*np.triu_indices(p), strict=True)
    ]
    product = [
        float(sum(x[j] * label for x, label in zip(rows, labels, strict=True))) for j in range(p)
    ]
    return np.concatenate(
        [np.array(triangle) / moments.gram_size, np.array(product) / moments.product_size]
    )


@both_orders
def test_the_computed_vector_is_within_the_declared_rounding_of_the_true_one(order):
    X, y = regression(3, 5000)
    X *= 0.9
    moments = Moments(problem_of(3, max_rows=5000), ADD, order)
    for matrix in (X, sparse.csr_array(X)):
        rows = open_rows(matrix, y, bounds=moments.problem.bounds)
        off = np.linalg.norm(moments.vector(rows) - exact_vector(moments, X, y), order)
        assert 0 < off <= moments.rounding


def test_the_rounding_costs_under_a_hundredth_of_a_percent_at_a_hundred_million_rows():
    moments = Moments(problem_of(50, max_rows=10**8), ADD, 2)
    assert 0 < 2 * moments.rounding < 1e-4 * moments.sensitivity


# The law of the noise.


def check_law(plan, noise, trials=3000):
    """The noise is GOE on X'X and isotropic on X'y, uncorrelated, with the scales of ERM-6d."""
    problem, p = plan.moments.problem, plan.moments.width
    rows = open_rows(np.zeros((1, p)), [0.0], bounds=problem.bounds)
    drawn = np.array([plan.release_statistics(rows, noise) for _ in range(trials)])
    matrices = [plan.moments.matrices(vector) for vector in drawn]
    W = np.array([gram for gram, _ in matrices]) * plan.moments.gram_size
    z = np.array([product for _, product in matrices]) * plan.moments.product_size
    np.testing.assert_array_equal(W, W.transpose(0, 2, 1))
    row, label = problem.row_norm, problem.bounds.labels.magnitude
    mu = plan.guarantee.profile.ideal.mu
    apart = math.sqrt(2 if plan.guarantee.unit == ADD else 4.5)
    s1, s2 = row**2 * apart / (math.sqrt(2) * mu), row * label * apart / mu
    units = np.column_stack(
        [W[:, j, k] / (s1 * math.sqrt(1 + (j == k))) for j in range(p) for k in range(j, p)]
        + [z[:, j] / s2 for j in range(p)]
    )
    covariance = units.T @ units / trials
    assert np.abs(covariance - np.eye(plan.moments.dimension)).max() < 5 * math.sqrt(2 / trials)
    assert np.abs(units.mean(axis=0)).max() < 5 / math.sqrt(trials)


@both_units
def test_the_covariance_of_the_noise_is_as_declared(unit):
    problem = problem_of(3, features=L2Ball(3.0), label=5.0, max_rows=1000)
    check_law(MECHANISM.plan(problem, Budget(1.0, 1e-6), unit), RehearsalNoise(31))


def test_replacement_costs_less_than_the_two_statistics_apart():
    # ERM-6d: mu^2 = (sqrt2 R^2/(sqrt2 s1))^2 + (2 R Y/s2)^2, the two worst cases added up.
    plan = MECHANISM.plan(problem_of(4, label=3.0, max_rows=1000), Budget(1.0, 1e-6), SWAP)
    s1 = plan.grid.scale * plan.moments.gram_size / math.sqrt(2)
    s2 = plan.grid.scale * plan.moments.product_size
    apart = math.hypot(math.sqrt(2) / (math.sqrt(2) * s1), 2 * 3.0 / s2)
    assert plan.guarantee.profile.ideal.mu == pytest.approx(apart * math.sqrt(4.5 / 6), rel=1e-4)


# What it computes.


@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("rows", "ridge"), [(300, 0.5), (20_000, 1e-3)])
def test_an_infinite_budget_agrees_with_scikit_learn(intercept, kind, rows, ridge):
    X, y = regression(5, rows)
    problem = problem_of(5, ridge=ridge, intercept=intercept)
    ours = release(
        MECHANISM, problem, Rows(kind(X), y, bounds=problem.bounds), budget=Budget(math.inf)
    )
    full = X if intercept is None else np.column_stack([X, np.full(len(X), intercept)])
    theirs = Ridge(alpha=ridge, fit_intercept=False, solver="svd").fit(full, y)
    np.testing.assert_allclose(ours.value, theirs.coef_, rtol=0, atol=1e-8)


def test_nearly_dependent_columns_are_solved_to_eight_digits():
    X, y = regression(4, 2000)
    X[:, 3] = X[:, 2] + 1e-4 * X[:, 3]
    X *= 0.5
    problem = problem_of(4, ridge=1e-6, max_rows=10**4)
    rows = Rows(X, y, bounds=problem.bounds)
    ours = release(MECHANISM, problem, rows, budget=Budget(math.inf)).value
    theirs = Ridge(alpha=1e-6, fit_intercept=False, solver="svd").fit(X, y).coef_
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_an_infinite_budget_gives_the_minimiser_over_the_ball():
    X, y = regression(3, 500)
    X *= [1.0, 0.3, 0.1]
    problem = problem_of(3, ridge=0.5, radius=0.4)
    rows = Rows(X, y, bounds=problem.bounds)
    w = release(MECHANISM, problem, rows, budget=Budget(math.inf)).value
    gradient = X.T @ (X @ w - y) + 0.5 * w
    assert np.linalg.norm(w) == pytest.approx(0.4, rel=1e-9)
    multiplier = -(gradient @ w) / (w @ w)
    assert multiplier > 0
    np.testing.assert_allclose(gradient, -multiplier * w, atol=1e-8 * np.linalg.norm(gradient))


@both_budgets
@both_units
def test_coefficients_stay_in_the_ball_whatever_the_noise(budget, unit):
    problem = problem_of(3, ridge=1e-3, radius=0.25, max_rows=1000)
    X, y = regression(3, 200)
    plan = MECHANISM.plan(problem, replace(budget, epsilon=0.01), unit)
    rows = open_rows(X, y, bounds=problem.bounds)
    for seed in range(20):
        assert np.linalg.norm(plan.run(rows, RehearsalNoise(seed))) <= 0.25 * (1 + 1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_released_coefficients_approach_the_exact_ones_as_epsilon_grows(delta):
    X, y = regression(5, 20_000)
    problem = problem_of(5, ridge=1.0, max_rows=2**20)
    rows = open_rows(X, y, bounds=problem.bounds)
    exact = MECHANISM.plan(problem, Budget(math.inf), ADD).run(rows, RehearsalNoise(0))
    errors = []
    for epsilon in (0.01, 0.1, 1.0, 10.0, 100.0):
        plan, noise = MECHANISM.plan(problem, Budget(epsilon, delta), ADD), RehearsalNoise(77)
        off = [plan.run(rows, noise) - exact for _ in range(20)]
        errors.append(math.sqrt(np.mean(np.square(off).sum(axis=1))))
    assert all(later < 0.5 * earlier for earlier, later in itertools.pairwise(errors))
    assert errors[2] < 0.01
    assert errors[4] < 3e-4


def test_the_error_is_that_of_the_noise_pushed_through_the_equations():
    # To first order w' - w = H^-1 (z - W w - rho w), with H = X'X + Lam.
    X, y = regression(4, 20_000)
    problem = problem_of(4, ridge=1.0, max_rows=2**20)
    rows = open_rows(X, y, bounds=problem.bounds)
    plan = replace(MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD), extra_ridge=0.0)
    H = X.T @ X + np.eye(4)
    w = np.linalg.solve(H, X.T @ y)
    s1, s2 = plan.grid.scale / math.sqrt(2), plan.grid.scale
    inverse = np.linalg.inv(H)
    middle = (s2**2 + s1**2 * (w @ w)) * np.eye(4) + s1**2 * np.outer(w, w)
    expected = np.trace(inverse @ middle @ inverse)
    noise = RehearsalNoise(9)
    squares = np.array([np.sum((plan.run(rows, noise) - w) ** 2) for _ in range(600)])
    assert abs(squares.mean() - expected) <= 4 * squares.std() / math.sqrt(600)
    assert squares.std() / math.sqrt(600) < 0.05 * expected


def test_the_extra_ridge_helps_where_noise_drowns_the_data():
    X, y = regression(10, 1000)
    problem = problem_of(10, ridge=1.0, max_rows=2**20)
    rows = open_rows(X, y, bounds=problem.bounds)
    plan = MECHANISM.plan(problem, Budget(0.3, 1e-6), ADD)

    def loss(plan):
        noise = RehearsalNoise(6)
        return np.mean([np.mean((X @ plan.run(rows, noise) - y) ** 2) for _ in range(40)])

    assert loss(plan) < 0.5 * loss(replace(plan, extra_ridge=0.0))


@both_budgets
def test_units_of_rows_and_labels_do_not_matter(budget):
    X, y = regression(3, 300)
    answers = []
    for row, label in ((1.0, 1.0), (1e-60, 1e60), (1e60, 1e-60)):
        problem = problem_of(
            3, features=L2Ball(row), label=label, ridge=2.0 * row**2, max_rows=1000
        )
        rows = open_rows(X * row, y * label, bounds=problem.bounds)
        plan = MECHANISM.plan(problem, budget, ADD)
        answers.append(plan.run(rows, RehearsalNoise(3)) * (row / label))
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-6)
    np.testing.assert_allclose(answers[2], answers[0], rtol=1e-6)


def test_labels_that_can_only_be_zero_give_coefficients_near_zero():
    problem = problem_of(2, label=0.0, max_rows=100)
    plan = MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD)
    rows = open_rows(np.ones((5, 2)), np.full(5, 3.0), bounds=problem.bounds)
    assert np.abs(plan.run(rows, RehearsalNoise(1))).max() < 1e-90


def test_many_columns_are_planned_at_once():
    problem = problem_of(4096, max_rows=10**6)
    plan = MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD)
    assert plan.moments.dimension == 4096 * 4099 // 2
    assert plan.guarantee.epsilon(1e-6) >= 0.999


# What it refuses.


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (problem_of(4097), "memory"),
        (problem_of(2, intercept=1e130), "rescale"),
        (problem_of(2, features=Box([0, 0], [0, 0])), "rescale"),
        (VectorSum(Bounds(L2Ball(1.0), 2)), "learning problems"),
        (Problem(PseudoHuber(1.0), problem_of(2).bounds, ridge=1.0), "Squared"),
        (
            Problem(Logistic(), Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1])), ridge=1.0),
            "Squared",
        ),
    ],
    ids=["wide", "long", "empty", "sum", "robust", "classes"],
)
def test_what_the_proof_does_not_cover_is_refused_with_a_reason(question, reason):
    assert reason in MECHANISM.accepts(question, ADD).reason
    with pytest.raises(NotAccepted, match=reason):
        MECHANISM.plan(question, Budget(1.0, 1e-6), ADD)


# Mutants: each breaks one step of the proof, and a check must notice.


def with_moments(plan, kind):
    return replace(plan, moments=kind(**vars(plan.moments)))


def assert_caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


def test_forgetting_that_a_replaced_record_moves_twice_is_caught():
    case = case_labelled("sufficient statistics, replace")
    plan, mutant = case.plan(), MECHANISM.plan(case.question, case.budget, ADD)
    check_exact_audit(case, plan)
    assert_caught(check_exact_audit, case, replace(plan, grid=mutant.grid))


def test_a_diagonal_with_the_variance_of_the_rest_is_caught():
    class ThinDiagonal(Moments):
        @property
        def entry_weights(self):
            return np.full(self.dimension - self.width, math.sqrt(2))

    case = case_labelled("sufficient statistics, add_remove")
    plan = case.plan()
    mutant = with_moments(plan, ThinDiagonal)
    check_exact_audit(case, plan)
    check_sensitivity(case, plan, [case.worst_pair])
    assert_caught(check_exact_audit, case, mutant)
    assert_caught(check_sensitivity, case, mutant, [case.worst_pair])
    check_law(plan, RehearsalNoise(2), trials=1000)
    assert_caught(check_law, mutant, RehearsalNoise(2), 1000)


def test_leaving_the_label_bound_out_is_caught():
    class Unlabelled(Moments):
        @property
        def product_size(self):
            return self.problem.row_norm

    case = case_labelled("sufficient statistics, add_remove")
    mutant = with_moments(case.plan(), Unlabelled)
    check_exact_audit(case, case.plan())
    assert_caught(check_exact_audit, case, mutant)


def test_leaving_the_intercept_out_of_the_row_norm_is_caught():
    case = case_labelled("sufficient statistics, intercept, add_remove")
    bounds = replace(case.question.bounds, intercept=None)
    short = Moments(replace(case.question, bounds=bounds), ADD, 2)

    class Short(Moments):
        @property
        def gram_size(self):
            return short.gram_size

        @property
        def product_size(self):
            return short.product_size

    check_exact_audit(case, case.plan())
    assert_caught(check_exact_audit, case, with_moments(case.plan(), Short))


def test_dropping_the_rounding_of_sums_is_caught(monkeypatch):
    # In double precision it takes more rows than a test can hold, so single precision stands in:
    # the same bound times 2**29. After a first row of one, each of many small terms rounds up.
    class Single(Moments):
        @property
        def rounding(self):
            return 2.0**29 * super().rounding

    class Dropped(Moments):
        @property
        def rounding(self):
            return 0.0

    def one_by_one(block):
        x, y = block.rows().astype(np.float32), block.labels.astype(np.float32)
        gram = np.cumsum(x[:, :, None] * x[:, None, :], axis=0, dtype=np.float32)[-1]
        product = np.cumsum(x * y[:, None], axis=0, dtype=np.float32)[-1]
        return gram.astype(np.float64), product.astype(np.float64)

    monkeypatch.setattr(_moments, "_kernel", one_by_one)
    problem = problem_of(1, max_rows=2000)
    case = replace(case_labelled("sufficient statistics, add_remove"), question=problem)
    X = np.full((2000, 1), math.sqrt(1.02 * 2.0**-24))
    X[0] = 1.0
    y = np.zeros(2000)
    y[0] = 1.0
    pair = (Data(X[1:], y[1:]), Data(X, y))
    plan = case.plan()
    check_sensitivity(case, with_moments(plan, Single), [pair])
    assert_caught(check_sensitivity, case, with_moments(plan, Dropped), [pair])


def test_noise_of_one_statistic_reused_for_the_other_is_caught():
    class Reused(RehearsalNoise):
        def gaussian(self, count, bits):
            draws = super().gaussian(count, bits)
            draws[-3:] = draws[:3]
            return draws

    plan = case_labelled("sufficient statistics, add_remove").plan()
    check_law(plan, RehearsalNoise(2), trials=1000)
    assert_caught(check_law, plan, Reused(2), 1000)
