"""The least positive number that is enough, found with few trials where trying one takes long."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

LEAST, MOST = 1e-12, 1e15

_SETTLED = 1e-15
"""An estimate is settled once its next step, times the last one, is below this, in logarithms."""

_MOST_TRIALS, _MOST_CELLS = 24, 4
_TINY = 1e-320

Search: TypeAlias = Callable[[Callable[[float], bool]], tuple[float, float]]
"""Bisects: given what is enough, returns neighbours of which the first is not and the second is.

The second is infinite if nothing is.
"""


class Trials:
    """Numbers tried so far, for a level that falls: what is more than enough is enough.

    ``level_of`` has to come down to ``level``. Nothing is tried below a number that was not enough
    nor above one that was.
    """

    def __init__(self, level_of: Callable[[float], float], level: float) -> None:
        self._level_of, self._level = level_of, level
        self._low, self._high = 0.0, math.inf
        self._ends: bool | None = None  # as is known once the largest number was tried
        self._tried: dict[float, bool] = {}
        self._excess: dict[float, float] = {}  # of levels, by the number tried, both in logarithms

    def is_enough(self, number: float) -> bool:
        """Say whether a number is enough, if need be by trying it."""
        return self.try_out(number) if self._low < number < self._high else number >= self._high

    def try_out(self, number: float) -> bool:
        """Say whether a number is enough, by having tried it."""
        if number in self._tried:
            return self._tried[number]
        found = self._level_of(number)
        is_enough = self._tried[number] = found <= self._level
        if is_enough:
            self._high = min(self._high, number)
        else:
            self._low = max(self._low, number)
        if _TINY < found < 1 and self._level > 0:  # beyond, levels are rounded or cut off
            self._excess[math.log(number)] = math.log(found) - math.log(self._level)
        return is_enough

    def is_enough_at_all(self) -> bool:
        """Say whether any number is enough."""
        if self._ends is None:
            self._ends = self._level_of(MOST) <= self._level
        if not self._ends:
            self._low = MOST
        return self._ends

    def estimate(self, guess: float) -> float:
        """Return roughly the least number that is enough, after a few trials from a guess on."""
        number, last, factor = guess, 1.0, 2.0
        for trial in range(1, _MOST_TRIALS + 1):
            self.try_out(number)
            place, crossing = math.log(number), self._crossing()
            step = abs(crossing - place)
            if step * last <= _SETTLED:
                return math.exp(crossing)
            farthest = math.log(factor)
            expected = math.exp(min(max(crossing, place - farthest), place + farthest))
            is_slow = trial >= 8 and trial % 4 == 0
            if is_slow or not self._low < expected < self._high:
                expected, factor = self._next_guess(factor), min(factor**2, 256.0)
            number, last = expected, min(abs(math.log(expected / number)), 1.0)
            if trial >= 2 and math.isinf(self._high) and not self.is_enough_at_all():
                return math.inf
            if not LEAST / 4 <= number <= 4 * MOST:
                break
        return number

    def _next_guess(self, factor: float) -> float:
        """Return a number beyond those tried, or in the midst of what is open."""
        if self._low == 0:
            return self._high / factor
        return self._low * factor if math.isinf(self._high) else math.sqrt(self._low * self._high)

    def _crossing(self) -> float:
        """Return where a curve through the nearest trials crosses the level, in logarithms.

        Levels are nearly straight lines there, or parabolas; infinite if too few are known.
        """
        nearest = sorted(self._excess.items(), key=lambda trial: abs(trial[1]))[:3]
        if len(nearest) == 3 and not _falls(nearest):
            nearest = nearest[:2]
        if len(nearest) < 2 or not _falls(nearest):
            return math.inf
        crossing = 0.0
        for place, excess in nearest:
            others = (other for _, other in nearest if other != excess)
            crossing += place * math.prod(other / (other - excess) for other in others)
        return crossing


def _falls(trials: list[tuple[float, float]]) -> bool:
    """Say whether of different places none has as much excess as one before it."""
    inorder = sorted(trials)
    return all(before[1] > after[1] for before, after in pairwise(inorder))


def least_of(
    level_of: Callable[[float], float], level: float, guess: float, search: Search
) -> float:
    """Return what a bisection finds where ``level_of`` falls to ``level``, after few trials.

    The number is estimated first; the search is gone through with the estimate, and the neighbours
    that it ends at are tried. If the first is not enough and the second is, it comes to nothing
    else: every other decision follows from these. If not, it is made in earnest, between what was
    tried so far. What is returned was tried itself.

    Examples
    --------
    >>> def search(is_enough):
    ...     low, high = 1.0, 64.0
    ...     while high - low > 2**-30:
    ...         middle = (low + high) / 2
    ...         low, high = (low, middle) if is_enough(middle) else (middle, high)
    ...     return low, high
    >>> tried = []
    >>> def level_of(number):
    ...     tried.append(number)
    ...     return 1 / (number**2 + number)
    >>> _, plainly = search(lambda number: level_of(number) <= 1e-3)
    >>> trials = len(tried)
    >>> least_of(level_of, 1e-3, 10.0, search) == plainly, len(tried) - trials < trials / 4
    (True, True)
    """
    trials = Trials(level_of, level)
    for _ in range(_MOST_CELLS if level > 0 else 0):
        guess = max(trials.estimate(guess), LEAST)
        low, high = search(guess.__le__)
        if math.isinf(high) or (trials.is_enough(high) and not trials.is_enough(low)):
            break
    found = search(trials.is_enough)[1]
    if math.isinf(found) or trials.try_out(found):
        return found
    return search(lambda number: level_of(number) <= level)[1]


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


def lowest_place(value: Callable[[int], float], count: int, start: int) -> int:
    """Return the place of the least of ``count`` values that fall and then rise.

    The search goes out from ``start`` in growing strides; near the place it looks at three.

    Examples
    --------
    >>> looked_at = set()
    >>> def value(place: int) -> float:
    ...     looked_at.add(place)
    ...     return (place - 40.2) ** 2
    >>> lowest_place(value, 65, 39), len(looked_at)
    (40, 3)
    """

    def rises(place: int) -> bool:
        return value(place + 1) > value(place)

    low, high = -1, count - 1  # it falls after the first, and rises after the second, or ends
    place, stride = min(max(start, 0), count - 2), 1
    while low < place < high:
        if rises(place):
            high = place
            place -= stride
        else:
            low = place
            place += stride
        stride *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    return high
