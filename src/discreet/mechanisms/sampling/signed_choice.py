r"""One of very many candidates, each with either sign, drawn by the exponential mechanism.

Candidate j with the sign s has chance proportional to :math:`e^{r s u_j}`. Candidates are put into
bands of scores, a band no wider than 1/r; a band is proposed with its size times the chance of its
best edge, a member of it uniformly, and that is kept with the chance by which it is behind the
edge: at least 1/e. Candidates far behind share the last band. So the law is exact, and a draw costs
a few passes over integers, without an exponential of each candidate.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet._types import Integers
from discreet.errors import CalibrationError
from discreet.noise import Noise

BANDS = 64
"""All that is further behind than so many bands, where chances are below e**-31, is one band."""

RATE_BITS = 20
"""Significant bits of a rate."""

MOST_SHIFT, LEAST_STEPS = 62, 2**10
"""A rate is a whole number of at least 2**10 over at most 2**62, which coins can be made of."""

PROPOSALS = 8
"""Candidates proposed at once; the first that is kept counts."""

FEW = 2**12
"""Up to so many candidates, an exponential of each is faster than bands."""

MOST_COIN = 2**62
"""A coin whose numerator is larger is flipped as several."""


def round_rate(rate: Fraction) -> Fraction:
    """Return a rate with few bits, at most as large: chances then differ less, never more.

    Examples
    --------
    >>> rate = round_rate(Fraction(1, 3))
    >>> rate <= Fraction(1, 3), rate.denominator.bit_length() <= 22
    (True, True)
    """
    shift = min(_shift_of(rate) + RATE_BITS, MOST_SHIFT)
    rounded = (rate.numerator << shift) // rate.denominator
    if rounded < LEAST_STEPS:
        raise CalibrationError("epsilon is too small for these draws; use a larger one.")
    return Fraction(rounded, 1 << shift)


def _shift_of(rate: Fraction) -> int:
    """Return the largest k of which a band of 2**k scores is no wider than one over the rate."""
    return max((rate.denominator // rate.numerator).bit_length() - 1, 0)


def draw_signed(scores: Integers, rate: Fraction | None, noise: Noise) -> tuple[int, int]:
    """Draw a candidate and its sign, with chance proportional to exp(rate * sign * score)."""
    most, least = int(scores.max()), int(scores.min())
    if rate is None:
        if most >= -least:
            return int(np.argmax(scores)), 1
        return int(np.argmin(scores)), -1
    best = max(most, -least)
    if scores.size <= FEW:
        behind = np.concatenate([best - scores, best + scores])
        which = int(noise.candidates(np.ones_like(behind), behind, rate)[0][0])
        return which % scores.size, 1 - 2 * (which // scores.size)
    return _draw_from_bands(scores, best, rate, noise)


def _draw_from_bands(scores: Integers, best: int, rate: Fraction, noise: Noise) -> tuple[int, int]:
    shift = _shift_of(rate)
    bands = [_bands_of(best - scores, shift), _bands_of(best + scores, shift)]
    counts = np.concatenate([np.bincount(part, minlength=BANDS) for part in bands])
    filled = np.flatnonzero(counts)
    edges = (filled % BANDS).astype(np.int64) << shift
    while True:
        groups, members = noise.candidates(counts[filled], edges, rate, PROPOSALS)
        for group, member in zip(groups.tolist(), members.tolist(), strict=True):
            side, band = divmod(int(filled[group]), BANDS)
            place = int(np.flatnonzero(bands[side] == band)[member])
            sign = 1 - 2 * side
            behind = best - sign * int(scores[place]) - int(edges[group])
            if _keeps(behind, rate, noise):
                return place, sign


def _bands_of(behind: Integers, shift: int) -> Integers:
    behind >>= shift
    np.minimum(behind, BANDS - 1, out=behind)
    return behind.astype(np.uint8)


def _keeps(behind: int, rate: Fraction, noise: Noise) -> bool:
    """Flip a coin of chance exp(-behind * rate), as several coins if the number is large."""
    left = behind * rate.numerator
    while left > 0:
        part = min(left, MOST_COIN)
        if not noise.coins(np.array([part], dtype=np.int64), rate.denominator)[0]:
            return False
        left -= part
    return True
