"""Rows that are encoded after the charge: what is said of them is checked before, and after."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, Rows
from discreet.data.arrays import EncodedSource
from discreet.errors import InputError, ReleaseFailed, SourceChanged
from discreet.gate import release
from discreet.geometry import Box, L2Ball
from discreet.ledger import MemoryLedger
from discreet.mechanisms import GaussianSum
from discreet.privacy import Budget
from discreet.questions import VectorSum
from support.opened import open_rows

PLAIN = Bounds(L2Ball(1.0), n_features=2)
LABELLED = Bounds(L2Ball(1.0), n_features=2, labels=Interval(-1, 1), max_weight=2.0)
MATRIX = np.array([[0.1, 0.2], [3.0, 4.0], [np.nan, 0.0]])
LABELS, WEIGHTS = np.array([0.5, -7.0, 1.0]), np.array([1.0, 5.0, np.nan])


def never():
    raise AssertionError("cells were read")


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_what_is_encoded_is_what_the_arrays_would_be(convert):
    made = EncodedSource(
        MATRIX.shape,
        lambda: (convert(MATRIX), LABELS, WEIGHTS),
        has_labels=True,
        has_weights=True,
        is_sparse=sparse.issparse(convert(MATRIX)),
    )
    given = open_rows(convert(MATRIX), LABELS, weights=WEIGHTS, bounds=LABELLED)
    ours, theirs = open_rows(made, bounds=LABELLED), given
    kernel = lambda block: (block.rows().sum(axis=0), block.labels.sum(), block.weights.sum())  # noqa: E731
    for one, other in zip(ours.sum(kernel), theirs.sum(kernel), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "bounds", "words"),
    [
        ({}, LABELLED, "the bounds declare labels; pass y."),
        ({"has_labels": True}, PLAIN, "the bounds declare no labels"),
        ({"has_weights": True}, PLAIN, "weights need a declared largest one"),
        ({"shape": (3, 5)}, PLAIN, "X must have 2 columns, as declared; got 5"),
        ({"shape": (0, 2)}, PLAIN, "at least one row"),
        ({"is_sparse": True}, Bounds(Box([1, 1], [2, 2]), 2), "contains the origin"),
    ],
)
def test_what_is_public_is_refused_before_a_cell_is_read(options, bounds, words):
    shape = options.pop("shape", (3, 2))
    with pytest.raises(InputError, match=words):
        Rows(EncodedSource(shape, never, **options), bounds=bounds)


def test_labels_come_with_the_encoding_and_not_beside_it():
    with pytest.raises(InputError, match="bring their labels and weights with them"):
        Rows(EncodedSource((3, 2), never, has_labels=True), LABELS, bounds=LABELLED)


@pytest.mark.parametrize(
    "made",
    [
        lambda: (MATRIX[:2], None, None),
        lambda: (MATRIX[:, :1], None, None),
        lambda: (sparse.csr_array(MATRIX), None, None),
        lambda: (MATRIX, LABELS, None),
        lambda: (MATRIX, None, WEIGHTS),
    ],
)
def test_cells_that_are_not_what_was_said_of_them_release_nothing(made):
    with pytest.raises(SourceChanged, match="changed while they were read"):
        open_rows(EncodedSource((3, 2), made), bounds=PLAIN).gather()


def test_labels_of_another_length_release_nothing():
    source = EncodedSource((3, 2), lambda: (MATRIX, LABELS[:2], None), has_labels=True)
    with pytest.raises(SourceChanged):
        open_rows(source, bounds=LABELLED).gather()


def test_an_encoding_that_fails_is_charged_and_says_nothing():
    def fail():
        raise RuntimeError("4711")

    ledger = MemoryLedger(Budget(2.0, 1e-6))
    rows = Rows(EncodedSource((3, 2), fail), bounds=PLAIN)
    with pytest.raises(ReleaseFailed) as caught:
        release(GaussianSum(), VectorSum(PLAIN), rows, budget=Budget(1.0, 1e-7), ledger=ledger)
    assert "4711" not in str(caught.value)
    assert caught.value.__context__ is None
    assert len(ledger.history()) == 1
