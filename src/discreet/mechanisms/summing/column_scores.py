r"""How much each column goes with the labels, as integers of known sensitivity.

Entries and labels are rounded to integers, each by itself, so that sums of their products are exact
in any order. Of n records the score of a column is the integer part of

.. math:: \Bigl|\sum_i x_i y_i - \tfrac1n \sum_i x_i \sum_i y_i\Bigr|

or, without means, of the first sum alone. ``peeling.md`` has the proof of the sensitivities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.geometry import LinfBall
from discreet.mechanisms.base import labels_of
from discreet.mechanisms.sampling.whole_weights import WholeWeights
from discreet.privacy import Unit
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.strongest_columns import StrongestColumns

STEPS = 2**11
"""Entries, and labels that are numbers, are rounded to so many steps of their range."""

ROWS_AT_ONCE = 2**15
"""Sums of so many products of integers below 2**12 are exact in floats."""

WEIGHT_BITS = 16
"""And times weights that are no finer."""

FEW_ROWS = 2**18
"""Products of sums over so many rows fit 64 bits."""


@dataclass(frozen=True)
class ColumnScores:
    """The scores of a question's columns, and how far one record can move them."""

    question: StrongestColumns

    def sensitivity(self, unit: Unit) -> int:
        """Bound how far whoever is protected moves a score; all may move, to either side."""
        return self._row_sensitivity(unit) * self._weights.largest

    @cached_property
    def _weights(self) -> WholeWeights:
        """What rows count in whole numbers, so small that sums over a block stay exact."""
        return WholeWeights.of(self.question.bounds, STEPS**2, finest=WEIGHT_BITS)

    def _row_sensitivity(self, unit: Unit) -> int:
        low, high = self._entry_limits
        least, most = self._label_limits
        if self.question.is_centred:
            return max((high - low) * (most - least), 1)
        corners = (low * least, low * most, high * least, high * most)
        if unit.is_replace:
            return max(*corners, 1) - min(*corners, 0)
        return max(*map(abs, corners), 1)

    @property
    def _span(self) -> float:
        """What is divided into steps: the range of entries, or how far they are from zero."""
        entries = self.question.entry_range
        return entries.high - entries.low if self.question.is_centred else entries.magnitude

    @cached_property
    def _entry_limits(self) -> tuple[int, int]:
        entries = self.question.entry_range
        low, high = self._round(np.array([entries.low, entries.high])).astype(np.int64).tolist()
        return low, high

    @property
    def _label_limits(self) -> tuple[int, int]:
        labels = self.question.bounds.labels
        if isinstance(labels, LabelSet) and len(labels.values) > 2:
            return 0, 1
        ends = np.array(_ends(labels))
        coded = self._code(ends)[0].astype(np.int64).tolist()
        return min(coded), max(coded)

    def _round(self, entries: Array) -> Array:
        """Return the nearest integer of each entry, seen by itself; zero stays zero."""
        within = self.question.entry_range
        inside = np.clip(entries, within.low, within.high)
        inside /= self._span
        inside *= STEPS
        return np.rint(inside, out=inside)

    def _code(self, labels: Vector) -> Array:
        """Return labels as integers, a line of them for each class if there are three or more."""
        declared = self.question.bounds.labels
        if isinstance(declared, LabelSet) and len(declared.values) > 2:
            return np.array([labels == value for value in declared.values], dtype=np.float64)
        low, high = _ends(declared)
        if isinstance(declared, LabelSet) and (low, high) == (-1.0, 1.0):
            return labels[None, :]
        origin, span = (low, high - low) if self.question.is_centred else (0.0, max(-low, high))
        return np.rint((labels[None, :] - origin) / (span or 1.0) * STEPS)

    @property
    def _rounded_bounds(self) -> Bounds:
        """Of the rows as integers; so wide that none is clipped again."""
        return replace(self.question.bounds, features=LinfBall(2.0 * STEPS))

    def of(self, rows: OpenRows) -> Integers:
        """Return the score of each column: private."""
        rounded = rows.transform(self._round_rows, self._rounded_bounds)
        products, entries, labels, count = rounded.sum(self._kernel, block_rows=ROWS_AT_ONCE)
        if self.question.is_centred:
            products = _centre(products, entries, labels, int(count))
        best = np.abs(products).max(axis=0)
        widths = self.question.widths
        if not widths:
            return np.asarray(best)
        starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
        return np.asarray(np.maximum.reduceat(best, starts))

    def _round_rows(self, rows: Any) -> Any:
        if sparse.issparse(rows):
            stored: Any = rows
            stored.data = self._round(stored.data)
            return stored
        return self._round(rows)

    def _kernel(self, block: Block) -> tuple[Integers, ...]:
        """Return sums of products, of entries, and of labels, and the weight of rows; exact."""
        codes, whole = self._code(labels_of(block)), self._weights.of_block(block)
        count, ones = block.size, np.ones(block.size)
        if whole is not None:
            count, ones = int(whole.sum()), whole.astype(np.float64)
            codes = codes * ones
        if not self.question.is_centred:
            products = block.several_sums(codes).astype(np.int64)
            nothing = np.zeros(1, dtype=np.int64)
            return products, nothing, nothing, np.array(count, dtype=np.int64)
        sums = block.several_sums(np.vstack([ones, codes])).astype(np.int64)
        labels = codes.sum(axis=1).astype(np.int64)
        return sums[1:], sums[0], labels, np.array(count, dtype=np.int64)


def _centre(products: Integers, entries: Integers, labels: Integers, count: int) -> Integers:
    """Return the integer part of the absolute value of centred sums, without rounding before."""
    if count == 0:
        return np.zeros_like(products)
    if count <= FEW_ROWS:
        return np.asarray(np.abs(count * products - labels[:, None] * entries) // count)
    exact = np.abs(
        count * products.astype(object) - labels.astype(object)[:, None] * entries.astype(object)
    )
    return np.asarray(exact // count).astype(np.int64)


def _ends(labels: Any) -> tuple[float, float]:
    """Return the least and the largest label."""
    if isinstance(labels, Interval):
        return labels.low, labels.high
    return min(labels.values), max(labels.values)
