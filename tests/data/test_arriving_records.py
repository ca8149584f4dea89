"""Records that arrive are clipped as opened rows are, to the last bit, alone or in company."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet
from discreet.data.records import accept_records, clip_records, count_records, prepare_records
from discreet.data.source import Source
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, Product, Simplex
from support.cases.base import hostile_row
from support.opened import open_rows

SETS = [
    L2Ball(1.0),
    L2Ball(1e-100),
    L1Ball(2.0),
    LinfBall(0.5),
    Box([0, -1, 5], [120, 1, 6]),
    Simplex(),
    Product([(L2Ball(0.3), 2), (LinfBall(4.0), 1)]),
]


def hostile_records(count, seed=0):
    draw, generator = hostile_row(3, [-1.0, 1.0]), np.random.default_rng(seed)
    rows = [draw(generator) for _ in range(count)]
    return np.array([x for x, _ in rows]), np.array([label for _, label in rows])


def clipped(X, y, bounds, size):
    ready = prepare_records(accept_records(X, y, bounds), bounds)
    with np.errstate(all="ignore"):
        parts = list(clip_records(ready, bounds, size))
    labels = None if parts[0][1] is None else np.concatenate([part for _, part in parts])
    return np.concatenate([part for part, _ in parts]), labels


@pytest.mark.parametrize("intercept", [None, 0.5])
@pytest.mark.parametrize("features", SETS, ids=repr)
def test_they_are_what_opened_rows_are_however_they_are_cut(features, intercept):
    bounds = Bounds(features, 3, labels=LabelSet([-1, 1]), intercept=intercept)
    X, y = hostile_records(200)
    X[7], X[8] = 1e-310, [0.6, 0.8, 0.0]  # tiny, and at the edge
    rows, labels = open_rows(X, y, bounds=bounds).gather()
    for size in (1, 7, 200):
        found, kept = clipped(X, y, bounds, size)
        np.testing.assert_array_equal(found, rows)
        np.testing.assert_array_equal(kept, labels)


@pytest.mark.parametrize("features", [L2Ball(1.0), Box([-1] * 3, [1] * 3)], ids=repr)
def test_rows_that_are_surely_inside_are_left_as_they_are(features):
    X = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 3))
    assert features.holds_surely(X)
    np.testing.assert_array_equal(features.clip_rows(X)[1], 1.0)
    for spoilt in (np.nan, np.inf, 2.0):
        X[9, 1] = spoilt
        assert not features.holds_surely(X)


def test_what_is_no_plain_array_goes_through_the_common_door():
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(0, 10))
    X, y = np.full((4, 3), 0.25), np.ones(4)
    assert not isinstance(accept_records(X, y, bounds), Source)
    assert count_records(accept_records(X, y, bounds)) == 4
    for odd, labels in (
        (X.tolist(), y),
        (X, y.tolist()),
        (X.astype(np.float32), y),
        (sparse.csr_array(X), y),
        (X.view(np.ndarray).astype(object), y),
    ):
        given = accept_records(odd, labels, bounds)
        assert isinstance(given, Source)
        assert count_records(given) == 4
        np.testing.assert_array_equal(clipped(odd, labels, bounds, 3)[0], X)
