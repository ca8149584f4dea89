"""Laws of clipping rows, dense and sparse."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, NuclearBall, Simplex, WholeSpace
from support.examples import ALL_SETS

law = settings(derandomize=True, deadline=None, max_examples=25)

SHRINKING = [kind(radius) for kind in (L2Ball, L1Ball) for radius in (0.3, 1e-100, 1e100)]
CLAMPING = [
    LinfBall(1.0),
    LinfBall(1e-100),
    Box((-1.0, -2.0, -0.5), (1.0, 0.0, 3.0)),
    Box((0.0, 0.0, 0.0), (1e100, 0.0, 1.0)),
]
WITH_ORIGIN = SHRINKING + CLAMPING
WITHOUT_ORIGIN = [Simplex(), Simplex(5.0), Box((1.0, -1.0, -1.0), (2.0, 1.0, 1.0))]
FOR_COEFFICIENTS = (NuclearBall, WholeSpace)
CLIPPING = [region for region in ALL_SETS if not isinstance(region, FOR_COEFFICIENTS)]
EVERY = list(dict.fromkeys([*WITH_ORIGIN, *WITHOUT_ORIGIN, *CLIPPING]))
DIMENSION = 3

entries = st.one_of(
    st.floats(-3, 3),
    st.sampled_from([0.0, 5e-324, 1e-160, 1e-100, 1e100, 1e154, -1e200, 1e300, -1.7e308]),
    st.floats(allow_nan=False, allow_infinity=False),
)
rows = st.lists(st.lists(entries, min_size=DIMENSION, max_size=DIMENSION), max_size=6).map(
    lambda table: np.array(table, dtype=float).reshape(-1, DIMENSION)
)
# Half of the entries are zero, so that some rows of a sparse matrix are empty.
holey = st.tuples(rows, st.integers(0, 2**20)).map(
    lambda pair: pair[0] * np.random.default_rng(pair[1]).integers(0, 2, size=pair[0].shape)
)


def clipped(region, table):
    kept, scale = region.clip_rows(table)
    assert scale.shape == (len(table),)
    return scale[:, None] * kept


@pytest.mark.parametrize("region", EVERY, ids=repr)
@given(table=rows)
@law
def test_clipped_rows_lie_in_the_set(region, table):
    before = table.copy()
    assert region.contains(clipped(region, table), tolerance=1e-12).all()
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("region", SHRINKING, ids=repr)
@given(table=rows)
@law
def test_clipped_norms_exceed_the_radius_by_the_documented_rounding_at_most(region, table):
    order = region.norm_order
    largest = Fraction(region.radius) * (1 + Fraction(DIMENSION + 3, 2**53))
    for row in clipped(region, table).tolist():
        assert sum(abs(Fraction(entry)) ** order for entry in row) <= largest**order


@pytest.mark.parametrize("region", SHRINKING, ids=repr)
@given(table=rows)
@law
def test_rows_are_shrunk_no_more_than_needed(region, table):
    _, scale = region.clip_rows(table)
    order = region.norm_order
    for row, factor in zip(table.tolist(), scale.tolist(), strict=True):
        power = sum(abs(Fraction(entry)) ** order for entry in row)
        needed = Fraction(region.radius) ** order / power if power else Fraction(1)
        if needed >= 1 + Fraction(1, 10**14):
            assert factor == 1.0
        elif factor > 0:
            assert needed * (1 - Fraction(1, 10**13)) <= Fraction(factor) ** order
        else:
            assert needed < (Fraction(np.finfo(float).tiny) * 2) ** order


@pytest.mark.parametrize("region", WITH_ORIGIN, ids=repr)
def test_rows_inside_are_left_alone(region):
    inside = 0.9 * region.vertex(np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 1.0, 1.0]]))
    inside = np.vstack([inside, np.zeros(DIMENSION)])
    kept, scale = region.clip_rows(inside)
    assert kept is inside
    assert np.all(scale == 1.0)


@pytest.mark.parametrize("radius", [1.0, 0.1, 1 / 3, 1e-100, 1e100])
@pytest.mark.parametrize("kind", [L2Ball, L1Ball])
def test_a_row_exactly_on_the_sphere_is_left_alone(kind, radius):
    rows = radius * np.vstack([np.eye(4), -np.eye(4)])
    assert np.all(kind(radius).clip_rows(rows)[1] == 1.0)
    assert np.all(kind(radius).clip_sparse(sparse.csr_array(rows))[1] == 1.0)


@pytest.mark.parametrize("region", SHRINKING, ids=repr)
def test_rows_of_a_norm_ball_are_never_copied(region):
    table = np.array([[1e300, 1e300, -1e300], [5e-324, 0.0, 0.0], [3.0, 4.0, 0.0]])
    assert region.clip_rows(table)[0] is table
    matrix = sparse.csr_array(table)
    assert region.clip_sparse(matrix)[0] is matrix


@pytest.mark.parametrize("kind", [L2Ball, L1Ball])
def test_huge_rows_keep_their_direction(kind):
    table = np.array([[1e300, 1e300], [1e200, 0.0], [-8e306, 8e306], [3e-5, 0.0]])
    expected = kind(1.0).project(np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 1.0], [3e-5, 0.0]]))
    np.testing.assert_allclose(clipped(kind(1.0), table), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", [L2Ball, L1Ball])
@pytest.mark.parametrize("order", ["C", "F"])
def test_clipping_makes_no_temporary_of_the_size_of_the_rows(kind, order):
    table = np.ones((20_000, 100), order=order)
    tracemalloc.start()
    try:
        kind(1.0).clip_rows(table)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < table.nbytes / 10


@pytest.mark.parametrize("kind", [L2Ball, L1Ball])
@pytest.mark.parametrize("shape", [(7, 1), (1, 100_000), (3000, 37), (40_000, 2)])
def test_blocks_of_any_shape_agree_with_numpy(kind, shape):
    table = np.random.default_rng(4).normal(size=shape)
    region = kind(1.0)
    norms = np.linalg.norm(table, region.norm_order, axis=1)
    np.testing.assert_allclose(region.clip_rows(table)[1], np.minimum(1, 1 / norms), rtol=1e-12)


@pytest.mark.parametrize("region", WITH_ORIGIN, ids=repr)
@given(table=holey, kind=st.sampled_from([sparse.csr_array, sparse.csr_matrix]))
@law
def test_sparse_and_dense_agree(region, table, kind):
    matrix = kind(table)
    before = matrix.copy()
    kept, scale = region.clip_sparse(matrix)
    assert type(kept) is kind
    assert kept.shape == matrix.shape
    dense_rows, dense_scale = region.clip_rows(table)
    np.testing.assert_array_equal(kept.toarray(), dense_rows)
    np.testing.assert_allclose(scale, dense_scale, rtol=1e-14)
    np.testing.assert_array_equal(matrix.data, before.data)


@pytest.mark.parametrize("region", WITH_ORIGIN, ids=repr)
@pytest.mark.parametrize("shape", [(0, 3), (4, 3)])
def test_matrices_without_entries_are_left_alone(region, shape):
    matrix = sparse.csr_array(shape)
    kept, scale = region.clip_sparse(matrix)
    assert kept is matrix
    np.testing.assert_array_equal(scale, np.ones(shape[0]))
    empty = np.zeros(shape)
    assert region.clip_rows(empty)[0] is empty


@pytest.mark.parametrize("region", WITH_ORIGIN, ids=repr)
def test_empty_rows_first_middle_and_last_do_not_borrow_entries(region):
    table = np.zeros((6, DIMENSION))
    table[1], table[4, 0] = [3.0, -4.0, 5.0], 0.5
    kept, scale = region.clip_sparse(sparse.csr_array(table))
    expected = clipped(region, table)
    np.testing.assert_allclose(scale[:, None] * kept.toarray(), expected, rtol=1e-14)
    np.testing.assert_array_equal(scale[[0, 2, 3, 5]], 1.0)


@pytest.mark.parametrize("region", WITH_ORIGIN, ids=repr)
def test_spare_room_behind_the_last_entry_is_not_read(region):
    stored, columns = np.array([1.0, -3.0, math.nan]), np.array([0, 2, 99])
    matrix = sparse.csr_array((2, 3))
    matrix.data, matrix.indices, matrix.indptr = stored, columns, np.array([0, 1, 2])
    kept, scale = region.clip_sparse(matrix)
    expected = clipped(region, np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -3.0]]))
    np.testing.assert_allclose(scale * kept.data[:2], expected[[0, 1], [0, 2]], rtol=1e-14)


@pytest.mark.parametrize("region", WITHOUT_ORIGIN, ids=repr)
def test_sets_without_the_origin_refuse_sparse_rows(region):
    with pytest.raises(InputError, match="dense matrix, or a set that contains the origin"):
        region.clip_sparse(sparse.csr_array((2, 3)))


def test_the_whole_space_refuses_sparse_rows():
    with pytest.raises(InputError, match="bounded set"):
        WholeSpace().clip_sparse(sparse.csr_array((2, 3)))


def test_an_entry_stored_in_pieces_is_refused():
    """Two pieces of 1 make an entry of 2, but their squares sum to 2, not to 4."""
    pieces = sparse.csr_array((np.array([1.0, 1.0]), np.array([0, 0]), np.array([0, 2])), (1, 3))
    with pytest.raises(InputError, match="canonical"):
        L2Ball(1.5).clip_sparse(pieces)


@pytest.mark.parametrize("region", [*WITH_ORIGIN, Simplex(), WholeSpace()], ids=repr)
def test_rows_of_the_wrong_kind_are_refused(region):
    for bad in ([[1.0]], np.ones((2, 3), dtype=np.float32), None):
        with pytest.raises(InputTypeError, match="float64"):
            region.clip_rows(bad)
    for bad in (np.ones(3), np.ones((2, 0)), np.ones((1, 2, 3))):
        with pytest.raises(InputError, match="shape"):
            region.clip_rows(bad)
    for bad in (np.ones((2, 3)), sparse.csc_array((2, 3)), sparse.csr_array((2, 3), dtype=int)):
        with pytest.raises(InputTypeError, match="CSR"):
            region.clip_sparse(bad)
    with pytest.raises(InputError, match="shape"):
        region.clip_sparse(sparse.csr_array((2, 0)))
