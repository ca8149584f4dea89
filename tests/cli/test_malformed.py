"""Hundreds of mistakes: each gets one clear line, costs nothing, leaves nothing, tells nothing."""

from __future__ import annotations

from collections import Counter

import pytest

from support.malformed import ALL, FIT, FIT_PARQUET, Case
from support.place import CANARIES, books, every_line, files_in, run

LONGEST = 700


def test_there_are_more_than_three_hundred_and_no_two_are_the_same():
    assert len(ALL) >= 300
    assert Counter(case.name for case in ALL).most_common(1)[0][1] == 1


@pytest.mark.parametrize("command", [FIT, FIT_PARQUET])
def test_without_a_mistake_the_same_command_succeeds(place, command):
    before = books(place)
    result = run(place, command)
    assert (result.code, result.error) == (0, "")
    assert len(books(place)) == len(before) + 1
    assert not any(canary in result.output for canary in CANARIES)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_mistake_gets_one_clear_line_and_costs_nothing(place, case: Case):
    case.spoil(place)
    before, paid = files_in(place), every_line(place)
    result = run(place, case.arguments)
    assert result.code in (1, 2, 3), result
    assert result.output == ""
    assert result.error.startswith("discreet")
    assert result.error.endswith("\n")
    assert result.error.count("\n") == 1
    assert len(result.error) < LONGEST
    assert result.error[:-1].isprintable()
    assert "Traceback" not in result.error
    assert not any(canary in result.error for canary in CANARIES)
    assert files_in(place) == before
    assert every_line(place) == paid
