"""The least positive number that is enough, where trying one takes long."""

from __future__ import annotations

import math
from collections.abc import Callable

LEAST, MOST = 1e-12, 1e15


def least_enough(excess: Callable[[float], float], guess: float, precision: float) -> float:
    """Return a number whose excess is not positive, at most ``precision`` above the smallest.

    ``excess`` falls, and is nearly a straight line in the logarithm of the number, so few are
    tried; infinite if none up to 10**15 is enough.

    Examples
    --------
    >>> tried = []
    >>> def excess(x: float) -> float:
    ...     tried.append(x)
    ...     return 20 - x**2
    >>> 0 <= least_enough(excess, 3.0, 1e-6) / 20**0.5 - 1 <= 1e-6, len(tried) < 16
    (True, True)
    """
    low = high = guess
    under = over = excess(guess)
    factor = 1.1
    while over > 0:
        low, under, high = high, over, high * factor
        if high > MOST:
            return math.inf
        over, factor = excess(high), factor**2
    while under <= 0 and low > LEAST:
        high, over, low = low, under, low / factor
        under, factor = excess(low), factor**2
    nudge = 1 + precision / 3
    while high / low > 1 + precision:
        share = under / (under - over) if math.isfinite(over) else 0.5
        middle = low * (high / low) ** min(max(share, 0.02), 0.98)
        # A little to the side where the root is not, so that the next probe closes in on it.
        middle = middle * nudge if share < 0.98 and middle * nudge < high else middle
        if not low < middle < high:
            break
        found = excess(middle)
        if found > 0:
            low, under = middle, found
            continue
        high, over = middle, found
        below = middle / nudge**2
        if below > low:
            found = excess(below)
            low, under, high, over = (
                (below, found, high, over) if found > 0 else (low, under, below, found)
            )
    return high
