"""No cell, and no type that a cell gives to its block, makes a round of a stream fail."""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import interact
from discreet.data import Bounds, LabelSet
from discreet.errors import RehearsalWarning
from discreet.geometry import L2Ball
from discreet.losses import Logistic
from discreet.mechanisms import FollowTheLeader
from discreet.noise import RehearsalNoise
from discreet.online import Experts, LinearRegression, LogisticRegression
from discreet.privacy import Budget
from discreet.questions import Problem, Stream
from support.learners import HORIZON, NAMES, answer, labels, learn, learn_each, make
from support.odd_cells import Untouchable

NOW = datetime.datetime(2020, 1, 1)

ODD = [
    None, float("nan"), float("inf"), 5e-324, -1.7e308, 10**400, True, "", "old", "0.25", b"0.25",
    b"\xff", NOW, NOW.date(), datetime.timedelta(1), np.datetime64("2020-01-01", "ns"),
    1j, 0.25 + 0j, Decimal("0.25"), [], [0.25], [1, 2], {"a": 1}, Untouchable(),
]  # fmt: skip
"""What may stand in a cell."""


def frames_of(cells):
    """Yield a block of one record in every container that can hold it, with the type it gives."""
    named = dict(zip(NAMES, cells, strict=True))
    makers = [
        lambda: pd.DataFrame([named], columns=NAMES),
        lambda: pd.DataFrame([named], columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
        lambda: pd.DataFrame([named], columns=NAMES).astype("category"),
        lambda: pl.DataFrame([named]),
        lambda: pa.Table.from_pylist([named]),
        lambda: np.array([cells]),
        lambda: [list(cells)],
    ]
    for make_block in makers:
        with warnings.catch_warnings(action="ignore"):
            try:
                block = make_block()
            except Exception:  # this container cannot hold such a cell
                continue
        if getattr(block, "shape", (1, 3)) == (1, 3):
            yield block


def columns_of(block, count):
    """Yield labels in every container, with the type that one label gives them."""
    for kind in (list, np.array, pd.Series, pl.Series, pa.array):
        with warnings.catch_warnings(action="ignore"):
            try:
                made = kind([block] * count)
            except Exception:  # this container cannot hold such a cell
                continue
        if getattr(made, "shape", (count,)) == (count,) and not isinstance(made, pa.Scalar):
            yield made


@pytest.mark.parametrize(
    ("kind", "declares"),
    [
        (LogisticRegression, True),
        (LogisticRegression, False),
        (LinearRegression, False),
        (Experts, False),
    ],
)
def test_no_cell_and_no_type_of_a_block_is_refused(kind, declares):
    more = {"rehearsal": 1, "horizon": 10_000, "batch": 1000}
    if declares:
        columns = {"age": (-1.0, 1.0), "bmi": ["old", "new"], "dose": [0, 1]}
        more |= {"data_norm": None, "features": None, "columns": columns}
    named, arrays = make(kind, **more), make(kind, **more)
    label = None if labels(kind) is None else labels(kind)[:1]
    given = {True: 0, False: 0}
    for odd in ODD:
        cells = [odd, odd, 0.25]
        learn_each(named, [dict(zip(NAMES, cells, strict=True))], label)
        given[True] += 1
        for block in frames_of(cells):
            has_names = hasattr(block, "columns")
            if has_names or not declares:
                learn(named if has_names else arrays, block, label)
                given[has_names] += 1
        for y in [] if label is None else columns_of(odd, 2):
            learn(named, pd.DataFrame(np.full((2, 3), 0.25), columns=NAMES), y)
            given[True] += 2
    assert (named.n_seen, arrays.n_seen) == (given[True], given[False])
    assert given[True] > 70
    assert np.isfinite(np.asarray(named.release_.value)).all()


@pytest.mark.parametrize("kind", [LogisticRegression, LinearRegression])
def test_a_block_is_read_as_its_records_are_whatever_type_a_cell_gives_it(kind):
    columns = {"age": (-1.0, 1.0), "bmi": ["old", "new"], "dose": [0, 1]}
    more = {"data_norm": None, "features": None, "columns": columns, "rehearsal": 5}
    records = [
        {"age": 0.5, "bmi": "old", "dose": 1},
        {"age": "0.5", "bmi": None, "dose": 0},
        {"age": NOW, "bmi": "new", "dose": None},
        {"age": None, "bmi": 3.5, "dose": "1"},
    ] * (HORIZON // 4)
    y = labels(kind)
    one_by_one = answer(learn_each(make(kind, **more), records, y))
    for size in (1, 2, 7, HORIZON):
        model = make(kind, **more)
        for start in range(0, HORIZON, size):
            frame = pd.DataFrame(records[start : start + size])
            learn(model, frame, list(y[start : start + size]))
        assert answer(model) == one_by_one


@pytest.mark.parametrize(
    ("ages", "container"),
    [
        ([0, 1, 2**70], pl.DataFrame),
        ([0.25, 1.0, 1j], pd.DataFrame),
        ([0.25, "x", 1], pd.DataFrame),
    ],
)
def test_one_cell_that_changes_the_type_of_a_block_changes_no_other_record(ages, container):
    def make_one():
        columns = {"age": (0.0, 1.0)}
        return make(LogisticRegression, data_norm=None, features=None, columns=columns,
                    horizon=3, batch=1, rehearsal=5)  # fmt: skip

    y = ["yes", "no", "yes"]
    single = learn_each(make_one(), [{"age": age} for age in ages], y)
    assert answer(learn(make_one(), container([{"age": age} for age in ages]), y)) == answer(single)


def test_an_interaction_refuses_no_type_of_a_block():
    bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    stream = Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=1000)
    with pytest.warns(RehearsalWarning):
        live = interact(FollowTheLeader(), stream, budget=Budget(1.0, 1e-6), unit="replace",
                        noise=RehearsalNoise(1))  # fmt: skip
    given = 0
    for odd in ODD:
        for block in frames_of([odd, 0.25, 0.25]):
            live.learn(block, [1.0])
            given += 1
        for y in columns_of(odd, 1):
            live.learn(np.full((1, 3), 0.25), y)
            given += 1
    assert live.n_seen == given
