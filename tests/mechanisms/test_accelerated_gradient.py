"""Softmax in few long steps: what it spends, where it goes, what it must not do."""

from __future__ import annotations

import math
from dataclasses import replace

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from audits.mutants.gradient import _PowerSteps
from discreet.data import Bounds, LabelSet, Rows, dask_rows, parquet_rows
from discreet.data.block import SparseBlock
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger
from discreet.losses import Hinge, MarginLogistic
from discreet.losses.logistic import MarginSoftmax
from discreet.mechanisms import AcceleratedGradient, NoisyGradient, PrivateStandardisation
from discreet.mechanisms.accelerated_gradient import FARTHEST, MOMENTUM, NORM_SHARE, STEPS
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne, gaussian_multiplier
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest, Softmax
from support.cases import case_labelled
from support.checks import check_joint_audit
from support.estimators import rehearsal
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(1.0, 1e-6)
ROWS = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]), intercept=0.5, max_rows=2**14)


def question_of(loss=None, classes=3, bounds=ROWS, **options):
    problem = Problem(loss or MarginLogistic(), bounds, **{"ridge": 1.0, **options})
    return OneVsRest(problem, classes)


def table(count=4000, classes=3, width=4):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((count, width))
    X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
    pull = X @ np.random.default_rng(9).standard_normal((width, classes)) * 3
    return X, (pull + 0.3 * generator.gumbel(size=pull.shape)).argmax(axis=1).astype(float)


def with_constant(X):
    return np.column_stack([X, np.full(len(X), 0.5)])


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=["add", "swap"])
def test_a_norm_and_sixty_sums_spend_the_budget_and_no_more(unit):
    plan = AcceleratedGradient().plan(question_of(classes=7), BUDGET, unit)
    mu = 1 / gaussian_multiplier(BUDGET)
    assert plan.guarantee.delta(1.0) <= 1e-6 < plan.guarantee.delta(0.998)
    assert plan.event.profile.ideal.mu == pytest.approx(math.sqrt(NORM_SHARE) * mu, rel=1e-6)
    assert plan.event.grid.scale >= (1 + 2 * plan.norm.error) / (math.sqrt(NORM_SHARE) * mu)
    rest = math.sqrt(1 - NORM_SHARE) * mu
    moved = unit.spread(math.sqrt(2) * plan.problem.row_norm)
    assert plan.second.steps == STEPS
    assert plan.second.grid.scale == pytest.approx(math.sqrt(STEPS) * moved / rest, rel=1e-4)


def test_the_path_is_that_of_nesterov_in_plain_arithmetic():
    X, y = table(300)
    question = question_of(ridge=2.0)
    plan = AcceleratedGradient(steps=7).plan(question, Budget(30.0, 1e-6), ADD)
    found = plan.run(open_rows(X, y, bounds=question.bounds), SilentNoise())
    rows = with_constant(X)
    values = np.linalg.eigvalsh(rows.T @ rows)
    stiffness = (values**32).sum() ** (1 / 32) / 3
    before = point = np.zeros((3, 5))
    path = []
    for _ in range(7):
        ahead = point + MOMENTUM * (point - before)
        slope = MarginSoftmax(2.0).slopes(ahead @ rows.T, y) @ rows + 2.0 * ahead
        before, point = point, ahead - slope / (stiffness + 2.0)
        path.append(point)
    np.testing.assert_allclose(found, np.mean(path[3:], axis=0), atol=1e-3)


@pytest.mark.parametrize("classes", [3, 5, 40])
def test_steps_are_made_for_what_classes_bend_where_rows_are_many(classes):
    plan = AcceleratedGradient().plan(question_of(classes=classes), BUDGET, ADD)
    record, bend = plan.problem.row_norm**2, max(0.1, 1 / classes)
    assert plan.stiffness(1e5) == pytest.approx(bend * 1e5 * record)
    exact = AcceleratedGradient().plan(question_of(classes=classes), Budget(math.inf, 1e-6), ADD)
    assert exact.stiffness(0.0) == pytest.approx(bend * record)


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=["add", "swap"])
def test_steps_are_as_short_as_the_noise_asks_for_where_rows_are_few(unit):
    # Sixty steps of noise, each by itself, move the score of a row by FARTHEST.
    plan = AcceleratedGradient().plan(question_of(), BUDGET, unit)
    carried = math.sqrt(STEPS) * plan.second.grid.scale * plan.problem.row_norm
    few = [plan.stiffness(norm) for norm in (-3.0, 0.0, 10.0)]
    assert few == pytest.approx([carried / FARTHEST] * 3)


def test_steps_are_never_longer_for_more_noise_or_more_rows():
    plans = [
        AcceleratedGradient().plan(question_of(), Budget(epsilon, 1e-6), ADD)
        for epsilon in (10.0, 3.0, 1.0, 0.3, 0.1)
    ]
    table = np.array([[plan.stiffness(norm) for norm in (0.0, 1e2, 1e4, 1e6)] for plan in plans])
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) >= 0).all()
    assert table[-1, 0] > 50 * table[0, 0]  # in proportion to the noise, where that decides
    np.testing.assert_allclose(table[:, -1], table[0, -1])  # and not at all, where rows do


def test_it_learns_and_classes_have_nothing_in_common():
    X, y = table()
    question = question_of()
    plan = AcceleratedGradient().plan(question, BUDGET, ADD)
    rows = open_rows(X, y, bounds=question.bounds)
    first, second = plan.run_many(rows, RehearsalNoise(1), 2)
    assert first.shape == (3, 5)
    assert not np.array_equal(first, second)
    np.testing.assert_allclose(first.sum(axis=0), 0.0, atol=1e-9)
    assert ((first @ with_constant(X).T).argmax(axis=0) == y).mean() > 0.8


def test_without_noise_the_gradient_vanishes_at_what_is_found():
    X, y = table(400)
    question = question_of(ridge=2.0)
    plan = AcceleratedGradient().plan(question, Budget(math.inf, 1e-6), ADD)
    found = plan.run(open_rows(X, y, bounds=question.bounds), RehearsalNoise(1))
    slopes = MarginSoftmax(2.0).slopes(found @ with_constant(X).T, y)
    np.testing.assert_allclose(slopes @ with_constant(X) + 2.0 * found, 0.0, atol=1e-2)


def test_sparse_rows_stay_sparse_and_give_the_same_model(monkeypatch):
    X, y = table(500)
    question = question_of()
    plan = AcceleratedGradient(steps=5).plan(question, BUDGET, ADD)
    dense = plan.run(open_rows(X, y, bounds=question.bounds), RehearsalNoise(1))
    monkeypatch.delattr(SparseBlock, "_dense_matrix")
    rows = open_rows(sparse.csr_array(X), y, bounds=question.bounds)
    np.testing.assert_allclose(plan.run(rows, RehearsalNoise(1)), dense, atol=1e-3)


@rehearsal
def test_files_and_partitions_give_the_same_release(tmp_path):
    X, y = table(600)
    question = question_of()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=200)
    tables = (
        (X, y),
        (parquet_rows(tmp_path / "rows.parquet", list("abcd"), target="y"),),
        (dask_rows(da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=250)),),
    )
    plain, *stored = (
        release(AcceleratedGradient(steps=5), question, Rows(*each, bounds=question.bounds),
                budget=BUDGET, noise=RehearsalNoise(2))
        for each in tables
    )  # fmt: skip
    for other in stored:
        np.testing.assert_allclose(other.value, plain.value, atol=1e-6)
        assert other.guarantee.to_json() == plain.guarantee.to_json()


def test_after_a_standardisation_all_together_keeps_the_budget():
    X, y = table()
    mechanism = PrivateStandardisation(AcceleratedGradient())
    question = question_of()
    result = release(mechanism, question, Rows(X, y, bounds=question.bounds), budget=BUDGET)
    assert 0.99 <= result.guarantee.epsilon(1e-6) <= 1.0
    assert ((result.value @ with_constant(X).T).argmax(axis=0) == y).mean() > 0.7


def test_several_runs_share_a_budget():
    plan = AcceleratedGradient().plan_beside(question_of(), BUDGET, ADD, times=3)
    one = AcceleratedGradient().plan(question_of(), BUDGET, ADD)
    assert plan.guarantee.delta(1.0) <= 1e-6
    assert plan.second.grid.scale == pytest.approx(math.sqrt(3) * one.second.grid.scale, rel=1e-4)
    assert plan.event.grid.scale == pytest.approx(math.sqrt(3) * one.event.grid.scale, rel=1e-4)


def test_softmax_by_its_own_name_is_planned_alike():
    plans = [AcceleratedGradient().plan(asked, BUDGET, ADD)
             for asked in (question_of(), Softmax(question_of()))]  # fmt: skip
    assert plans[0].guarantee == plans[1].guarantee


def test_what_it_has_no_proof_for_is_refused_before_anything_is_paid():
    X, y = table(50)
    ledger = MemoryLedger(Budget(2.0, 1e-5), ADD)
    for question, why in (
        (question_of().problem, "three or more classes"),
        (question_of(Hinge()), "softmax loss"),
        (question_of(radius=3.0), "no domain"),
    ):
        with pytest.raises(NotAccepted, match=why):
            AcceleratedGradient().plan(question, BUDGET, ADD)
    rows = Rows(X, y, bounds=question_of().bounds)
    with pytest.raises(CalibrationError, match="delta > 0"):
        release(AcceleratedGradient(), question_of(), rows, budget=Budget(1.0), ledger=ledger)
    assert ledger.history() == ()
    with pytest.raises(InputError, match="steps"):
        AcceleratedGradient(steps=0)


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_less_noise_on_the_sums_is_caught(unit):
    case = case_labelled(f"accelerated softmax, {unit}")
    plan = case.plan()
    check_joint_audit(case, plan)
    grid = plan.second.grid
    factor = math.sqrt(2) if unit == "add_remove" else 2.0  # slopes below one; one record, not two
    short = replace(plan.second, grid=replace(grid, scale=grid.scale / factor))
    with pytest.raises(AssertionError):
        check_joint_audit(case, replace(plan, second=short))


def test_power_steps_have_no_bounded_sensitivity():
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**14)
    question = question_of(bounds=bounds)
    plan = AcceleratedGradient(1).plan(question, BUDGET, ADD)
    few = np.vstack([np.tile([[1.0, 0.0]], (10_000, 1)), np.tile([[0.0, 1.0]], (5, 1))])
    more = np.vstack([few, [[math.sqrt(0.5), math.sqrt(0.5)]]])
    prepared = [plan.norm.sums.prepare(open_rows(X, np.zeros(len(X)), bounds=question.bounds))
                for X in (few, more)]  # fmt: skip
    sound, broken = plan.norm, _PowerSteps(plan.norm.sums)
    assert sound.of(prepared[1]) - sound.of(prepared[0]) <= 1 + 2 * sound.error
    assert broken.of(prepared[0]) == pytest.approx(5, rel=1e-4)
    assert broken.of(prepared[1]) > 9_000


def test_fewer_coefficients_have_directions_of_their_own():
    assert NoisyGradient().plan(question_of(), BUDGET, ADD).steps == 300
