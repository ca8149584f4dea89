"""Sums of blocks: exact for integers, in two floats for the rest (compensated summation).

Within a block of m rows any order of summation errs by at most (m - 1) 2**-53 of the sum of
magnitudes; blocks are added with a running correction whose own error is of second order. So

    ||computed - true||_2 <= (m + 4) 2**-53 * max_rows * C

(plus a term of second order) when no row contributes more than C in norm. What a kernel rounds
inside a row, such as a margin, comes on top. The bound is a public number: ``m`` is the largest
block that the width allows, not the one in use.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Integers
from discreet.data.block import SparseVector
from discreet.errors import PrivacyError
from discreet.questions.bounds import Bounds


class FloatTotal:
    """A running sum with its running correction (Knuth's two-sum)."""

    def __init__(self, first: Array) -> None:
        self._sum = np.array(first, dtype=np.float64)
        self._correction = np.zeros_like(self._sum)

    def add(self, term: Array) -> None:
        """Add one block's sum."""
        total = self._sum + term
        shadow = total - self._sum
        self._correction += (self._sum - (total - shadow)) + (term - shadow)
        self._sum = total

    def absorb(self, other: FloatTotal) -> None:
        """Add all that another has added, with its correction."""
        self.add(other._sum)
        self._correction += other._correction

    def value(self) -> Array:
        """Return the sum so far."""
        return np.asarray(self._sum + self._correction)


class SparseTotal:
    """A running sum of sparse vectors, corrected where they are not zero."""

    def __init__(self, first: SparseVector) -> None:
        self._sum, self._correction = np.zeros(first.size), np.zeros(first.size)
        self.add(first)

    def add(self, term: SparseVector) -> None:
        """Add one block's sum."""
        before = self._sum[term.places]
        total = before + term.values
        shadow = total - before
        self._correction[term.places] += (before - (total - shadow)) + (term.values - shadow)
        self._sum[term.places] = total

    def absorb(self, other: SparseTotal) -> None:
        """Add all that another has added, with its correction."""
        self.add(SparseVector(np.arange(other._sum.size), other._sum, other._sum.size))
        self._correction += other._correction

    def value(self) -> Array:
        """Return the sum so far."""
        return self._sum + self._correction


@dataclass(frozen=True, eq=False)
class Terms:
    """What a kernel says of several small blocks, one a line: terms to be added one by one.

    Parameters
    ----------
    lines
        One line of numbers for each small block.

    Examples
    --------
    >>> sums = RunningSums()
    >>> sums.add(Terms(np.array([[0.5], [0.25]])))
    >>> sums.value()
    array([0.75])
    """

    lines: Array


class TermsTotal(FloatTotal):
    """A running sum of lines, each with its correction."""

    def __init__(self, first: Terms) -> None:
        super().__init__(first.lines[0])
        self._add_lines(first.lines[1:])

    def add(self, term: Array | Terms) -> None:
        """Add the sums of one block's small blocks."""
        self._add_lines(term.lines if isinstance(term, Terms) else term[None])

    def _add_lines(self, lines: Array) -> None:
        for line in lines:
            super().add(line)


class IntegerTotal:
    """A running sum of 64-bit integers; grids leave room so that it cannot overflow."""

    def __init__(self, first: Integers) -> None:
        self._sum = np.array(first, dtype=np.int64)

    def add(self, term: Integers) -> None:
        """Add one block's sum."""
        if term.dtype.kind not in "iub":
            raise PrivacyError("a kernel answers either with integers or with floats, always.")
        self._sum = self._sum + term

    def absorb(self, other: IntegerTotal) -> None:
        """Add all that another has added."""
        self.add(other._sum)

    def value(self) -> Integers:
        """Return the sum so far."""
        return np.asarray(self._sum)


def total_of(first: Any) -> FloatTotal | IntegerTotal | SparseTotal:
    """Start a total with the kind that the first block's answer needs."""
    if isinstance(first, Terms):
        return TermsTotal(first)
    if isinstance(first, SparseVector):
        return SparseTotal(first)
    values = np.asarray(first)
    return IntegerTotal(values) if values.dtype.kind in "iub" else FloatTotal(values)


class RunningSums:
    """What a kernel says of block after block, added up: an array, or a tuple of arrays.

    Examples
    --------
    >>> sums, more = RunningSums(), RunningSums()
    >>> sums.add((1, np.array([0.5])))
    >>> more.add((2, np.array([0.25])))
    >>> sums.absorb(more)
    >>> sums.value()
    (array(3), array([0.75]))
    """

    def __init__(self) -> None:
        self._totals: list[Any] = []
        self._is_tuple = False

    def add(self, answer: Any) -> None:
        """Add what the kernel says of the next block."""
        self._is_tuple = isinstance(answer, tuple)
        parts = answer if self._is_tuple else (answer,)
        if not self._totals:
            self._totals = [total_of(part) for part in parts]
            return
        for total, part in zip(self._totals, parts, strict=True):
            total.add(part if isinstance(part, (SparseVector, Terms)) else np.asarray(part))

    def absorb(self, other: RunningSums) -> None:
        """Add all that another has added, as if its blocks came next; the other stays as it is."""
        if not self._totals:
            self._totals, self._is_tuple = deepcopy(other._totals), other._is_tuple
            return
        for total, more in zip(self._totals, other._totals, strict=True):
            total.absorb(more)

    def value(self) -> Any:
        """Return the sum so far."""
        values = tuple(total.value() for total in self._totals)
        return values if self._is_tuple else values[0]


def largest_block(width: int) -> int:
    """Return the most rows that a block may have at this width.

    A block's sum is as long as a row is wide, so wide matrices get long blocks.
    """
    return max(2**15, 1 << int(width - 1).bit_length())


def summation_error(bounds: Bounds, contribution: float, *, block_rows: int | None = None) -> float:
    """Bound the rounding error, in norm, of a sum to which no row adds more than ``contribution``.

    Parameters
    ----------
    bounds
        What is declared about the rows; ``max_rows`` matters, not their number.
    contribution
        The largest norm of what one row adds.
    block_rows
        The most rows of a block; without it the bound holds for whatever blocks are in use.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> summation_error(Bounds(L2Ball(1.0), 10, max_rows=10**6), contribution=1.0) < 1e-5
    True
    """
    rows = min(block_rows or largest_block(bounds.n_features), bounds.max_rows)
    second_order = (bounds.max_rows * 2.0**-53) ** 2
    relative = (rows + 4) * 2.0**-53 + second_order
    return relative * bounds.max_rows * contribution * (1 + 2.0**-20)
