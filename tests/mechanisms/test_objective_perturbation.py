"""Objective perturbation: its exact law in one dimension, its accuracy, and its mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import CalibrationError, NotAccepted
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.losses import (
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    MarginLogistic,
    PseudoHuber,
    Squared,
)
from discreet.mechanisms import ObjectivePerturbation
from discreet.mechanisms.minimising.linear_term import BITS
from discreet.mechanisms.minimising.rows_objective import RowsObjective
from discreet.mechanisms.objective_perturbation import MASK_SHARE
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne
from discreet.questions.problem import Problem
from discreet.solvers import newton
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemoveOne(), ReplaceOne()
MECHANISM = ObjectivePerturbation("gaussian")


def problem_of(loss, *, ridge, p=1, radius=math.inf, max_rows=1000, intercept=None):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-3, 3)
    bounds = Bounds(L2Ball(1.0), p, labels=labels, max_rows=max_rows, intercept=intercept)
    return Problem(loss, bounds, ridge=ridge, radius=radius)


# The exact law of the minimiser in one dimension, by change of variables.


def law(loss, ridge, scale, records, points):
    """The density, at the given coefficients, of the minimiser with Gaussian linear term."""
    slopes, curvature = ridge * points, np.full_like(points, ridge)
    for x, y in records:
        slopes = slopes + x * loss.slope(np.float64(y), x * points)
        curvature = curvature + x * x * loss.curvature(np.float64(y), x * points)
    return np.exp(-0.5 * (slopes / scale) ** 2) / (scale * math.sqrt(2 * math.pi)) * curvature


def hockey_stick(loss, ridge, scale, first, second, epsilons):
    """The exact divergence of two data sets, in both orders, by quadrature."""
    reach = (12 * scale + 2 * len(first) + 2 * len(second)) / ridge
    # Cells end where the losses bend; each is judged by its middle.
    edges = np.union1d(np.linspace(-reach, reach, 8_001), np.linspace(-8, 8, 8_001))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    one, other = (law(loss, ridge, scale, data, middles) * widths for data in (first, second))
    assert one.sum() == pytest.approx(1, abs=1e-4)
    factors = np.exp(epsilons)[:, None]
    sides = (np.maximum(a - factors * b, 0).sum(axis=1) for a, b in ((one, other), (other, one)))
    return np.maximum(*sides)


def pairs_of(loss, unit):
    """Neighbours: alone, among others that agree, and among others that do not."""
    labels = (1.0, -1.0) if loss.is_classifier else (3.0, -3.0, 0.0)
    for common in ([], [(1.0, labels[0])], [(1.0, labels[1]), (-0.5, labels[0])]):
        for y in labels:
            if not unit.rows_are_public:
                yield common, [*common, (1.0, y)]
                continue
            yield [*common, (1.0, y)], [*common, (-1.0, y)]
            yield [*common, (1.0, y)], [*common, (1.0, -y)]
            yield [*common, (1.0, y)], [*common, (0.0, y)]


LOSSES = (
    Logistic(),
    MarginLogistic(margin=4.0),
    HuberHinge(0.5),
    Huber(0.5),
    PseudoHuber(0.5),
)
EPSILONS = np.concatenate([[0.0, 0.01, 0.03, 0.1, 0.2], [0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.5]])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
@pytest.mark.parametrize(
    ("ridge", "budget"),
    [(3.0, Budget(1.0, 1e-5)), (0.7, Budget(3.0, 1e-3))],
    ids=["usual", "little ridge"],
)
def test_the_exact_law_in_one_dimension_is_within_the_guarantee(loss, unit, ridge, budget):
    plan = MECHANISM.plan(problem_of(loss, ridge=ridge), budget, unit)
    claimed = np.array([plan.guarantee.profile.delta(e) for e in EPSILONS])
    for first, second in pairs_of(loss, unit):
        true = hockey_stick(loss, ridge, plan.scale, first, second, EPSILONS)
        assert (true <= claimed * (1 + 1e-3) + 1e-9).all()


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_the_exact_law_nearly_attains_the_guarantee_where_the_loss_is_straight(unit):
    loss, ridge = HuberHinge(0.5), 400.0
    plan = MECHANISM.plan(problem_of(loss, ridge=ridge), Budget(1.0, 1e-4), unit)
    first, second = ([], [(1.0, 1.0)]) if unit is ADD else ([(1.0, 1.0)], [(1.0, -1.0)])
    true = hockey_stick(loss, ridge, plan.scale, first, second, [1.0])[0]
    assert 0.9 * 1e-4 <= true <= 1e-4


def test_below_the_start_of_its_rules_the_law_is_worse_than_a_gaussian_and_the_claim_knows():
    # The theory notes: R = 1, Lam = 1, sigma = 20 has delta(0.1) = 6.7e-3, not 4.5e-4.
    true = hockey_stick(Logistic(), 1.0, 20.0, [], [(1.0, 1.0)], [0.1])[0]
    assert true == pytest.approx(6.7e-3, rel=0.02)
    assert Gaussian(1 / 20).delta(0.1) < true / 10
    budget = Budget(0.3, Gaussian(1 / 20).delta(0.3 - math.log(1.25)))
    plan = MECHANISM.plan(problem_of(Logistic(), ridge=1.0), budget, ADD)
    assert plan.scale == pytest.approx(20.0, rel=0.01)
    assert plan.guarantee.profile.delta(0.1) >= 0.99 * true


def test_the_printed_scale_of_jain_and_thakurta_is_caught_under_replacement():
    # Their variance gives sigma = 7.698 at (1, 1e-6) and slopes at most 1 (theory notes, 3).
    loss, ridge, first, second = HuberHinge(0.5), 400.0, [(1.0, 1.0)], [(1.0, -1.0)]
    plan = MECHANISM.plan(problem_of(loss, ridge=ridge), Budget(1.0, 1e-6), SWAP)
    assert hockey_stick(loss, ridge, plan.scale, first, second, [1.0])[0] <= 1e-6
    assert hockey_stick(loss, ridge, 7.698, first, second, [1.0])[0] > 2e-6


def test_the_scale_of_add_remove_is_caught_under_replacement():
    loss, ridge = HuberHinge(0.5), 400.0
    scale = MECHANISM.plan(problem_of(loss, ridge=ridge), Budget(1.0, 1e-6), ADD).scale
    assert hockey_stick(loss, ridge, scale, [(1.0, 1.0)], [(1.0, -1.0)], [1.0])[0] > 1e-4


def test_an_intercept_left_out_of_the_row_norm_is_caught():
    # One row (0, 1): its gradient is 1 in the intercept alone, however short the rest is declared.
    loss, ridge, budget = HuberHinge(0.5), 400.0, Budget(1.0, 1e-6)
    bounds = Bounds(L2Ball(0.5), 1, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=10)
    honest = MECHANISM.plan(Problem(loss, bounds, ridge=ridge), budget, ADD)
    mutant = MECHANISM.plan(
        Problem(loss, replace(bounds, intercept=None), ridge=ridge), budget, ADD
    )
    rows = open_rows([[0.5]], [1.0], bounds=bounds)
    moved = np.linalg.norm(honest.minimiser.solve(rows, np.zeros(2))) * ridge
    assert Gaussian(moved / honest.scale).delta(1.0) <= 1e-6
    assert Gaussian(moved / mutant.scale).delta(1.0) > 1e-6


# The mask.


def off_the_grid(points, loss, ridge, scale, records):
    """How far the linear term that explains each point is from its grid, in steps (0 to 1/2)."""
    step = mp.mpf(math.ldexp(scale, -BITS))
    gaps = []
    for point in points:
        w = mp.mpf(float(point))
        linear = -mp.mpf(ridge) * w
        for x, y in records:
            linear += mp.mpf(y * x) / (1 + mp.exp(mp.mpf(y * x) * w))
        cell = linear / step - mp.mpf(1) / 2
        gaps.append(float(abs(cell - mp.nint(cell))))
    return np.array(gaps)


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_without_the_mask_a_point_names_its_data_set_and_with_it_does_not(law):
    problem = problem_of(Logistic(), ridge=4.0, max_rows=1)
    plan = ObjectivePerturbation(law).plan(problem, Budget(1.0, 1e-6), ADD)
    true, other = [(1.0, 1.0)], [(1.0, -1.0)]
    rows = open_rows([[1.0]], [1.0], bounds=problem.bounds)
    naked, masked = [], []
    for seed in range(100):
        linear = plan.term.draw(1, RehearsalNoise(seed))
        objective = RowsObjective(plan.minimiser.problem, rows, linear)
        naked.append(newton(objective, np.zeros(1), tolerance=0.0).point[0])
        masked.append(plan.run(rows, RehearsalNoise(seed))[0])

    def told(points):
        gaps = [off_the_grid(points, Logistic(), 4.0, plan.scale, d) for d in (true, other)]
        return (gaps[0] < gaps[1]).mean()

    assert told(naked) > 0.9
    assert 0.35 < told(masked) < 0.65


def test_the_mask_hides_twice_the_radius_of_the_solver():
    for unit in (ADD, SWAP):
        problem = problem_of(Logistic(), ridge=4.0, p=5)
        plan = MECHANISM.plan(problem, Budget(1.0, 1e-6), unit)
        hidden = 2 * plan.minimiser.radius + plan.mask.grid.spread_l2(5)
        assert hidden / plan.mask.grid.scale <= MASK_SHARE * problem.row_lipschitz / plan.scale
        assert plan.mask.grid.scale < 1e-3 * plan.scale / problem.ridge  # and costs nothing


# What it computes.


def data(p, rows, seed=3):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, p))
    X *= 0.9 / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(generator.random(rows) < ndtr(2 * X[:, 0]), 1.0, -1.0)


@pytest.mark.parametrize("intercept", [None, 0.5])
def test_an_infinite_budget_agrees_with_scikit_learn(intercept):
    X, y = data(4, 300)
    problem = problem_of(Logistic(), ridge=0.5, p=4, intercept=intercept)
    rows = Rows(X, y, bounds=problem.bounds)
    ours = release(MECHANISM, problem, rows, budget=Budget(math.inf)).value
    full = X if intercept is None else np.column_stack([X, np.full(len(X), intercept)])
    theirs = LogisticRegression(
        C=1 / 0.5, fit_intercept=False, tol=1e-12, max_iter=1000, solver="newton-cholesky"
    ).fit(full, y)
    np.testing.assert_allclose(ours, theirs.coef_[0], rtol=0, atol=1e-8)


def sum_of_losses(loss, X, y, point):
    return float(loss.value(y, X @ point).sum())


@pytest.mark.parametrize("law", ["gaussian", "laplace", "radial"])
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(0.5), PseudoHuber(0.5)], ids=repr)
def test_no_draw_does_more_harm_than_its_size_allows(loss, law):
    """True of every draw b: |w - w*| <= |b|/Lam, and J exceeds its least by |b|^2/(2 Lam) at most.

    J is the objective without b, w* its minimiser; the sum of losses alone exceeds its own least
    by at most Lam |w_0|^2/2 more, w_0 its minimiser (here that with hardly a ridge).
    """
    X, y = data(3, 100)
    ridge = 5.0
    problem = problem_of(loss, ridge=ridge, p=3)
    rows = open_rows(X, y, bounds=problem.bounds)
    plan = ObjectivePerturbation(law).plan(problem, Budget(1.0, 1e-6), ADD)
    best = plan.minimiser.solve(rows, np.zeros(3))
    free = newton(
        RowsObjective(replace(problem, ridge=1e-6), rows, np.zeros(3)),
        np.zeros(3),
        tolerance=1e-9,
    ).point

    def objective(point):
        return sum_of_losses(loss, X, y, point) + ridge / 2 * float(point @ point)

    slack = 2 * plan.minimiser.radius
    steepness = 100 + 1000 * ridge  # of the objective, wherever these points lie
    for seed in range(12):
        b = plan.term.draw(3, RehearsalNoise(seed))
        point = plan.minimiser.solve(rows, b)
        size = np.linalg.norm(b)
        assert np.linalg.norm(point - best) <= size / ridge + slack
        assert objective(point) - objective(best) <= size**2 / (2 * ridge) + steepness * slack
        excess = sum_of_losses(loss, X, y, point) - sum_of_losses(loss, X, y, free)
        allowed = size**2 / (2 * ridge) + ridge / 2 * float(free @ free)
        assert excess <= allowed + steepness * slack
        released = plan.run(rows, RehearsalNoise(seed))
        assert np.linalg.norm(released - point) <= 40 * math.sqrt(3) * plan.mask.grid.scale
    assert plan.mask.grid.scale < 1e-3 * plan.scale / ridge  # the mask is invisible


def test_the_bound_on_the_harm_of_a_draw_is_attained_without_rows_of_weight():
    # One row of zeros: the minimiser is -b/Lam itself.
    problem = problem_of(Logistic(), ridge=5.0, p=3)
    rows = open_rows(np.zeros((1, 3)), [1.0], bounds=problem.bounds)
    for law in ("gaussian", "laplace", "radial"):
        plan = ObjectivePerturbation(law).plan(problem, Budget(1.0, 1e-6), ADD)
        b = plan.term.draw(3, RehearsalNoise(4))
        np.testing.assert_allclose(
            plan.minimiser.solve(rows, b), -b / 5.0, rtol=0, atol=plan.minimiser.radius
        )


def test_the_excess_of_a_ridge_regression_is_half_the_trace_of_the_inverse_hessian():
    # Thakurta (2013), theorem 4.3: E J(w) - J(w*) = sigma^2 / 2 tr((X'X + Lam I)^-1).
    p, ridge, trials = 4, 60.0, 400
    X, _ = data(p, 400)
    y = np.clip(2 * X[:, 0], -1, 1)
    problem = problem_of(Huber(4.0), ridge=ridge, p=p)
    rows = open_rows(X, y, bounds=problem.bounds)
    plan = MECHANISM.plan(problem, Budget(2.0, 1e-3), ADD)
    H = X.T @ X + ridge * np.eye(p)
    best = np.linalg.solve(H, X.T @ y)
    noise = RehearsalNoise(8)
    released = np.array([plan.run(rows, noise) for _ in range(trials)])
    assert np.abs(X @ released.T - y[:, None]).max() < 4.0  # where Huber's loss is a square
    excess = np.einsum("ij,jk,ik->i", released - best, H, released - best) / 2
    expected = plan.scale**2 / 2 * np.trace(np.linalg.inv(H))
    assert abs(excess.mean() - expected) <= 4 * excess.std() / math.sqrt(trials)
    assert excess.std() / math.sqrt(trials) < 0.06 * expected


def test_columns_of_zeros_do_not_spoil_predictions():
    X, y = data(2, 200)

    def spoiled(p):
        wide = np.zeros((200, p))
        wide[:, :2] = X
        problem = problem_of(Logistic(), ridge=20.0, p=p)
        rows = open_rows(wide, y, bounds=problem.bounds)
        plan = MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD)
        exact = plan.minimiser.solve(rows, np.zeros(p))
        noise = RehearsalNoise(2)
        return math.sqrt(
            np.mean([(wide @ (plan.run(rows, noise) - exact)) ** 2 for _ in range(60)])
        )

    assert spoiled(60) == pytest.approx(spoiled(2), rel=0.2)


def test_silent_noise_gives_the_minimiser_up_to_the_radius_and_a_cell():
    X, y = data(3, 100)
    problem = problem_of(Logistic(), ridge=5.0, p=3)
    rows = open_rows(X, y, bounds=problem.bounds)
    plan = MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD)
    exact = plan.minimiser.solve(rows, np.zeros(3))
    off = np.linalg.norm(plan.run(rows, SilentNoise()) - exact)
    half_cell = plan.minimiser.linear_error / problem.ridge
    assert off <= 2 * plan.minimiser.radius + half_cell + plan.mask.grid.spread_l2(3)


def test_labels_in_the_thousands_are_fitted():
    bounds = Bounds(L2Ball(1.0), 1, labels=Interval(-1e4, 1e4), max_rows=1000)
    problem = Problem(Huber(100.0), bounds, ridge=1.0)
    rows = Rows(np.ones((100, 1)), np.full(100, 5000.0), bounds=bounds)
    exact = release(MECHANISM, problem, rows, budget=Budget(math.inf)).value
    assert exact[0] == pytest.approx(4950.0, rel=0.02)  # 5000 * 100 / 101, nearly


# What it refuses.


@pytest.mark.parametrize(
    ("loss", "reason"), [(Hinge(), "not smooth"), (Squared(3.0), "bounded slope")], ids=repr
)
def test_a_loss_that_the_proof_does_not_cover_is_refused_with_a_reason(loss, reason):
    problem = problem_of(loss, ridge=1.0)
    verdict = MECHANISM.accepts(problem, ADD)
    assert not verdict
    assert reason in verdict.reason
    with pytest.raises(NotAccepted, match=reason):
        MECHANISM.plan(problem, Budget(1.0, 1e-6), ADD)


def test_a_ball_of_coefficients_is_refused():
    with pytest.raises(NotAccepted, match="radius"):
        MECHANISM.plan(problem_of(Squared(3.0), ridge=4.0, radius=1.0), Budget(1.0, 1e-6), ADD)


def test_gaussian_noise_for_a_pure_budget_is_refused():
    with pytest.raises(CalibrationError, match="delta > 0"):
        MECHANISM.plan(problem_of(Logistic(), ridge=1.0), Budget(1.0), ADD)


def test_a_ridge_too_small_for_the_budget_is_refused():
    # ln(1 + 1/(4 Lam)) alone exceeds epsilon, whatever the noise.
    with pytest.raises(CalibrationError, match=r"ridge|no amount of noise"):
        MECHANISM.plan(problem_of(Logistic(), ridge=0.01), Budget(0.5, 1e-6), ADD)
