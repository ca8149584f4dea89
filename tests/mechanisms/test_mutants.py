"""Deliberately broken copies of the mechanisms: the universal checks must catch every one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds
from discreet.data.block import DenseBlock, SparseBlock
from discreet.geometry import L2Ball
from discreet.noise import Grid, RehearsalNoise
from discreet.privacy import Budget
from support.cases import Data, case_labelled
from support.checks import (
    certified_level,
    check_exact_audit,
    check_sensitivity,
    claimed_level,
    scores,
)

GAUSSIAN_ADD = case_labelled("gaussian sum, add_remove")
GAUSSIAN_REPLACE = case_labelled("gaussian sum, replace")
GAUSSIAN_INTERCEPT = case_labelled("gaussian sum with intercept, add_remove")
GAUSSIAN_MEAN = case_labelled("gaussian mean of a ball, add_remove")
LAPLACE_ADD = case_labelled("laplace sum, add_remove")
LAPLACE_REPLACE = case_labelled("laplace sum, replace")
COUNT_ADD = case_labelled("count of rows, add_remove")


def with_scale(plan, factor):
    """A plan whose noise is wrong by a factor, and whose guarantee does not know."""
    grid = Grid(plan.grid.scale * factor, plan.grid.bits - 2, plan.grid.bound)
    return replace(plan, grid=grid)


def assert_caught(check, *arguments):
    with pytest.raises(AssertionError):
        check(*arguments)


@pytest.mark.parametrize("case", [GAUSSIAN_REPLACE, LAPLACE_REPLACE], ids=lambda case: case.label)
def test_forgetting_that_a_replaced_record_moves_twice_is_caught(case):
    mutant = with_scale(case.plan(), 0.5)
    check_exact_audit(case, case.plan())
    assert_caught(check_exact_audit, case, mutant)


@pytest.mark.parametrize(
    ("case", "factor", "trials"),
    [(GAUSSIAN_REPLACE, 0.5, 2000), (LAPLACE_REPLACE, 0.5, 2000),
     (LAPLACE_ADD, 1 / math.sqrt(2), 3000), (COUNT_ADD, 1 / math.sqrt(2), 6000)],
    ids=["gaussian halved", "laplace halved", "standard deviation taken for scale", "count"],
)  # fmt: skip
def test_too_little_noise_is_certified_by_the_statistical_audit(case, factor, trials):
    plan = case.plan(Budget(2.0, 1e-3))
    first, second = scores(case, with_scale(plan, factor), RehearsalNoise(5), trials)
    assert certified_level(plan, first, second) > claimed_level(plan)
    first, second = scores(case, plan, RehearsalNoise(5), trials)
    assert certified_level(plan, first, second) <= claimed_level(plan)


@pytest.mark.parametrize("case", [GAUSSIAN_ADD, LAPLACE_ADD], ids=lambda case: case.label)
def test_forgetting_to_clip_is_caught(case, monkeypatch):
    def unclipped(self, rounding):
        return rounding(self._matrix, slice(None)).sum(axis=0)

    plan = case.plan()
    wide = replace(plan, grid=replace(plan.grid, bound=100.0))
    check_sensitivity(case, wide, [case.worst_pair])
    monkeypatch.setattr(DenseBlock, "integer_sum", unclipped)
    assert_caught(check_sensitivity, case, wide, [case.worst_pair])


def test_a_bound_measured_from_the_data_is_caught():
    # The largest norm of the rows in place of the declared bound, add/remove.
    case = GAUSSIAN_ADD
    first, second = Data([[0.1, 0.0, 0.0]]), Data([[0.1, 0.0, 0.0], [1.0, 0.0, 0.0]])
    measured = replace(case.question.bounds, features=L2Ball(0.1))
    mutant = case.mechanism.plan(type(case.question)(measured), case.budget, case.unit)
    honest = replace(case, worst_pair=(first, second))
    check_exact_audit(honest, case.plan())
    assert_caught(check_exact_audit, honest, replace(mutant, grid=replace(mutant.grid, bound=1.0)))


@pytest.mark.parametrize("case", [GAUSSIAN_INTERCEPT, GAUSSIAN_MEAN], ids=lambda case: case.label)
def test_leaving_the_constant_column_out_of_the_norm_is_caught(case):
    plan = case.plan()
    mutant = with_scale(plan, GAUSSIAN_ADD.plan().grid.scale / plan.grid.scale)
    check_exact_audit(case, plan)
    assert_caught(check_exact_audit, case, mutant)


def test_dropping_the_rounding_term_on_a_coarse_grid_is_caught():
    # Many rows' worth of half steps in one direction: with 12 bits and p = 400 the grid is coarse.
    p = 400
    case = replace(
        GAUSSIAN_ADD,
        question=type(GAUSSIAN_ADD.question)(Bounds(L2Ball(1.0), p)),
        worst_pair=(
            Data(np.zeros((1, p))),
            Data(np.array([np.zeros(p), np.full(p, 0.999999 / 20)])),
        ),
    )
    plan = case.plan()
    # A step whose half sits just below each entry: every coordinate is rounded up.
    coarse = Grid(scale=2.0**12 * (0.999999 / 20) / 1.500001, bits=12, bound=1.0)
    apart = case.silent_total(replace(plan, grid=coarse), case.worst_pair[1])
    assert np.linalg.norm(apart) <= 1.0 + coarse.spread_l2(p)
    assert np.linalg.norm(apart) > 1.0 * 1.1  # without the term the declared bound is exceeded


def test_summing_in_single_precision_is_caught():
    # One large row first: a sequential float32 sum drops the many small ones after it.
    small = np.full(4095, 2.0**-25)
    with_first = np.concatenate([[1.0], small])
    mutant_gap = (
        np.cumsum(with_first, dtype=np.float32)[-1] - np.cumsum(small, dtype=np.float32)[-1]
    )
    exact_gap = 1.0
    assert abs(mutant_gap - exact_gap) > 1e-4
    case, plan = GAUSSIAN_ADD, GAUSSIAN_ADD.plan()
    rows = np.zeros((4096, 3))
    rows[:, 0] = with_first
    apart = case.silent_total(plan, Data(rows)) - case.silent_total(plan, Data(rows[1:]))
    assert abs(apart[0] - exact_gap) <= 2 * plan.grid.step


def test_entries_stored_in_pieces_that_escape_clipping_are_caught(monkeypatch):
    case, plan = GAUSSIAN_ADD, GAUSSIAN_ADD.plan()
    pieces = sparse.csr_array(
        (np.full(8, 0.4), np.zeros(8, dtype=np.int32), np.array([0, 8], dtype=np.int32)),
        shape=(1, 3),
    )
    pair = (Data(np.zeros((1, 3))), Data(pieces))
    check_sensitivity(case, plan, [pair])

    def trusting(matrix):
        csr = sparse.csr_array(matrix, dtype=np.float64)
        csr.has_canonical_format = True
        return csr

    monkeypatch.setattr("discreet.data.sparse._make_canonical", trusting)
    wide = replace(plan, grid=replace(plan.grid, bound=100.0))
    assert_caught(check_sensitivity, case, wide, [pair])


def test_noise_reused_for_two_releases_is_caught():
    # Subtracting two releases with the same noise leaves the exact difference of the totals.
    case, plan = GAUSSIAN_ADD, GAUSSIAN_ADD.plan()
    first, second = (data.open(case) for data in case.worst_pair)
    reused = plan.run(second, RehearsalNoise(1)) - plan.run(first, RehearsalNoise(1))
    noise = RehearsalNoise(1)
    fresh = plan.run(second, noise) - plan.run(first, noise)
    true = case.silent_total(plan, case.worst_pair[1]) - case.silent_total(plan, case.worst_pair[0])
    np.testing.assert_allclose(reused, true, atol=1e-12)
    assert np.abs(fresh - true).max() > 0.5


def test_counting_stored_zeros_only_in_a_framed_sparse_sum_is_caught(monkeypatch):
    # In the frame of a box zero is not zero: a sum over stored entries alone is wrong.
    case = case_labelled("gaussian mean of a box, add_remove")
    bounds = Bounds(type(case.question.bounds.features)([-1, -1, -5], [3, 1, 6]), 3)
    case = replace(case, question=type(case.question)(bounds))
    plan = case.plan()
    data = Data(np.array([[0.0, 0.5, 0.0], [2.0, 0.0, 0.0]]))
    dense = case.silent_total(plan, data)
    np.testing.assert_array_equal(dense, case.silent_total(plan, data.as_sparse()))

    def stored_only(self, rounding):
        columns = self._matrix.indices.astype(np.int64)
        total = np.zeros(self._matrix.shape[1], dtype=np.int64)
        np.add.at(total, columns, rounding(self._matrix.data, columns))
        return total

    monkeypatch.setattr(SparseBlock, "integer_sum", stored_only)
    assert np.abs(dense - case.silent_total(plan, data.as_sparse())).max() > 0.1
