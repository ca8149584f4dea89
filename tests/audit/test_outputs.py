"""Released things of all kinds, as numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from discreet.audit.statistical.outputs import (
    check_comparable,
    check_fresh,
    matrix_of,
    numbers_of,
    rows_of,
)
from discreet.errors import AuditError


class Fitted:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    ("released", "numbers"),
    [
        (3, [3.0]),
        (np.float32(0.5), [0.5]),
        (True, [1.0]),
        (np.bool_(False), [0.0]),
        ([[1, 2], (3.0,)], [1.0, 2.0, 3.0]),
        (np.array([[1, 2], [3, 4]]), [1.0, 2.0, 3.0, 4.0]),
        (np.array(7), [7.0]),
        (sp.csr_array([[0.0, 2.0]]), [0.0, 2.0]),
        ({"b": 2, "a": [1]}, [1.0, 2.0]),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}), [1.0, 3.0, 2.0, 4.0]),
        (pl.Series([1.5, 2.5]), [1.5, 2.5]),
        ([], []),
    ],
)
def test_numbers_are_found_in_a_fixed_order(released, numbers):
    np.testing.assert_array_equal(numbers_of(released), numbers)


def test_the_order_of_a_mapping_does_not_matter():
    one, other = numbers_of({"a": 1, "b": 2}), numbers_of({"b": 2, "a": 1})
    np.testing.assert_array_equal(one, other)


def test_different_texts_are_different_numbers_and_the_same_text_is_the_same():
    texts = ["yes", "no", b"yes", None, "", "None"]
    numbers = [float(numbers_of(text)[0]) for text in texts]
    assert len(set(numbers)) == len(texts)
    assert numbers == [float(numbers_of(text)[0]) for text in texts]
    np.testing.assert_array_equal(numbers_of(np.array(["yes", "no"])), numbers[:2])


def test_a_fitted_estimator_gives_what_ends_in_an_underscore_and_nothing_else():
    fitted = Fitted(coef_=np.array([[1.0, 2.0]]), alpha=5.0, _hidden_=6.0, bias_=3.0, note=7)
    np.testing.assert_array_equal(numbers_of(fitted), [3.0, 1.0, 2.0])


def test_a_fitted_estimator_hides_no_numbers_inside_its_attributes():
    inner = Fitted(coef_=np.array([4.0]))
    fitted = Fitted(
        coef_=sp.csr_array([[0.0, 1.0]]), estimators_=[inner, inner], steps_=object(),
        ragged_=[[1.0], [2.0, 3.0]],
    )  # fmt: skip
    np.testing.assert_array_equal(numbers_of(fitted), [0.0, 1.0, 4.0, 4.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("released", [object(), Fitted(alpha=1.0), [object()], len])
def test_what_has_no_numbers_is_refused(released):
    with pytest.raises(AuditError, match=r"without numbers\. Return what is released"):
        numbers_of(released)


def test_values_of_different_sizes_are_refused():
    with pytest.raises(AuditError, match="different sizes: 1, 2 numbers"):
        rows_of([np.zeros(1), np.zeros(2)])
    with pytest.raises(AuditError, match="different sizes: 1, 3 numbers"):
        matrix_of([np.zeros((4, 3)), np.zeros((4, 1))], "first")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_counted_and_refused(value):
    matrix = np.zeros((5, 2))
    matrix[1, 0] = matrix[3, 1] = value
    with pytest.raises(AuditError, match="second data set in 2 of 5 trials"):
        matrix_of([matrix], "second")


def test_two_shapes_no_numbers_and_one_constant_are_refused():
    with pytest.raises(AuditError, match="shape alone tells them apart"):
        check_comparable(np.zeros((3, 1)), np.zeros((3, 2)))
    with pytest.raises(AuditError, match="no numbers at all"):
        check_comparable(np.zeros((3, 0)), np.zeros((3, 0)))
    with pytest.raises(AuditError, match="same value in every trial"):
        check_comparable(np.ones((3, 2)), np.ones((3, 2)))


def test_two_different_constants_can_be_compared():
    check_comparable(np.ones((3, 1)), np.zeros((3, 1)))


def test_parts_that_repeat_each_other_are_refused_and_constant_parts_are_not():
    part = np.arange(20.0)[:, None]
    with pytest.raises(AuditError, match="repeats its random numbers"):
        check_fresh([part, part + 0.5, part[:15]])
    check_fresh([part, part + 0.5, part[::-1]])
    check_fresh([np.ones((20, 1))] * 3)
    check_fresh([np.arange(20)[:, None] % 2 * 1.0] * 2)
