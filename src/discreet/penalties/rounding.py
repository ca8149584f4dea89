"""What one rounding can do."""

from __future__ import annotations

import math

from discreet.geometry.limits import UNIT

__all__ = ["UNIT", "underflow"]


def underflow(dimension: int) -> float:
    """Bound the length of a vector whose entries are each lost to underflow a few times."""
    return math.sqrt(dimension) * 2.0**-1070
