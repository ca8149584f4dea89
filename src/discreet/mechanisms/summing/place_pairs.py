"""Two columns of numbers together: products of their places, which are looked up row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet._types import Integers, Vector

PAIR_WEIGHT = 0.5
"""What a product weighs beside the places that it is made of."""

FARTHEST_PLACE = 1.5
"""In deviations: products of what lies far out in two columns would make few rows very long."""

PAIR_SIGNAL = 30.0
"""With less signal for each feature, products counted, there are none."""


@dataclass(frozen=True, eq=False)
class PlacePair:
    """A feature that is a product of two functions, each of the cell of one column.

    The functions are places, of unit variance but for what is cut off far out.
    """

    columns: tuple[int, int]
    places: tuple[Vector, Vector]  # by cell, the last that of missing values
    weight: float

    @property
    def largest(self) -> float:
        """The largest size of the feature."""
        first, second = (float(np.abs(place).max()) for place in self.places)
        return abs(self.weight) * first * second

    def typical(self, shares: Sequence[Vector]) -> float:
        """Return the expected size of the feature, if the columns were independent."""
        sizes = (
            float(shares[at] @ np.abs(place))
            for at, place in zip(self.columns, self.places, strict=True)
        )
        return abs(self.weight) * next(sizes) * next(sizes)

    def apply(self, cells: Integers, times: float = 1.0) -> Vector:
        """Return the feature of rows, so many times: each by itself, to the last bit."""
        (one, other), (first, second) = self.columns, self.places
        found: Vector = (times * self.weight * first)[cells[:, one]] * second[cells[:, other]]
        return found


def pair_places(places: Sequence[Vector | None], weight: float) -> tuple[PlacePair, ...]:
    """Return the products of all pairs of columns that have a place."""
    placed = [
        (at, np.clip(place, -FARTHEST_PLACE, FARTHEST_PLACE))
        for at, place in enumerate(places)
        if place is not None
    ]
    return tuple(
        PlacePair((one, other), (first, second), weight)
        for (one, first), (other, second) in combinations(placed, 2)
    )


def count_pairs(levels: Sequence[int | None]) -> int:
    """Return how many pairs of columns of numbers there are.

    Examples
    --------
    >>> count_pairs([None, 3, None, None])
    3
    """
    numbers = sum(count is None for count in levels)
    return numbers * (numbers - 1) // 2
