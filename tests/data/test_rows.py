"""Sealed rows stay sealed; opened rows are clipped, and summed within the stated bound."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet, Rows, summation_error
from discreet.errors import InputError, InputTypeError, ReceiptError, SealedError
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, Simplex, WholeSpace
from discreet.ledger import NoLedger
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Guarantee, Pure, ReplaceOne
from support.opened import open_rows

BALL = Bounds(L2Ball(1.0), 3)
GENERATOR = np.random.default_rng(5)
X = GENERATOR.standard_normal((50, 3)) * 2


def kernels(width):
    coefficients = np.linspace(-1, 1, width)
    return {
        "rows": lambda block: block.rows().sum(axis=0),
        "margins": lambda block: np.tanh(block.margins(coefficients)).sum(),
        "weighted": lambda block: block.weighted_sum(np.cos(block.margins(coefficients))),
        "gram": lambda block: block.gram(np.sin(block.margins(coefficients)) + 2),
    }


@pytest.mark.parametrize(
    "look",
    [len, list, iter, repr, lambda r: r[0], lambda r: 1 in r, pickle.dumps, copy.copy,
     copy.deepcopy, np.asarray, hash],
    ids=["len", "list", "iter", "repr", "item", "in", "pickle", "copy", "deep", "array", "hash"],
)  # fmt: skip
@pytest.mark.parametrize("opened", [False, True], ids=["sealed", "open"])
def test_rows_refuse_to_be_looked_at(look, opened):
    rows = open_rows(X, bounds=BALL) if opened else Rows(X, bounds=BALL)
    if look is repr:
        assert "50" not in repr(rows)
        assert "." not in repr(rows)
        return
    with pytest.raises((SealedError, TypeError)):
        look(rows)


def test_the_number_of_rows_is_public_only_when_records_are_replaced():
    assert Rows(X, bounds=BALL, unit="replace").public_count == 50
    with pytest.raises(SealedError, match="private"):
        _ = Rows(X, bounds=BALL).public_count


def test_a_receipt_opens_rows_once():
    receipt = NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne()))
    rows = Rows(X, bounds=BALL)
    rows.open(receipt)
    with pytest.raises(ReceiptError):
        rows.open(receipt)


def test_a_receipt_for_another_unit_opens_nothing_and_stays_unused():
    receipt = NoLedger().charge(Guarantee(Pure(1.0), ReplaceOne()))
    with pytest.raises(ReceiptError, match="unit"):
        Rows(X, bounds=BALL).open(receipt)
    Rows(X, bounds=BALL, unit="replace").open(receipt)


@pytest.mark.parametrize(
    ("features", "norm"),
    [(L2Ball(0.7), lambda r: np.linalg.norm(r, axis=1)), (L1Ball(0.7), lambda r: np.abs(r).sum(1)),
     (LinfBall(0.7), lambda r: np.abs(r).max(1))],
    ids=["l2", "l1", "linf"],
)  # fmt: skip
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_opened_rows_lie_in_the_declared_set(features, norm, convert):
    clipped, _ = open_rows(convert(X), bounds=Bounds(features, 3)).gather()
    clipped = clipped.toarray() if sparse.issparse(clipped) else clipped
    assert norm(clipped).max() <= 0.7 * (1 + 1e-12)
    inside = norm(X) <= 0.7
    np.testing.assert_array_equal(clipped[inside], X[inside])


def test_clipping_agrees_with_the_projection_for_boxes_and_simplices():
    for features in (Box([-1, 0, 0], [1, 0.5, 2]), Simplex(1.0)):
        clipped, _ = open_rows(X, bounds=Bounds(features, 3)).gather()
        np.testing.assert_allclose(clipped, features.project(X), atol=1e-12)


def test_the_array_passed_in_is_never_changed():
    hostile = X.copy()
    hostile[3, 1], hostile[7, 0], hostile[9] = np.nan, np.inf, 1e300
    for convert in (np.array, sparse.csr_array):
        given_rows = convert(hostile)
        before = given_rows.copy()
        open_rows(given_rows, bounds=BALL).sum(lambda block: block.rows().sum(axis=0))
        after = given_rows.toarray() if sparse.issparse(given_rows) else given_rows
        before = before.toarray() if sparse.issparse(before) else before
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_row_that_is_not_finite_becomes_the_fixed_point(bad, convert):
    hostile = X.copy()
    hostile[3, 1] = bad
    clipped, _ = open_rows(convert(hostile), bounds=BALL).gather()
    clipped = clipped.toarray() if sparse.issparse(clipped) else clipped
    np.testing.assert_array_equal(clipped[3], np.zeros(3))
    assert np.isfinite(clipped).all()


def test_huge_rows_keep_their_direction_and_absurd_ones_become_the_fixed_point():
    huge = [[3e80, 4e80, 0.0], [1e306, 1e306, 1e306], [1e200, 0.0, 0.0]]
    for convert in (np.asarray, sparse.csr_array):
        opened = open_rows(convert(np.array(huge)), bounds=BALL)
        clipped = opened.sum(lambda block: block.rows()[None], block_rows=3)[0]
        np.testing.assert_allclose(clipped, [[0.6, 0.8, 0.0], [0, 0, 0], [0, 0, 0]])
        # Products with them stay finite, however large the coefficients.
        assert np.isfinite(opened.sum(lambda b: b.margins(np.full(3, 1e100)), block_rows=3)).all()


def test_labels_are_clipped_or_their_record_is_replaced():
    y = np.array([5.0, -1.0, np.nan, np.inf])
    rows = np.full((4, 3), 0.1)
    _, labels = open_rows(rows, y, bounds=Bounds(L2Ball(1.0), 3, labels=Interval(0, 4))).gather()
    np.testing.assert_array_equal(labels, [4.0, 0.0, 2.0, 4.0])
    y = np.array([1.0, 7.0, np.nan, -1.0])
    for convert in (np.asarray, sparse.csr_array):
        bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
        clipped, labels = open_rows(convert(rows), y, bounds=bounds).gather()
        clipped = clipped.toarray() if sparse.issparse(clipped) else clipped
        np.testing.assert_array_equal(labels, [1.0, -1.0, -1.0, -1.0])
        np.testing.assert_array_equal(clipped[1:3], np.zeros((2, 3)))


def test_an_intercept_column_stays_constant_and_counts_in_the_norm():
    bounds = Bounds(L2Ball(3.0), 3, intercept=4.0)
    for convert in (np.asarray, sparse.csr_array):
        clipped, _ = open_rows(convert(X * 100), bounds=bounds).gather()
        clipped = clipped.toarray() if sparse.issparse(clipped) else clipped
        np.testing.assert_array_equal(clipped[:, 3], np.full(50, 4.0))
        assert np.linalg.norm(clipped, axis=1).max() <= bounds.row_norm()


@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("kernel", ["rows", "margins", "weighted", "gram"])
def test_engines_blocks_and_threads_agree_to_the_stated_bound(kernel, intercept):
    bounds = Bounds(L2Ball(1.0), 3, intercept=intercept, max_rows=50)
    ask = kernels(bounds.width)[kernel]
    reference = open_rows(X, bounds=bounds).sum(ask)
    allowed = 2 * summation_error(bounds, contribution=20.0)
    for convert in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array):
        for options in ({"block_rows": 1}, {"block_rows": 17}, {"block_rows": 7, "threads": 3}):
            other = open_rows(convert(X), bounds=bounds, **options).sum(ask)
            assert np.abs(other - reference).max() <= allowed


def test_blocks_agree_with_plain_matrix_products():
    bounds = Bounds(L2Ball(1.0), 3, intercept=0.5)
    dense, _ = open_rows(X, bounds=bounds).gather()
    weights = np.linspace(0, 1, 50)
    for convert in (np.asarray, sparse.csr_array):
        opened = open_rows(convert(X), bounds=bounds)
        np.testing.assert_allclose(opened.sum(lambda b: b.gram(np.ones(b.size))), dense.T @ dense)
        whole = open_rows(convert(X), bounds=bounds, block_rows=50)
        np.testing.assert_allclose(
            whole.sum(lambda b: b.gram(weights)), dense.T @ (weights[:, None] * dense)
        )
        np.testing.assert_allclose(whole.sum(lambda b: b.weighted_sum(weights)), weights @ dense)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, np.bool_])
def test_other_number_types_are_read_as_float64(dtype):
    small = (np.abs(X) % 2).astype(dtype)
    clipped, _ = open_rows(small, bounds=Bounds(L2Ball(100.0), 3)).gather()
    assert clipped.dtype == np.float64
    np.testing.assert_array_equal(clipped, small.astype(np.float64))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    order=st.permutations(range(40)),
    block=st.integers(1, 40),
    sizes=st.lists(st.floats(-12, 0), min_size=40, max_size=40),
)
def test_a_sum_errs_by_at_most_the_stated_bound(order, block, sizes):
    values = np.array([(-1) ** i * 10.0**size for i, size in enumerate(sizes)])[list(order)]
    bounds = Bounds(L2Ball(1.0), 1, max_rows=40)
    total = open_rows(values[:, None], bounds=bounds, block_rows=block).sum(
        lambda b: b.weighted_sum(np.ones(b.size))
    )
    exact = sum(map(Fraction, values))
    assert abs(Fraction(float(total[0])) - exact) <= Fraction(summation_error(bounds, 1.0))


def test_many_blocks_of_one_row_still_meet_the_bound():
    # One large row and many tiny ones: a naive running sum loses every one of them.
    values = np.full((4096, 1), 2.0**-54)
    values[0] = 1.0
    bounds = Bounds(L2Ball(1.0), 1, max_rows=4096)
    total = open_rows(values, bounds=bounds, block_rows=1).sum(lambda b: b.rows().sum(axis=0))
    assert float(total[0]) == 1.0 + 4095 * 2.0**-54


def test_integers_are_summed_exactly():
    big = 2**60 + 1
    opened = open_rows(X, bounds=BALL, block_rows=25)
    assert int(opened.sum(lambda block: np.array(big, dtype=np.int64))) == 2 * big


def test_a_kernel_may_answer_with_several_arrays():
    one, two = open_rows(X, bounds=BALL, block_rows=9).sum(
        lambda block: (block.rows().sum(axis=0), np.array(block.size))
    )
    assert one.shape == (3,)
    assert two == 50


def test_an_empty_sample_sums_to_zero_of_the_right_shape():
    for convert in (np.asarray, sparse.csr_array):
        empty = next(open_rows(convert(X), bounds=BALL).samples(0, RehearsalNoise(0), 1))
        assert empty.count == 0
        np.testing.assert_array_equal(
            empty.sum(lambda b: b.weighted_sum(np.ones(b.size))), np.zeros(3)
        )


def test_sampling_keeps_rows_at_the_stated_rate_and_whole():
    bounds = Bounds(L2Ball(10.0), 3)
    rows = np.tile(np.arange(10_000)[:, None] / 10_000, (1, 3))
    for convert in (np.asarray, sparse.csr_array):
        sampled = next(open_rows(convert(rows), bounds=bounds).samples(2**62, RehearsalNoise(4), 1))
        # Fixed noise; a fair sampler misses by 5 standard deviations once in 1.7 million keys.
        assert abs(sampled.count - 2500) < 5 * np.sqrt(10_000 * 0.25 * 0.75)
        kept, _ = sampled.gather()
        kept = kept.toarray() if sparse.issparse(kept) else kept
        assert set(kept[:, 0]) <= set(rows[:, 0])
    assert next(open_rows(rows, bounds=bounds).samples(2**64, RehearsalNoise(4), 1)).count == 10_000


@pytest.mark.parametrize(("convert", "times"), [(np.asarray, 2000), (sparse.csr_array, 100)])
def test_many_samples_are_drawn_at_once_each_row_by_itself(convert, times, monkeypatch):
    y = np.arange(50.0)
    opened = open_rows(convert(X), y, bounds=Bounds(L2Ball(1.0), 3, labels=Interval(0, 100)))
    monkeypatch.setattr("discreet.data.rows.LOTS_AT_ONCE", 7 * 50 + 1)
    samples = list(opened.samples(2**62, RehearsalNoise(6), times))
    kept = np.zeros((times, 50))
    for line, sample in zip(kept, samples, strict=True):
        rows, labels = sample.gather()
        line[labels.astype(int)] = 1
        np.testing.assert_array_equal(np.diff(labels) > 0, True)
        assert rows.shape[0] == sample.count == line.sum()
    # Fixed noise; each of 50 shares and 99 products is off by 5 deviations once in 1.7 million.
    assert np.abs(kept.mean(axis=0) - 1 / 4).max() < 5 * np.sqrt(3 / 16 / times)
    centred = kept - 1 / 4
    for neighbours in (centred[1:] * centred[:-1], centred[:, 1:] * centred[:, :-1]):
        assert np.abs(neighbours.mean(axis=0)).max() < 5 * 3 / 16 / np.sqrt(times - 1)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("block_rows", [1, 16, 4096])
def test_batches_hold_the_rows_at_their_places(convert, block_rows):
    y = np.arange(50.0)
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(0, 100), intercept=0.5)
    opened = open_rows(convert(X), y, bounds=bounds, block_rows=block_rows)
    places = np.random.default_rng(0).integers(0, 60, (40, 5))
    whole, _ = open_rows(X, y, bounds=bounds).gather()
    for line, batch in zip(places, opened.batches(places), strict=True):
        inside = line[line < 50]
        np.testing.assert_array_equal(batch.gather()[1], inside)
        total = batch.sum(lambda block: block.weighted_sum(np.ones(block.size)))
        np.testing.assert_allclose(total, whole[inside].sum(axis=0), atol=1e-12)


def test_splitting_deals_every_row_to_one_part_and_independently_of_the_others():
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(0, 100))
    y = np.arange(50.0)
    parts = open_rows(X, y, bounds=bounds).split(4, RehearsalNoise(9))
    labels = [set(part.gather()[1]) for part in parts]
    assert sorted(value for part in labels for value in part) == y.tolist()
    fewer = open_rows(X[:-1], y[:-1], bounds=bounds).split(4, RehearsalNoise(9))
    changed = sum(
        set(part.gather()[1]) != before for part, before in zip(fewer, labels, strict=True)
    )
    assert changed == 1


def test_a_stream_yields_the_clipped_rows_in_order():
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(0, 100))
    y = np.arange(50.0)
    opened = open_rows(X, y, bounds=bounds, block_rows=7)
    clipped, _ = opened.gather()
    streamed = list(opened.stream())
    np.testing.assert_array_equal(np.array([row for row, _ in streamed]), clipped)
    assert [label for _, label in streamed] == y.tolist()
    assert next(open_rows(X, bounds=BALL).stream())[1] is None


def test_a_sparse_matrix_with_entries_in_pieces_is_summed_first():
    pieces = sparse.csr_array(([0.8, 0.8], ([0, 0], [1, 1])), shape=(1, 3))
    raw = sparse.csr_array((np.array([0.8, 0.8]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    for matrix in (pieces, raw, sparse.coo_array(pieces)):
        clipped, _ = open_rows(matrix, bounds=BALL).gather()
        np.testing.assert_allclose(clipped.toarray(), [[0.0, 1.0, 0.0]])


def test_a_lying_canonical_flag_is_not_believed():
    liar = sparse.csr_array(
        (np.array([0.8, 0.8]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3)
    )
    liar.has_canonical_format = True
    clipped, _ = open_rows(liar, bounds=BALL).gather()
    assert np.linalg.norm(clipped.toarray()) <= 1 + 1e-12


@pytest.mark.parametrize(
    ("bad", "error", "says"),
    [
        ([[1.0, 2.0]], InputError, "3 columns"),
        ([1.0, 2.0, 3.0], InputError, "axes"),
        (np.zeros((2, 3, 4)), InputError, "axes"),
        (np.zeros((0, 3)), InputError, "at least one row"),
        (np.array([["a", "b", "c"]]), InputError, "numbers"),
        ([[1.0, 2.0, 3.0], [1.0]], InputError, "same length"),
        (np.zeros((2, 3), dtype=complex), InputError, "numbers"),
        ((row for row in X), InputTypeError, "array"),
        (7, InputTypeError, "array"),
        (None, InputTypeError, "array"),
        (sparse.csr_array(np.zeros((2, 4))), InputError, "3 columns"),
        (sparse.csr_array(np.zeros((2, 3), dtype=complex)), InputTypeError, "numbers"),
    ],
)
def test_a_wrong_shape_or_type_is_refused_before_anything_is_read(bad, error, says):
    with pytest.raises(error, match=says):
        Rows(bad, bounds=BALL)


@pytest.mark.parametrize(
    "odd",
    ["x", None, 10**400, object(), [1, 2], 1j, np.array(7)],
    ids=["text", "none", "huge", "object", "list", "complex", "no axes"],
)
@pytest.mark.parametrize(
    "kind",
    [list, lambda rows: np.array([*rows, None], dtype=object)[:-1]],
    ids=["list", "objects"],
)
def test_one_odd_cell_of_a_list_leaves_all_others_as_they_were(odd, kind):
    rows = [[0.5, 0.25, 0.0], [odd, 0.5, 0.0], [1, True, "0.5"]]
    table = rows if kind is list else np.array([*rows, [None] * 3], dtype=object)[:-1]
    bounds = Bounds(L2Ball(2.0), 3, labels=Interval(-9, 9), max_weight=5.0)
    cells = kind([0.5, odd, 2])
    opened = open_rows(table, cells, weights=cells, bounds=bounds)
    read, labels = opened.gather()
    np.testing.assert_array_equal(read[[0, 2]], [[0.5, 0.25, 0.0], [1.0, 1.0, 0.5]])
    np.testing.assert_array_equal(labels[[0, 2]], [0.5, 2.0])
    weighed = opened.sum(lambda block: np.array([block.weights[0], block.weights[2]]))
    np.testing.assert_array_equal(weighed, [0.5, 2.0])


def test_labels_that_do_not_fit_are_refused():
    labelled = Bounds(L2Ball(1.0), 3, labels=Interval(0, 1))
    with pytest.raises(InputError, match="pass y"):
        Rows(X, bounds=labelled)
    with pytest.raises(InputError, match="declare no labels"):
        Rows(X, np.zeros(50), bounds=BALL)
    with pytest.raises(InputError, match="one label for each row"):
        Rows(X, np.zeros(49), bounds=labelled)
    with pytest.raises(InputTypeError, match="numbers"):
        Rows(X, np.full(50, "a"), bounds=labelled)
    with pytest.raises(InputTypeError, match="array"):
        Rows(X, (label for label in range(50)), bounds=labelled)


def test_more_rows_than_declared_are_refused_where_their_number_is_public():
    few = Bounds(L2Ball(1.0), 3, max_rows=49)
    with pytest.raises(InputError, match="more rows than the declared max_rows = 49"):
        Rows(X, bounds=few, unit="replace")


@pytest.mark.parametrize("made", [np.asarray, np.asfortranarray, sparse.csr_array], ids=str)
def test_of_more_rows_than_declared_the_first_are_used(made):
    """To refuse them would tell their number."""
    labels = np.arange(50.0)
    few = Bounds(L2Ball(1.0), 3, labels=Interval(0, 50), max_weight=50.0, max_rows=20)

    def gathered(count):
        receipt = NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne()))
        rows = Rows(made(X[:count]), labels[:count], weights=labels[:count], bounds=few)
        opened = rows.open(receipt)
        table, found = opened.gather()
        total = opened.sum(lambda block: block.weights.sum())
        return (
            opened.count,
            np.asarray(table.todense() if sparse.issparse(table) else table),
            (found.tolist(), float(total)),
        )

    count, table, rest = gathered(50)
    assert count == 20
    first, only, others = gathered(20)
    assert first == 20
    np.testing.assert_array_equal(table, only)
    assert rest == others


def test_a_sparse_matrix_needs_a_set_with_the_origin():
    with pytest.raises(InputError, match="origin"):
        Rows(sparse.csr_array(X), bounds=Bounds(Simplex(1.0), 3))


@pytest.mark.parametrize("options", [{"block_rows": 0}, {"block_rows": 10**9}, {"threads": 0}])
def test_odd_block_sizes_and_threads_are_refused(options):
    with pytest.raises(InputError):
        Rows(X, bounds=BALL, **options)
    with pytest.raises(InputError, match="unit"):
        Rows(X, bounds=BALL, unit="household")


def test_bounds_need_a_bounded_set():
    with pytest.raises(InputError, match="bounded"):
        Bounds(WholeSpace(), 3)
    with pytest.raises(InputError, match="intercept"):
        Bounds(L2Ball(1.0), 3, intercept=0.0)
    with pytest.raises(InputError, match="n_features"):
        Bounds(L2Ball(1.0), 0)
    with pytest.raises(InputTypeError, match="ConvexSet"):
        Bounds(1.0, 3)
    with pytest.raises(InputError, match="low"):
        Interval(2, 1)
    with pytest.raises(InputError, match="repetition"):
        LabelSet([1, 1])


def test_bounds_are_hashable_values():
    assert Bounds(L2Ball(1.0), 3) == BALL
    assert hash(Bounds(L2Ball(1.0), 3)) == hash(BALL)


@pytest.mark.parametrize("order", [1, 2, np.inf])
def test_declared_norms_bound_clipped_rows(order):
    for features in (L2Ball(2.0), L1Ball(2.0), LinfBall(2.0), Box([-1, 0, 2], [1, 3, 4])):
        bounds = Bounds(features, 3, intercept=0.7)
        clipped, _ = open_rows(X * 10, bounds=bounds).gather()
        norms = np.linalg.norm(clipped, order, axis=1)
        assert norms.max() <= bounds.row_norm(order)
        apart = np.linalg.norm(clipped[:, None] - clipped[None], order, axis=2)
        assert apart.max() <= bounds.row_distance(order)


def test_opening_wide_sparse_rows_needs_no_dense_copy():
    columns = GENERATOR.integers(0, 200_000, size=40_000)
    entries = (np.ones(40_000), (np.repeat(np.arange(2000), 20), columns))
    wide = sparse.csr_array(entries, shape=(2000, 200_000))
    opened = open_rows(wide, bounds=Bounds(L2Ball(1.0), 200_000))

    def thousandths(entries, _):
        return np.rint(entries * 1000).astype(np.int64)

    assert opened.sum(lambda block: block.integer_sum(thousandths)).shape == (200_000,)
    assert opened.sum(lambda block: block.weighted_sum(np.ones(block.size))).shape == (200_000,)
