"""A proposed sensitivity: distances are exact, and what is released costs what is booked."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from discreet.data import Bounds
from discreet.errors import CalibrationError, InputError
from discreet.geometry import Box
from discreet.mechanisms import ProposeTestRelease
from discreet.mechanisms.propose_test_release import lower_median, records_to_instability
from discreet.mechanisms.stability_release import STABLE, UNSTABLE
from discreet.noise import UNIT_RATE, RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import ProposedMedian
from support.opened import open_rows

STEPS = 4
MOST = 6
"""Data sets of up to so many records are looked at, on five places."""

TABLES = [
    table
    for size in range(MOST + 1)
    for table in itertools.combinations_with_replacement(range(STEPS + 1), size)
]


@cache
def neighbours(table, is_count_public):
    """Return all data sets that one record more, less or other makes of one."""
    places = range(STEPS + 1)
    fewer = {table[:i] + table[i + 1 :] for i in range(len(table))}
    if is_count_public:
        return {tuple(sorted((*rest, place))) for rest in fewer for place in places}
    return fewer | {tuple(sorted((*table, place))) for place in places}


@cache
def median(table):
    return lower_median(np.array(table, dtype=np.int64), STEPS)


def distances_by_search(move, is_count_public):
    """Walk away from all unstable data sets, a record at a time."""
    known = {
        table: 0
        for table in TABLES
        if any(abs(median(t) - median(table)) > move for t in neighbours(table, is_count_public))
    }
    edge, steps = list(known), 0
    while edge:
        steps += 1
        edge = [
            near
            for table in edge
            for near in neighbours(table, is_count_public)
            if len(near) <= MOST and known.setdefault(near, steps) == steps
        ]
        edge = list(dict.fromkeys(edge))
        edge = [table for table in edge if known[table] == steps]
    return known


@cache
def distance(table, move, is_count_public):
    places = np.array(table, dtype=np.int64)
    return records_to_instability(places, STEPS, move, is_count_public)


@pytest.mark.parametrize("is_count_public", [False, True])
@pytest.mark.parametrize("move", [1, 2, 3])
def test_the_distance_is_exact_on_all_small_data_sets(move, is_count_public):
    """Walks through larger data sets than are listed are no shorter: to remove serves as well."""
    walked = distances_by_search(move, is_count_public)
    listed = [table for table in TABLES if table or not is_count_public]
    for table in listed:
        if len(table) + walked[table] <= MOST or is_count_public:
            assert distance(table, move, is_count_public) == walked[table], table
        else:
            assert distance(table, move, is_count_public) <= walked[table], table


@pytest.mark.parametrize("is_count_public", [False, True])
def test_one_record_moves_the_distance_by_one_and_the_median_too_far_only_at_zero(is_count_public):
    for table in TABLES:
        for near in neighbours(table, is_count_public):
            for move in (1, 2, 3):
                here, there = (distance(t, move, is_count_public) for t in (table, near))
                assert abs(here - there) <= 1
                if abs(median(table) - median(near)) > move:
                    assert here == there == 0


def test_order_does_not_matter_and_many_equal_values_are_far_from_unstable():
    places = np.random.default_rng(1).permutation(np.repeat([3, 500, 900], [40, 200, 60]))
    for is_count_public in (False, True):
        found = records_to_instability(places, 1000, 5, is_count_public)
        assert found == records_to_instability(np.sort(places), 1000, 5, is_count_public)
        assert found > 50
    assert lower_median(np.array([], dtype=np.int64), 9) == 0


def passing(test, distance):
    """Return the chance that a distance passes the test."""
    each = math.exp(-test.rate / UNIT_RATE)
    least = test.level + test.margin - distance
    tail = each ** max(least, 1 - least) / (1 + each)
    return tail if least > 0 else 1 - tail


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_the_exact_law_of_all_small_neighbours_is_within_what_is_booked(unit):
    """Every pair of small data sets, before answers are brought within the limits."""
    bounds = Bounds(Box([0.0], [1.0]), 1, max_rows=100)
    budget = Budget(1.0, 0.05)
    question, move = ProposedMedian(bounds, 1 / STEPS, STEPS), 1
    plan = ProposeTestRelease().plan(question, budget, unit)
    assert plan.guarantee.epsilon(0.05) <= 1.0
    (noise,) = plan.noises
    each = math.exp(-noise.rate / UNIT_RATE)
    reach = np.arange(-40, STEPS + 41)

    def law(table):
        passed = passing(noise.test, distance(table, move, unit.rows_are_public))
        masses = (1 - each) / (1 + each) * each ** np.abs(reach - median(table))
        return np.append(passed * masses, 1 - passed)

    laws = {table: law(table) for table in TABLES if 1 <= len(table) <= 5}
    worst = max(
        float(np.maximum(laws[one] - math.e * laws[near], 0).sum())
        for one in laws
        for near in neighbours(one, unit.rows_are_public)
        if near in laws
    )
    assert 0.001 < worst <= 0.05


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_many_records_near_together_have_an_answer_and_few_have_none(unit):
    bounds = Bounds(Box([0.0, -5.0], [1000.0, 5.0]), 2, max_rows=10_000)
    plan = ProposeTestRelease().plan(ProposedMedian(bounds, 0.1), Budget(2.0, 1e-6), unit)
    crowd = np.random.default_rng(3).normal([70.0, 0.0], [1.0, 0.2], size=(4000, 2))
    said = plan.run(open_rows(crowd, bounds=bounds, unit=unit), RehearsalNoise(1))
    assert said[:2].tolist() == [STABLE, STABLE]
    np.testing.assert_allclose(said[2:], np.median(crowd, axis=0), atol=2.0)
    few = plan.run(open_rows(crowd[:12], bounds=bounds, unit=unit), RehearsalNoise(1))
    assert few.tolist() == [UNSTABLE, UNSTABLE, 0.0, 0.0]


def test_what_cannot_be_proposed_is_refused():
    bounds = Bounds(Box([0.0], [1.0]), 1)
    with pytest.raises(CalibrationError, match="positive delta"):
        ProposeTestRelease().plan(ProposedMedian(bounds, 0.1), Budget(1.0), AddRemoveOne())
    with pytest.raises(CalibrationError, match="fewer steps"):
        ProposeTestRelease().plan(
            ProposedMedian(bounds, 0.5, 2**32), Budget(1e-3, 1e-6), AddRemoveOne()
        )
    for make, says in (
        (lambda: ProposedMedian(bounds, 1.0), "less than"),
        (lambda: ProposedMedian(bounds, 0.0), "positive"),
        (lambda: ProposedMedian(bounds, 0.1, 1), "steps"),
        (lambda: ProposeTestRelease(1.0), "between 0 and 1"),
    ):
        with pytest.raises(InputError, match=says):
            make()
