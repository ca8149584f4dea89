"""How the values of every column are spread, and those of the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.questions.base import Question
from discreet.questions.bounds import MOST_ROWS, Bounds, Interval, Labels, LabelSet
from discreet.questions.contributions import Contributions

MOST_LEVELS = 2**20
MOST_NUMBERS = 2**24
"""How many numbers one release may hold."""

TARGET_DEPTH = 4
"""A target that is a number is told apart in 2**4 cells."""


@dataclass(frozen=True)
class Marginals(Question):
    """The distribution of each column by itself, and of the label, all of them at once.

    A row holds one whole number for each column, the cell that its value is in, which may depend
    on that row alone. A column of numbers has 2**depth cells of equal width, from left to right,
    and one more, the last, for values that are missing. If its numbers are whole, and no more than
    those cells, it has a cell for each of them instead. A category has a cell for each declared
    level, and one more, the last, for anything else.

    Parameters
    ----------
    levels
        For each column the number of its declared levels, or None if it is one of numbers.
    labels
        Declared labels: a set of them is counted label by label, an interval in 16 cells. None if
        rows carry none.
    depth
        How often the range of a column of numbers is halved, at most 16.
    max_rows
        A public bound on the number of rows.
    by
        The place of a category: every other column is counted for each of its levels apart, and
        for anything else. None to count all rows together.
    whole
        Columns of whole numbers: the place of each, and how many values it has, at least two.
    person
        What becomes of the records of one person, where persons are protected.

    Attributes
    ----------
    bounds
        What follows for the rows: numbers from zero up to the last cell; others are brought
        inside.

    Examples
    --------
    >>> question = Marginals([None, 3])
    >>> question.bounds.features
    Box(lower=(0.0, 0.0), upper=(256.0, 3.0))
    >>> question.cells, Marginals([None, 3], whole=[(0, 10)]).cells
    ((257, 4), (11, 4))
    >>> Marginals([None, 3], by=1).copies  # the numbers once for each of three levels, and the rest
    (4, 1)
    """

    levels: tuple[int | None, ...]
    labels: Labels | None = None
    depth: int = 8
    max_rows: int = MOST_ROWS
    by: int | None = None
    whole: tuple[tuple[int, int], ...] = ()
    person: Contributions | None = None
    bounds: Bounds = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.levels, Sequence):
            raise InputError("levels must list a number of levels, or None, for each column.")
        for count in (listed := tuple(self.levels)):
            if count is not None:
                _checks.whole(levels=count, at_least=1, at_most=MOST_LEVELS)
        if not listed:
            raise InputError("there must be at least one column; got none.")
        _checks.whole(depth=self.depth, at_least=1, at_most=16)
        plain = tuple(None if count is None else int(count) for count in listed)
        object.__setattr__(self, "levels", plain)
        object.__setattr__(self, "depth", int(self.depth))
        if not (self.labels is None or isinstance(self.labels, LabelSet | Interval)):
            raise InputError("labels must be a LabelSet or an Interval, or None.")
        object.__setattr__(self, "whole", tuple((int(at), int(count)) for at, count in self.whole))
        if sorted({at for at, _ in self.whole}) != [at for at, _ in self.whole]:
            raise InputError("whole must list columns in their order, each of them once.")
        for place, count in self.whole:
            _checks.whole(whole=count, at_least=2, at_most=2**self.depth)
            if not 0 <= place < len(plain) or plain[place] is not None:
                raise InputError(f"whole must name columns of numbers; {place} is another.")
        if self.by is not None:
            _checks.whole(by=self.by, at_least=0, at_most=len(plain) - 1)
            if plain[self.by] is None:
                raise InputError("by must be the place of a category, whose levels are declared.")
        if sum(np.multiply(self.cells, self.copies).tolist()) > MOST_NUMBERS:
            raise InputError(f"columns must have at most {MOST_NUMBERS:,} cells together.")
        last = [cells - 1 for cells in self.cells]
        bounds = Bounds(
            Box([0] * len(last), last),
            len(last),
            labels=self.labels,
            max_rows=self.max_rows,
            person=self.person,
        )
        object.__setattr__(self, "bounds", bounds)

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells each column has, that of missing values or anything else included."""
        values, most = dict(self.whole), 2**self.depth
        return tuple(
            1 + (values.get(place, most) if count is None else count)
            for place, count in enumerate(self.levels)
        )

    @property
    def copies(self) -> tuple[int, ...]:
        """How often the cells of each column are counted: for each level of ``by`` apart."""
        if self.by is None:
            return (1,) * len(self.levels)
        groups = self.cells[self.by]
        return tuple(1 if column == self.by else groups for column in range(len(self.levels)))

    @property
    def numeric(self) -> int:
        """How many columns hold numbers."""
        return self.levels.count(None)
