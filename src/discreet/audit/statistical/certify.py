r"""What counts of an event prove about a privacy guarantee (proof: ``docs/auditing.md``).

Hypothesis tests of a trade-off function by binomial counts, and Clopper-Pearson intervals. Let an
event have chance p on one data set and q on the other. A profile delta(.), which holds in both
orders, allows only

.. math:: p \le h(q) = \min_\epsilon \min\{ e^\epsilon q + \delta(\epsilon),
          1 - e^{-\epsilon} (1 - q - \delta(\epsilon)) \},

the second bound being the first for the complement with the data sets exchanged. In n trials each,
let the event happen a and b times. For a given q the chances of at least a hits, when p is h(q),
and of at most b hits are two independent p-values; by Fisher the chance that their product is at
most t is at most t (1 - ln t). The guarantee is refuted at level alpha if this is at most alpha
for *every* q. On a grid of q the first grows and the second falls with q, so that the product of
the first at the right end and the second at the left end of a cell bounds it within the cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, ndtr, ndtri

from discreet._types import Vector
from discreet.privacy import Profile

Allowed: TypeAlias = Callable[[Vector], Vector]
"""The largest chance on one data set, given the chance on the other."""

_CELLS = 600
_EPSILONS = 300
_SPREAD = 9.0
_EXACT = 1e-9


def chance_at_least(hits: ArrayLike, trials: int, tail: float) -> Vector:
    """Bound a chance from below, wrong with probability at most ``tail`` (Clopper-Pearson).

    Examples
    --------
    >>> float(chance_at_least(10, 10, 0.5).round(4))
    0.933
    """
    hits = np.asarray(hits, dtype=np.float64)
    bound = betaincinv(np.maximum(hits, 1.0), trials - hits + 1, tail)
    return np.where(hits > 0, bound * (1 - 1e-12), 0.0)


def chance_at_most(hits: ArrayLike, trials: int, tail: float) -> Vector:
    """Bound a chance from above, wrong with probability at most ``tail`` (Clopper-Pearson).

    Examples
    --------
    >>> float(chance_at_most(0, 10, 0.5).round(4))
    0.067
    """
    others = trials - np.asarray(hits, dtype=np.float64)
    bound: Vector = np.asarray(1 - chance_at_least(others, trials, tail))
    return bound


def p_value(hits: int, misses: int, trials: int, allowed: Allowed) -> float:
    """Bound the chance of counts as telling as these if the guarantee is true.

    Examples
    --------
    Ninety hits against ten: what twice the chance, at most, says about that.

    >>> p_value(90, 10, 100, lambda q: np.minimum(1.0, 2 * q)) < 1e-9
    True
    >>> p_value(20, 10, 100, lambda q: np.minimum(1.0, 2 * q)) > 0.1
    True
    """
    edges, at_most = _cells(misses, trials)
    at_least = _chance_of_at_least(hits, trials, np.clip(allowed(edges[1:]), 0.0, 1.0))
    product = float(np.max(at_least * at_most))
    if product <= 0.0:
        return 0.0
    # An error of a few units in the last place of a chance counts as often as there are trials.
    rounding = 1 + _EXACT + 1e-14 * trials
    return min(1.0, product * (1 - math.log(product)) * rounding)


@lru_cache(maxsize=64)  # searches try many guarantees against the same counts
def _cells(misses: int, trials: int) -> tuple[Vector, Vector]:
    """Return the edges of a grid of chances, and the chance of so few misses at each left end."""
    centre = (misses + 1) / (trials + 2)
    width = _SPREAD * math.sqrt(centre * (1 - centre) / trials) + _SPREAD**2 / trials
    inner = np.linspace(max(0.0, centre - width), min(1.0, centre + width), _CELLS)
    edges = np.unique(np.concatenate([[0.0], inner, [1.0]]))
    at_most = _chance_of_at_most(misses, trials, edges[:-1])
    edges.flags.writeable = at_most.flags.writeable = False
    return edges, at_most


def _chance_of_at_least(hits: int, trials: int, chance: Vector) -> Vector:
    """Return the chance of so many hits or more."""
    return betainc(hits, trials - hits + 1, chance) if hits > 0 else np.ones(chance.shape)


def _chance_of_at_most(hits: int, trials: int, chance: Vector) -> Vector:
    """Return the chance of so many hits or fewer."""
    if hits >= trials:
        return np.ones(chance.shape)
    return betainc(trials - hits, hits + 1, 1 - chance)


def limit_by_epsilon(epsilon: float, delta: float) -> Allowed:
    """Return what (epsilon, delta) allows."""
    factor = math.exp(min(epsilon, 700.0))

    def largest_chance(chance: Vector) -> Vector:
        return np.minimum(factor * chance + delta, 1 - (1 - chance - delta) / factor)

    return largest_chance


def limit_by_mu(mu: float) -> Allowed:
    """Return what Gaussian privacy of parameter mu allows."""

    def largest_chance(chance: Vector) -> Vector:
        largest: Vector = ndtr(ndtri(chance) + mu)
        return largest

    return largest_chance


@dataclass(frozen=True, eq=False)
class Claim:
    """A profile at some epsilons, computed once: any of them may serve to refute it.

    Parameters
    ----------
    epsilons
        Where the profile was looked at, increasing.
    deltas
        Its delta at each of them.

    Examples
    --------
    >>> from discreet.privacy import Pure
    >>> claim = Claim.of(Pure(1.0))
    >>> float(claim.allows()(np.array([0.2]))[0].round(3))
    0.544
    """

    epsilons: Vector
    deltas: Vector

    @classmethod
    def of(cls, profile: Profile, *, near: float = 1.0, far: float = 12.0) -> Claim:
        """Look at a profile closely near one epsilon, and roughly far beyond it.

        Parameters
        ----------
        profile
            What is claimed.
        near
            An epsilon to look at; a fine grid goes up to three times that.
        far
            The end of a coarse grid that begins at zero.
        """
        grids = [
            np.array([near]),
            np.linspace(0, 3 * near, _EPSILONS),
            np.linspace(0, far, _EPSILONS // 3),
        ]
        if math.isfinite(profile.pure_epsilon):
            grids.append(np.array([profile.pure_epsilon]))
        epsilons = np.unique(np.concatenate(grids))
        return cls(epsilons, profile.deltas(epsilons))

    def allows(self, share: float = 1.0) -> Allowed:
        """Return what the profile allows if its privacy loss is scaled by ``share``."""
        return self._limit if share == 1 else self._limit_of(share)

    @cached_property
    def _limit(self) -> Allowed:
        return self._limit_of(1.0)

    def _limit_of(self, share: float) -> Allowed:
        useful = self.deltas < 1
        factors = np.exp(np.minimum(share * self.epsilons[useful], 700.0))
        deltas = self.deltas[useful]
        slopes = np.concatenate([[0.0], factors, 1 / factors])
        offsets = np.concatenate([[1.0], deltas, 1 - (1 - deltas) / factors])
        slopes, offsets, corners = _lower_envelope(slopes, offsets)

        def largest_chance(chance: Vector) -> Vector:
            line = np.searchsorted(corners, chance)
            best: Vector = slopes[line] * chance + offsets[line]
            return best

        return largest_chance


def _lower_envelope(slopes: Vector, offsets: Vector) -> tuple[Vector, Vector, Vector]:
    """Return, of lines, those that are the lowest somewhere, steepest first, and where they meet.

    Every line is a bound, so an error of rounding in where they meet makes none wrong.
    """
    order = np.lexsort((offsets, -slopes))
    kept: list[tuple[float, float]] = []
    corners: list[float] = []
    for slope, offset in zip(slopes[order].tolist(), offsets[order].tolist(), strict=True):
        if kept and slope == kept[-1][0]:
            continue
        while kept:
            corner = (offset - kept[-1][1]) / (kept[-1][0] - slope)
            if not corners or corner > corners[-1]:
                corners.append(corner)
                break
            kept.pop()
            corners.pop()
        kept.append((slope, offset))
    lines = np.array(kept)
    return lines[:, 0], lines[:, 1], np.array(corners)


@dataclass(frozen=True)
class Evidence:
    """An event that happened so often in as many trials on each data set.

    Parameters
    ----------
    event
        What was counted, in words.
    hits, misses
        How often it happened on the data set for which it was expected, and on the other.
    trials
        How often each of them was run.
    level
        The chance that one may be wrong about it.

    Examples
    --------
    >>> from discreet.privacy import Pure
    >>> seen = Evidence("threshold", hits=6000, misses=2000, trials=10_000, level=1e-6)
    >>> round(seen.epsilon(0.0), 3), round(seen.mu, 3)
    (0.992, 1.0)
    >>> seen.refutes(Claim.of(Pure(0.9))), seen.refutes(Claim.of(Pure(1.0)))
    (True, False)
    """

    event: str
    hits: int
    misses: int
    trials: int
    level: float

    def epsilon(self, delta: float) -> float:
        """Bound epsilon at delta from below, whatever the mechanism."""
        return largest_epsilon([self], delta)

    @property
    def mu(self) -> float:
        """Bound from below the mu of any Gaussian profile that could be true."""
        return largest_mu([self])

    def refutes(self, claim: Claim, *, share: float = 1.0) -> bool:
        """Say whether a claim, with its privacy loss scaled by ``share``, cannot be true."""
        return self.is_against(claim.allows(share))

    def share(self, claim: Claim) -> float:
        """Return how much of the claimed privacy loss is certified; above one it is refuted."""
        return largest_share([self], claim)

    def is_against(self, allowed: Allowed) -> bool:
        """Say whether no mechanism within what is allowed would show this, but by rare chance."""
        return p_value(self.hits, self.misses, self.trials, allowed) <= self.level


def largest_epsilon(evidence: Iterable[Evidence], delta: float) -> float:
    """Bound epsilon at delta from below by the event that says most."""
    return _largest_by_any(evidence, lambda epsilon: limit_by_epsilon(epsilon, delta))


def largest_mu(evidence: Iterable[Evidence]) -> float:
    """Bound the mu of any Gaussian profile from below by the event that says most."""
    return _largest_by_any(evidence, limit_by_mu)


def largest_share(evidence: Iterable[Evidence], claim: Claim) -> float:
    """Return how much of the claimed privacy loss the event certifies that says most."""
    return _largest_by_any(evidence, claim.allows)


def _largest_by_any(evidence: Iterable[Evidence], limit: Callable[[float], Allowed]) -> float:
    """Return the largest level that an event refutes.

    An event is against all levels below one that it is against, so that those that are not against
    the best level so far need no search of their own.
    """
    best = 0.0
    for seen in dict.fromkeys(evidence):
        if seen.is_against(limit(best)):
            best = max(best, _largest_refuted(seen, limit))
    return best


def _largest_refuted(seen: Evidence, limit: Callable[[float], Allowed]) -> float:
    """Return, to six digits and from below, the largest level refuted; zero is known to be."""

    def is_refuted(level: float) -> bool:
        return seen.is_against(limit(level))

    low, high = 0.0, 1.0
    while is_refuted(high):
        low, high = high, 2 * high
        if high > 1e6:
            return low
    while high - low > 1e-6 * high + 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if is_refuted(middle) else (low, middle)
    return low
