r"""Exact integers below a power of two, with chance proportional to exp(-k * rate).

The exponential of a sum is a product, so the binary digits of k are independent: digit i is one
with odds :math:`e^{-\text{rate} \, 2^i}`. A fair bit proposes it, a coin of that chance confirms a
one, and whatever is not confirmed is begun anew.
"""

from __future__ import annotations

import numpy as np

from discreet._types import Booleans, Integers
from discreet.noise import coin
from discreet.noise.words import WordSupply

RATE_BITS = 40
"""Rates are multiples of 2**-40."""

MOST_BITS = 58
"""Rates and sizes are such that exponents, in the same multiples, are below two to this."""


def draw(words: WordSupply, rates: Integers, bits: Integers) -> Integers:
    """Return an integer below 2**bits for each rate."""
    drawn = np.zeros(rates.size, dtype=np.int64)
    place = np.repeat(np.arange(rates.size), bits)
    digit = np.arange(place.size) - np.repeat(np.cumsum(bits) - bits, bits)
    ones = _flip_odds(words, rates[place] << digit)
    np.add.at(drawn, place, ones.astype(np.int64) << digit)
    return drawn


def _flip_odds(words: WordSupply, numerators: Integers) -> Booleans:
    """Say one with odds exp(-numerator/2**40) to one."""
    ones = np.zeros(numerators.size, dtype=np.bool_)
    pending = np.arange(numerators.size)
    while pending.size:
        proposed = pending[words.take(pending.size) >> np.uint64(63) == 1]
        confirmed = coin.flip(words, numerators[proposed], 1 << RATE_BITS)
        ones[proposed[confirmed]] = True
        pending = proposed[~confirmed]
    return ones
