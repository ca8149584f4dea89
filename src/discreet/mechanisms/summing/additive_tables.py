"""Tables that turn cells into features of an additive model, made of released marginals alone.

A row becomes its entries of the tables: lookups, each row by itself to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Booleans, Vector
from discreet.geometry import ConvexSet, L2Ball
from discreet.geometry.norms import euclidean_norms, pairwise_euclidean_norms, shrink_factors
from discreet.mechanisms.summing.place_pairs import (
    PAIR_WEIGHT,
    PlacePair,
    count_pairs,
    pair_places,
)
from discreet.mechanisms.summing.released_marginals import ColumnShares, ReleasedMarginals
from discreet.questions import Marginals
from discreet.questions.bounds import CLIPPING_SLACK

MOST_TERMS = 8
"""The most functions of a column of numbers, missing values aside."""

TAIL = 0.01
"""Places are measured between the cells that hold this share and all but this share of values."""

LARGEST_ENTRY = 6.0
"""Of a function of unit variance; beyond, it is cut off."""

KEPT_VARIANCE, LEAST_VARIANCE = 0.03, 0.02
"""A function is dropped if those before it leave less than this share of its variance."""

PRIOR_VARIANCE = 0.3
"""Of the first function of a column of numbers; of the k-th one this over k squared."""

UNIT_BALL = L2Ball(1.0)

LEAST_SQUARED_LENGTH = 0.25
"""Of rows in the frame, the constant aside: that is added to it, so nothing rests on this."""


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """What each cell of a column adds to the features, and the prior variances of these."""

    entries: Array  # one line a cell, the last for missing values or anything else
    variances: Vector
    shares: Vector  # of the cells
    place: Vector | None = None  # of numbers, of unit variance; None without values to tell apart

    @property
    def squares(self) -> Vector:
        """What the features' squares are expected to be."""
        means = self.shares @ self.entries
        return np.asarray(self.variances + means**2)


def tables_of_numbers(
    found: Sequence[ColumnShares], terms: int, most: int
) -> Iterator[ColumnTable]:
    """Yield place and cosines of half rank, half place, orthonormal under each column's shares.

    Missing values have zeros, and a feature of their own if they stand out of the noise. Cells are
    parts of a range if there are as many as ``most``, and otherwise whole numbers.
    """
    known = [column.known for column in found]
    functions = dict[int, Array]()
    for size in {shares.size for shares in known}:
        places = [place for place, shares in enumerate(known) if shares.size == size]
        together = np.stack([known[place] for place in places])
        made = _functions(together, terms, is_whole=size < most)
        functions |= zip(places, made, strict=True)
    for place, column in enumerate(found):
        yield _table_of(column, functions[place])


def _table_of(found: ColumnShares, functions: Array) -> ColumnTable:
    variances = PRIOR_VARIANCE / np.arange(1, functions.shape[1] + 1) ** 2.0
    entries = np.zeros((len(functions) + 1, functions.shape[1]))
    entries[:-1] = functions * np.sqrt(variances)
    place = np.append(functions[:, 0], 0.0) if functions.size else None
    if not found.shows_last:
        return ColumnTable(entries, variances, found.shares, place)
    missing = float(found.shares[-1])
    own = np.full((len(functions) + 1, 1), -missing)
    own[-1] += 1.0
    variances = np.append(variances, missing * (1 - missing))
    return ColumnTable(np.hstack([entries, own]), variances, found.shares, place)


def table_of_levels(found: ColumnShares, *, centred: bool = True) -> ColumnTable:
    """Return indicators of levels minus their shares; of anything else if it stands out.

    Where the sum of a row's entries counts, indicators stay as they are: one entry is not zero.
    """
    shares = found.shares
    entries, variances = np.eye(shares.size), shares * (1 - shares)
    if centred:
        entries -= shares
    if found.shows_last:
        return ColumnTable(entries, variances, shares)
    entries = entries[:, :-1].copy()
    entries[-1] = 0.0
    return ColumnTable(entries, variances[:-1], shares)


def _functions(known: Array, terms: int, *, is_whole: bool) -> list[Array]:
    """Return functions of cells, centred and orthonormal under the shares, of each column.

    ``known`` has a line for each column; those that are dropped are zeros meanwhile.
    """
    cells = known.shape[1]
    reached = np.cumsum(known, axis=1)
    low = (reached < TAIL).sum(axis=1, keepdims=True)
    high = np.minimum((reached < 1 - TAIL).sum(axis=1, keepdims=True), cells - 1)
    if is_whole:
        place = np.clip((np.arange(cells) - low) / np.maximum(high - low, 1), 0.0, 1.0)
    else:
        middle = (np.arange(cells) + 0.5) / cells
        place = np.clip((middle - low / cells) / ((high + 1 - low) / cells), 0.0, 1.0)
    mixed = (reached - known / 2 + place) / 2
    found, is_kept = list[Array](), list[Booleans]()
    for term in range(1, terms + 1):
        function = place if term == 1 else np.cos(np.pi * term * mixed)
        rest = function - _mean(known, function)
        own = _mean(known, rest**2)
        for other in found:
            rest = rest - _mean(known * rest, other) * other
        left = _mean(known, rest**2)
        keeps = left >= KEPT_VARIANCE * np.maximum(own, LEAST_VARIANCE)
        found.append(np.where(keeps, rest / np.sqrt(np.where(keeps, left, 1.0)), 0.0))
        is_kept.append(keeps[:, 0])
    cut = np.clip(np.stack(found, axis=2), -LARGEST_ENTRY, LARGEST_ENTRY)
    return [table[:, keeps] for table, keeps in zip(cut, np.stack(is_kept, axis=1), strict=True)]


def _mean(known: Array, function: Array) -> Array:
    return np.asarray((known * function).sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class AdditiveFrame:
    """Tables of every column in one frame, and the typical length of rows there.

    After the tables' features come those of ``pairs`` of columns, and the ``constant`` is the last;
    ``length`` divides all of them, and what comes of it is clipped to the ``region``: the whole
    row, or, if it ``keeps_constant``, all but that.
    """

    tables: tuple[Array, ...]
    length: float
    rows: float
    region: ConvexSet = UNIT_BALL
    pairs: tuple[PlacePair, ...] = ()
    constant: float = 1.0
    keeps_constant: bool = False

    @property
    def width(self) -> int:
        """How many features there are, the constant aside."""
        return len(self.pairs) + sum(int(table.shape[1]) for table in self.tables)

    @property
    def longest(self) -> float:
        """The longest norm that a row can have before it is divided by the length."""
        squared = sum(float((table**2).sum(axis=1).max()) for table in self.tables if table.size)
        squared += sum(pair.largest**2 for pair in self.pairs)
        return math.sqrt(self.constant**2 + squared) * CLIPPING_SLACK

    def typical_sum(self, marginals: ReleasedMarginals) -> float:
        """Return the expected sum of the sizes of a row's entries, once divided by the length."""
        sums = (
            float(found.shares @ np.abs(table).sum(axis=1))
            for found, table in zip(marginals.columns, self.tables, strict=True)
        )
        shares = [found.shares for found in marginals.columns]
        products = sum(pair.typical(shares) for pair in self.pairs)
        return (self.constant + sum(sums) + products) / self.length

    def apply(self, rows: Any) -> Array:
        """Return the features of rows, from their cells: entries of tables, and their products."""
        held: Array = rows.toarray() if hasattr(rows, "toarray") else rows
        cells = np.rint(held).astype(np.int64)
        features = np.empty((cells.shape[0], self.width + 1))
        start = 0
        for column, table in enumerate(self.tables):
            stop = start + table.shape[1]
            features[:, start:stop] = (table / self.length).take(cells[:, column], axis=0)
            start = stop
        for offset, pair in enumerate(self.pairs):
            features[:, start + offset] = pair.apply(cells, 1 / self.length)
        features[:, -1] = self.constant / self.length
        return features

    def apply_within(self, rows: Any) -> Array:
        """Return features to learn from: long rows are clipped here if the constant is kept.

        If it became shorter too, functions that are large in long rows would make up for it, where
        nothing is missing when scores are made.
        """
        features, constant = self.apply(rows), self.constant / self.length
        if not self.keeps_constant:
            return features
        features[:, -1] = 0.0
        room = math.sqrt(1 - constant**2)
        factors = shrink_factors(features, room, pairwise_euclidean_norms, euclidean_norms)
        features *= factors[:, None]
        features[:, -1] = constant
        return features

    def shapes(self, coefficients: Vector) -> tuple[tuple[Vector, ...], float]:
        """Return what each cell of every column adds to a score, and the constant."""
        folded, start, shapes = coefficients / self.length, 0, list[Vector]()
        for table in self.tables:
            part = folded[start : start + table.shape[1]]
            shapes.append((table * part).sum(axis=1))
            start += table.shape[1]
        return tuple(shapes), float(folded[-1] * self.constant)

    def pair_weights(self, coefficients: Vector) -> Vector:
        """Return what the product of two places adds to a score, for each pair."""
        start = self.width - len(self.pairs)
        weights = np.array([pair.weight for pair in self.pairs])
        return np.asarray(coefficients[start : self.width] * weights / self.length)


def make_frame(
    question: Marginals,
    marginals: ReleasedMarginals,
    terms: int,
    floor_noise: float,
    *,
    centred: bool = True,
    with_pairs: bool = False,
    constant: float = 1.0,
) -> AdditiveFrame:
    """Return tables in one frame: features weigh less where their variance drowns in noise.

    ``floor_noise`` is the noise of a mean, in rows: that of a count for each part of a row. Unless
    ``centred``, indicators of levels stay as they are. Products of places are among the features
    if ``with_pairs``, and if there are no more of them than of all others.
    """
    columns = list(zip(question.levels, marginals.columns, strict=True))
    counted = [found for count, found in columns if count is None]
    numbers = tables_of_numbers(counted, terms, 2**question.depth)
    tables = [
        next(numbers) if count is None else table_of_levels(found, centred=centred)
        for count, found in columns
    ]
    variances = np.concatenate([table.variances for table in tables])
    average = float(variances.mean()) if variances.size else 0.0
    floor = 3 * floor_noise / marginals.rows + average + 1e-12
    squares = variances if centred else np.concatenate([table.squares for table in tables])
    pairs = tuple[PlacePair, ...]()
    if with_pairs:
        weight = PAIR_WEIGHT * math.sqrt(PRIOR_VARIANCE / (PRIOR_VARIANCE + floor))
        found_pairs = pair_places([table.place for table in tables], weight)
        pairs = found_pairs if len(found_pairs) <= variances.size else pairs
    squared = float((squares / (variances + floor)).sum())
    squared += sum(pair.weight**2 for pair in pairs)
    return AdditiveFrame(
        tuple(table.entries / np.sqrt(table.variances + floor) for table in tables),
        math.sqrt(constant**2 + max(squared, LEAST_SQUARED_LENGTH)),
        marginals.rows,
        pairs=pairs,
        constant=constant,
    )


def widest_frame(levels: Sequence[int | None], *, with_pairs: bool = False) -> int:
    """Return the most features that a frame can have, the constant included."""
    most = sum(MOST_TERMS + 1 if count is None else count + 1 for count in levels)
    pairs = count_pairs(levels) if with_pairs else 0
    return 1 + most + (pairs if pairs <= most else 0)  # more pairs are never made
