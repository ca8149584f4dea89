"""Exact coins whose chance of heads is exp(-a/b), for integers a and b."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np

from discreet._types import Booleans, Integers
from discreet.noise import law
from discreet.noise.words import WordSupply

MOST = 2**63 - 1
NEVER = 10**6
"""With a/b beyond this the coin shows tails: a chance of heads below e**-1000000 counts as zero.

A candidate that far behind the best would otherwise need a million zero bits in a row. Pure
epsilon holds up to that chance."""


def flip(words: WordSupply, numerators: Integers, denominator: int) -> Booleans:
    """Flip one coin for each numerator."""
    height = words.take(numerators.size)
    with np.errstate(all="ignore"):  # a small chance may underflow
        margin = np.exp(-(numerators / denominator)) - height * 2.0**-64
    heads: Booleans = margin > 0
    for i in np.flatnonzero(np.abs(margin) <= law.FILTER_WIDTH):
        heads[i] = _flip_exactly(words, int(numerators[i]), denominator, int(height[i]))
    return heads


def _flip_exactly(words: WordSupply, numerator: int, denominator: int, height: int) -> bool:
    if numerator == 0:
        return True
    if numerator > NEVER * denominator:
        return False
    bits = 64
    while True:
        digits = law.TABLE_DIGITS + bits // 2
        context = law.decimal_context(digits)
        chance = context.exp(context.divide(Decimal(-numerator), Decimal(denominator)))
        with decimal.localcontext(law.decimal_context(4 * digits)):
            slack = chance * Decimal(10) ** (12 - digits)
            unit = Decimal(1 << bits)
            if (height + 1) / unit <= chance - slack:
                return True
            if height / unit >= chance + slack:
                return False
        height = (height << 64) | int(words.take(1)[0])
        bits += 64
