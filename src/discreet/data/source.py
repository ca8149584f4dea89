"""Where rows live: something that hands out clipped blocks once it may."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet._types import Integers, Vector
from discreet.data.block import Block
from discreet.declared import Bounds


class Source(ABC):
    """Rows that have been accepted by their shape and type alone; no value has been read."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows; private unless the unit says otherwise."""

    @abstractmethod
    def check(self, bounds: Bounds) -> None:
        """Raise unless the shape fits the bounds; reads no value."""

    @abstractmethod
    def prepare(self, bounds: Bounds) -> Prepared:
        """Work out how each row is clipped: the first time values are read."""

    @abstractmethod
    def block_rows(self) -> int:
        """Return how many rows a block should have; decided by shapes that are public."""


class Prepared(ABC):
    """Rows ready to be summed."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows."""

    labels: Vector | None
    weights: Vector | None

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return the clipped rows from ``start`` up to ``stop``."""

    @abstractmethod
    def take(self, positions: Integers) -> Prepared:
        """Return some of the rows, in the given order."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Prepared:
        """Return the rows from ``start`` up to ``stop``, not copied."""

    @abstractmethod
    def relabelled(self, labels: Vector) -> Prepared:
        """Return the same rows with other labels."""

    def transformed(self, transform: Callable[[Any], Any]) -> Any:
        """Return what ``transform`` makes of the clipped rows, each by itself."""
        return transform(self.gather()[0])

    @abstractmethod
    def gather(self) -> tuple[Any, Vector | None]:
        """Return all clipped rows and labels as new arrays."""


def some(values: Vector | None, positions: Integers | slice) -> Vector | None:
    """Return part of an optional vector."""
    return None if values is None else np.asarray(values[positions])
