"""Every registered mechanism, in its units and at three epsilons, under attack."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from discreet.audit import AuditResult
from discreet.audit.cases import NAMES, Case, cases, units_of
from discreet.audit.statistical.power import equivalent_mu

EPSILONS = (0.1, 1.0, 3.0)
UNITS = ("add_remove", "replace")
"""Of mechanisms that take all records at once; others say their own."""
DELTA = 1e-6
FAMILY_ERROR = 1e-3
"""The chance, at most, that any true guarantee among all cells is called violated."""

GOAL = 0.7
"""How much of a tight claim the attack is to certify."""

_RELEASE = 7e-6
"""Seconds that a release of effort one takes."""


@dataclass(frozen=True)
class Cell:
    """A case, what its audit found, and on which day."""

    case: Case
    found: AuditResult
    seconds: float = 0.0
    day: str = field(default_factory=lambda: date.today().isoformat())

    @property
    def reached(self) -> float:
        """The certified part of epsilon if the claim is pure, otherwise of mu."""
        if self.case.budget.delta == 0:
            return self.found.lower_bound / self.found.claimed
        return self.found.lower_mu / self.found.claimed_mu

    @property
    def verdict(self) -> str:
        if self.found.violated:
            return "VIOLATED"
        if not self.case.is_tight:
            return f"not refuted; {self.case.remark}"
        if self.reached >= GOAL:
            return "not refuted; tight"
        return f"not refuted; {self.case.remark or 'too few trials'}"


def all_cases(names: tuple[str, ...] = NAMES) -> list[Case]:
    """Return every cell of the table."""
    return [
        case
        for name in names
        for unit in units_of(name)
        for epsilon in EPSILONS
        for case in cases(name, unit, epsilon, DELTA)
    ]


def trials_for(case: Case, seconds: float) -> int:
    """Return as many trials as a good attack on a tight claim needs, or as there is time for."""
    mu = equivalent_mu(case.plan().guarantee)
    # Two counts, each to some four standard errors, within a fifth of mu.
    wanted = 2 * (9.0 / (0.2 * mu)) ** 2
    affordable = seconds / (2 * _RELEASE * case.effort)
    return math.ceil(max(2000.0, min(max(wanted, 200_000.0), affordable)))


def audit_one(case: Case, *, seconds: float, confidence: float, seed: int) -> Cell:
    """Audit one cell; a tight one may take longer than another."""
    start = time.perf_counter()
    allowed = seconds if case.is_tight else seconds / 3
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = case.audit(trials=trials_for(case, allowed), confidence=confidence, seed=seed)
    return Cell(case, found, time.perf_counter() - start)


def audit_all(todo: list[Case], *, seconds: float, seed: int, n_jobs: int) -> Iterator[Cell]:
    """Audit these cells, so that all there are err together with at most the family's chance."""
    confidence = 1 - FAMILY_ERROR / max(len(all_cases()), len(todo))
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(audit_one)(case, seconds=seconds, confidence=confidence, seed=seed) for case in todo
    )
    yield from results
