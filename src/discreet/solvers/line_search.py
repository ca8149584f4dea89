"""Where a rising function crosses zero: line searches that compare slopes, not values.

Bisection and secant steps on the directional derivative.
"""

from __future__ import annotations

from collections.abc import Callable

GOOD_PROGRESS = 0.1
MOST_STRETCHES = 12
MOST_STEPS = 80
"""Enough to halve an interval down to neighbouring floats."""


def find_crossing(slope: Callable[[float], float], *, is_bounded: bool = False) -> float:
    """Return a length at which the slope along a direction is nearly zero.

    Values of a function agree to rounding long before its slopes do, so near a minimum slopes are
    the better guide. The slope is expected to rise from below zero at 0; the length found is
    between two that it has opposite signs at, as close together as it takes, and at most 1 if the
    way is bounded.

    Examples
    --------
    >>> find_crossing(lambda length: length - 0.75)
    0.75
    """
    first = low_slope = slope(0.0)
    low, high = 0.0, 1.0
    high_slope = slope(high)
    for _ in range(MOST_STRETCHES):
        if is_bounded or high_slope >= GOOD_PROGRESS * first:
            break
        low, low_slope, high = high, high_slope, 4 * high
        high_slope = slope(high)
    if high_slope < 0:
        return high
    length, here = high, high_slope
    for step in range(MOST_STEPS):
        if abs(here) <= GOOD_PROGRESS * abs(first):
            return length
        length = (low + high) / 2
        if step % 2 == 0 and high_slope > low_slope:
            # As if the slope were a straight line; every other time, lest one end should stick.
            length = low - low_slope * (high - low) / (high_slope - low_slope)
        if not low < length < high:
            length = (low + high) / 2
        if not low < length < high:
            break
        here = slope(length)
        if here < 0:
            low, low_slope = length, here
        else:
            high, high_slope = length, here
    return low if abs(low_slope) < abs(high_slope) else high
