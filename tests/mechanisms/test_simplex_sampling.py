"""Draws from entropic minimisers: the law is the one that the proof speaks of."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from audits.mutants.mixtures import range_on
from discreet.audit import exact_audit
from discreet.audit.cases import cases
from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import L2Ball, LinfBall
from discreet.losses import Hinge, Huber, LogCosh, Logistic, Pinball, PseudoHuber, Squared
from discreet.mechanisms import ObjectivePerturbation, SimplexSampling
from discreet.mechanisms.minimising.entropic import EntropicMinimiser, EntropicObjective
from discreet.mechanisms.simplex_sampling import MOST_DRAWS, most_draws, span_of, widest
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, BoundedRange, Budget, ReplaceOne
from discreet.questions import VectorSum
from discreet.questions.mixture import Mixture
from discreet.theory.simplex_sampling import slowdown
from support.cases import every
from support.cases.mixtures import MixtureCase, best_shares, law_of_counts, law_of_one
from support.opened import open_rows

UNITS = [AddRemoveOne(), ReplaceOne()]
every_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
every_case = every(MixtureCase)
SIX_IN_A_MILLION = 4.5


def bounds(width=3, rows=64, radius=1.0, labels=None, **options):
    labels = labels or Interval(-1, 1)
    return Bounds(LinfBall(radius), width, labels=labels, max_rows=rows, **options)


def table(generator, count, width):
    X = generator.uniform(-1, 1, (count, width))
    y = np.clip(X[:, 0] + 0.2 * generator.normal(size=count), -1, 1)
    return X, y


def opened(question, X, y, unit="replace", **options):
    return open_rows(X, y, bounds=question.bounds, unit=unit, **options)


# Section ERM-7 of the theory notes, at epsilon = 1.
@pytest.mark.parametrize(
    ("span", "delta", "draws"),
    [(0.05, 0.0, 20), (0.02, 0.0, 50), (0.05, 1e-6, 90), (0.02, 1e-6, 560)],
)
def test_the_published_numbers_of_draws(span, delta, draws):
    budget, span = Budget(1.0, delta), span * (1 - 1e-12)  # as floats, 20 times 0.05 is above one
    assert most_draws(span, budget) == draws
    assert widest(budget, draws) >= span * (1 - 1e-3)
    assert widest(budget, draws + 1) < span


@pytest.mark.parametrize(
    ("kappa", "xi"), [(0.0, 0.0), (0.41, 0.41 / 1.41), (1.0, 0.5), (4.0, 1.0), (100.0, 5.0)]
)
def test_how_much_common_rows_slow_down(kappa, xi):
    assert slowdown(kappa) == pytest.approx(xi)


@every_unit
def test_the_range_is_that_of_the_theory_but_for_the_residual(unit):
    question = Mixture(Huber(0.5), bounds(rows=101), total=2.0, entropy=40.0)
    solver = EntropicMinimiser(question, 40.0)
    change = {"add_remove": 2, "replace": 4}[unit.name] * 0.5 * 2.0
    kappa = 100 * 2.0**2 / 40
    assert span_of(solver, unit) == pytest.approx(
        change / 40 * (1 + math.sqrt(kappa) / 2), rel=1e-5
    )
    assert span_of(solver, unit) > change / 40 * (1 + math.sqrt(kappa) / 2)
    assert solver.residual < 1e-6


@every_unit
@pytest.mark.parametrize("kappa", [0.1, 0.41, 1.0, 4.0])
def test_the_worst_pair_comes_near_the_claimed_range_and_not_beyond(unit, kappa):
    solver, reached = range_on(kappa, unit)
    share = reached / span_of(solver, unit)
    assert 0.88 < share <= 1
    if kappa == 1:
        assert share > 0.97


LOSSES = [Squared(1.0), Huber(0.3), PseudoHuber(0.3), LogCosh(0.5)]


@every_unit
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_search_over_neighbours_finds_a_wider_range(unit, loss):
    generator = np.random.default_rng(5)
    for _ in range(4):
        width, count = int(generator.integers(2, 5)), int(generator.integers(2, 12))
        entropy = float(count * np.exp(generator.uniform(-2, 2)))
        question = Mixture(loss, bounds(width, count), entropy=entropy)
        solver = EntropicMinimiser(question, entropy)
        X, y = generator.choice([-1.0, 1.0], (count, width)), generator.uniform(-1, 1, count)
        other, label = generator.choice([-1.0, 1.0], width), 1.0

        def share(X, y, other, label, solver=solver, question=question):
            if unit == AddRemoveOne():
                pair = (X, y), (X[1:], y[1:])
            else:
                pair = (X, y), (np.vstack([other, X[1:]]), np.append(label, y[1:]))
            first, second = (solver.solve(opened(question, *d, unit)) for d in pair)
            return np.ptp(first - second) * solver.step / span_of(solver, unit)

        best = share(X, y, other, label)
        for _ in range(25):
            new = X.copy(), y.copy(), other.copy(), float(generator.choice([-1, 1]))
            place = generator.integers(count), generator.integers(width)
            new[0][place] *= -1
            new[1][place[0]] = generator.uniform(-1, 1)
            new[2][place[1]] *= -1
            found = share(*new)
            if found > best:
                best, (X, y, other, label) = found, new
        assert best <= 1


@every_unit
def test_the_exact_law_of_the_counts_is_within_the_guarantee(unit):
    question = Mixture(Huber(0.5), bounds(width=2, rows=8), entropy=10.0)
    plan = SimplexSampling().plan(question, Budget(1.0, 1e-3), unit)
    assert 2 <= plan.draws <= 40
    X, y = np.array([[1.0, -1.0], [0.3, 0.2]]), np.array([1.0, 0.0])
    other = (X[1:], y[1:]) if unit == AddRemoveOne() else (X * [[-1.0], [1.0]], y)
    laws = []
    for data in ((X, y), other):
        shares = law_of_one(plan, opened(question, *data, unit))
        laws.append(law_of_counts(shares, plan.draws)[1])
    found = exact_audit(*laws, plan.guarantee)
    assert not found.violated
    assert found.largest_loss > 0.2


def test_one_draw_on_its_worst_pair_has_a_loss_near_epsilon():
    for unit, epsilon in itertools.product(("add_remove", "replace"), (1.0, 4.0)):
        case = cases("simplex_sampling", unit, epsilon)[0]
        plan = case.plan()
        assert plan.draws == 1
        first, second = (
            law_of_one(plan, opened(case.question, *data, unit))
            for data in (case.pair.first, case.pair.second)
        )
        loss = np.abs(np.log(first / second)).max()
        assert 0.6 * epsilon < loss <= epsilon
        assert np.ptp(np.log(first / second)) == pytest.approx(epsilon, rel=1e-5)


def test_draws_have_the_law_that_was_audited():
    question = Mixture(Huber(0.5), bounds(width=3, rows=8), entropy=3.0)
    plan = SimplexSampling().plan(question, Budget(4.0, 1e-3), ReplaceOne())
    rows = opened(question, [[1.0, -1.0, 0.0], [0.3, 0.2, 0.4]], [1.0, 0.0])
    outcomes, law = law_of_counts(law_of_one(plan, rows), plan.draws)
    runs = 20_000
    values = np.rint(plan.run_many(rows, RehearsalNoise(1), runs) * plan.draws).astype(int)
    keys = {outcome: number for number, outcome in enumerate(outcomes)}
    seen = np.bincount([keys[tuple(row)] for row in values.tolist()], minlength=len(outcomes))
    often = runs * law.masses > 5
    assert often.sum() >= 3
    assert seen[~often].sum() <= 50
    expected = law.masses[often] / law.masses[often].sum() * seen[often].sum()
    assert stats.chisquare(seen[often], expected).pvalue > 1e-4


@pytest.mark.parametrize("loss", [*LOSSES, Logistic()], ids=repr)
@pytest.mark.parametrize("entropy", [0.5, 5.0, 500.0])
def test_both_methods_find_the_minimiser_within_the_residual(loss, entropy):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-1, 1)
    question = Mixture(loss, bounds(width=4, rows=50, labels=labels), total=1.5)
    solver = EntropicMinimiser(question, entropy)
    X, y = table(np.random.default_rng(1), 50, 4)
    y = np.sign(y) if loss.is_classifier else y
    rows = opened(question, X, y)
    for scores in (solver.solve(rows), solver.solve_slowly(rows)):
        shares = softmax(-solver.step * scores)
        gradient = 1.5 * X.T @ loss.slope(y, 1.5 * X @ shares)
        assert np.ptp(entropy * np.log(shares) + gradient) / 2 <= solver.residual
        assert scores.min() == 0


def test_wide_and_weighted_rows_are_solved_too():
    generator = np.random.default_rng(2)
    X, y = table(generator, 300, 400)  # wider than second derivatives are formed for
    weights = generator.uniform(0, 5, 300)
    question = Mixture(Squared(1.0), bounds(400, 300, max_weight=2.0))
    plan = SimplexSampling().plan(question, Budget(3.0, 1e-6), ReplaceOne())
    rows = opened(question, X, y, weights=weights)
    shares = law_of_one(plan, rows)
    counted = np.minimum(weights, 2.0)
    gradient = X.T @ (counted * (X @ shares - y))
    balance = plan.solver.entropy * np.log(shares) + gradient
    assert np.ptp(balance) / 2 <= plan.solver.residual


def test_a_column_that_is_far_behind_keeps_its_exact_chance():
    X, y = np.tile([[1.0, -1.0]], (5000, 1)), np.full(5000, 3.0)
    question = Mixture(Huber(1.0), bounds(2, 5000, labels=Interval(-3, 3)), entropy=2.0)
    solver = EntropicMinimiser(question, 2.0)
    scores = solver.solve(opened(question, X, y))
    assert scores[1] * solver.step > 2000  # exp(-2000) is zero in floats
    more = solver.solve(opened(question, np.vstack([X[1:], -X[:1]]), y))
    moved = np.ptp(scores - more) * solver.step
    assert 0 < moved <= span_of(solver, ReplaceOne())
    assert solver.measure_residual(EntropicObjective(question, opened(question, X, y)), scores) <= (
        solver.tolerance
    )


@every_case
def test_the_mean_of_releases_is_the_law_they_are_drawn_from(case):
    plan, runs = case.plan(), 3000
    rows = case.worst_pair[0].open(case)
    total, shares = case.question.total, law_of_one(plan, rows)
    values = plan.run_many(rows, RehearsalNoise(3), runs)
    np.testing.assert_allclose(values.sum(axis=1), total)
    assert (np.count_nonzero(values, axis=1) <= plan.draws).all()
    error = total * np.sqrt(shares * (1 - shares) / (plan.draws * runs))
    # Three columns in four cases: a false alarm less than once in ten thousand.
    assert (np.abs(values.mean(axis=0) - total * shares) <= SIX_IN_A_MILLION * error).all()


@pytest.mark.parametrize("loss", [Squared(1.0), Huber(0.3)], ids=repr)
def test_the_mean_excess_is_within_the_bound(loss):
    X, y = table(np.random.default_rng(4), 2000, 6)
    question = Mixture(loss, bounds(6, 2000))
    plan = SimplexSampling().plan(question, Budget(2.0, 1e-6), ReplaceOne())
    rows = opened(question, X, y)

    def risk(weights):
        return loss.value(y[:, None], X @ weights.T).sum(axis=0)

    values = plan.run_many(rows, RehearsalNoise(6), 400)
    smoothness, shares = question.row_smoothness, law_of_one(plan, rows)
    drawn = risk(values) - risk(shares[None, :])
    slack = SIX_IN_A_MILLION * drawn.std() / math.sqrt(400)
    assert drawn.mean() <= 2000 * smoothness / (2 * plan.draws) + slack
    best = best_shares(question, X, y)
    regular = risk(shares[None, :])[0] - risk(best[None, :])[0]
    assert 0 <= regular <= plan.solver.entropy * math.log(6)


def test_more_columns_hardly_hurt():
    excess = [
        SimplexSampling().plan(
            Mixture(Squared(1.0), bounds(width, 10_000)), Budget(1.0, 1e-6), ReplaceOne()
        ).solver.entropy * math.log(width)
        for width in (10, 10_000)
    ]  # fmt: skip
    assert excess[1] < 3 * excess[0]


def test_the_rule_is_public_and_uses_the_expected_rows():
    def plan(unit, **options):
        question = Mixture(Squared(1.0), bounds(rows=10_000), **options)
        return SimplexSampling().plan(question, Budget(1.0, 1e-6), unit)

    assert plan(AddRemoveOne(), expected_rows=100).draws < plan(AddRemoveOne()).draws
    assert plan(ReplaceOne()).solver.entropy > plan(AddRemoveOne()).solver.entropy
    given = plan(ReplaceOne(), entropy=1000.0)
    assert given.solver.entropy == 1000.0
    span = span_of(given.solver, ReplaceOne())
    assert given.draws == most_draws(span, Budget(1.0, 1e-6))
    assert given.guarantee.profile == replace(BoundedRange(span, given.draws), is_pure=False)
    assert given.guarantee.epsilon() <= 1.0
    assert given.guarantee.quoted_delta == 1e-6


def test_the_public_bound_on_rows_enters_the_range():
    few, many = (
        span_of(EntropicMinimiser(Mixture(Squared(1.0), bounds(rows=n)), 100.0), AddRemoveOne())
        for n in (100, 10_000)
    )
    assert many > 3 * few


def test_what_cannot_be_planned_is_refused_with_advice():
    def plan(loss=None, budget=None, **options):
        question = Mixture(loss or Squared(1.0), bounds(rows=10_000), **options)
        return SimplexSampling().plan(question, budget or Budget(1.0), ReplaceOne())

    with pytest.raises(CalibrationError, match="raise the entropy"):
        plan(entropy=0.1)
    with pytest.raises(CalibrationError, match="too weak to be solved with a certificate"):
        plan(entropy=1e-9, budget=Budget(math.inf))
    with pytest.raises(NotAccepted, match="is not smooth"):
        plan(Pinball(0.5))
    with pytest.raises(NotAccepted, match="is not smooth"):
        SimplexSampling().plan(
            Mixture(Hinge(), bounds(labels=LabelSet([-1, 1]))), Budget(1.0), ReplaceOne()
        )
    with pytest.raises(NotAccepted, match="learns a Mixture"):
        SimplexSampling().plan(VectorSum(bounds()), Budget(1.0), ReplaceOne())
    with pytest.raises(NotAccepted):
        ObjectivePerturbation().plan(
            Mixture(Squared(1.0), bounds()), Budget(1.0, 1e-6), ReplaceOne()
        )
    with pytest.raises(InputError, match="declare no intercept"):
        Mixture(Squared(1.0), bounds(intercept=1.0))
    with pytest.raises(InputError, match="needs the labels -1 and 1"):
        Mixture(Logistic(), bounds())
    with pytest.raises(InputError, match="total must be a positive number"):
        Mixture(Squared(1.0), bounds(), total=0.0)
    with pytest.raises(InputError, match="expected_rows must be at least 1"):
        Mixture(Squared(1.0), bounds(), expected_rows=0)


def test_any_bounded_set_of_rows_will_do():
    question = Mixture(Squared(1.0), Bounds(L2Ball(2.0), 3, labels=Interval(-1, 1), max_rows=100))
    assert question.reach == pytest.approx(2.0, rel=1e-5)
    plan = SimplexSampling().plan(question, Budget(1.0), AddRemoveOne())
    released = plan.run(opened(question, [[3.0, 0.0, 4.0]], [9.0], "add_remove"), RehearsalNoise(0))
    assert released.sum() == pytest.approx(1.0)


def test_an_infinite_budget_with_an_entropy_gives_the_entropic_minimiser():
    X, y = table(np.random.default_rng(1), 200, 3)
    question = Mixture(Squared(1.0), bounds(3, 200), entropy=20.0)
    plan = SimplexSampling().plan(question, Budget(math.inf), ReplaceOne())
    shares = plan.run(opened(question, X, y), RehearsalNoise(0))
    gradient = X.T @ (X @ shares - y)
    assert np.ptp(20 * np.log(shares) + gradient) < 1e-4
    assert not plan.guarantee.is_private


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_an_audit_by_counting_refutes_nothing(unit):
    found = cases("simplex_sampling", unit, 4.0)[0].audit(trials=4000, seed=2)
    assert not found.violated
    assert found.lower_bound > 2.0


def test_the_rule_for_the_entropy_never_asks_for_what_cannot_be_certified():
    bounds = Bounds(LinfBall(0.5), 5, labels=Interval(-0.5, 0.5), max_rows=10**6)
    question = Mixture(Squared(0.5), bounds)
    budget, unit = Budget(10.0, 1e-6), AddRemoveOne()
    plan = SimplexSampling().plan(question, budget, unit)
    assert plan.solver.is_certain()
    assert not EntropicMinimiser(question, plan.solver.entropy / 100).is_certain()
    assert plan.guarantee.profile.delta(budget.epsilon) <= budget.delta


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, np.linalg.LinAlgError])
def test_whatever_becomes_of_newtons_method_there_is_an_answer(monkeypatch, error):
    def fail(*arguments):
        raise error

    bounds = Bounds(LinfBall(0.5), 3, labels=Interval(-0.5, 0.5), max_rows=50)
    solver = EntropicMinimiser(Mixture(Squared(0.5), bounds), 30.0)
    rows = open_rows(np.full((20, 3), 0.3), np.zeros(20), bounds=bounds, unit=AddRemoveOne())
    expected = solver.solve(rows)
    monkeypatch.setattr(EntropicMinimiser, "_solve_by_newton", fail)
    np.testing.assert_array_equal(solver.solve(rows), expected)


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6), Budget(20.0, 1e-9)])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.05, 3e-3, 1e-5, 1e-9])
def test_one_draw_more_would_not_fit_and_few_numbers_are_tried(budget, share, monkeypatch):
    span, tried, delta = share * budget.epsilon, [], BoundedRange.delta

    def counted(profile, epsilon):
        tried.append(profile.draws)
        return delta(profile, epsilon)

    monkeypatch.setattr(BoundedRange, "delta", counted)
    draws = most_draws(span, budget)
    monkeypatch.undo()
    assert BoundedRange(span, draws).delta(budget.epsilon) <= budget.delta
    if draws < MOST_DRAWS - 1:
        assert BoundedRange(span, draws + 1).delta(budget.epsilon) > budget.delta
    assert len(tried) <= 24  # doubling and halving takes up to forty
