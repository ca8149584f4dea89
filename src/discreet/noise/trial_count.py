"""Exact random numbers of trials: truncated negative binomial, and Poisson."""

from __future__ import annotations

from discreet.noise.uniform import draw_below
from discreet.noise.words import WordSupply

RATIO_BITS, SHAPE_BITS = 32, 20
"""Ratios are multiples of 2**-32; shapes and means are multiples of 2**-20."""


def draw_negative_binomial(words: WordSupply, ratio: int, shape: int) -> int:
    r"""Return k >= 1 with chance proportional to r**k times the product of (l + s)/(l + 1), l < k.

    A geometric number is proposed, and kept if a coin of chance (l + s)/(l + 1) shows heads for
    every l from 1 to k - 1: for a shape s of one at most, these are chances. Coins are thrown on
    the way, so that most of the proposals that are not kept are short.
    """
    one = 1 << SHAPE_BITS
    while True:
        count = 1
        while int(words.take(1)[0]) >> (64 - RATIO_BITS) < ratio:
            coin = int(draw_below(words, (count + 1) * one, 1)[0]) if shape < one else 0
            if coin >= count * one + shape:
                break
            count += 1
        else:
            return count


def draw_poisson(words: WordSupply, mean: int) -> int:
    """Return a Poisson number, as the sum of independent ones of a mean of one half at most.

    Of a small mean m, a number n is proposed with chance 2**-(n + 1), and kept if a coin of chance
    2m/i shows heads for every i from 1 to n.
    """
    parts = max(1, -(-2 * mean >> SHAPE_BITS))
    whole = parts << SHAPE_BITS
    return sum(_draw_small_poisson(words, mean, whole) for _ in range(parts))


def _draw_small_poisson(words: WordSupply, numerator: int, denominator: int) -> int:
    while True:
        count = 0
        while int(words.take(1)[0]) & 1:
            count += 1
        if all(
            int(draw_below(words, denominator * place, 1)[0]) < 2 * numerator
            for place in range(1, count + 1)
        ):
            return count
