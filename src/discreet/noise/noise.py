"""Where a mechanism gets its randomness: nowhere else.

:class:`SystemNoise` is the real thing. :class:`RehearsalNoise` is for tests and demonstrations:
it repeats itself on purpose, says ``is_private = False``, and what it touches is not private.
"""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import NoReturn

import numpy as np

from discreet import _checks
from discreet._types import Booleans, Integers
from discreet._types import Words as WordArray
from discreet.errors import InputError, InputTypeError, SealedError
from discreet.noise import (
    coin,
    discrete_laplace,
    law,
    selection,
    trial_count,
    truncated_geometric,
    uniform,
)
from discreet.noise.truncated_geometric import MOST_BITS
from discreet.noise.words import CipherWords, WordSupply, check_cipher, fresh_words, source_of_words

REHEARSAL = "repeatable noise, not private"
"""How the source of a rehearsal begins."""

ALL_ROWS = 1 << 64
"""The threshold that keeps every row in :meth:`Noise.subset`."""


CHECKED_KEYS = 4
"""Keys read before anything is paid: a source that goes round in less than so many shows."""


class Noise(ABC):
    """The only source of randomness; every method draws from its exact law.

    Examples
    --------
    >>> def is_repeatable(noise: Noise) -> bool:
    ...     return not noise.is_private
    >>> is_repeatable(RehearsalNoise(1)), is_repeatable(SystemNoise())
    (True, False)
    """

    __slots__ = ()

    @property
    @abstractmethod
    def is_private(self) -> bool:
        """Whether a release made with this noise may be called private."""

    @property
    def source(self) -> str:
        """Where the randomness comes from, for whoever reads a release."""
        return type(self).__name__

    @abstractmethod
    def words(self) -> WordSupply:
        """Start a fresh supply of uniform words, independent of all others."""

    def check(self) -> None:
        """Raise unless this noise can be drawn; called before any row is read."""
        for _ in range(CHECKED_KEYS):
            self.words().take(2)

    def gaussian(self, count: int, bits: int) -> Integers:
        """Return floor(2**bits * X) for ``count`` independent standard Gaussian X."""
        _checks.whole(count=count, at_least=0)
        _checks.whole(bits=bits, at_least=law.MIN_BITS, at_most=law.MAX_BITS)
        return law.draw(law.GAUSSIAN, self.words(), count, bits)

    def laplace(self, count: int, bits: int) -> Integers:
        """Return floor(2**bits * X) for ``count`` independent Laplace X of scale one."""
        _checks.whole(count=count, at_least=0)
        _checks.whole(bits=bits, at_least=law.MIN_BITS, at_most=law.MAX_BITS)
        return law.draw(law.LAPLACE, self.words(), count, bits)

    def discrete_laplace(self, count: int, rate: int) -> Integers:
        """Return ``count`` integers k, of chances proportional to ``exp(-|k| rate / 2**40)``."""
        _checks.whole(count=count, at_least=0)
        _checks.whole(rate=rate, at_least=1, at_most=discrete_laplace.LARGEST_RATE)
        return discrete_laplace.draw(self.words(), int(rate), int(count))

    def below(self, bound: int, count: int) -> WordArray:
        """Return ``count`` uniform integers among 0, 1, ..., bound - 1."""
        _checks.whole(bound=bound, at_least=1, at_most=1 << 64)
        _checks.whole(count=count, at_least=0)
        return uniform.draw_below(self.words(), int(bound), count)

    def coins(self, numerators: Integers, denominator: int) -> Booleans:
        """Flip one coin of chance exp(-numerator/denominator) for each numerator.

        Drawing candidates without replacement until a coin shows heads is permute-and-flip (pure
        epsilon only); with replacement it is the exponential mechanism (bounded range).
        """
        _checks.whole(denominator=denominator, at_least=1, at_most=coin.MOST)
        numerators = np.asarray(numerators)
        if numerators.dtype.kind not in "iu":
            raise InputTypeError("numerators must be integers; snap scores to a grid first.")
        if numerators.size and numerators.min() < 0:
            raise InputError("numerators must not be negative; measure from the best score.")
        if numerators.size and numerators.max() > coin.MOST:
            raise InputError("numerators must be below 2**63; use a coarser grid for scores.")
        return coin.flip(self.words(), numerators.astype(np.int64), int(denominator))

    def candidates(
        self, counts: Integers, scores: Integers, rate: Fraction, draws: int = 1
    ) -> tuple[Integers, Integers]:
        """Draw candidates with chance proportional to exp(-score * rate): exponential mechanism.

        Candidates come in groups of equal score.

        Parameters
        ----------
        counts
            How many candidates are in each group, at least one; at most 2**40 in all.
        scores
            The score of each group, a whole number from 0 to 2**62; the best has the least.
        rate
            What a unit of score costs, as an exact fraction; positive.
        draws
            How many candidates are drawn, independently.

        Returns
        -------
        groups, places
            The group of each drawn candidate, and its place among the ``counts[group]`` of its
            group.
        """
        _checks.instance(Fraction, rate=rate)
        _checks.whole(draws=draws, at_least=0)
        counts, scores = np.asarray(counts), np.asarray(scores)
        if counts.dtype.kind not in "iu" or scores.dtype.kind not in "iu":
            raise InputTypeError("counts and scores must be integers; snap scores to a grid first.")
        if rate <= 0:
            raise InputError("rate must be positive.")
        if counts.ndim != 1 or counts.shape != scores.shape or counts.size == 0:
            raise InputError("counts and scores must be of one length, along one axis.")
        most = selection.MOST_CANDIDATES
        if counts.min() < 1 or counts.sum(dtype=np.float64) > most:
            raise InputError("a group needs a candidate, and all have at most 2**40 together.")
        if scores.min() < 0 or scores.max() > selection.MOST_SCORE:
            raise InputError("scores must lie between 0 and 2**62; use a coarser grid for them.")
        counts, scores = counts.astype(np.int64), scores.astype(np.int64)
        return selection.choose(self.words(), counts, scores, rate, int(draws))

    def truncated_geometric(self, rates: Integers, bits: Integers) -> Integers:
        """Draw a whole number k below 2**bits with chance proportional to exp(-k * rate / 2**40).

        One for each rate; a rate of zero gives uniform numbers.
        """
        rates, bits = np.asarray(rates), np.asarray(bits)
        if rates.dtype.kind not in "iu" or bits.dtype.kind not in "iu":
            raise InputTypeError("rates and bits must be integers; rates count units of 2**-40.")
        if rates.ndim != 1 or rates.shape != bits.shape:
            raise InputError("rates and bits must be of one length, along one axis.")
        if rates.size and (rates.min() < 0 or bits.min() < 0 or bits.max() > MOST_BITS):
            raise InputError("rates must not be negative, and bits lie between 0 and 58.")
        rates, bits = rates.astype(np.int64), bits.astype(np.int64)
        if (rates > (1 << MOST_BITS) >> bits).any():
            raise InputError("a rate times the largest number must stay below 2**58 units.")
        return truncated_geometric.draw(self.words(), rates, bits)

    def negative_binomial(self, ratio: int, shape: int) -> int:
        """Draw a whole number from one on: truncated negative binomial.

        Parameters
        ----------
        ratio
            By which chances fall in the end, in units of 2**-32; between 0 and 1.
        shape
            From 0, logarithmic, to 1, geometric, in units of 2**-20.
        """
        _checks.whole(ratio=ratio, at_least=0, at_most=(1 << trial_count.RATIO_BITS) - 1)
        _checks.whole(shape=shape, at_least=0, at_most=1 << trial_count.SHAPE_BITS)
        return trial_count.draw_negative_binomial(self.words(), int(ratio), int(shape))

    def poisson(self, mean: int) -> int:
        """Draw a Poisson number; its mean is in units of 2**-20, and at most 2**20."""
        _checks.whole(mean=mean, at_least=0, at_most=1 << 2 * trial_count.SHAPE_BITS)
        return trial_count.draw_poisson(self.words(), int(mean))

    def subset(self, population: int, threshold: int) -> Booleans:
        """Keep each of ``population`` rows with chance exactly threshold / 2**64."""
        places = self.subset_places(population, threshold)
        is_kept = np.zeros(population, dtype=np.bool_)
        is_kept[places] = True
        return is_kept

    def subset_places(self, population: int, threshold: int) -> Integers:
        """Return the places of the rows that :meth:`subset` would keep, in order."""
        _checks.whole(population=population, at_least=0)
        _checks.whole(threshold=threshold, at_least=0, at_most=ALL_ROWS)
        if threshold == ALL_ROWS:
            return np.arange(population)
        return uniform.which_below(self.words(), int(threshold), int(population))

    def places(self, population: int, size: int) -> Integers:
        """Return ``size`` of the places 0, 1, ..., population - 1; all sets are equally likely."""
        _checks.whole(population=population, at_least=1, at_most=1 << 62)
        _checks.whole(size=size, at_least=0, at_most=population)
        return uniform.draw_distinct(self.words(), int(population), int(size))


class SystemNoise(Noise):
    """Noise under a fresh AES-256 key from the operating system in every call.

    No key is kept between calls, so forked processes and threads differ by construction.

    Examples
    --------
    >>> noise = SystemNoise()
    >>> noise.is_private, noise.gaussian(3, bits=30).dtype.name
    (True, 'int64')
    """

    @property
    def is_private(self) -> bool:
        return True

    __slots__ = ()

    @property
    def source(self) -> str:
        return source_of_words()

    def words(self) -> WordSupply:
        return fresh_words()

    def __reduce__(self) -> NoReturn:
        raise SealedError(
            "system noise is never stored; make a new SystemNoise() where it is used."
        )

    def __copy__(self) -> SystemNoise:
        return self

    def __deepcopy__(self, memo: object) -> SystemNoise:
        return self

    def __repr__(self) -> str:
        return "SystemNoise()"


class RehearsalNoise(Noise):
    """Seeded noise for tests and simulations; **not private**.

    The n-th call of two rehearsals with the same seed gives the same draws.

    Parameters
    ----------
    seed
        A whole number, zero or larger.

    Examples
    --------
    >>> first, second = RehearsalNoise(7), RehearsalNoise(7)
    >>> first.gaussian(3, bits=30).tolist() == second.gaussian(3, bits=30).tolist()
    True
    >>> RehearsalNoise(7).is_private
    False
    """

    @property
    def is_private(self) -> bool:
        return False

    def __init__(self, seed: int) -> None:
        _checks.whole(seed=seed, at_least=0)
        self._seed = int(seed)
        self._calls = 0
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        return f"{REHEARSAL}: AES-256 in counter mode under keys made from a seed"

    def words(self) -> WordSupply:
        check_cipher()
        with self._lock:
            call, self._calls = self._calls, self._calls + 1
        return CipherWords(
            hashlib.sha256(f"discreet rehearsal {self._seed} {call}".encode()).digest()
        )

    def check(self) -> None:
        check_cipher()

    def __getstate__(self) -> dict[str, int]:
        return {"seed": self._seed, "calls": self._calls}

    def __setstate__(self, state: dict[str, int]) -> None:
        self._seed, self._calls, self._lock = state["seed"], state["calls"], threading.Lock()

    def __repr__(self) -> str:
        return f"RehearsalNoise({self._seed})"
