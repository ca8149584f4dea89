"""How large a set may be, and how its measurements are rounded."""

from __future__ import annotations

import math

from discreet import _checks
from discreet.errors import InputError

UNIT = 2.0**-53
"""The largest relative error of one rounding."""

SMALLEST = 1e-100
LARGEST = 1e100


def size(**numbers: float) -> float:
    """Return the one number given, refusing it unless its square is safe to compute with."""
    value = _checks.positive_number(**numbers)
    (name,) = numbers
    if not SMALLEST <= value <= LARGEST:
        raise InputError(
            f"{name} must lie between {SMALLEST:g} and {LARGEST:g}, "
            f"so that squares neither overflow nor vanish; got {value}."
        )
    return value


def round_up(measure: float) -> float:
    """Return a number no smaller than what ``measure`` approximates within a few roundings."""
    return measure and math.nextafter(measure * (1 + 2**-50), math.inf)
