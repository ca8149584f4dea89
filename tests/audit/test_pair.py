"""Which pairs of data sets count as neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from discreet.audit import Pair
from discreet.errors import InputError, InputTypeError

X = np.arange(8.0).reshape(4, 2)
Y = np.array([0, 1, 0, 1])
MOVED = X.copy()
MOVED[1] = [9.0, 9.0]
FAR = MOVED.copy()
FAR[2] = [7.0, 7.0]


def shapes(rows, labels):
    """The same records in every form that is understood."""
    names = [f"{label} seen" for label in labels]
    return {
        "array": rows,
        "tuple": (rows, labels),
        "tuple with None": (rows, None, labels),
        "lists": (rows.tolist(), labels.tolist()),
        "sparse": (sp.csr_array(rows), labels),
        "sparse matrix": (sp.csc_matrix(rows), labels),
        "pandas": pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "text": names}),
        "pandas with labels": (pd.DataFrame(rows), pd.Series(labels)),
        "polars": pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "text": names}),
        "polars with labels": (pl.DataFrame(rows), pl.Series(labels)),
        "mapping": {"a": rows[:, 0], "b": rows[:, 1].tolist()},
        "integers": (rows.astype(np.int64), labels.astype(np.uint8)),
        "texts": rows.astype(str),
    }


FORMS = list(shapes(X, Y))


@pytest.mark.parametrize("form", FORMS)
def test_one_record_less_makes_neighbours_that_add_or_remove_but_not_that_replace(form):
    whole, less = shapes(X, Y)[form], shapes(X[1:], Y[1:])[form]
    assert Pair(whole, less, "add_remove").is_checked
    assert Pair(less, whole, "add_remove").is_checked
    with pytest.raises(InputError, match="as many records; got 4 and 3"):
        Pair(whole, less, "replace")


@pytest.mark.parametrize("form", FORMS)
def test_one_record_exchanged_makes_neighbours_that_replace_but_not_that_add_or_remove(form):
    whole, moved = shapes(X, Y)[form], shapes(MOVED, Y)[form]
    assert Pair(whole, moved, "replace").is_checked
    with pytest.raises(InputError, match="1 are only in the first and 1 only in the second"):
        Pair(whole, moved, "add_remove")


@pytest.mark.parametrize("form", FORMS)
def test_two_records_apart_are_no_neighbours(form):
    with pytest.raises(InputError, match="these differ in 2"):
        Pair(shapes(X, Y)[form], shapes(FAR, Y)[form], "replace")
    with pytest.raises(InputError, match="only in the first"):
        Pair(shapes(X, Y)[form], shapes(X[2:], Y[2:])[form], "add_remove")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_equal_data_sets_are_refused_whatever_the_order_of_records(form, unit):
    with pytest.raises(InputError, match="equal"):
        Pair(shapes(X, Y)[form], shapes(X[::-1], Y[::-1])[form], unit)


def test_the_order_of_records_does_not_matter():
    assert Pair((X, Y), (X[:0:-1], Y[:0:-1]), "add_remove").is_checked


def test_a_label_that_moves_to_another_row_changes_two_records():
    with pytest.raises(InputError, match="these differ in 4"):
        Pair((X, Y), (X, 1 - Y), "replace")


def test_a_repeated_record_counts_as_often_as_it_occurs():
    assert Pair(np.zeros((3, 1)), np.zeros((4, 1)), "add_remove").is_checked
    with pytest.raises(InputError, match="differ by one record"):
        Pair(np.zeros((3, 1)), np.zeros((5, 1)), "add_remove")


def test_an_empty_data_set_is_a_neighbour_of_a_single_record():
    assert Pair(np.zeros((0, 2)), np.zeros((1, 2)), "add_remove").is_checked
    assert Pair((X[:0], Y[:0]), (X[:1], Y[:1]), "add_remove").is_checked


def test_data_sets_with_different_columns_are_no_neighbours():
    for first, second in [
        (np.zeros((1, 2)), np.zeros((1, 3))),
        ((X[:1], Y[:1]), X[:1]),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"b": [1.0], "a": [3.0]})),
        ({"a": [1.0]}, {"b": [2.0]}),
    ]:
        with pytest.raises(InputError, match="same columns"):
            Pair(first, second, "replace")


def test_large_integers_that_floats_confuse_are_told_apart():
    ids = np.array([2**53, 2**53 + 2])
    moved = np.array([2**53 + 1, 2**53 + 3])
    with pytest.raises(InputError, match="these differ in 2"):
        Pair(ids, moved, "replace")


def test_not_a_number_and_the_two_zeros_are_the_values_they_look_like():
    first = np.array([[np.nan], [0.0], [1.0]])
    second = np.array([[np.nan], [-0.0], [2.0]])
    assert Pair(first, second, "replace").is_checked


def test_parts_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="equally long; got 4, 3"):
        Pair((X, Y[1:]), (X, Y), "add_remove")


@pytest.mark.parametrize("thing", [3.0, "text", object(), [[1.0], [1.0, 2.0]], (X, object())])
def test_other_things_are_taken_on_trust_and_the_pair_says_so(thing):
    assert not Pair(thing, thing, "add_remove").is_checked


def test_the_unit_must_be_known():
    with pytest.raises(InputError, match="unit must be one of"):
        Pair(X, X[1:], "swap")
    with pytest.raises(InputTypeError, match="unit"):
        Pair(X, X[1:], 3)
