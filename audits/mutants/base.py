"""A deliberately broken mechanism, what it claims, and where the audit must find it out."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from discreet._types import Array
from discreet.audit import AuditResult, Evidence, Pair, audit
from discreet.audit.certify import chance_at_least, chance_at_most
from discreet.audit.scores import Score
from discreet.privacy import Approximate, Guarantee

CONFIDENCE = 1 - 1e-8
"""Of one audit: a hundred of them raise a false alarm with a chance below one in a million."""

EVENTS = 4
"""The most events that an audit tests; each has a bound from below and one from above."""


class Run(Protocol):
    """Makes many releases at once."""

    def many(self, data: Any, count: int, seed: int) -> Array:
        """Return ``count`` releases, one a row."""
        ...


@dataclass(frozen=True)
class Finding:
    """One line of the table: what was claimed, what is certain, and how surely it is found.

    ``measure`` says of what: epsilon at the claimed delta, mu of a Gaussian profile, or delta at
    the claimed epsilon. ``power`` is the least chance that another such attack finds it too.
    """

    name: str
    mechanism: str
    measure: str
    claimed: float
    found: float
    violated: bool
    trials: int
    seconds: float
    power: float

    HEADER: ClassVar[str] = (
        f"{'mutant':<61} {'mechanism':<23} {'measure':<7} {'claimed':>8} {'at least':>8} "
        f"{'trials':>8} {'seconds':>7} {'power':>8}"
    )

    def __str__(self) -> str:
        trials = f"{self.trials:,}" if self.trials else "exact"
        return (
            f"{self.name:<61} {self.mechanism:<23} {self.measure:<7} {self.claimed:>8.3g} "
            f"{self.found:>8.3g} {trials:>8} {self.seconds:>7.2f} {100 * self.power:>7.2f}%"
        )


class Broken(ABC):
    """Something that does not keep what it claims."""

    name: str
    breaks: str
    mechanism: str

    @abstractmethod
    def find(self, *, seed: int = 0) -> Finding:
        """Attack the broken mechanism."""

    @abstractmethod
    def find_in_original(self, *, seed: int = 0) -> Finding:
        """Attack its sound counterpart in the same way."""


@dataclass(frozen=True, eq=False)
class Mutant(Broken):
    """A broken mechanism that an audit by sampling refutes.

    ``original`` is its sound counterpart, with the same claim on the same pair; it is attacked with
    the same scores unless it needs its own.
    """

    name: str
    breaks: str
    mechanism: str
    guarantee: Guarantee
    pair: Pair
    run: Run
    original: Run
    trials: int
    scores: tuple[Score, ...] = ()
    original_scores: tuple[Score, ...] | None = None

    def audit(self, trials: int | None = None, seed: int = 0) -> AuditResult:
        """Audit the broken mechanism."""
        return self._audit(self.run, self.scores, trials, seed)

    def audit_original(self, trials: int | None = None, seed: int = 0) -> AuditResult:
        """Audit the sound one: nothing may be found."""
        scores = self.scores if self.original_scores is None else self.original_scores
        return self._audit(self.original, scores, trials, seed)

    def _audit(
        self, run: Run, scores: tuple[Score, ...], trials: int | None, seed: int
    ) -> AuditResult:
        with threadpool_limits(1):  # products are small: threads would only get in the way
            return audit(
                run,
                self.pair,
                self.guarantee,
                trials=trials or self.trials,
                confidence=CONFIDENCE,
                scores=scores,
                seed=seed,
                subject=self.name,
            )

    def find(self, *, seed: int = 0) -> Finding:
        return self._finding(self.audit, seed)

    def find_in_original(self, *, seed: int = 0) -> Finding:
        return self._finding(self.audit_original, seed)

    def _finding(self, attack: Callable[..., AuditResult], seed: int) -> Finding:
        start = time.perf_counter()
        found = attack(seed=seed)
        seconds = time.perf_counter() - start
        is_gaussian = found.delta > 0 and not isinstance(self.guarantee.profile, Approximate)
        return Finding(
            self.name,
            self.mechanism,
            "mu" if is_gaussian else "epsilon",
            found.claimed_mu if is_gaussian else found.claimed,
            found.lower_mu if is_gaussian else found.lower_bound,
            found.violated,
            found.trials,
            seconds,
            power_of(found, self.guarantee),
        )


@dataclass(frozen=True, eq=False)
class BoundMutant(Broken):
    """A broken mechanism that no number of runs would show, but arithmetic does.

    ``claimed`` is a number that the claim allows at most, ``reached`` computes what the broken
    mechanism comes to, without chance, and ``reached_by_original`` what the sound one does.
    """

    name: str
    breaks: str
    mechanism: str
    measure: str
    claimed: float
    reached: Callable[[], float]
    reached_by_original: Callable[[], float]

    def find(self, *, seed: int = 0) -> Finding:
        return self._finding(self.reached)

    def find_in_original(self, *, seed: int = 0) -> Finding:
        return self._finding(self.reached_by_original)

    def _finding(self, number: Callable[[], float]) -> Finding:
        start = time.perf_counter()
        reached = number()
        seconds = time.perf_counter() - start
        exceeds = reached > self.claimed
        return Finding(
            self.name,
            self.mechanism,
            self.measure,
            self.claimed,
            reached,
            exceeds,
            trials=0,
            seconds=seconds,
            power=float(exceeds),
        )


def power_of(found: AuditResult, guarantee: Guarantee) -> float:
    """Bound from below the chance that another run of the same audit refutes the claim.

    Counts of another run differ from those seen by a normal deviation, whose variance is that of
    both. If both counts may be worse by z deviations at once and the claim is still refuted, it is
    refuted but with a chance of 2 ndtr(-z). The best of the events tested counts.
    """
    return max(_Margin(seen, found, guarantee).power for seen in found.evidence)


@dataclass(frozen=True)
class _Margin:
    """How much worse the counts behind one event may be."""

    seen: Evidence
    found: AuditResult
    guarantee: Guarantee

    @property
    def power(self) -> float:
        if not self._holds(0.0):
            return 0.0
        low, high = 0.0, 8.0
        if self._holds(high):
            return float(1 - 2 * ndtr(-high))
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (middle, high) if self._holds(middle) else (low, middle)
        return max(0.0, float(1 - 2 * ndtr(-low)))

    def _holds(self, deviations: float) -> bool:
        trials, tail = self._tested, self._tail
        hits = self._hits - deviations * _deviation(self._hits, trials)
        misses = self._misses + deviations * _deviation(self._misses, trials)
        if hits < 0 or misses > trials:
            return False
        low = float(chance_at_least(math.floor(hits), trials, tail))
        high = float(chance_at_most(math.ceil(misses), trials, tail))
        return Evidence(self.seen.event, low, high).refutes(self.guarantee.profile)

    @property
    def _tested(self) -> int:
        return self.found.trials // 2

    @property
    def _tail(self) -> float:
        return (1 - self.found.confidence) / (2 * EVENTS)

    @cached_property
    def _hits(self) -> int:
        return _count(lambda hits: float(chance_at_least(hits, self._tested, self._tail)),
                      self.seen.low, self._tested)  # fmt: skip

    @cached_property
    def _misses(self) -> int:
        return _count(lambda hits: float(chance_at_most(hits, self._tested, self._tail)),
                      self.seen.high, self._tested)  # fmt: skip


def _deviation(hits: int, trials: int) -> float:
    """Return the deviation of the difference of two such counts; never zero."""
    chance = (hits + 1) / (trials + 2)
    return math.sqrt(2 * trials * chance * (1 - chance))


def _count(bound: Callable[[int], float], value: float, trials: int) -> int:
    """Return the count that has this bound."""
    low, high = 0, trials
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) >= value * (1 - 1e-9) else (middle + 1, high)
    return low
