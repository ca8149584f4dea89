"""Numbers whose range is sought: how they are written in a row until it is found.

A number is written by its place within public bounds: from -1/2 at the lower end to 1/2 at the
upper. A number that is missing is written as 1, so that it is told from all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Booleans
from discreet.geometry import ConvexSet

MISSING = 1.0
"""What stands for a number that is missing."""

MOST_KNOWN = 0.75
"""Between the largest place and what is missing."""


@dataclass(frozen=True)
class SoughtRanges:
    """Which features are numbers whose range is sought, and what rows are clipped to before."""

    columns: tuple[int, ...]
    outside: ConvexSet
    share: float = 0.0


def write_places(shares: Array, is_known: Booleans) -> Array:
    """Return what is written for numbers, given from -1 to 1 within their public bounds."""
    return np.where(is_known, shares / 2, MISSING)


def read_places(entries: Array) -> tuple[Array, Booleans]:
    """Return numbers from -1 to 1 within their public bounds, and which of them are known.

    Any entry has a meaning, each by itself.

    Examples
    --------
    >>> shares, is_known = read_places(np.array([-0.5, 0.25, 1.0]))
    >>> shares.tolist(), is_known.tolist()
    ([-1.0, 0.5, 1.0], [True, True, False])
    """
    return np.clip(2 * entries, -1.0, 1.0), entries <= MOST_KNOWN
