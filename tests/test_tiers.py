"""Both tiers have every law and every mutant, and a tier follows from what was measured."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from support import tiers
from support.tiers import WHOLE, choose_fast, group_of, read_costs, update_costs, write_costs


def test_every_function_and_every_mutant_that_is_collected_is_in_the_fast_tier(pytestconfig):
    items, fast = pytestconfig.stash[WHOLE]
    assert {group_of(item) for item in items} == {group_of(item) for item in fast}


def test_a_mutant_is_a_group_of_its_own():
    case = Case("test_mutants.py::test_caught[a-x]")
    case.callspec = SimpleNamespace(params={"mutant": "a"})
    assert group_of(case) == "test_mutants.py::test_caught 'a'"


def test_of_dear_cases_the_cheapest_runs_beside_all_that_are_cheap():
    cases = [("f[1]", "f"), ("f[2]", "f"), ("f[3]", "f"), ("g[1]", "g")]
    costs = {"f[1]": 3.0, "f[2]": 2.0, "g[1]": 9.0}
    assert choose_fast(cases, costs) == {"f[2]", "f[3]", "g[1]"}
    assert choose_fast(cases, {}) == {case for case, _ in cases}


def test_costs_are_recorded_from_a_quarter_of_a_second_on_and_stand_while_they_hardly_differ():
    recorded = {"near": 1.0, "dearer": 1.0, "cheaper": 1.0, "lost": 1.0, "not run": 1.0}
    measured = {"near": 1.5, "dearer": 1.7, "cheaper": 0.1, "new": 0.26, "cheap": 0.2}
    found = update_costs(recorded, measured, ["lost"])
    assert found == {"near": 1.0, "dearer": 1.7, "not run": 1.0, "new": 0.26}


def test_costs_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "durations.txt"
    write_costs({"tests/b.py::test[x y]": 1.25, "tests/a.py::test": 0.5}, path)
    assert read_costs(path) == {"tests/a.py::test": 0.5, "tests/b.py::test[x y]": 1.25}
    assert path.read_text().startswith("0.50 tests/a.py")
    assert read_costs(tmp_path / "none.txt") == {}


def test_the_recorded_costs_are_those_of_dear_cases():
    costs = read_costs()
    assert costs
    assert all(cost >= tiers.DEAR for cost in costs.values())
    assert all(re.match(r"(tests|src)/[\w/]+\.py::", case) for case in costs)


class Case:
    """A stand-in for a case that pytest has collected."""

    def __init__(self, name):
        self.nodeid = name


class Settings:
    """A stand-in for pytest's configuration."""

    args_source = pytest.Config.ArgsSource.ARGS

    def __init__(self, tier):
        self.tier, self.stash, self.left_out, self.hook = tier, pytest.Stash(), [], self

    def getoption(self, name):
        return {"--tier": self.tier}[name]

    def pytest_deselected(self, items):
        self.left_out += items


def test_what_one_tier_leaves_out_is_the_other(monkeypatch):
    monkeypatch.setattr(tiers, "read_costs", lambda: {"f[1]": 3.0, "f[2]": 2.0})
    cases = [Case(name) for name in ("f[1]", "f[2]", "f[3]", "g")]
    run = {}
    for tier in tiers.TIERS:
        settings, run[tier] = Settings(tier), list(cases)
        tiers.pytest_collection_modifyitems(settings, run[tier])
        assert {*run[tier], *settings.left_out} == set(cases)
    assert [case.nodeid for case in run["fast"]] == ["f[2]", "f[3]", "g"]
    assert [case.nodeid for case in run["rest"]] == ["f[1]"]
    assert run["all"] == cases
