r"""Exact integers of the discrete Laplace law: k with chance proportional to exp(-|k| rate).

The two-sided geometric law of Ghosh, Roughgarden and Sundararajan, drawn as the difference of two
geometric integers. The exponential of a sum is a product, so the binary digits of a geometric
integer are independent of one another and of what is above them: the low digits are a truncated
geometric integer, the rest counts heads of a coin until it shows tails. No float decides anything.
"""

from __future__ import annotations

import numpy as np

from discreet._types import Integers
from discreet.noise import coin, truncated_geometric
from discreet.noise.truncated_geometric import RATE_BITS
from discreet.noise.words import WordSupply

UNIT_RATE = 1 << RATE_BITS
"""Rates are counted in this part of one: the rate r stands for ``exp(-|k| r / 2**40)``."""

LARGEST_RATE = UNIT_RATE << 18
"""Beyond, noise is zero but with a chance of e**-262144; coins stay exact up to a million."""


def draw(words: WordSupply, rate: int, count: int) -> Integers:
    """Return ``count`` integers k, each with chance proportional to exp(-|k| rate / 2**40)."""
    both = _draw_geometric(words, rate, 2 * count)
    return both[:count] - both[count:]


def _draw_geometric(words: WordSupply, rate: int, count: int) -> Integers:
    """Return integers k >= 0, each with chance proportional to exp(-k rate / 2**40)."""
    bits = max(0, RATE_BITS + 1 - rate.bit_length())  # so that a coin rarely shows heads
    rates = np.full(count, rate, dtype=np.int64)
    low = truncated_geometric.draw(words, rates, np.full(count, bits, dtype=np.int64))
    return low + (_count_heads(words, rate << bits, count) << bits)


def _count_heads(words: WordSupply, rate: int, count: int) -> Integers:
    """Return how often a coin of chance exp(-rate / 2**40) shows heads before it shows tails."""
    heads = np.zeros(count, dtype=np.int64)
    pending = np.arange(count)
    while pending.size:
        pending = pending[coin.flip(words, np.full(pending.size, rate, dtype=np.int64), UNIT_RATE)]
        heads[pending] += 1
    return heads
