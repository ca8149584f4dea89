"""No cell of one record decides whether a fit is refused, warned of, or what it is charged."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest

from discreet import MemoryLedger
from discreet.errors import InputError, InputTypeError
from discreet.ledger import State
from discreet.privacy import Budget
from support.estimators import KERNEL
from support.odd_cells import (
    CANARY,
    CLASSIFIERS,
    CONTAINERS,
    ESTIMATORS,
    LOCATIONS,
    ODD,
    OF_CELLS,
    OF_COLUMNS,
    TYPED,
    WEIGHTED,
    Array,
    Till,
    arguments,
    asked,
    learnt,
    make,
)

SOME = ("LogisticRegression", "Ridge", "LowRankRegressor", "Median", "LinearClassifier of columns")
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)

ROWS, LABELS, WEIGHTS = [[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0], [1, 0, 1, 1]


def with_odd(cell):
    """Return the same records but one, all of whose cells are odd."""
    return with_cells([cell, cell], cell, cell)


def with_cells(row, label, weight):
    rows, labels, weights = [list(row) for row in ROWS], list(LABELS), list(WEIGHTS)
    rows[1], labels[1], weights[1] = row, label, weight
    return rows, labels, weights


def assert_one_charge(name, container, cells):
    expected = asked(name, container, ROWS, LABELS, WEIGHTS)
    assert expected is not None
    for what, cell in cells:
        assert asked(name, container, *with_odd(cell)) == expected, what


@every_estimator
def test_no_cell_of_a_list_decides_whether_a_fit_is_charged(name):
    assert_one_charge(name, CONTAINERS["lists"], ODD.items())


@pytest.mark.parametrize("container", [name for name in CONTAINERS if name != "lists"])
@pytest.mark.parametrize("name", SOME)
def test_no_cell_of_any_container_decides_whether_a_fit_is_charged(name, container):
    assert_one_charge(name, CONTAINERS[container], ODD.items())


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        (name, typed)
        for name in SOME
        for typed in TYPED
        if not (name in OF_COLUMNS and "sparse" in typed)  # refused by type
    ],
)
def test_no_cell_of_one_type_decides_whether_a_fit_is_charged(name, typed):
    container, cells = TYPED[typed]
    assert_one_charge(name, container, enumerate(cells))


@every_estimator
def test_what_is_charged_is_released(name):
    ledger = MemoryLedger(Budget(1000.0, 1e-3))
    for what in ("an object", "a long integer", "text"):
        given, more = arguments(name, CONTAINERS["lists"], *with_odd(ODD[what]))
        model = make(name, ledger).fit(*given, **more)
        assert np.isfinite(model.release_.value).all()
    assert [entry.state for entry in ledger.history()] == [State.RELEASED] * 3


NO_NUMBER = (
    *("text", "None", "NaN", "complex", "a list", "an object", "a duration", "a short duration"),
    *(
        "a time of no axes",
        "one time",
        "one duration",
        "other bytes",
        "a foreign number that fails",
    ),
)
MIDDLE = {"PoissonRegressor": 5.0}
"""The middle of the default range of targets, where it is not zero."""


@every_estimator
def test_a_row_with_a_cell_that_is_no_number_is_a_fixed_row(name):
    # Of several targets, those of the row are fixed as well; of declared columns, one cell only.
    label, other = int(name != "LowRankRegressor"), int(name in OF_COLUMNS)
    fixed = [ODD[NO_NUMBER[0]], 1] if name in OF_CELLS else [0, other]
    expected = learnt(name, *with_cells(fixed, label, 1))
    for what in NO_NUMBER:
        row = [ODD[what], 1]
        np.testing.assert_array_equal(learnt(name, *with_cells(row, 1, 1)), expected, what)


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n not in LOCATIONS or n == "Threshold"])
def test_a_record_whose_target_is_no_number_is_a_fixed_record(name):
    # Zero is the first of the declared classes. Of a kernel the fixed record has no feature, of an
    # additive model it is in no cell of its own, which no row of numbers is: there, only that it is
    # the same one whatever the row and its target.
    fixed = ([0, 0], MIDDLE.get(name, 0), 1)
    if ESTIMATORS[name] in KERNEL or name in OF_CELLS:
        fixed = ([0, 1], ODD[NO_NUMBER[0]], 1)
    expected = learnt(name, *with_cells(*fixed))
    for what in NO_NUMBER:
        record = with_cells([1, 1], ODD[what], 1)
        np.testing.assert_array_equal(learnt(name, *record), expected, what)


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n in WEIGHTED])
def test_a_weight_that_is_no_number_is_zero_and_a_large_one_the_largest(name):
    without, most = learnt(name, *with_cells([1, 1], 1, 0)), learnt(name, *with_cells([1, 1], 1, 2))
    for weight in (*(ODD[what] for what in NO_NUMBER), -1, -math.inf):
        np.testing.assert_array_equal(learnt(name, *with_cells([1, 1], 1, weight)), without)
    for weight in (math.inf, 10**400, np.longdouble("1e4000"), "3"):
        np.testing.assert_array_equal(learnt(name, *with_cells([1, 1], 1, weight)), most)


@pytest.mark.parametrize("name", [n for n in WEIGHTED if n not in CLASSIFIERS])
def test_a_target_beyond_all_numbers_is_the_end_of_the_range(name):
    highest = learnt(name, *with_cells([1, 1], 1e9, 1))
    for target in (math.inf, 10**400, np.longdouble("1e4000")):
        np.testing.assert_array_equal(learnt(name, *with_cells([1, 1], target, 1)), highest)


def fail():
    raise ValueError(CANARY)


MASKED = np.ma.masked_array([[0.0, 1.0], [CANARY, 0.0]], mask=[[0, 0], [1, 0]])
PAIR = [[0, 1], [0, 1]]
REFUSED = {
    "complex": (np.array([[0, 1], [CANARY, CANARY + 1j]]), [0, 1]),
    "times": (np.array([[0, 1], [4711, 0]], dtype="M8[ns]"), [0, 1]),
    "bytes": (np.array([[b"0", b"1"], [b"4711", b"0"]]), [0, 1]),
    "masked": (MASKED, [0, 1]),
    "said to be masked": (Array(lambda: MASKED), [0, 1]),
    "a matrix": (np.array([[0, 1], [CANARY, 0]]).view(np.matrix), [0, 1]),
    "an array that fails": (Array(fail), [0, 1]),
    "no array": (Array(lambda: [[0, 1], [CANARY, 0]]), [0, 1]),
    "ragged": ([[0, 1], [CANARY]], [0, 1]),
    "a ragged queue": (deque([[0, 1], [CANARY]]), [0, 1]),
    "no rows": ([], []),
    "no row": ([[0, 1], CANARY], [0, 1]),
    "text row": ([[0, 1], f"{CANARY}"], [0, 1]),
    "axes": (np.array([[[CANARY]]]), [0]),
    "y": (PAIR, np.array([0, CANARY * 1j])),
    "days": (PAIR, np.array([0, 4711], dtype="datetime64[D]")),
    "lengths": (PAIR, [0, 1, CANARY]),
    "set": (PAIR, {0, CANARY}),
    "y that fails": (PAIR, Array(fail)),
}


@pytest.mark.parametrize("name", [*SOME[:3], "Threshold", *OF_COLUMNS, *OF_CELLS])
@pytest.mark.parametrize(("rows", "labels"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_before_the_charge_and_not_quoted(name, rows, labels):
    assert_refused_unquoted(name, rows, labels)


@pytest.mark.parametrize("name", [*SOME[:3], "Threshold"])
def test_an_array_of_text_is_refused_unless_columns_are_declared(name):
    assert_refused_unquoted(name, np.array([["0", "1"], [f"{CANARY}", "0"]]), [0, 1])


def assert_refused_unquoted(name, rows, labels):
    till = Till()
    with pytest.raises((InputError, InputTypeError)) as caught:
        make(name, till).fit(rows, labels)
    assert till.asked is None
    error = caught.value
    while error is not None:
        assert "4711" not in str(error)
        error = error.__context__
