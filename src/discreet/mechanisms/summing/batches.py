"""Over which rows a sum goes: all, each by a chance of its own, or so many of them.

Minibatches: full, of Poisson sampling, or of a fixed size without replacement. Where persons are
protected, it is persons that are drawn, each with all of their rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Integers
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.noise import ALL_ROWS, Noise, distance_of_gaussian
from discreet.privacy import FixedBatchGaussian, Gaussian, Profile, SampledGaussian, Unit

AT_ONCE = 2**16
"""Places drawn together."""


class Batches(ABC):
    """A public rule by which each step draws its rows, afresh."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The chance of a row to be in a batch; what sums are divided by."""

    @abstractmethod
    def sentence(self) -> str:
        """Say over what sums go."""

    @abstractmethod
    def sensitivity(self, slope: float, unit: Unit) -> float:
        """Return what noise is measured against, ``slope`` bounding one row's gradient."""

    @abstractmethod
    def profile(self, mu: float, steps: int, unit: Unit) -> Profile:
        """Return the profile of all steps; ``mu`` is the sensitivity, snapped, over the noise."""

    @abstractmethod
    def draw(self, rows: OpenRows, noise: Noise, steps: int) -> Iterator[OpenRows]:
        """Yield the batch of each step."""

    def variance(self, count: int) -> float:
        """Bound the variance of a sum of ``count`` unit vectors over a batch, over the rate."""
        return count * (1 - self.rate) / self.rate

    def distance(self, max_rows: int) -> float:
        """Bound how far the draw of one batch is from an ideal one."""
        return distance_of_gaussian(max_rows)


@dataclass(frozen=True)
class AllRows(Batches):
    """Every row in every step."""

    rate: ClassVar[float] = 1.0

    def sentence(self) -> str:
        return "all rows"

    def sensitivity(self, slope: float, unit: Unit) -> float:
        return unit.spread(slope)

    def profile(self, mu: float, steps: int, unit: Unit) -> Profile:
        return Gaussian(math.sqrt(steps) * mu * (1 + 1e-15))

    def draw(self, rows: OpenRows, noise: Noise, steps: int) -> Iterator[OpenRows]:
        for _ in range(steps):
            yield rows

    def distance(self, max_rows: int) -> float:
        return 0.0


@dataclass(frozen=True)
class PoissonBatches(Batches):
    """Each row by itself, with chance threshold / 2**64."""

    threshold: int

    @property
    def rate(self) -> float:
        return self.threshold / ALL_ROWS

    def sentence(self) -> str:
        return f"batches of each row with chance {self.rate:.3g}"

    def sensitivity(self, slope: float, unit: Unit) -> float:
        return slope

    def profile(self, mu: float, steps: int, unit: Unit) -> Profile:
        return SampledGaussian(mu, self.rate, steps, unit.is_replace, unit.protects_persons)

    def draw(self, rows: OpenRows, noise: Noise, steps: int) -> Iterator[OpenRows]:
        return rows.samples(self.threshold, noise, steps)


def batches_at(rate: float) -> AllRows | PoissonBatches:
    """Return batches of each row with a chance: all rows, if that is one."""
    threshold = ALL_ROWS if rate == 1 else int(math.ldexp(rate, 64))
    if threshold < 1:
        raise CalibrationError("the rate of sampling is below 2**-64; use a larger one.")
    return AllRows() if threshold == ALL_ROWS else PoissonBatches(threshold)


@dataclass(frozen=True)
class FixedBatches(Batches):
    """So many of a public number of places, all sets of them equally likely; replace-one only.

    Rows, or persons where these are protected, sit in the first places. Places beyond the last one
    are empty and add nothing, so that the chance of each is what it is accounted for, however many
    there are.
    """

    size: int
    population: int

    @classmethod
    def of(cls, size: int, population: int, unit: Unit) -> FixedBatches:
        """Return batches of a size, or raise where they would tell how many rows there are."""
        if not (unit.rows_are_public or unit.persons_are_public):
            raise CalibrationError(
                "batches of a fixed size tell how many rows or persons there are, which the unit "
                f"{unit.name!r} keeps private; use rate=..., a chance for each, or the unit "
                "'replace', or 'replace_person'."
            )
        if size > population:
            raise CalibrationError(
                f"a batch of {size:,} rows is more than max_rows, {population:,}; use fewer."
            )
        return cls(size, population)

    @property
    def rate(self) -> float:
        return self.size / self.population

    def sentence(self) -> str:
        one = self.size == 1
        return f"batches of {self.size:,} row{'s' * (not one)} out of {self.population:,}"

    def sensitivity(self, slope: float, unit: Unit) -> float:
        return 2 * slope

    def profile(self, mu: float, steps: int, unit: Unit) -> Profile:
        return FixedBatchGaussian(
            mu / 2 * (1 + 1e-15), self.size, self.population, steps, unit.protects_persons
        )

    def distance(self, max_rows: int) -> float:
        return distance_of_gaussian(4 * max_rows)  # places are drawn until enough are distinct

    def draw(self, rows: OpenRows, noise: Noise, steps: int) -> Iterator[OpenRows]:
        at_once = max(1, AT_ONCE // self.size)
        for start in range(0, steps, at_once):
            yield from rows.batches(self._places(noise, min(at_once, steps - start)))

    def _places(self, noise: Noise, steps: int) -> Integers:
        """Return a line of places for each of some steps."""
        if self.size == 1:
            return noise.below(self.population, steps).astype(np.int64)[:, None]
        return np.array([noise.places(self.population, self.size) for _ in range(steps)])
