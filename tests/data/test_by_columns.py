"""Rows laid out by columns are the rows; several pieces are worked on in order."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from discreet._parallel import map_in_order
from discreet.data.block import DenseBlock
from discreet.geometry import L2Ball
from discreet.noise import Grid
from discreet.preprocessing.columns import Numeric, encode_numbers, encode_stored_numbers
from discreet.questions.bounds import LabelSet

GRID = Grid(scale=1.0, bits=20, bound=3.0)


def rounded(values, columns):
    return GRID.snap_as_floats(values), GRID.snap(np.square(values))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("rows", [1, 7, 300])
def test_blocks_say_the_same_in_either_layout(rows, intercept, scaled):
    generator = np.random.default_rng(rows)
    matrix, weights = generator.standard_normal((rows, 4)), generator.random(rows)
    scale = generator.random(rows) if scaled else None
    width = 4 + (intercept is not None)
    by_rows = DenseBlock(matrix, scale, None, None, intercept)
    larger = np.asfortranarray(np.vstack([matrix, matrix]))  # a part of more rows
    by_columns = DenseBlock(larger[:rows], scale, None, None, intercept)
    full = by_rows.rows()
    np.testing.assert_array_equal(by_columns.rows(), full)
    for ours, theirs in zip(
        by_columns.integer_sums(rounded), by_rows.integer_sums(rounded), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    wanted = GRID.snap(full).sum(axis=0), GRID.snap(np.square(full)).sum(axis=0)
    for ours, theirs in zip(by_columns.integer_sums(rounded), wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for block in (by_rows, by_columns):
        np.testing.assert_allclose(block.gram(weights), full.T @ (weights[:, None] * full))
        np.testing.assert_allclose(block.gram(None), full.T @ full)
        np.testing.assert_allclose(block.careful_margins(np.ones(width)), full.sum(axis=1))
        np.testing.assert_allclose(
            block.small_sums(weights, 3).sum(axis=0), weights @ full, atol=1e-12
        )


def test_stored_numbers_are_encoded_alike():
    generator = np.random.default_rng(2)
    columns = [Numeric(-4, 4), Numeric(0.1, 0.7), Numeric(-1, 2, fill=1.5), Numeric(1e9, 3e9)]
    cells = [generator.standard_normal(500) * 10 for _ in columns]
    for column in cells:
        column[:6] = [np.nan, np.inf, -np.inf, 1e300, -0.0, 0.7]
    with np.errstate(all="ignore"):
        cells[3] = cells[3].astype(np.float32)
    theirs = encode_numbers(columns, cells)
    ours = encode_stored_numbers(columns, cells)
    assert ours.flags.f_contiguous
    np.testing.assert_array_equal(ours, theirs)
    finite = [np.nan_to_num(column, posinf=1.0, neginf=1.0) for column in cells]
    np.testing.assert_array_equal(
        encode_stored_numbers(columns, finite), encode_numbers(columns, finite)
    )


@pytest.mark.parametrize("count", [2, 20])
def test_few_labels_are_compared_as_many_are(count):
    labels = LabelSet(range(count))
    values = np.array([0.0, 1.0, np.nan, np.inf, 0.5, -0.0, count - 1.0, count])
    cleaned, unknown = labels.clean(values)
    np.testing.assert_array_equal(unknown, [False, False, True, True, True, False, False, True])
    np.testing.assert_array_equal(cleaned, np.where(unknown, 0.0, values))


@pytest.mark.parametrize("length", [0.5, 1.0, 3.0])
def test_factors_do_not_depend_on_how_many_rows_are_outside(length):
    generator = np.random.default_rng(5)
    rows = length * generator.standard_normal((400, 6))
    rows[7] = 1e200
    ball = L2Ball(2.5)
    together = ball.clip_rows(rows)[1]
    alone = np.array([ball.clip_rows(row[None])[1][0] for row in rows])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(ball.clip_rows(np.asfortranarray(rows))[1], alone)


ENDS_FIRST = """
import threading
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
from discreet._parallel import SINGLE_PRODUCTS

def products():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

before = products()
first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

def first():
    with SINGLE_PRODUCTS:
        first_is_in.set()
        second_is_in.wait(600)
    first_is_out.set()

thread = threading.Thread(target=first)
thread.start()
first_is_in.wait(600)
with SINGLE_PRODUCTS:
    second_is_in.set()
    first_is_out.wait(600)
    within = products()
thread.join()
print(set(within) == {1}, products() == before)
"""


def test_products_get_their_threads_back_whoever_ends_first():
    # In a process of its own: OpenBLAS forgets such limits in one that has forked.
    done = subprocess.run(
        [sys.executable, "-c", ENDS_FIRST], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_answers_come_in_order_and_a_failure_stops_the_rest():
    asked = []

    def work(item):
        if item == 50:
            raise KeyboardInterrupt
        return -item

    def items():
        for item in range(1000):
            asked.append(item)
            yield item

    before = set(threading.enumerate())
    answers = map_in_order(work, items(), threads=3)
    assert [next(answers) for _ in range(50)] == [-item for item in range(50)]
    with pytest.raises(KeyboardInterrupt):
        next(answers)
    assert len(asked) < 60
    assert set(threading.enumerate()) <= before  # others may end meanwhile
