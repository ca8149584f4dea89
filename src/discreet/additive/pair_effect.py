"""What two columns of numbers add together, beyond what each of them adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.mechanisms.additive_release import AdditiveRelease
from discreet.preprocessing import Column, Numeric

TOLD_SHARE = 0.05
"""Pairs count that move scores at least so far, beside the column that moves them most."""


@dataclass(frozen=True, eq=False)
class PairEffect:
    """What two columns of numbers add together: one number times the product of two places.

    Parameters
    ----------
    columns
        Where the two columns stand in the table.
    weight
        What is added where both values are one deviation above the mean of their columns, and
        where both are one below; where one is above and the other below, it is taken off. Of three
        or more classes a number for each.
    places
        For each of the two columns: how many deviations a cell is above the mean, 1.5 at most. The
        last cell is that of missing values, which are in the middle.
    shares
        For each of the two columns: how large a share of rows is in each cell.

    Examples
    --------
    >>> place, share = np.array([-1.0, 1, 0]), np.array([0.5, 0.5, 0])
    >>> effect = PairEffect((0, 2), np.array([0.5]), (place, place), (share, share))
    >>> effect.add(np.array([[0, 7, 0], [0, 7, 1], [0, 7, 2]])).tolist(), effect.importance
    ([[0.5], [-0.5], [-0.0]], 0.5)
    """

    columns: tuple[int, int]
    weight: Vector
    places: tuple[Vector, Vector]
    shares: tuple[Vector, Vector]

    @property
    def importance(self) -> float:
        """The standard deviation of what is added, if the two columns have nothing in common.

        Of three or more classes, the root of the mean of squares.
        """
        squares = (share @ place**2 for share, place in zip(self.shares, self.places, strict=True))
        return float(np.sqrt(np.mean(np.square(self.weight)) * next(squares) * next(squares)))

    def add(self, cells: Integers) -> Array:
        """Return what is added to each score of rows of cells, each row by itself."""
        (one, other), (first, second) = self.columns, self.places
        product = first[cells[:, one]] * second[cells[:, other]]
        return product[:, None] * self.weight


def list_pairs(columns: list[Column]) -> list[tuple[int, int]]:
    """Return the places of all pairs of columns of numbers, in their order."""
    numbers = (place for place, column in enumerate(columns) if isinstance(column, Numeric))
    return list(combinations(numbers, 2))


def keep_pairs(read: AdditiveRelease, columns: list[Column], ends: Integers) -> tuple[Any, Any]:
    """Return the weights of all pairs, a line for each score, and the places of all cells.

    None if the noise left no room for pairs.
    """
    released = read.frame.pairs
    if not released:
        return None, None
    order = {pair: at for at, pair in enumerate(list_pairs(columns))}
    found = read.pair_weights()
    weights, places = np.zeros((len(found), len(order))), np.zeros(int(ends[-1]))
    for pair, weight in zip(released, found.T, strict=True):
        weights[:, order[pair.columns]] = weight
        for column, place in zip(pair.columns, pair.places, strict=True):
            places[ends[column] - place.size : ends[column]] = place
    return weights, places


def read_pairs(model: Any, columns: list[Column], ends: Integers) -> list[PairEffect]:
    """Return the effects of pairs of a fitted model."""
    if model.pair_weights_ is None:
        return []
    places, shares = (
        np.split(cells, ends[:-1]) for cells in (model.cell_places_, model.cell_shares_)
    )
    return [
        PairEffect((one, other), weight, (places[one], places[other]), (shares[one], shares[other]))
        for (one, other), weight in zip(list_pairs(columns), model.pair_weights_.T, strict=True)
    ]


def name_pair(names: Iterable[str]) -> str:
    """Return the name of what two columns add together."""
    return " and ".join(names)


def tell_pairs(told: Mapping[str, PairEffect], every: Sized) -> list[str]:
    """Return lines to print, of those that are told among all pairs."""
    if not told:
        return []
    rest = ["Other pairs move scores far less."] if len(told) < len(every) else []
    return [
        "Added where both are a deviation above their means, or both below:",
        *(
            f"{name}  {', '.join(f'{add:+.3g}' for add in one.weight)}"
            for name, one in told.items()
        ),
        *rest,
    ]
