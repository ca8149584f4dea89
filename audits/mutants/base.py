"""A deliberately broken mechanism, what it claims, and where the audit must find it out."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from discreet._types import Array
from discreet.audit import AuditResult, Evidence, Pair, audit
from discreet.audit.scores import Score
from discreet.audit.statistical.certify import Claim
from discreet.privacy import Approximate, Guarantee

CONFIDENCE = 1 - 4e-9
"""Of one audit: two hundred of them raise a false alarm with a chance below one in a million."""

LARGEST_MARGIN = 5.0
"""In standard deviations: beyond, the normal approximation says little."""


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
    if not found.violated:
        return 0.0
    claim = Claim.of(guarantee.profile, near=found.claimed, far=found.ceiling + 1)
    return max(_power(seen, claim) for seen in set(found.evidence))


def _power(seen: Evidence, claim: Claim) -> float:
    def holds(deviations: float) -> bool:
        hits = math.floor(seen.hits - deviations * _deviation(seen.hits, seen.trials))
        misses = math.ceil(seen.misses + deviations * _deviation(seen.misses, seen.trials))
        if hits < 0 or misses > seen.trials:
            return False
        return replace(seen, hits=hits, misses=misses).refutes(claim)

    low, high = 0.0, LARGEST_MARGIN
    if holds(high):
        low = high
    while high - low > 1e-2:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return float(1 - 2 * ndtr(-low))


def _deviation(hits: int, trials: int) -> float:
    """Return the deviation of the difference of two such counts; never zero."""
    chance = (hits + 1) / (trials + 2)
    return math.sqrt(2 * trials * chance * (1 - chance))
