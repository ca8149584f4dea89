"""How many rows fall into each cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.questions.base import Question
from discreet.questions.bounds import MOST_ROWS, Bounds

MOST_CELLS = 2**20


@dataclass(frozen=True)
class CellCounts(Question):
    """The number of rows in each cell; a row is in one cell of each histogram.

    A row holds one number for each histogram: the cell that it is in, which may depend on that
    row alone. Which cells there are is declared: edges taken from the rows would tell of them.

    Parameters
    ----------
    cells
        How many cells each histogram has, at least two; one number for a single histogram.
    max_rows
        A public bound on the number of rows.

    Attributes
    ----------
    bounds
        What follows for the rows: numbers from zero up to the last cell; others are brought
        inside.

    Examples
    --------
    >>> CellCounts(cells=(34,)).bounds.features
    Box(lower=(0.0,), upper=(33.0,))
    >>> CellCounts([3, 8]).total
    11
    """

    cells: tuple[int, ...]
    max_rows: int = MOST_ROWS
    bounds: Bounds = field(init=False, repr=False)

    def __post_init__(self) -> None:
        listed = self.cells if isinstance(self.cells, Iterable) else (self.cells,)
        object.__setattr__(self, "cells", tuple(listed))
        for count in self.cells:
            _checks.whole(cells=count, at_least=2, at_most=MOST_CELLS)
        if not self.cells:
            raise InputError("there must be at least one histogram; got no number of cells.")
        object.__setattr__(self, "cells", tuple(map(int, self.cells)))
        last = [count - 1 for count in self.cells]
        features = Box([0] * len(last), last)
        bounds = Bounds(features, n_features=len(last), max_rows=self.max_rows)
        object.__setattr__(self, "bounds", bounds)

    @property
    def total(self) -> int:
        """How many cells there are in all."""
        return sum(self.cells)
