"""Sums, means and counts of rows, in all or in cells that are fixed or follow the scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.questions.base import Question
from discreet.questions.bounds import MOST_ROWS, Bounds
from discreet.questions.contributions import Contributions


@dataclass(frozen=True)
class VectorSum(Question):
    """The sum of the clipped rows, intercept column included.

    Parameters
    ----------
    bounds
        What is declared about the rows. An intercept's column is summed like the others, and comes
        last.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> VectorSum(Bounds(L2Ball(1.0), n_features=3)).bounds.width
    3
    """

    bounds: Bounds

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)


@dataclass(frozen=True)
class VectorMean(Question):
    """The mean of the clipped rows.

    Parameters
    ----------
    bounds
        What is declared about the rows; no intercept, whose mean is known.

    Examples
    --------
    >>> from discreet.geometry import Box
    >>> ages_and_weights = VectorMean(Bounds(Box([0, 0], [120, 300]), n_features=2))
    """

    bounds: Bounds

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if self.bounds.intercept is not None:
            raise InputError("the mean of a constant column is known; declare no intercept.")


@dataclass(frozen=True)
class RowCount(Question):
    """How many rows there are, or how many carry one label.

    Parameters
    ----------
    bounds
        What is declared about the rows.
    label
        The label to count; None counts all rows. The bounds have to declare labels for it.

    Examples
    --------
    >>> from discreet.questions.bounds import LabelSet
    >>> from discreet.geometry import L2Ball
    >>> readmitted = RowCount(Bounds(L2Ball(1.0), 3, labels=LabelSet([0, 1])), label=1)
    """

    bounds: Bounds
    label: float | None = None

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if self.label is not None:
            _checks.finite(label=self.label)
            if self.bounds.labels is None:
                raise InputError("the bounds declare no labels to count.")


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
    person
        What becomes of the records of one person, where persons are protected.

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
    person: Contributions | None = None
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
        bounds = Bounds(features, len(last), max_rows=self.max_rows, person=self.person)
        object.__setattr__(self, "bounds", bounds)

    @property
    def total(self) -> int:
        """How many cells there are in all."""
        return sum(self.cells)


FARTHEST = 750.0
"""Log-odds beyond this are no longer told apart."""

MOST_BINS = 2048


@dataclass(frozen=True)
class FollowingCounts(Question):
    """Rows by class and bin of their score, where bins are narrow where scores are many.

    A row holds three numbers: its class (one or two; zero if it cannot be scored), its log-odds,
    and a coin between zero and one, secret and independent of everything else.

    Parameters
    ----------
    cells
        Of a fixed grid, by which it is found where scores are many; an even number.
    thresholds
        Log-odds that are edges in any case.
    has_halves
        Whether a bin is counted in two halves, between which coins decide, so that the mean log
        loss of rows is that of the ends of their bins.
    most_bins
        How many bins there are at most, beside those that thresholds add.
    max_rows
        A public bound on the number of rows.
    person
        What becomes of the records of one person, where persons are protected.

    Attributes
    ----------
    bounds
        What follows for the rows.

    Examples
    --------
    >>> FollowingCounts(64).bounds.n_features
    3
    """

    cells: int = 64
    thresholds: tuple[float, ...] = (0.0,)
    has_halves: bool = True
    most_bins: int = MOST_BINS
    max_rows: int = MOST_ROWS
    person: Contributions | None = None
    bounds: Bounds = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _checks.whole(cells=self.cells, at_least=2, at_most=4096)
        _checks.whole(most_bins=self.most_bins, at_least=2, at_most=MOST_BINS)
        _checks.instance(bool, has_halves=self.has_halves)
        if self.cells % 2 or self.most_bins % 2:
            raise InputError("cells and most_bins must be even: one half on either side of zero.")
        thresholds = tuple(sorted(set(map(float, self.thresholds))))
        if not all(math.isfinite(edge) and abs(edge) < FARTHEST - 1 for edge in thresholds):
            raise InputError(f"thresholds must be log-odds within ±{FARTHEST - 1:g}.")
        object.__setattr__(self, "thresholds", thresholds)
        box = Box([0.0, -FARTHEST, 0.0], [2.0, FARTHEST, 1.0])
        bounds = Bounds(box, n_features=3, max_rows=self.max_rows, person=self.person)
        object.__setattr__(self, "bounds", bounds)

    @property
    def most_cells(self) -> int:
        """How many counts the second of two histograms has at most."""
        return 1 + 2 * (1 + self.has_halves) * (self.most_bins + len(self.thresholds))
