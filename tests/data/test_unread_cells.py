"""Rows in memory are accepted by type and shape; no cell is read before the ledger was charged."""

from __future__ import annotations

from collections import deque
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.data import Bounds, Interval, Rows
from discreet.data.frame import Coded
from discreet.data.given_column import GivenColumn, column_of
from discreet.data.matrix import GivenMatrix, accept_matrix, table_of
from discreet.errors import BudgetExceeded, InputError, SourceChanged
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger
from discreet.mechanisms import GaussianSum
from discreet.privacy import Budget
from discreet.questions import VectorSum
from support.doors import (
    ARROW_NUMBERS,
    ARROW_TEXT,
    ARROW_TRUTHS,
    LABELS,
    NUMBERED,
    PANDAS_NUMBERS,
    PANDAS_TEXT,
    PANDAS_TRUTHS,
    POLARS_NUMBERS,
    POLARS_TEXT,
    POLARS_TRUTHS,
)
from support.odd_cells import CONTAINERS, TYPED, Foreign, object_table, objects

BOUNDS = Bounds(L2Ball(1.0), n_features=2, labels=Interval(-1, 1), max_weight=2.0)

FOREIGN = {
    "lists": (lambda rows: rows, list),
    "tuples": (lambda rows: tuple(map(tuple, rows)), tuple),
    "queues": (lambda rows: deque(map(deque, rows)), deque),
    "rows that are arrays": (lambda rows: [objects(row) for row in rows], objects),
    "arrays of objects": (object_table, objects),
    "pandas": (
        lambda rows: pd.DataFrame(object_table(rows), dtype=object),
        lambda cells: pd.Series(objects(cells), dtype=object),
    ),
    "Polars": (
        lambda rows: pl.DataFrame(
            [
                pl.Series(f"{place}", [row[place] for row in rows], dtype=pl.Object)
                for place in (0, 1)
            ]
        ),
        lambda cells: pl.Series(cells, dtype=pl.Object),
    ),
}
"""Containers that can hold a cell of any type."""


def recorded(kind, read):
    """Return a table, labels and weights of cells that write down when they are converted."""

    def cell(number):
        def answer():
            read.append(number)
            return number

        return Foreign(answer)

    table, column = FOREIGN[kind]
    X = table([[cell(0.1), cell(0.2)], [cell(0.3), cell(0.4)]])
    return X, column([cell(0.5), cell(-0.5)]), column([cell(1.0), cell(2.0)])


class Till(MemoryLedger):
    """A ledger that looks, at the charge, at how many cells were read."""

    def __init__(self, budget, read):
        super().__init__(budget)
        self._read, self.seen = read, None

    def charge(self, guarantee, *, purpose=""):
        self.seen = len(self._read)
        return super().charge(guarantee, purpose=purpose)


def summed(rows, ledger):
    question = VectorSum(BOUNDS)
    return release(GaussianSum(), question, rows, budget=Budget(1.0, 1e-7), ledger=ledger)


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_refused_charge_reads_no_cell(kind):
    read = []
    X, y, weights = recorded(kind, read)
    till = Till(Budget(0.5, 1e-6), read)
    with pytest.raises(BudgetExceeded):
        summed(Rows(X, y, weights=weights, bounds=BOUNDS), till)
    assert (till.seen, read) == (0, [])


@pytest.mark.parametrize("kind", FOREIGN)
def test_cells_are_read_after_the_charge_and_each_is(kind):
    read = []
    X, y, weights = recorded(kind, read)
    till = Till(Budget(2.0, 1e-6), read)
    summed(Rows(X, y, weights=weights, bounds=BOUNDS), till)
    assert till.seen == 0
    assert sorted(read) == [-0.5, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0, 2.0]


MADE = {
    **{name: made for name, (made, _) in TYPED.items()},
    **CONTAINERS,
}


@pytest.mark.parametrize("name", MADE)
def test_rows_are_sealed_without_a_look_at_what_they_hold(name):
    made = MADE[name]
    X, y = made.table([[0, 1], [1, 1], [1, 0]]), made.column([0, 1, 1])

    def fail(*_):
        raise AssertionError("cells were read")

    with (
        patch.object(GivenColumn, "cells", property(fail)),
        patch.object(GivenMatrix, "numbers", fail),
    ):
        rows = Rows(X, y, weights=y, bounds=BOUNDS)
    assert repr(rows) == "<sealed rows: 2 features, unit 'add_remove'>"


STORES = {
    f"{library} {store.name}": store
    for library, stores in {
        "pandas": (*PANDAS_NUMBERS, *PANDAS_TEXT, *PANDAS_TRUTHS),
        "Polars": (*POLARS_NUMBERS, *POLARS_TEXT, *POLARS_TRUTHS),
        "Arrow": (*ARROW_NUMBERS, *ARROW_TEXT, *ARROW_TRUTHS),
        "labels": (*LABELS, *NUMBERED),
    }.items()
    for store in stores
}


@pytest.mark.parametrize("name", STORES)
def test_what_a_type_says_of_cells_is_what_they_turn_out_to_be(name):
    store = STORES[name]
    for cells in ([0, 1, 1], ["a", "b", "a"]):
        for odd in (cells[0], *store.cells):
            try:
                column = store.make([*cells, odd])
            except Exception:
                continue  # the container itself does not take such cells
            given = column_of(column, "y")
            read = given.cells
            assert len(given) == 4
            assert given.dtype == (object if isinstance(read, Coded) else read.dtype)


def test_sparse_columns_keep_the_type_they_say():
    for cells in ([1.5, 0.0, 1.0], [1.5, 2.5, 1.0]):
        for dtype in ("Sparse[float64]", "Sparse[int64]", "Sparse[bool]"):
            given = column_of(pd.Series(cells).astype(dtype), "y")
            assert given.dtype == given.cells.dtype


def test_a_table_accepted_is_the_table_read():
    rows = [[1, "2.5"], [None, "x"]]
    for table in (rows, object_table(rows), pd.DataFrame(object_table(rows), dtype=object)):
        given = accept_matrix(table)
        assert (given.shape, given.is_sparse) == ((2, 2), False)
        np.testing.assert_array_equal(given.numbers(), table_of(table))


def test_rows_that_change_between_acceptance_and_reading_release_nothing():
    rows = [[0.1, 0.2], [0.3, 0.4]]
    given = accept_matrix(rows)
    rows[0].append(0.9)
    rows[1].pop()  # as many cells as before, each in another's place
    with pytest.raises(SourceChanged, match="changed while they were read"):
        given.numbers()
    labels = [0.1, 0.2]
    given = column_of(labels, "y")
    labels.append(0.3)
    with pytest.raises(SourceChanged, match="changed while they were read"):
        given.numbers()


def test_an_array_resized_after_acceptance_is_refused_and_refunded():
    X, ledger = np.zeros((4, 2)), MemoryLedger(Budget(2.0, 1e-6))
    rows = Rows(X, np.zeros(4), bounds=BOUNDS)
    X.resize((2, 4), refcheck=False)
    with pytest.raises(InputError, match="2 columns"):
        summed(rows, ledger)
    assert ledger.remaining(1e-7) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "made",
    [
        lambda cells: pd.Series(cells, dtype="bool[pyarrow]"),
        lambda cells: pd.Series(cells, dtype="boolean"),
        lambda cells: pl.Series(cells, dtype=pl.Boolean),
        pa.array,
    ],
    ids=["pandas Arrow", "pandas", "Polars", "Arrow"],
)
def test_a_missing_truth_value_is_a_missing_number_and_no_error(made):
    np.testing.assert_array_equal(
        column_of(made([True, None, False]), "y").numbers(), [1.0, np.nan, 0.0]
    )
