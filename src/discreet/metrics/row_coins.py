"""Coins of rows, of which nobody knows anything: one for each, from a secret key and its place.

A part of a table that is computed again has the same coins; rows that are alike have different
ones, so that their rounding averages out. Places shift when a record is taken away, and with them
who has which coin; as the key is fresh and secret, coins are independent of all rows either way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from discreet._types import Vector
from discreet.data.stored import RowPlace
from discreet.estimators.base import noise_from

COIN_BITS = 53
TOGETHER = 8
"""Coins of one hash: 64 bits for each of so many neighbouring rows."""


@dataclass(frozen=True)
class RowCoins:
    """Numbers between zero and one.

    Examples
    --------
    >>> coins = RowCoins.fresh(None)
    >>> bool((coins.toss(RowPlace(0, 5), 20)[10:] == coins.toss(RowPlace(0, 15), 10)).all())
    True
    """

    key: bytes = field(repr=False)

    @classmethod
    def fresh(cls, rehearsal: int | None) -> RowCoins:
        """Return coins with a key of their own; the same for the same rehearsal."""
        return cls(noise_from(rehearsal).below(1 << 64, 4).tobytes())

    def toss(self, place: RowPlace, count: int) -> Vector:
        """Return the coins of as many rows, the first of which is at this place."""
        first, last = place.row // TOGETHER, -(-(place.row + count) // TOGETHER)
        part = place.part.to_bytes(8, "little")
        hashed = [
            blake2b(part + number.to_bytes(8, "little"), key=self.key).digest()
            for number in range(first, last)
        ]
        words = np.frombuffer(b"".join(hashed), dtype="<u8") >> np.uint64(64 - COIN_BITS)
        skipped = place.row - first * TOGETHER
        return np.asarray(words[skipped : skipped + count] * 2.0**-COIN_BITS)
