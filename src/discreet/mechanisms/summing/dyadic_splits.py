"""Counts of cells as a tree of halves: of every node, how many rows are left minus how many right.

All numbers are whole, and one row changes one of them by one at each level (Haar wavelets).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import InputError
from discreet.mechanisms.base import labels_of
from discreet.mechanisms.summing.totals import RowSums
from discreet.privacy import Unit
from discreet.questions import Interval, Labels, LabelSet, Marginals
from discreet.questions.marginals import TARGET_DEPTH

Number = TypeVar("Number", int, float)
Size = TypeVar("Size")


@dataclass(frozen=True)
class SplitLayout:
    """Which numbers are released of a question, in which order, and how far a row moves them.

    Of a column of numbers: its missing values, then the splits from the whole range downwards, each
    level from left to right. Of a category: a count for each level and for anything else. At last
    the label: a count for each, or if it is a number (or there is none) a count of rows, followed
    by the splits of the number.

    A number has a *kind*: 0 for counts, then one for each level of a column, then one for each
    level of a target; numbers of a kind have the same noise.
    """

    question: Marginals

    @property
    def rows(self) -> RowSums:
        """How rows enter the counts."""
        return RowSums(self.question.bounds)

    @property
    def depths(self) -> tuple[int, int]:
        """How many levels of splits columns of numbers have, and the target."""
        is_number = isinstance(self.question.labels, Interval)
        return (self.question.depth if self.question.numeric else 0), TARGET_DEPTH * is_number

    @cached_property
    def kinds(self) -> Integers:
        """The kind of each number that is released."""
        depth, target = self.depths
        of_splits = [0, *(1 + level for level in range(depth) for _ in range(2**level))]
        kinds = list[int]()
        for count, copies in zip(self.question.levels, self.question.copies, strict=True):
            kinds += copies * (of_splits if count is None else [0] * (count + 1))
        kinds += [0] * self.label_counts
        kinds += [1 + depth + level for level in range(target) for _ in range(2**level)]
        return np.array(kinds, dtype=np.int64)

    @cached_property
    def leaves(self) -> list[Integers]:
        """Which of the finest parts of its range each cell of a column of numbers is.

        All of them, in their order; those of fewer whole numbers are spread evenly, so that every
        split has about as many on either side.
        """
        finest, values = 2**self.question.depth, dict(self.question.whole)
        return [
            (2 * np.arange(cells := values.get(place, finest)) + 1) * finest // (2 * cells)
            for place, count in enumerate(self.question.levels)
            if count is None
        ]

    @property
    def label_counts(self) -> int:
        """How many counts there are of the label: of each, or of all rows."""
        labels = self.question.labels
        return len(labels.values) if isinstance(labels, LabelSet) else 1

    @property
    def most_changes(self) -> int:
        """How many numbers a row takes part in, at most."""
        question, (depth, target) = self.question, self.depths
        categories = len(question.levels) - question.numeric
        return question.numeric * max(depth, 1) + categories + 1 + target

    def reach(self, sizes: Sequence[Number], unit: Unit, power: int) -> Number:
        """Bound the sum of powers of changes between neighbours, a unit of a kind being a size.

        Exact, if sizes are whole: the largest over all records, or pairs of them, and attained. A
        person's rows move numbers as often further as they count together; what is said of another
        record covers a person with fewer, too.
        """
        depth, target = self.depths
        one: Number = sizes[0] ** power
        numbers: list[Number] = [size**power for size in sizes[1 : 1 + depth]]
        targets: list[Number] = [size**power for size in sizes[1 + depth : 1 + depth + target]]
        question = self.question
        categories = len(question.levels) - question.numeric
        known = max(sum(numbers), one) if numbers else one
        if not unit.is_replace:
            return question.numeric * known + categories * one + one + sum(targets)
        column = max(_apart(numbers, power), sum(numbers) + one)
        label = (2 * one if self.label_counts > 1 else 0 * one) + _apart(targets, power)
        if question.by is None:
            return question.numeric * column + 2 * categories * one + label
        within = question.numeric * column + 2 * (categories - 1) * one
        across = 2 * (question.numeric * known + categories * one)  # numbers of two groups
        return max(within, across) + label

    def count(self, rows: OpenRows) -> Integers:
        """Return the numbers of these rows, exactly; in parts of rows."""
        question, entering = self.question, self.rows
        labels = question.labels

        def tally(block: Block, places: Integers, cells: int) -> Integers:
            return entering.tally(block, places, cells, entering.parts)

        def apart(column: int, number: int, cells: Integers) -> Integers:
            """Return the cell of each row, those of each level of ``by`` behind one another."""
            found: Integers = cells[:, column]
            if question.by is None or question.by == column:
                return found
            return cells[:, question.by] * number + found

        def kernel(block: Block) -> Integers:
            cells = np.rint(block.rows()).astype(np.int64)  # in the box: clipped, and never NaN
            counts = [
                tally(block, apart(column, number, cells), number * copies)
                for column, (number, copies) in enumerate(
                    zip(question.cells, question.copies, strict=True)
                )
            ]
            if labels is not None:
                found, number = place_labels(labels, labels_of(block))
                counts.append(tally(block, found, number))
            else:
                counts.append(tally(block, np.zeros(block.size, dtype=np.int64), 1))
            return np.concatenate(counts)

        counts: Integers = rows.sum(kernel)
        return self.split(counts)

    def split(self, counts: Integers) -> Integers:
        """Return the numbers that follow from counts of cells, column after column."""
        question, leaves = self.question, iter(self.leaves)
        ends = np.cumsum(np.multiply(question.cells, question.copies))
        parts = list[Integers]()
        for count, copies, counted in zip(
            question.levels, question.copies, np.split(counts, ends)[:-1], strict=True
        ):
            places = next(leaves) if count is None else None
            for found in counted.reshape(copies, -1):
                if places is None:
                    parts.append(found)
                    continue
                known = np.zeros(2**question.depth, dtype=np.int64)
                known[places] = found[:-1]
                parts += [found[-1:], split_counts(known)]
        label = counts[ends[-1] :]
        if isinstance(self.question.labels, Interval):
            parts += [label.sum(keepdims=True), split_counts(label)]
        else:
            parts.append(label)
        return np.concatenate(parts)

    def parts(self, released: Vector) -> tuple[list[Array], Vector]:
        """Return the numbers of each column, a line for each time it is counted, and the label's.

        Examples
        --------
        >>> parts, rows = SplitLayout(Marginals([2, 1], by=0)).parts(np.arange(10.0))
        >>> [part.tolist() for part in parts], rows.tolist()
        ([[[0.0, 1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]], [9.0])
        """
        question = self.question
        sizes = [
            copies * (2**question.depth if count is None else count + 1)
            for count, copies in zip(question.levels, question.copies, strict=True)
        ]
        *columns, label = np.split(np.asarray(released, dtype=np.float64), np.cumsum(sizes))
        lines = zip(columns, question.copies, strict=True)
        return [column.reshape(copies, -1) for column, copies in lines], label


def _apart(sizes: Sequence[Number], power: int) -> Number:
    """Bound how far apart two known values are: one split moves by two, all below it by one each.

    The sizes are powers already; above the first split that tells them apart nothing moves.
    """
    return max(
        (2**power * size + 2 * sum(sizes[level + 1 :]) for level, size in enumerate(sizes)),
        default=0,
    )


def split_counts(counts: Integers) -> Integers:
    """Return left minus right of every node, from the whole range downwards.

    Examples
    --------
    >>> split_counts(np.array([5, 1, 0, 2])).tolist()
    [4, 4, -2]
    """
    depth = counts.size.bit_length() - 1
    splits = list[Integers]()
    for level in range(depth):
        halves = counts.reshape(2**level, 2, -1).sum(axis=2)
        splits.append(halves[:, 0] - halves[:, 1])
    return np.concatenate(splits)


def place_labels(labels: Labels, values: Array) -> tuple[Integers, int]:
    """Return the cell of each declared label, each by itself, and how many cells there are."""
    if isinstance(labels, LabelSet):
        order = np.argsort(labels.values)
        found = order[np.searchsorted(np.array(labels.values)[order], values)]
        return found.astype(np.int64), len(labels.values)
    if isinstance(labels, Interval):
        return place_numbers(values, labels.low, labels.high, TARGET_DEPTH), 2**TARGET_DEPTH
    raise InputError("labels must be a LabelSet or an Interval.")


def even_edges(low: float, high: float, depth: int) -> Array:
    """Return where one of 2**depth cells of equal width ends and the next begins."""
    cells = 2**depth
    edges: Array = low + (high - low) * np.arange(1, cells) / cells
    return edges


def place_numbers(values: Array, low: float, high: float, depth: int) -> Integers:
    """Return the cell of each number, NaN beyond the last; each is a function of it alone.

    Examples
    --------
    >>> place_numbers(np.array([-1.0, 0.0, 2.5, 9.0, np.inf, np.nan]), 0.0, 10.0, 2).tolist()
    [0, 0, 1, 3, 3, 4]
    """
    edges, is_missing = even_edges(low, high, depth), np.isnan(values)
    inside = np.clip(np.where(is_missing, low, values), low, high)
    cells: Integers = ((inside - low) * (2**depth / (high - low))).astype(np.int64)
    np.minimum(cells, 2**depth - 1, out=cells)  # within rounding of the cell; edges decide
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    odd = np.flatnonzero((inside < ends[cells]) | (inside >= ends[cells + 1]))
    cells[odd] = np.searchsorted(edges, inside[odd], side="right")
    cells[is_missing] = 2**depth
    return cells


def shares_of_levels(depth: int, fall: float) -> tuple[float, ...]:
    """Return shares that sum to one, each 2**-fall of the one before.

    Examples
    --------
    >>> [round(share, 4) for share in shares_of_levels(8, 1 / 2)[:2]]
    [0.3124, 0.2209]
    """
    weights = [2.0 ** (-fall * level) for level in range(depth)]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def sizes_of_kinds(layout: SplitLayout, fall: float, change: Callable[[float], Size]) -> list[Size]:
    """Return what ``change`` makes of the share of each kind; counts have a share of one."""
    depth, target = layout.depths
    shares = (1.0, *shares_of_levels(depth, fall), *shares_of_levels(target, fall))
    return [change(share) for share in shares]
