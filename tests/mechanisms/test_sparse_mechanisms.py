"""Frank-Wolfe, iterative thresholding and selection before a fit: what is special to them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import L2Ball, LinfBall
from discreet.losses import Hinge, Huber, Logistic, MarginLogistic, Squared
from discreet.mechanisms import (
    FrankWolfe,
    IterativeThresholding,
    ObjectivePerturbation,
    SelectThenFit,
)
from discreet.mechanisms.frank_wolfe import average_of_corners, choose_steps
from discreet.mechanisms.select_then_fit import NO_COLUMN
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BlockVote, L1Problem, Problem, SparseProblem, StrongestColumns
from discreet.theory import CATALOGUE, Setting
from support.opened import open_rows

GENERATOR = np.random.default_rng(0)
X = GENERATOR.uniform(-1, 1, size=(3000, 30))
Y = 0.6 * X[:, 3] - 0.4 * X[:, 7]
NUMBERS = Bounds(LinfBall(1.0), 30, labels=Interval(-1, 1), max_rows=2**13)
CLASSES = replace(NUMBERS, labels=LabelSet([-1, 1]))
INSIDE = Bounds(L2Ball(2.0), 4, labels=CLASSES.labels, intercept=1.0, max_rows=2**13)
LASSO = L1Problem(Squared(1.0), NUMBERS, radius=1.0)
BUDGET, ADD = Budget(1.0, 1e-6), AddRemoveOne()


def test_corners_add_up_to_the_steps_of_the_method():
    corners, w = np.array([3.0, -1.0, 3.0, 2.0]), np.zeros(3)
    for step, corner in enumerate(corners, start=1):
        share = 2 / (step + 2)
        w *= 1 - share
        w[int(abs(corner)) - 1] += share * np.sign(corner) * 1.5
    np.testing.assert_allclose(average_of_corners(corners, 1.5, 3), w, rtol=1e-14)


def test_without_noise_the_excess_keeps_the_bound_of_the_method():
    steps = 60
    plan = FrankWolfe(steps).plan(LASSO, Budget(math.inf), ADD)
    w = average_of_corners(plan.run(open_rows(X, Y, bounds=NUMBERS), RehearsalNoise(1)), 1.0, 30)
    assert np.mean((X @ w - Y) ** 2) / 2 <= 2 * LASSO.curvature / (steps + 2)
    assert np.abs(w).sum() <= 1


def test_with_noise_the_excess_keeps_the_bound_of_the_theory():
    # Of an l1 ball, that is of a simplex of twice as many corners; the least loss is zero.
    setting = Setting(n=len(X), p=60, epsilon=1.0, delta=1e-6, lipschitz=LASSO.lipschitz,
                      diameter=2.0, smoothness=1.0, form="generalised_linear", unit="add_remove",
                      geometry="simplex")  # fmt: skip
    bound = CATALOGUE["Frank-Wolfe"].mean(setting)
    steps = choose_steps(LASSO, BUDGET, ADD, len(X))
    plan, rows = FrankWolfe(steps).plan(LASSO, BUDGET, ADD), open_rows(X, Y, bounds=NUMBERS)
    losses = []
    for seed in range(5):
        w = average_of_corners(plan.run(rows, RehearsalNoise(seed)), 1.0, 30)
        losses.append(np.mean((X @ w - Y) ** 2) / 2)
    assert np.mean(losses) <= bound


def test_steps_follow_from_public_numbers_alone():
    few, many = (choose_steps(LASSO, BUDGET, ADD, rows) for rows in (1000, 100_000))
    assert 1 <= few < many
    assert choose_steps(LASSO, BUDGET, ReplaceOne(), 1000) <= few
    assert choose_steps(LASSO, Budget(1.0), ADD, 1000) <= few


def test_more_steps_cost_each_of_them():
    one, four = (FrankWolfe(steps).plan(LASSO, Budget(1.0), ADD) for steps in (1, 4))
    assert float(one.rate / four.rate) == pytest.approx(4, rel=1e-5)


def test_thresholding_finds_the_columns_and_their_coefficients():
    problem = SparseProblem(Huber(0.5), NUMBERS, size=2, radius=2.0)
    mechanism = IterativeThresholding(8, rows=3000, step_size=2.0)
    plan = mechanism.plan(problem, Budget(3.0, 1e-6), ADD)
    value = plan.run(open_rows(X, Y, bounds=NUMBERS), RehearsalNoise(2))
    assert sorted(value[:2]) == [3, 7]
    np.testing.assert_allclose(sorted(value[2:]), [-0.4, 0.6], atol=0.1)


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_a_record_moves_thresholded_coefficients_within_their_noise(unit):
    problem = SparseProblem(Huber(0.5), NUMBERS, size=2, radius=2.0)
    plan = IterativeThresholding(5, rows=10).plan(problem, BUDGET, unit)
    most = 2**24 / math.sqrt(10 / plan.guarantee.profile.rho)
    totals = np.arange(-(2**27), 2**27, 9_999_991) * 77
    apart = 2**28 if unit.rows_are_public else 2**27
    moved = np.abs(np.rint((totals + apart) * plan.factor) - np.rint(totals * plan.factor))
    assert 0.999 * most <= moved.max() <= most


def test_a_choice_without_a_stable_answer_is_a_model_of_zeros():
    def nothing(X, y):
        return [int(X[:, 0].sum() * 1e6) % 30]

    vote = BlockVote(CLASSES, nothing, blocks=40, most=4)
    mechanism = SelectThenFit(vote, ObjectivePerturbation(), INSIDE)
    problem = Problem(MarginLogistic(), CLASSES, ridge=4.0)
    plan = mechanism.plan(problem, BUDGET, ADD)
    value = plan.run(open_rows(X, np.sign(Y), bounds=CLASSES), RehearsalNoise(1))
    np.testing.assert_array_equal(value, [0.0] * 5 + [NO_COLUMN] * 4)
    assert mechanism.places(value).size == 0
    assert plan.guarantee.epsilon(1e-6) <= 1.0


def test_fewer_columns_than_there_is_room_for_are_padded():
    def third(X, y):
        return [3]

    mechanism = SelectThenFit(BlockVote(CLASSES, third, blocks=80, most=4),
                              ObjectivePerturbation(), INSIDE, share=0.6)  # fmt: skip
    problem = Problem(MarginLogistic(), CLASSES, ridge=4.0)
    plan = mechanism.plan(problem, Budget(3.0, 1e-6), ADD)
    value = plan.run(open_rows(X, np.sign(Y), bounds=CLASSES), RehearsalNoise(1))
    assert mechanism.places(value).tolist() == [3]
    assert mechanism.model(value)[0] > 0.5


def test_both_stages_are_within_the_budget_together():
    problem = Problem(MarginLogistic(), CLASSES, ridge=400.0)
    for share in (0.1, 0.7):
        mechanism = SelectThenFit(StrongestColumns(CLASSES, 4), ObjectivePerturbation("gaussian"),
                                  INSIDE, share=share)  # fmt: skip
        plan = mechanism.plan(problem, BUDGET, ADD)
        assert 0.999 <= plan.guarantee.epsilon(1e-6) <= 1.0
        assert plan.first.guarantee.epsilon(1e-6) < 1.0


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (SelectThenFit(), "must be told which columns"),
        (SelectThenFit(StrongestColumns(CLASSES, 3), inside=INSIDE), "as many as are declared"),
        (SelectThenFit(BlockVote(CLASSES, len, 9), inside=INSIDE), "declare most"),
        (SelectThenFit(StrongestColumns(replace(CLASSES, n_features=9), 4), inside=INSIDE),
         "from the rows that are learnt from"),
    ],
    ids=["nothing told", "size", "votes", "columns"],
)  # fmt: skip
def test_stages_that_do_not_fit_are_refused(mechanism, words):
    problem = Problem(MarginLogistic(), CLASSES, ridge=4.0)
    with pytest.raises((InputError, NotAccepted), match=words):
        mechanism.plan(problem, BUDGET, ADD)


def test_losses_without_a_bounded_slope_and_tables_without_end_are_refused():
    with pytest.raises(InputError, match="no bounded slope"):
        SparseProblem(Squared(1.0), NUMBERS, size=2, radius=1.0)
    with pytest.raises(InputError, match="smaller max_rows"):
        L1Problem(Logistic(), replace(CLASSES, max_rows=2**35), radius=1.0)
    with pytest.raises(InputError, match="declare no weights"):
        L1Problem(Hinge(), replace(CLASSES, max_weight=2.0), radius=1.0)
    problem = SparseProblem(Huber(0.5), replace(NUMBERS, max_rows=2**33), size=2, radius=2.0)
    with pytest.raises(CalibrationError, match="smaller max_rows"):
        IterativeThresholding(1).plan(problem, Budget(50.0, 1e-6), ADD)
