"""Kernels that are tables: a public matrix over a declared list of items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._types import Array, Booleans, Integers, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.kernels.base import Domain, Kernel, check_gram

MOST_ITEMS = 3000
TOLERANCE = 1e-10
"""How far below zero an eigenvalue may be, as a part of the largest diagonal entry."""


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(Kernel):
    """A kernel on a declared finite list of items, by its matrix.

    A point has one column: the number of its item, counted from zero. The matrix is public: it
    says how alike any two *possible* items are, not who is in a table. A Gram matrix of private
    rows will not do, because there one record would decide how others are read.

    Parameters
    ----------
    gram
        A symmetric, positive semidefinite matrix, one row and column an item; at most 3,000.

    Examples
    --------
    >>> colours = ["red", "crimson", "blue"]
    >>> kernel = Precomputed([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> kernel.evaluate([[colours.index("red")]], [[1.0], [2.0]])
    array([[0.9, 0. ]])
    >>> words = Precomputed.of(["ab", "abc", "x"], lambda a, b: float(len(set(a) & set(b))))
    >>> words
    Precomputed(3 items)
    """

    gram: ArrayLike

    works_by_entries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        gram = np.array(self.gram, dtype=np.float64)
        if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not gram.size:
            raise InputError(f"gram must be a square matrix of items; got shape {gram.shape}.")
        if len(gram) > MOST_ITEMS:
            raise InputError(f"gram may have at most {MOST_ITEMS:,} items; got {len(gram):,}.")
        check_gram(gram, TOLERANCE)
        if not (gram == gram.T).all():
            gram = (gram + gram.T) / 2
        gram.flags.writeable = False
        object.__setattr__(self, "gram", gram)

    @classmethod
    def of(cls, items: Sequence[Any], function: Callable[[Any, Any], float]) -> Precomputed:
        """Return the kernel of a declared list of items: strings, sets, graphs, anything.

        Parameters
        ----------
        items
            Every item that may occur, a public list; a point is the number of its item.
        function
            The kernel of two items, symmetric and positive semidefinite.
        """
        return cls([[function(one, other) for other in items] for one in items])

    @property
    def table(self) -> Array:
        """The matrix."""
        return np.asarray(self.gram)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precomputed) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash((Precomputed, (self.table + 0.0).tobytes()))

    def __repr__(self) -> str:
        return f"Precomputed({len(self.table)} items)"

    def _evaluate(self, rows: Array, points: Array) -> Array:
        here, is_item = self._items(rows)
        there, is_other = self._items(points)
        found: Array = self.table[np.ix_(here, there)]
        found[~is_item] = 0.0
        found[:, ~is_other] = 0.0
        return found

    def _diagonal(self, rows: Array) -> Vector:
        items, is_item = self._items(rows)
        return np.where(is_item, np.diag(self.table)[items], np.nan)

    def _items(self, rows: Array) -> tuple[Integers, Booleans]:
        """Return the number of each row's item, and which rows are items at all."""
        if rows.shape[1] != 1:
            raise InputError(f"items have one column, their number; got {rows.shape[1]} columns.")
        given = rows[:, 0]
        is_item = (given >= 0) & (given < len(self.table)) & (given == np.floor(given))
        return np.where(is_item, given, 0.0).astype(np.int64), is_item

    def _error(self, bounds: Domain) -> float:
        """The nearest semidefinite matrix is as far as the least eigenvalue, itself computed."""
        largest = float(np.diag(self.table).max())
        return (TOLERANCE + 4 * len(self.table) ** 2 * limits.UNIT) * largest
