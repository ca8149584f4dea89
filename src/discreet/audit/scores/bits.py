r"""The low bits of floats: what an addition in floating point lets show of its terms.

A float is an odd integer times a power of two. Which powers occur in ``value + noise`` depends on
the exponent of the value, however good the noise is (Haney et al. 2022, *Precision-based attacks
and interval refining*); the result is a multiple of :math:`2^j` exactly when its lowest bit is at
least j.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans, Integers, Vector
from discreet.audit.scores.base import Score

LOWEST_OF_ZERO = 1100
"""Zero is a multiple of every power of two; those of other floats end at 2**1023."""

LOWEST_OF_NO_NUMBER = 1200

MANTISSA = 53


def lowest_bit(values: Array) -> Integers:
    """Return the largest j such that each value is an integer times 2**j.

    Examples
    --------
    >>> lowest_bit([1.0, 12.0, 0.75, 0.1, 0.0]).tolist()
    [0, 2, -2, -55, 1100]
    """
    fractions, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    is_number = np.isfinite(fractions)
    digits = np.where(is_number, fractions * 2.0**MANTISSA, 0.0).astype(np.int64)
    _, places = np.frexp((digits & -digits).astype(np.float64))
    lowest: Integers = exponents.astype(np.int64) - MANTISSA + places - 1
    lowest[digits == 0] = LOWEST_OF_ZERO
    lowest[~is_number] = LOWEST_OF_NO_NUMBER
    return lowest


def trailing_bit(values: Array, bit: int) -> Booleans:
    """Say in which floats a bit of the mantissa is set, counted from the last, which is 0.

    Examples
    --------
    >>> trailing_bit([0.1, 0.3], 0).tolist(), trailing_bit([0.1, 0.3], 1).tolist()
    ([False, True], [True, True])
    """
    pattern = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return (pattern >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)


def orient(
    measure: Callable[[Array], Vector], first: Array, second: Array
) -> Callable[[Array], Vector]:
    """Return the measure, or its negative where that speaks for the second data set.

    The sign is that of the widest gap between the two distribution functions.
    """
    here, there = np.sort(measure(first)), np.sort(measure(second))
    levels = np.concatenate([here, there])
    gaps = (
        np.searchsorted(here, levels, side="right") / here.size
        - np.searchsorted(there, levels, side="right") / there.size
    )
    if gaps.max() >= -gaps.min():
        return measure
    return lambda released: -measure(released)


@dataclass(frozen=True)
class LowestBit(Score):
    """The lowest bit of one column: every "is a multiple of 2**j" at once, by a threshold.

    Parameters
    ----------
    column
        Of the released values.

    Examples
    --------
    >>> import numpy as np
    >>> score = LowestBit().learn(np.array([[0.1], [0.7]]), np.array([[1.5], [2.5]]))
    >>> score(np.array([[0.3], [0.5]])).tolist()
    [-54.0, -1.0]
    """

    column: int = 0
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _checks.whole(column=self.column, at_least=0)
        object.__setattr__(self, "name", f"lowest bit of column {self.column}")

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return orient(self._measure, first, second)

    def _measure(self, released: Array) -> Vector:
        return lowest_bit(released[:, self.column]).astype(np.float64)


@dataclass(frozen=True)
class FinestBit(Score):
    """The smallest of the lowest bits of all columns: one column off a lattice is enough.

    Examples
    --------
    >>> import numpy as np
    >>> score = FinestBit().learn(np.array([[0.1, 1.0]]), np.array([[1.5, 2.5]]))
    >>> score(np.array([[0.75, 8.0]])).tolist()
    [-2.0]
    """

    name = "lowest bit of any column"

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return orient(
            lambda released: lowest_bit(released).min(axis=1).astype(np.float64), first, second
        )


@dataclass(frozen=True)
class CoarsestBit(Score):
    """The largest of the lowest bits of all columns: one column on a lattice is enough.

    Examples
    --------
    >>> import numpy as np
    >>> score = CoarsestBit().learn(np.array([[0.1, 0.1]]), np.array([[1.5, 0.1]]))
    >>> score(np.array([[0.75, 8.0]])).tolist()
    [3.0]
    """

    name = "lowest bit of every column"

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return orient(
            lambda released: lowest_bit(released).max(axis=1).astype(np.float64), first, second
        )


@dataclass(frozen=True)
class TrailingBits(Score):
    """One of the trailing bits of a column's mantissa: set or not.

    Parameters
    ----------
    bit
        Counted from the last, which is 0.
    column
        Of the released values.

    Examples
    --------
    >>> import numpy as np
    >>> score = TrailingBits(0).learn(np.array([[0.1]]), np.array([[0.3]]))
    >>> score(np.array([[0.1], [0.3]])).tolist()
    [0.0, 1.0]
    """

    bit: int
    column: int = 0
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _checks.whole(bit=self.bit, at_least=0, at_most=MANTISSA - 2)
        _checks.whole(column=self.column, at_least=0)
        object.__setattr__(self, "name", f"bit {self.bit} of column {self.column}")

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return orient(self._measure, first, second)

    def _measure(self, released: Array) -> Vector:
        return trailing_bit(released[:, self.column], self.bit).astype(np.float64)


@dataclass(frozen=True)
class FloatShape(Score):
    """The sign, the exponent and the lowest bit of a column, together.

    The score is the learned logarithm of how much likelier a shape is on the second data set. It
    finds lattices that are finer in one binade than in the next, which no single bit shows.

    Parameters
    ----------
    column
        Of the released values.

    Examples
    --------
    >>> import numpy as np
    >>> score = FloatShape().learn(np.array([[0.5], [0.75]]), np.array([[1.0], [1.0]]))
    >>> score(np.array([[1.0], [0.75], [64.0]])).round(2).tolist()
    [1.61, -1.1, 0.0]
    """

    column: int = 0
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _checks.whole(column=self.column, at_least=0)
        object.__setattr__(self, "name", f"shape of column {self.column}")

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        here, there = self._shapes(first), self._shapes(second)
        known = np.unique(np.concatenate([here, there]))
        counts, other_counts = (
            np.bincount(np.searchsorted(known, shapes), minlength=known.size) + 0.5
            for shapes in (here, there)
        )
        ratios = np.log(other_counts / other_counts.sum()) - np.log(counts / counts.sum())

        def score(released: Array) -> Vector:
            shapes = self._shapes(released)
            places = np.minimum(np.searchsorted(known, shapes), known.size - 1)
            return np.where(known[places] == shapes, ratios[places], 0.0)

        return score

    def _shapes(self, released: Array) -> Integers:
        """Number the shapes: exponents and lowest bits lie within 4096 of each other."""
        values = released[:, self.column]
        exponents = np.frexp(values)[1].astype(np.int64)
        shapes: Integers = (2 * exponents + np.signbit(values)) * 8192 + lowest_bit(values)
        return shapes


def bit_scores(column: int = 0, *, trailing: int = 12) -> tuple[Score, ...]:
    """Return the battery for one column: lowest bit, shape, and each of the last bits.

    Examples
    --------
    >>> [score.name for score in bit_scores(trailing=2)]
    ['lowest bit of column 0', 'shape of column 0', 'bit 0 of column 0', 'bit 1 of column 0']
    """
    last_bits = (TrailingBits(bit, column) for bit in range(trailing))
    return (LowestBit(column), FloatShape(column), *last_bits)
