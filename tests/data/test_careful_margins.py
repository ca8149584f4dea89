"""Careful margins err by no more than stated, however terms cancel, and a row's by itself alone."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from discreet.data import Bounds, SparseVector, margin_roundings
from discreet.data.block import LONGEST, _segmented_sums
from discreet.data.summation import SparseTotal, summation_error, total_of
from discreet.geometry import L2Ball
from support.opened import open_rows

UNIT = Fraction(1, 2**53)
ENGINES = pytest.mark.parametrize(
    "engine", [np.asarray, np.asfortranarray, sparse.csr_array], ids=["dense", "columns", "sparse"]
)


def hostile(length, generator):
    """Terms of all magnitudes that nearly cancel: their sum is far smaller than they are."""
    half = generator.standard_normal(length // 2) * 10.0 ** generator.uniform(-12, 0, length // 2)
    rest = generator.standard_normal(length - 2 * half.size) * 1e-9
    return generator.permutation(np.concatenate([half, -half * (1 + 1e-13), rest]))


def exact_margin(row, scale, coefficients, intercept):
    """The margin of a clipped row as a fraction, and the sum of its terms' magnitudes."""
    used = np.flatnonzero(row)
    terms = [
        Fraction(scale) * Fraction(float(row[j])) * Fraction(float(coefficients[j])) for j in used
    ]
    if intercept is not None:
        terms.append(Fraction(intercept) * Fraction(float(coefficients[-1])))
    return sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))


@ENGINES
@pytest.mark.parametrize("intercept", [None, 0.7])
@pytest.mark.parametrize("width", [1, 2, 255, 257, 1024, 1025, 3000])
def test_margins_of_hostile_rows_are_as_near_as_stated(engine, intercept, width):
    generator = np.random.default_rng(width)
    X = np.array([hostile(width, generator) for _ in range(3)])
    X[1] *= 1e30  # shrunk by clipping
    bounds = Bounds(L2Ball(1e3), width, intercept=intercept, max_rows=10)
    signs = generator.choice([-1.0, 1.0], bounds.width)
    coefficients = signs * (1 + generator.uniform(0, 1e-10, bounds.width))
    rows = open_rows(engine(X), bounds=bounds)
    found = rows.sum(lambda block: block.careful_margins(coefficients))
    scales = bounds.features.clip_rows(X)[1]
    assert scales[1] < 1 == scales[0]
    roundings = margin_roundings(bounds.width) + 6
    for i in range(3):
        exact, size = exact_margin(X[i], float(scales[i]), coefficients, intercept)
        assert abs(Fraction(float(found[i])) - exact) <= roundings * UNIT * size


def worst(roundings):
    """Ones and tiny numbers: each addition of one loses as much as a rounding can."""
    terms = np.full(roundings, 2.0**-53 * 0.999)
    terms[0] = 1.0
    return terms


@pytest.mark.parametrize("length", [1, 255, 256, 257, 512, 65535, 65536, 65537, 70001, 200_000])
def test_long_sparse_rows_are_added_in_segments(length):
    terms = np.concatenate([[2.0], worst(length), [2.0]])
    starts = np.array([0, 1, 1 + length, 2 + length], dtype=np.int64)
    sums = _segmented_sums(terms, starts)
    # All numbers are multiples of a power of two within reach of an exact sum of integers.
    integers = [int(v * 2**110) for v in terms[1:-1]]
    exact, size = Fraction(sum(integers), 2**110), Fraction(sum(map(abs, integers)), 2**110)
    assert abs(Fraction(float(sums[1])) - exact) <= margin_roundings(length) * UNIT * size
    assert sums[0] == sums[2] == 2.0


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    lengths=st.lists(st.sampled_from([0, 0, 1, 3, 255, 256, 257, 700, 65537]), max_size=6),
    long_indices=st.booleans(),
)
def test_segments_begin_and_end_with_their_rows(lengths, long_indices):
    # Whole numbers are added without rounding, so any mixing of rows shows.
    kind = np.int64 if long_indices else np.int32
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(kind)
    terms = (np.arange(starts[-1]) % 1009 + 1).astype(np.float64)
    expected = [terms[a:b].sum() for a, b in itertools.pairwise(starts)]
    np.testing.assert_array_equal(_segmented_sums(terms, starts), expected)


def counted_roundings(lengths):
    """How many additions a term goes through at most, level after level, whatever their order."""
    most = 0
    for length in lengths:
        added = 1  # the product
        while length > 256:
            added, length = added + 255, -(-length // 256)
        most = max(most, added + length - 1)
    return most


def test_no_length_needs_more_roundings_than_stated():
    for length in [*range(1, 5000), 65536, 65537, 2**24, 2**24 + 1, 2**31]:
        assert counted_roundings([length]) <= margin_roundings(length)
    for width in [1, LONGEST, LONGEST + 1, 2 * LONGEST + 1, 10**6, 2**31]:
        halvings, piece = 0, width
        while piece > LONGEST:
            halvings, piece = halvings + 1, -(-piece // 2)
        assert piece + halvings <= margin_roundings(width)


def awkward(width=700):
    """Rows of many lengths, empty ones first, last and between."""
    generator = np.random.default_rng(3)
    lengths = [0, 0, 1, 256, 0, 257, width, 0, 12, 0]
    dense = np.zeros((len(lengths), width))
    for row, length in zip(dense, lengths, strict=True):
        row[generator.permutation(width)[:length]] = generator.standard_normal(length) / 30
    return dense


@pytest.mark.parametrize("intercept", [None, 0.5])
def test_a_margin_is_the_same_to_the_bit_in_whatever_company(intercept):
    X = sparse.csr_array(awkward())
    assert X.indptr.dtype == np.int32
    bounds = Bounds(L2Ball(1.0), X.shape[1], intercept=intercept, max_rows=100)
    w = np.random.default_rng(5).standard_normal(bounds.width)
    together = open_rows(X, bounds=bounds).sum(lambda b: b.careful_margins(w))
    for i in range(X.shape[0]):
        alone = open_rows(X[[i]], bounds=bounds).sum(lambda b: b.careful_margins(w))
        assert alone[0] == together[i]
    backwards = open_rows(X[::-1], bounds=bounds).sum(lambda b: b.careful_margins(w))
    np.testing.assert_array_equal(backwards[::-1], together)
    plain = open_rows(X, bounds=bounds).sum(lambda b: b.margins(w))
    np.testing.assert_allclose(together, plain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("count", [1, 4])
def test_rows_without_entries_have_margins_of_the_intercept_alone(count):
    bounds = Bounds(L2Ball(1.0), 3, intercept=0.5, max_rows=100)
    rows = open_rows(sparse.csr_array((count, 3)), bounds=bounds)
    w = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(rows.sum(lambda b: b.careful_margins(w)), np.full(count, 2.0))


@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("options", [{}, {"threads": 3}], ids=str)
@pytest.mark.parametrize("block_rows", [1, 7, 256])
@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_partial_sums_add_up_to_the_weighted_sum(engine, block_rows, options, intercept):
    generator = np.random.default_rng(1)
    X = generator.standard_normal((60, 50)) * (generator.uniform(size=(60, 50)) < 0.1)
    X[[0, 17, 59]] = 0.0
    X[3] *= 100  # shrunk
    bounds = Bounds(L2Ball(3.0), 50, intercept=intercept, max_rows=60)
    rows = open_rows(engine(X), bounds=bounds, **options)
    w = generator.standard_normal(bounds.width)

    partial = rows.sum(lambda b: b.partial_sum(b.margins(w)), block_rows=block_rows)
    weighted = rows.sum(lambda b: b.weighted_sum(b.margins(w)), block_rows=60)
    most = bounds.row_norm() ** 2 * np.linalg.norm(w)
    allowed = summation_error(bounds, most, block_rows=block_rows)
    allowed += summation_error(bounds, most, block_rows=60) + 60 * 8 * 2.0**-53 * most
    assert partial.shape == (bounds.width,)
    assert np.linalg.norm(partial - weighted) <= allowed


@pytest.mark.parametrize("intercept", [None, 0.5])
def test_sparse_sums_name_each_place_once(intercept):
    X = awkward()
    bounds = Bounds(L2Ball(1.0), X.shape[1], intercept=intercept, max_rows=100)
    seen = []

    def kernel(block):
        answer = block.partial_sum(np.ones(block.size))
        seen.append(answer)
        return answer

    open_rows(sparse.csr_array(X), bounds=bounds).sum(kernel, block_rows=3)
    assert len(seen) == 4
    for answer in seen:
        assert isinstance(answer, SparseVector)
        assert answer.size == bounds.width
        assert np.unique(answer.places).size == answer.places.size == answer.values.size
        assert intercept is None or answer.places[-1] == bounds.width - 1


def test_sparse_and_dense_parts_can_be_summed_side_by_side():
    X = sparse.csr_array(awkward())
    rows = open_rows(X, bounds=Bounds(L2Ball(1.0), X.shape[1], max_rows=100))
    ones, count = rows.sum(
        lambda b: (b.partial_sum(np.ones(b.size)), np.array(b.size)), block_rows=3
    )
    assert count == 10
    clipped, _ = rows.gather()
    np.testing.assert_allclose(ones, clipped.toarray().sum(axis=0), rtol=0, atol=1e-15)


def test_a_sparse_total_keeps_what_a_plain_sum_loses():
    def one(value):
        return SparseVector(np.array([2]), np.array([value]), 4)

    total = total_of(one(1.0))
    assert isinstance(total, SparseTotal)
    for _ in range(1000):
        total.add(one(2.0**-54))
    total.add(SparseVector(np.array([0, 3]), np.array([5.0, 7.0]), 4))
    total.add(SparseVector(np.array([], dtype=np.int64), np.array([]), 4))
    np.testing.assert_array_equal(total.value(), [5.0, 0.0, 1.0 + 1000 * 2.0**-54, 7.0])
