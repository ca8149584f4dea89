"""Exact coins whose chance of heads is exp(-a/b), for integers a and b."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np

from discreet._types import Booleans, Integers
from discreet.noise import law
from discreet.noise.words import WordSupply

NEVER = 10**6
"""exp(-a/b) with a/b beyond this needs a million zero bits in a row: it is tails."""


def flip(words: WordSupply, numerators: Integers, denominator: int) -> Booleans:
    """Flip one coin for each numerator."""
    height = words.take(numerators.size)
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
