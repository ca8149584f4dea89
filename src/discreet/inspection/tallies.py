"""Counts of what a fit would do to cells, of some rows at a time; counts of parts add up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet._types import Booleans, Integers, Vector
from discreet.data.cells import label_of, number_of
from discreet.data.frame import Coded
from discreet.data.given_column import as_objects

BINS = 1000
"""Equal parts of a declared range, in which values are counted."""

MOST_DISTINCT = 10_000
"""Of more values that nobody declared, those that came later are counted together."""

LATER = "..."
"""What these are called."""


@dataclass(frozen=True, eq=False)
class NumberTally:
    """Numbers of one column against their range, if there is one."""

    below: int = 0
    above: int = 0
    missing: int = 0
    lowest: float = math.inf
    highest: float = -math.inf
    bins: Integers = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))
    unreadable: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: NumberTally) -> NumberTally:
        return NumberTally(
            self.below + other.below,
            self.above + other.above,
            self.missing + other.missing,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.bins + other.bins,
            _add_counts(self.unreadable, other.unreadable),
        )

    @property
    def is_constant(self) -> bool:
        """Whether all cells that hold a number hold the same."""
        return self.lowest == self.highest and not self.missing

    def share_used(self, most: float = 0.98) -> float | None:
        """Return the share of the range in which the middle of the values lies; None for none."""
        total = int(self.bins.sum())
        if not total:
            return None
        reached = np.cumsum(self.bins)
        tail = (1 - most) / 2 * total
        first = int(np.searchsorted(reached, tail, side="right"))
        last = int(np.searchsorted(reached, total - tail, side="left"))
        return (last - first + 1) / BINS


@dataclass(frozen=True, eq=False)
class LabelTally:
    """Categories or classes of one column against those that are declared."""

    declared: Integers
    others: Counter[str] = field(default_factory=Counter)
    missing: int = 0

    def __add__(self, other: LabelTally) -> LabelTally:
        return LabelTally(
            self.declared + other.declared,
            _add_counts(self.others, other.others),
            self.missing + other.missing,
        )

    @property
    def is_constant(self) -> bool:
        """Whether all cells hold the same declared value."""
        return np.count_nonzero(self.declared) == 1 and not self.others and not self.missing


@dataclass(frozen=True, eq=False)
class NormTally:
    """Rows against the norm that they are clipped to."""

    shortened: int = 0
    replaced: int = 0
    bins: Integers = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))
    factor: float = 0.0

    def __add__(self, other: NormTally) -> NormTally:
        return NormTally(
            self.shortened + other.shortened,
            self.replaced + other.replaced,
            self.bins + other.bins,
            self.factor + other.factor,
        )

    def share_used(self, most: float = 0.99) -> float | None:
        """Return the share of the bound within which most rows are; None if that is not known."""
        total = int(self.bins.sum())
        if not total:
            return None
        return (int(np.searchsorted(np.cumsum(self.bins), most * total)) + 1) / BINS


@dataclass(frozen=True, eq=False)
class TableTally:
    """All that was counted of some rows."""

    rows: int
    columns: tuple[NumberTally | LabelTally, ...]
    target: NumberTally | LabelTally | NormTally | None = None
    norms: NormTally | None = None
    persons: Counter[Any] | None = None

    def __add__(self, other: TableTally) -> TableTally:
        return TableTally(
            self.rows + other.rows,
            tuple(_add(one, two) for one, two in zip(self.columns, other.columns, strict=True)),
            _add(self.target, other.target),
            _add(self.norms, other.norms),
            None if self.persons is None else self.persons + (other.persons or Counter()),
        )


def count_numbers(cells: Any, ends: tuple[float, float] | None) -> NumberTally:
    """Count numbers; text in a column of objects is read as the number that it spells."""
    values: list[Any] = []
    if not isinstance(cells, Coded) and cells.dtype.kind in "biuf":
        numbers, counts = np.asarray(cells, dtype=np.float64), np.ones(len(cells), dtype=np.int64)
    else:
        values, counts = _tell_apart(cells)
        numbers = np.array([number_of(value) for value in values], dtype=np.float64)
    is_known = np.isfinite(numbers)
    unreadable: Counter[str] = Counter()
    for value, number, times in zip(values, numbers, counts, strict=False):
        if np.isnan(number) and not is_missing(value):
            unreadable[show(value)] += int(times)
    known, often = numbers[is_known], counts[is_known]
    tally = NumberTally(
        missing=int(counts[~is_known].sum()),
        lowest=float(known.min(initial=math.inf)),
        highest=float(known.max(initial=-math.inf)),
        unreadable=_cut(unreadable),
    )
    if ends is None:
        return tally
    low, high = ends
    within = NumberTally(
        below=int(often[known < low].sum()),
        above=int(often[known > high].sum()),
        bins=_count_bins((known - low) / (high - low), often),
    )
    return tally + within


def count_labels(cells: Any, size: int, places: Callable[[Any], Vector]) -> LabelTally:
    """Count labels."""
    values, counts = _tell_apart(cells)
    found = places(as_objects(values)) if values else np.empty(0)
    is_declared = ~np.isnan(found)
    declared = np.bincount(
        found[is_declared].astype(np.int64), counts[is_declared], minlength=size
    ).astype(np.int64)
    others: Counter[str] = Counter()
    missing = 0
    for place in np.flatnonzero(~is_declared):
        if is_missing(values[place]):
            missing += int(counts[place])
        else:
            others[show(values[place])] += int(counts[place])
    return LabelTally(declared, _cut(others), missing)


def count_norms(
    replaced: Booleans, scale: Vector, norms: Vector | None, bound: float | None
) -> NormTally:
    """Count rows by how long they are."""
    is_short = scale < 1 - 2.0**-20
    bins = np.zeros(BINS, dtype=np.int64)
    if norms is not None and bound is not None:
        bins = _count_bins(norms / bound, np.ones(norms.size, dtype=np.int64))
    return NormTally(int(is_short.sum()), int(replaced.sum()), bins, float(scale[is_short].sum()))


def count_persons(cells: Any) -> Counter[Any]:
    """Count the rows of each person; None stands for rows of which that is not known."""
    values, counts = _tell_apart(cells)
    persons: Counter[Any] = Counter()
    for value, times in zip(values, counts.tolist(), strict=True):
        persons[None if is_missing(value) else label_of(value)] += times
    return persons


def is_missing(value: Any) -> bool:
    """Say whether a cell holds nothing."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


def show(value: Any) -> str:
    """Return a cell as it is shown to its owner."""
    return repr(value)[:40]


def _tell_apart(cells: Any) -> tuple[list[Any], Integers]:
    """Return the distinct values of a column, and how often each occurs."""
    if isinstance(cells, Coded):
        counts = np.bincount(cells.places, minlength=cells.distinct.size)
        seen = np.flatnonzero(counts)
        return cells.distinct[seen].tolist(), counts[seen].astype(np.int64)
    if cells.dtype.kind in "biufU":
        distinct, counts = np.unique(cells, return_counts=True)
        return distinct.tolist(), counts.astype(np.int64)
    counted: dict[Any, int] = {}
    loose: list[Any] = []
    for cell in cells.tolist():
        try:
            key = (type(cell), cell)
            counted[key] = counted.get(key, 0) + 1
        except TypeError:  # it cannot be looked up
            loose.append(cell)
    values = [cell for _, cell in counted] + loose
    return values, np.array([*counted.values(), *(1 for _ in loose)], dtype=np.int64)


def _count_bins(places: Vector, counts: Integers) -> Integers:
    """Count places from zero to one, those outside in the first and the last part."""
    numbers = np.clip(np.floor(places * BINS), 0, BINS - 1).astype(np.int64)
    return np.bincount(numbers, counts, minlength=BINS).astype(np.int64)


def _cut(counts: Counter[str]) -> Counter[str]:
    if len(counts) <= MOST_DISTINCT:
        return counts
    kept = Counter(dict(counts.most_common(MOST_DISTINCT)))
    kept[LATER] += counts.total() - kept.total()
    return kept


def _add_counts(one: Counter[str], two: Counter[str]) -> Counter[str]:
    return _cut(one + two)


def _add(one: Any, two: Any) -> Any:
    return None if one is None or two is None else one + two
