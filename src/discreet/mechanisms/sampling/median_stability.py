"""Medians on a grid: how many records have to change until one more could move them far."""

from __future__ import annotations

import numpy as np

from discreet._types import Integers


def lower_median(places: Integers, steps: int) -> int:
    """Return the lower median of places from 0 to ``steps``; 0 if there are none.

    Examples
    --------
    >>> lower_median(np.array([7, 1, 3, 9]), steps=10)
    3
    """
    if places.size == 0:
        return 0
    rank = (places.size - 1) // 2
    return int(np.partition(places, rank)[rank])


def records_to_instability(places: Integers, steps: int, move: int, is_count_public: bool) -> int:
    r"""Return how many records have to change until one more can move the median beyond ``move``.

    Changes are those of the unit: records added and removed, or records replaced if their number
    is public. The distance is exact. With sorted places :math:`x_1, \dots, x_n`, and the ends of
    the grid as :math:`x_0` and :math:`x_{n+1}`, it is the least cost over pairs with
    :math:`x_j - x_i` above ``move``: what lies between is taken away, and what is added at the ends
    brings the gap to the middle.

    Examples
    --------
    >>> records_to_instability(np.array([4, 5, 5, 5, 6]), 10, move=1, is_count_public=False)
    3
    """
    n = places.size
    ends = np.concatenate([[0], np.sort(places), [steps]])
    # Of all that lie far enough to the right of a place the first costs least.
    right = np.searchsorted(ends, ends + move, side="right")
    left = np.flatnonzero(right <= n + 1)
    right = right[left]
    between, below, above = right - left - 1, left, n + 1 - right
    if is_count_public:
        return int((between + _count_crossing(below, above, n)).min())
    # Of the others, as many below as above, or one more above: the rest is added.
    lacking = above - below
    return int((between + np.where(lacking > 0, lacking - 1, -lacking)).min())


def _count_crossing(below: Integers, above: Integers, n: int) -> Integers:
    """Return how many have to cross the gap, beside what lies in it, to bring it to the middle.

    The lower median of n has the rank r: the gap lies above or below it, with r or r - 1 below.
    """
    rank = (n + 1) // 2
    crossing = [
        np.maximum(np.maximum(below - wanted, above - (n - wanted)), 0)
        for wanted in (rank, rank - 1)
        if wanted >= 0
    ]
    return np.asarray(np.min(crossing, axis=0))
