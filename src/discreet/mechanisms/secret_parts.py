"""A random partition of the rows: one record, or one person, is in one part and moves no other.

Proof in ``train_and_choose.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Integers
from discreet.data import OpenRows
from discreet.noise import Noise
from discreet.privacy import Unit


@dataclass(frozen=True)
class PartSizes:
    """How large parts are on average, by public tickets.

    Examples
    --------
    >>> PartSizes((3, 1)).largest(0, 10), PartSizes((3, 1)).share(1)
    (8, 0.25)
    """

    tickets: tuple[int, ...]

    def __post_init__(self) -> None:
        for ticket in self.tickets:
            _checks.whole(ticket=ticket, at_least=1, at_most=2**40)

    @property
    def total(self) -> int:
        """The number of all tickets."""
        return sum(self.tickets)

    @property
    def _parts(self) -> range:
        return range(len(self.tickets))

    def share(self, part: int) -> float:
        """Return the share of the rows that a part has on average."""
        return self.tickets[part] / self.total

    def largest(self, part: int, count: int) -> int:
        """Return the most rows that a part has of so many, if their number is public."""
        return max(1, -(-self.tickets[part] * count // self.total))

    def deal(self, rows: OpenRows, unit: Unit, noise: Noise) -> tuple[OpenRows, ...]:
        """Partition rows at random, in secret: private.

        If their number is private, each row draws a ticket of its own, so that one record more
        or less leaves all others where they were; where persons are protected, all rows of one
        draw one together. If it is public, all orders of the rows are
        equally likely and parts have fixed sizes: a record is known by its place, and another in
        that place goes to the same part.
        """
        if unit.rows_are_public:
            return rows.deal(self._deal_evenly(rows.count, noise), len(self.tickets))
        drawn = _find_parts(rows.draw_each(self.total, noise), self.tickets)
        return rows.deal(drawn, len(self.tickets))

    def _deal_evenly(self, count: int, noise: Noise) -> Integers:
        ends = [sum(self.tickets[: part + 1]) * count // self.total for part in self._parts]
        sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
        order = np.argsort(noise.below(1 << 62, count), kind="stable")
        dealt = np.empty(count, dtype=np.int64)
        dealt[order] = np.repeat(np.array(self._parts), sizes)
        return dealt


def _find_parts(tickets: Integers, sizes: Sequence[int]) -> Integers:
    """Return the part that each ticket belongs to."""
    return np.searchsorted(np.cumsum(sizes), tickets, side="right").astype(np.int64)
