r"""Exact draws of one candidate with chance proportional to exp(-score * rate).

Candidates of equal score come in groups: group ``j`` has ``counts[j]`` of them and weighs
:math:`m_j e^{-r s_j}`. A group is proposed with chance proportional to an integer ``envelope``
slightly above its weight, and kept with chance weight over envelope. Proposals are integers, so
exact; a coin is decided in floating point when it is clear and in decimal interval arithmetic,
with as many fresh bits as it takes, when it is not. Floats therefore decide how often a proposal
is refused (about once in a million), and nothing else. No candidate is too far behind to be drawn.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet._types import Booleans, Integers, Vector
from discreet.noise import law
from discreet.noise.uniform import draw_below, draw_below_each
from discreet.noise.words import WordSupply

MOST_CANDIDATES = 2**40
MOST_SCORE = 2**62
_ENVELOPE_BITS = 61
_SLACK = 1 + 2.0**-20
"""Far above the error of a weight in floating point, 2**-40 of it."""


def choose(
    words: WordSupply, counts: Integers, scores: Integers, rate: Fraction, draws: int
) -> tuple[Integers, Integers]:
    """Return the groups of ``draws`` candidates, and which member of its group each one is."""
    groups = _Groups.of(counts, scores - scores.min(), rate)
    found = np.empty(0, dtype=np.int64)
    while found.size < draws:
        tickets = draw_below(words, int(groups.cumulative[-1]), draws - found.size).astype(np.int64)
        proposed = np.searchsorted(groups.cumulative, tickets, side="right").astype(np.int64)
        found = np.concatenate([found, proposed[groups.keeps(words, proposed)]])
    return found, draw_below_each(words, counts[found])


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of candidates, their weights times 2**bits, and integers above these."""

    counts: Integers
    scores: Integers
    rate: Fraction
    bits: int
    weights: Vector
    envelope: Integers
    cumulative: Integers

    @classmethod
    def of(cls, counts: Integers, scores: Integers, rate: Fraction) -> _Groups:
        bits = _ENVELOPE_BITS - int(counts.sum()).bit_length()
        with np.errstate(all="ignore"):  # what is far behind underflows
            weights = counts * np.exp(-(scores * float(rate))) * 2.0**bits
        envelope = np.floor(weights * _SLACK).astype(np.int64) + 1
        return cls(counts, scores, rate, bits, weights, envelope, np.cumsum(envelope))

    def keeps(self, words: WordSupply, proposed: Integers) -> Booleans:
        """Flip a coin of chance weight over envelope for each proposal."""
        heights = words.take(proposed.size)
        margin = self.weights[proposed] / self.envelope[proposed] - heights * 2.0**-64
        kept: Booleans = margin > 0
        for i in np.flatnonzero(np.abs(margin) <= law.FILTER_WIDTH):
            kept[i] = self._keeps_exactly(words, int(proposed[i]), int(heights[i]))
        return kept

    def _keeps_exactly(self, words: WordSupply, group: int, height: int) -> bool:
        """Decide one coin in interval arithmetic, with fresh bits while it is undecided."""
        count, envelope = int(self.counts[group]), int(self.envelope[group])
        numerator = -int(self.scores[group]) * self.rate.numerator
        size = len(str(numerator // self.rate.denominator))  # digits before the point
        bits = 64
        while True:
            digits = law.TABLE_DIGITS + size + bits // 2
            context = law.decimal_context(digits)
            chance = context.exp(context.divide(Decimal(numerator), Decimal(self.rate.denominator)))
            with decimal.localcontext(law.decimal_context(4 * digits)):
                weight = chance * count * (1 << (self.bits + bits))
                slack = weight * Decimal(10) ** (12 + size - digits)
                if (height + 1) * envelope <= weight - slack:
                    return True
                if height * envelope >= weight + slack:
                    return False
            height = (height << 64) | int(words.take(1)[0])
            bits += 64
