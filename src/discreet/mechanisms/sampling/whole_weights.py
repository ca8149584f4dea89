"""Weights of rows as whole numbers, so that scores of weighed rows are whole, too.

A row's own score is rounded first and multiplied by its weight then: however many rows a person
has, they change a score by no more than the weight of the person. Rounded after weighing, many
small scores could add up to twice as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError, PrivacyError
from discreet.questions.bounds import Bounds

MOST_BITS = 32
"""Weights that persons leave their rows are multiples of 2**-32."""

LEAST_BITS = 10
"""A person of a thousand rows would have no weight left with fewer."""

ROOM = 62
"""Bits of the largest score."""


@dataclass(frozen=True)
class WholeWeights:
    """How weights become whole numbers, rounded down; one each where there are none.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.questions import Cap, Share
    >>> WholeWeights.of(Bounds(L2Ball(1.0), 1, max_rows=10**6, person=Cap(3)), most=2)
    WholeWeights(bits=0, largest=3)
    >>> WholeWeights.of(Bounds(L2Ball(1.0), 1, max_rows=10**6, person=Share()), most=2**20)
    WholeWeights(bits=21, largest=2097152)
    """

    bits: int
    largest: int

    @classmethod
    def of(cls, bounds: Bounds, most: int, finest: int = MOST_BITS) -> WholeWeights:
        """Return weights for scores to which a row of weight one adds ``most`` at most.

        A weight of one is at most 2**finest.
        """
        bits = 0
        if bounds.has_weights:
            heaviest = math.ceil(bounds.max_rows * bounds.row_weight)
            bits = min(finest, ROOM - most.bit_length() - heaviest.bit_length())
            if bits < LEAST_BITS:
                raise CalibrationError(
                    f"scores of {bounds.max_rows:,} weighed rows leave no room for their weights; "
                    "declare a smaller max_rows, or use contributions='cap'."
                )
        return cls(bits, math.floor(math.ldexp(bounds.unit_weight, bits)))

    @property
    def one(self) -> int:
        """What a row counts that counts once."""
        return 1 << self.bits

    def of_rows(self, rows: OpenRows) -> Integers | None:
        """Return the weight of each row, in their order: private; None for one each."""
        return self._round(rows.gather_weights()) if self.bits else None

    def of_block(self, block: Block) -> Integers | None:
        """Return the weight of each row of a block: private; None for one each."""
        if not self.bits and block.weights is not None:
            raise PrivacyError("rows that count once each came with weights.")
        return self._round(block.weights) if self.bits else None

    def _round(self, weights: Vector | None) -> Integers:
        if weights is None:
            raise PrivacyError("rows that must be weighed came without weights.")
        return np.floor(np.ldexp(weights, self.bits)).astype(np.int64)


EACH_ONCE = WholeWeights(0, 1)
"""Of rows without weights, where records are protected."""


def sum_by_place(places: Integers, weights: Integers | None, size: int) -> Integers:
    """Return the sum of weights at each place, exactly; without weights, how many there are.

    Examples
    --------
    >>> sum_by_place(np.array([1, 0, 1]), np.array([2**60, 1, 1]), 3).tolist()
    [1, 1152921504606846977, 0]
    """
    if weights is None:
        return np.bincount(places, minlength=size).astype(np.int64)
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, places, weights)
    return total
