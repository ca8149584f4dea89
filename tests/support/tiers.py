"""Which tests run when: each function and mutant in ``make test``, each case in ``make test-all``.

A case is dear if a quarter of a second of processor time was recorded for it. Of the dear cases of
a function the cheapest runs in the fast tier, beside all that are cheap; a mutant is a function of
its own. Costs stand in ``tests/durations.txt``, which ``make test-all`` writes and nobody else;
what has not been measured is cheap.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

DURATIONS = Path(__file__).parents[1] / "durations.txt"
DEAR = 0.25
"""Seconds of processor time from which a case is dear."""

STEADY = 1.6
"""A recorded cost stands while a new one is within this factor, so that files differ little."""

TIERS = ("all", "fast", "rest")
APART = "mutant"
"""A parameter each value of which is in both tiers."""

WHOLE = pytest.StashKey[tuple[list[pytest.Item], list[pytest.Item]]]()
"""All cases that were collected, and those of the fast tier."""

_STARTED = pytest.StashKey[float]()


def read_costs(path: Path = DURATIONS) -> dict[str, float]:
    """Return the recorded costs of dear cases."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {case: float(cost) for cost, case in (line.split(" ", 1) for line in lines)}


def write_costs(costs: Mapping[str, float], path: Path = DURATIONS) -> None:
    """Write costs, a line for each case, in the order of cases."""
    lines = (f"{cost:.2f} {case}\n" for case, cost in sorted(costs.items()))
    path.write_text("".join(lines))


def update_costs(
    recorded: Mapping[str, float], measured: Mapping[str, float], lost: Iterable[str]
) -> dict[str, float]:
    """Return what is to be recorded: dear cases that there are, with steady costs."""
    costs = {case: cost for case, cost in recorded.items() if case not in set(lost)}
    for case, cost in measured.items():
        if case in costs and costs[case] / STEADY <= cost <= costs[case] * STEADY:
            continue
        costs.pop(case, None)
        if cost >= DEAR:
            costs[case] = cost
    return costs


def choose_fast(cases: Iterable[tuple[str, str]], costs: Mapping[str, float]) -> set[str]:
    """Return the cases of the fast tier, of pairs of a case and its group."""
    chosen, cheapest = set(), {}
    for case, group in cases:
        if case not in costs:
            chosen.add(case)
        elif group not in cheapest or costs[case] < costs[cheapest[group]]:
            cheapest[group] = case
    return chosen | set(cheapest.values())


def group_of(item: pytest.Item) -> str:
    """Return the function of a case, and the mutant that it is about."""
    function = item.nodeid.partition("[")[0]
    values = item.callspec.params if hasattr(item, "callspec") else {}
    return f"{function} {values[APART]!r}" if APART in values else function


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that ``make test`` and ``make test-all`` pass."""
    group = parser.getgroup("tiers")
    group.addoption("--tier", choices=TIERS, default="all", help="which cases run")
    group.addoption("--record", action="store_true", help="write tests/durations.txt")


def pytest_configure(config: pytest.Config) -> None:
    """Listen to what cases cost."""
    if config.getoption("--record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(), "tiers-recorder")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the tier does not have."""
    costs = read_costs()
    there = {item.nodeid for item in items}
    fast = choose_fast(((item.nodeid, group_of(item)) for item in items), costs)
    config.stash[WHOLE] = (list(items), [item for item in items if item.nodeid in fast])
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if hasattr(config, "workeroutput"):
        config.workeroutput["lost"] = [case for case in costs if is_whole and case not in there]
    tier = config.getoption("--tier")
    if tier != "all":
        is_kept = [(item.nodeid in fast) == (tier == "fast") for item in items]
        left_out = [item for item, kept in zip(items, is_kept, strict=True) if not kept]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item, kept in zip(items, is_kept, strict=True) if kept]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note what this process has used so far."""
    item.stash[_STARTED] = _count_seconds()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Say what a case has cost, once it is torn down."""
    if call.when == "teardown" and _STARTED in item.stash:
        item.user_properties.append(("cpu", _count_seconds() - item.stash[_STARTED]))


def _count_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


class _Recorder:
    """What cases cost, in the process that all reports reach."""

    def __init__(self) -> None:
        self.costs: dict[str, float] = {}
        self.lost: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost = dict(report.user_properties).get("cpu")
        if report.when == "teardown" and cost is not None:
            self.costs[report.nodeid] = float(cost)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        self.lost |= set(getattr(node, "workeroutput", {}).get("lost", ()))

    def pytest_sessionfinish(self) -> None:
        if self.costs:
            write_costs(update_costs(read_costs(), self.costs, self.lost))
