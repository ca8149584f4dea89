"""The norm of the rows' second moment: what it is, what one record moves it by, its rounding."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, LabelSet
from discreet.data.block import SparseBlock
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import accelerated_gradient
from discreet.mechanisms.accelerated_gradient import MOST_COLUMNS, SchattenNorm
from discreet.mechanisms.summing.exact_gradient import ENTRY_BITS
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest, Softmax
from support.cases.base import hostile_row
from support.opened import open_rows

ROWS = Bounds(L2Ball(3.0), 4, labels=LabelSet([-1, 1]), intercept=0.7, max_rows=2**20)


def norm_of(bounds=ROWS):
    problem = Problem(MarginLogistic(), bounds, ridge=1.0)
    return SchattenNorm(ExactSoftmax(Softmax(OneVsRest(problem, 3))))


def prepare(norm, X, **options):
    bounds = norm.sums.problem.bounds
    return norm.sums.prepare(open_rows(X, np.zeros(X.shape[0]), bounds=bounds, **options))


def number(norm, X, **options):
    return norm.of(prepare(norm, X, **options))


def table(count=200, width=4):
    return np.random.default_rng(1).standard_normal((count, width)) * [3.0, 1.0, 0.3, 0.1]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_it_is_the_norm_of_the_eigenvalues_over_what_one_record_adds(kind, is_weighted):
    norm = norm_of(replace(ROWS, max_weight=2.0) if is_weighted else ROWS)
    X = table()
    weights = np.random.default_rng(2).uniform(0, 3, 200) if is_weighted else None
    rows = X * np.minimum(1, 3 / np.linalg.norm(X, axis=1))[:, None]
    rows = np.column_stack([rows, np.full(200, 0.7)])
    counts = np.ones(200) if weights is None else np.minimum(weights, 2.0)
    values = np.linalg.eigvalsh((rows * counts[:, None]).T @ rows)
    record = counts.max() * (9 + 0.49) if weights is None else 2.0 * (9 + 0.49)
    expected = (values**32).sum() ** (1 / 32) / record
    assert number(norm, kind(X), weights=weights) == pytest.approx(expected, rel=1e-5)
    assert values[-1] / record <= expected <= 5 ** (1 / 32) * values[-1] / record


def exact_power(norm, X):
    """Return the 32nd power of the norm, as a fraction, from the prepared rows."""
    matrix, _ = prepare(norm, X).gather()
    rows = [[int(v) for v in row] for row in matrix * 2.0**ENTRY_BITS]
    width = range(len(rows[0]))
    power = [[sum(row[i] * row[j] for row in rows) for j in width] for i in width]
    for _ in range(5):
        power = [
            [sum(a * b for a, b in zip(left, right, strict=True)) for right in power]
            for left in power
        ]
    record = Fraction(norm._prepared_record) * 4**ENTRY_BITS
    return Fraction(sum(power[i][i] for i in width)) / record**32


@pytest.mark.parametrize("size", [1e-3, 0.3, 1.0, 40.0])
def test_rounding_is_within_its_bound(size):
    norm, X = norm_of(), table(60) * size
    found, true = Fraction(number(norm, X)), exact_power(norm, X)
    error = Fraction(norm.error) / 2**20  # of as many rows as are declared; there are 60
    assert max(found - 60 * error, Fraction(0)) ** 32 <= true <= (found + 60 * error) ** 32


@pytest.mark.parametrize("is_wide", [False, True])
def test_one_record_moves_it_by_at_most_one_there_or_another(is_wide, monkeypatch):
    if is_wide:
        monkeypatch.setattr(accelerated_gradient, "MOST_COLUMNS", 3)
    norm, generator, draw = norm_of(), np.random.default_rng(3), hostile_row(4)
    for _ in range(60):
        rows = [draw(generator)[0] for _ in range(generator.integers(2, 12))]
        rows += [rows[0]] * int(generator.integers(0, 50))
        common = np.array(rows)
        alone, one, other = (
            number(norm, np.vstack([common, *more]))
            for more in ([], [draw(generator)[0]], [common[0] + 1e-3])
        )
        allowed = 1 + 2 * norm.error
        assert -2 * norm.error <= one - alone <= allowed
        assert abs(one - other) <= allowed


def test_a_record_along_the_strongest_direction_counts_as_one():
    norm, along = norm_of(), np.tile([[30.0, 0.0, 0.0, 0.0]], (50, 1))
    assert number(norm, along) == pytest.approx(50, rel=1e-5)
    assert number(norm, along[1:]) == pytest.approx(49, rel=1e-5)


def test_blocks_and_threads_change_nothing_that_matters():
    norm, X = norm_of(), table()
    whole = number(norm, X)
    for option in ({"block_rows": 7}, {"block_rows": 11, "threads": 2}):
        assert abs(number(norm, X, **option) - whole) <= 2 * norm.error


def test_wide_rows_have_their_trace_and_sparse_ones_stay_sparse(monkeypatch):
    monkeypatch.delattr(SparseBlock, "_dense_matrix")
    monkeypatch.delattr(SparseBlock, "_inner")
    bounds = replace(ROWS, n_features=MOST_COLUMNS, max_weight=2.0)
    norm = norm_of(bounds)
    assert norm.is_trace
    assert not norm_of(replace(bounds, n_features=MOST_COLUMNS - 1)).is_trace
    X = sparse.random_array((50, MOST_COLUMNS), density=0.01, rng=np.random.default_rng(5))
    weights = np.random.default_rng(6).uniform(0, 2, 50)
    squares = np.minimum(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 9) + 0.49
    expected = squares @ weights / (2.0 * (9 + 0.49))
    assert number(norm, sparse.csr_array(X), weights=weights) == pytest.approx(expected, rel=1e-4)


def test_rows_of_zeros_have_none():
    norm = norm_of(replace(ROWS, intercept=None))
    assert number(norm, np.zeros((5, 4))) == 0.0


def test_the_rounding_is_little_beside_one_record():
    wide = replace(ROWS, n_features=MOST_COLUMNS - 1, max_rows=2**23)
    assert norm_of(wide).error < 3e-4
