"""Exact uniform integers below a bound, by rejection."""

from __future__ import annotations

import numpy as np

from discreet._types import Integers
from discreet._types import Words as WordArray
from discreet.noise.words import WordSupply


def draw_below(words: WordSupply, bound: int, count: int) -> WordArray:
    """Return ``count`` uniform integers among 0, 1, ..., bound - 1."""
    if bound == 1:
        return np.zeros(count, dtype=np.uint64)
    shift = np.uint64(64 - (bound - 1).bit_length())
    kept = np.empty(0, dtype=np.uint64)
    while kept.size < count:
        proposal = words.take(2 * (count - kept.size) + 8) >> shift
        kept = np.concatenate([kept, proposal[proposal <= np.uint64(bound - 1)]])
    return kept[:count]


def which_below(words: WordSupply, bound: int, count: int) -> Integers:
    """Return which of ``count`` uniform words are below ``bound``, itself a word, in order.

    Eight bits decide that of all but one word in 256; the other 56 are drawn for those alone.
    """
    first = words.take(-(-count // 8)).astype("<u8", copy=False).view(np.uint8)[:count]
    leading = np.uint8(bound >> 56)
    found = np.flatnonzero(first <= leading)
    tied = np.flatnonzero(first[found] == leading)
    rest = words.take(tied.size) >> np.uint64(8)
    return np.delete(found, tied[rest >= np.uint64(bound & ((1 << 56) - 1))])


def draw_below_each(words: WordSupply, bounds: Integers) -> Integers:
    """Return a uniform integer below each bound; bounds lie between 1 and 2**62."""
    most = (bounds - 1).astype(np.uint64)
    mask = most.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    drawn = np.zeros(bounds.size, dtype=np.uint64)
    missing = np.flatnonzero(bounds > 1)
    while missing.size:
        drawn[missing] = words.take(missing.size) & mask[missing]
        missing = missing[drawn[missing] > most[missing]]
    return drawn.astype(np.int64)


def draw_distinct(words: WordSupply, bound: int, count: int) -> Integers:
    """Return a uniform set of ``count`` integers below ``bound``, increasing.

    The first so many different numbers in a sequence of independent uniform ones: by symmetry all
    sets are equally likely. Of more than half, those left out are drawn.
    """
    if 2 * count > bound:
        kept = np.ones(bound, dtype=np.bool_)
        kept[draw_distinct(words, bound, bound - count)] = False
        return np.flatnonzero(kept)
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < count:
        more = draw_below(words, bound, count - drawn.size + count // 2 + 4).astype(np.int64)
        drawn = np.concatenate([drawn, more])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return np.sort(drawn[:count])
