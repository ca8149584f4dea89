"""Sums of slopes as integers: one record moves them by its own, however they are made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import LinfBall
from discreet.losses import Huber, Logistic, Squared
from discreet.mechanisms.summing import rounded_slopes
from discreet.mechanisms.summing.rounded_slopes import RoundedSlopes
from discreet.privacy import AddRemoveOne, ReplaceOne
from discreet.questions import L1Problem
from support.opened import open_rows

GENERATOR = np.random.default_rng(11)
X = GENERATOR.standard_normal((60, 7)) * (GENERATOR.random((60, 7)) < 0.4)
Y = GENERATOR.uniform(-1, 1, 60)
NUMBERS = Bounds(LinfBall(1.0), 7, labels=Interval(-1, 1), intercept=1.0, max_rows=2**16)
PROBLEM = L1Problem(Squared(1.0), NUMBERS, radius=2.0)


def walk(rows, problem=PROBLEM):
    """Return the sums after each of some steps."""
    sums = RoundedSlopes(problem).of(rows)
    seen = [sums.totals().copy()]
    for step, (place, sign) in enumerate([(0, 1), (3, -1), (0, 1), (7, 1), (2, -1)], start=1):
        sums.move(place, sign * (step + 1), 2 * problem.radius / ((step + 1) * (step + 2)))
        seen.append(sums.totals().copy())
    return np.array(seen)


def test_sums_that_are_kept_are_those_made_anew(monkeypatch):
    kept = walk(open_rows(X, Y, bounds=NUMBERS))
    few = walk(open_rows(sparse.csr_array(X), Y, bounds=NUMBERS))
    monkeypatch.setattr(rounded_slopes, "MOST_KEPT", 0)
    anew = walk(open_rows(X, Y, bounds=NUMBERS, block_rows=7))
    np.testing.assert_array_equal(kept, anew)
    np.testing.assert_array_equal(few, anew)


def test_sums_at_a_point_are_those_of_steps_to_it():
    sums, rounding = RoundedSlopes(PROBLEM).of(open_rows(X, Y, bounds=NUMBERS)), 2.0**-9
    point = np.array([3, 0, -2, 0, 0, 0, 0, 5])
    sums.place_at(point, rounding)
    other = RoundedSlopes(PROBLEM).of(open_rows(X, Y, bounds=NUMBERS))
    for place in np.flatnonzero(point):
        other.move(int(place), int(point[place]), rounding)
    np.testing.assert_array_equal(sums.totals(), other.totals())


@pytest.mark.parametrize(
    ("loss", "labels"),
    [
        (Squared(1.0), Interval(-1, 1)),
        (Huber(0.3), Interval(-1, 1)),
        (Logistic(), LabelSet([-1, 1])),
    ],
    ids=repr,
)
def test_a_record_adds_its_own_and_no_more_than_is_declared(loss, labels):
    bounds = Bounds(LinfBall(1.0), 7, labels=labels, intercept=1.0, max_rows=2**16)
    problem = L1Problem(loss, bounds, radius=2.0)
    y = np.sign(Y) if loss.is_classifier else Y
    whole = walk(open_rows(X, y, bounds=bounds), problem)
    for one in range(0, 60, 17):
        others = np.delete(np.arange(60), one)
        rest = walk(open_rows(X[others], y[others], bounds=bounds), problem)
        alone = walk(open_rows(X[[one]], y[[one]], bounds=bounds), problem)
        np.testing.assert_array_equal(whole - rest, alone)
        assert np.abs(alone).max() <= RoundedSlopes(problem).sensitivity(AddRemoveOne())
    assert RoundedSlopes(problem).sensitivity(ReplaceOne()) == 2**28


def test_hostile_rows_are_within_the_sensitivity():
    hostile = np.array([[1e308] * 7, [np.nan] * 7, [-np.inf, *[1.0] * 6], [1e-320] * 7])
    for row in hostile:
        for label in (1.0, -1.0, np.nan, 1e300):
            sums = walk(open_rows(row[None], [label], bounds=NUMBERS))
            assert np.abs(sums).max() <= 2**27
