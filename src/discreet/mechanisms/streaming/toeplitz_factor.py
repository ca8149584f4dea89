r"""Toeplitz factors: every column of C is the one before, moved down by a step.

Coefficients are whole multiples of 2**-m, the first is one. Sums q are whole numbers, so
:math:`2^m C q` is whole, and whole noise w on it is the floor of a Gaussian mechanism. The running
sums are those of :math:`\hat x_t = q_t + \zeta_t`, where with :math:`d_t = 2^m C_{tt}`

.. math:: \zeta_t = \operatorname{round}\big((w_t - \sum_{s<t} 2^m C_{ts} \zeta_s) / d_t\big)

is a function of the noise alone; and since whole numbers can be added before rounding or after,
:math:`\hat x_t = \operatorname{round}((y_t - \sum_{s<t} 2^m C_{ts} \hat x_s) / d_t)` with
:math:`y = 2^m C q + w`: what is released is a function of the Gaussian mechanism's y, exactly. Sums
over s are computed in floats, none of which needs more than 53 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.errors import CalibrationError, PrivacyError
from discreet.mechanisms.streaming.band_optimum import invert_series, optimise_band
from discreet.mechanisms.streaming.correlated_noise import NUMBERS_AT_ONCE, CorrelatedNoise
from discreet.mechanisms.streaming.prefix_factor import (
    MOST_STEPS,
    ONCE,
    Participation,
    PrefixFactor,
    round_up,
)
from discreet.noise import Noise

MOST_COEFFICIENT_BITS, LEAST_COEFFICIENT_BITS = 24, 8
FINENESS = 24
"""So many halvings of the noise's deviation are the unit of sums, whatever the factor."""

LIMIT = 2.0 ** (FINENESS + 6)
"""The noise of a step is smaller than this: 64 deviations, where draws end at 16."""

MOST_FULL_STEPS = 2**16
"""Steps up to which a factor may be as long as the stream."""

ROWS_AT_ONCE = 64


def square_root_coefficients(count: int) -> Vector:
    r"""Return the coefficients of :math:`(1 - x)^{-1/2}`, whose square is the sum of all.

    Examples
    --------
    >>> square_root_coefficients(4)
    array([1.    , 0.5   , 0.375 , 0.3125])
    """
    k = np.arange(1, count)
    return np.cumprod(np.concatenate([[1.0], (2 * k - 1) / (2 * k)]))


@dataclass(frozen=True, eq=False)
class ToeplitzFactor(PrefixFactor):
    """A Toeplitz matrix C of whole multiples of a power of two."""

    draws_a_step: ClassVar[float] = 1.0

    steps: int
    coefficients: Vector
    stretched: bool = False

    def __post_init__(self) -> None:
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        given = np.array(self.coefficients, dtype=np.float64)
        if given.ndim != 1 or not 1 <= given.size <= min(self.steps, MOST_FULL_STEPS):
            raise CalibrationError(
                f"a Toeplitz factor has from one to {MOST_FULL_STEPS:,} coefficients, and not more "
                "than steps; use a band, or the tree."
            )
        if not (given[0] == 1 and (given > 0).all() and (np.diff(given) <= 0).all()):
            raise PrivacyError("coefficients begin with one, stay above zero and never grow.")
        object.__setattr__(self, "steps", int(self.steps))
        object.__setattr__(self, "coefficients", given)

    @property
    def name(self) -> str:
        return "square root" if self._is_root else f"band of {self.band}"

    @cached_property
    def _is_root(self) -> bool:
        """Whether B and C are the same, but for rounding."""
        root = square_root_coefficients(self.band)
        return self.band == self.steps and np.array_equal(self.coefficients, root)

    @property
    def band(self) -> int:
        """How many coefficients there are."""
        return int(self.coefficients.size)

    @cached_property
    def coefficient_bits(self) -> int:
        """How finely coefficients are rounded: so that sums over the band are exact in floats."""
        # The entry k of a stretched column is in the stream, so the column has k + 1 entries at
        # least: it is stretched by no more than its first k + 1 coefficients are short.
        norms = np.sqrt(np.cumsum(self.coefficients**2))
        stretch = norms[-1] / norms if self.stretched else 1.0
        most = float((self.coefficients * stretch).sum()) * LIMIT * (1 + 2.0**-5)
        bits = min(MOST_COEFFICIENT_BITS, 52 - math.ceil(math.log2(most)))
        if bits < LEAST_COEFFICIENT_BITS:
            raise CalibrationError("a factor this long leaves no room for its noise; use the tree.")
        return bits

    @cached_property
    def whole(self) -> Vector:
        """The coefficients in units of 2**-m, as floats that are whole numbers."""
        return np.rint(np.ldexp(self.coefficients, self.coefficient_bits))

    @cached_property
    def _stretches(self) -> Vector:
        """By how much each of the last ``band - 1`` columns is longer, the last one last."""
        if not self.stretched:
            return np.ones(self.band - 1)
        reached = np.sqrt(np.cumsum(self.whole**2))
        return np.asarray(reached[-1] / reached[-2::-1])

    def row(self, step: int) -> Vector:
        """Return the entries of row ``step`` of C, from the diagonal to the left, as whole numbers.

        Rows are counted from zero. Stretched entries are cut towards zero.
        """
        count = min(self.band, step + 1)
        entries: Vector = self.whole[:count].copy()
        if self.stretched:
            columns = step - np.arange(count) - (self.steps - self.band + 1)
            late = columns >= 0
            entries[late] = np.floor(entries[late] * self._stretches[columns[late]])
        return entries

    def column_norm(self, participation: Participation = ONCE) -> float:
        r"""Bound how far C q moves, if a record adds at most one to each of the sums it is in.

        For steps s of one record and contributions :math:`v_s` of norm at most one the square is
        :math:`\sum_{s,r} (C'C)_{sr} \langle v_s, v_r \rangle \le \sum_{s,r} (C'C)_{sr}`. If a band
        is no longer than steps are apart, columns do not overlap, and each has at most the norm of
        the first. Otherwise C must not be stretched: then :math:`(C'C)_{sr}` falls with the
        distance of s and r and with the later of the two, because coefficients never grow, so that
        steps as early and as close as can be are worst.
        """
        times = participation.within(self.steps)
        if times == 1 or self.band <= participation.separation:
            square = times * _sum_of_squares(self.whole)
        elif self.stretched:
            raise PrivacyError("a stretched band is no longer than steps of a record are apart.")
        else:
            square = self._square_of_first(times, int(participation.separation))
        return round_up(math.sqrt(square) * 2.0**-self.coefficient_bits)

    def _square_of_first(self, times: int, separation: int) -> int:
        """Return the square norm of the sum of the first columns that are so far apart."""
        ends = min(self.steps, (times - 1) * separation + self.band)
        if ends > MOST_FULL_STEPS * 2**8:
            raise CalibrationError("a record comes too often for this band; use a shorter one.")
        total = np.zeros(ends)
        for start in range(0, times * separation, separation):
            length = min(self.band, ends - start)
            total[start : start + length] += self.whole[:length]
        return _sum_of_squares(total)

    @cached_property
    def _squares_of_b(self) -> Vector:
        """The squared coefficients of B, until they have settled."""
        count = min(self.steps, max(2**12, 64 * self.band))
        if self._is_root:
            return np.asarray(self.coefficients[:count] ** 2)
        return np.asarray(np.cumsum(invert_series(self.coefficients, count)) ** 2)

    @property
    def _settled(self) -> float:
        """What the squared coefficients of B come to in the end."""
        return float(1 / self.coefficients.sum() ** 2)

    def deviations(self, count: int) -> Vector:
        """Return the norms of the first rows of B, but for rounding and stretching."""
        _checks.whole(count=count, at_least=1, at_most=self.steps)
        known = self._squares_of_b[:count]
        rest = np.full(count - known.size, self._settled)
        return np.asarray(np.sqrt(np.cumsum(np.concatenate([known, rest]))))

    @property
    def largest_deviation(self) -> float:
        known = self._squares_of_b
        return math.sqrt(known.sum() + (self.steps - known.size) * self._settled)

    @property
    def usual_deviation(self) -> float:
        known = self._squares_of_b
        weights = self.steps - np.arange(known.size)
        rest = self.steps - known.size
        return math.sqrt((known @ weights + self._settled * rest * (rest + 1) / 2) / self.steps)

    @property
    def rows_in_memory(self) -> int:
        return self.band - 1

    def noise(self, width: int, bits: int, noise: Noise) -> CorrelatedNoise:
        if bits != FINENESS:
            raise PrivacyError(f"the noise of a Toeplitz factor is {FINENESS} bits fine.")
        return ToeplitzNoise(self, width, noise)


def square_root(steps: int) -> ToeplitzFactor:
    """Return the square root of the matrix of running sums: B and C are the same.

    Examples
    --------
    >>> factor = square_root(256)
    >>> round(factor.largest_error(), 3), factor.rows_in_memory
    (2.831, 255)
    """
    _checks.whole(steps=steps, at_least=1, at_most=MOST_FULL_STEPS)
    return ToeplitzFactor(int(steps), square_root_coefficients(int(steps)))


def optimal_band(steps: int, band: int, aim: str = "mean") -> ToeplitzFactor:
    """Return the band of coefficients with the least error.

    Examples
    --------
    >>> factor = optimal_band(10**7, 32)
    >>> round(factor.error()), factor.rows_in_memory
    (396, 31)
    """
    _checks.whole(steps=steps, at_least=1, at_most=MOST_STEPS)
    _checks.whole(band=band, at_least=1, at_most=min(steps, MOST_FULL_STEPS))
    coefficients = optimise_band(int(steps), square_root_coefficients(int(band)), aim)
    return ToeplitzFactor(int(steps), coefficients, stretched=1 < band < steps)


class ToeplitzNoise(CorrelatedNoise):
    """The noise of the last steps: as many as the band reaches back."""

    def __init__(self, factor: ToeplitzFactor, width: int, noise: Noise) -> None:
        super().__init__(factor.steps, width)
        self._factor, self._noise = factor, noise
        self._at_once = max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // width))
        self._known = np.zeros((0, width))  # the noise of steps, the last of them not yet used
        self._ahead = 0

    def _add(self, total: Integers) -> None:
        if self._ahead == 0:
            self._draw()
        step = self._known[len(self._known) - self._ahead]
        self._ahead -= 1
        total += step.astype(np.int64)  # whole numbers, never added as floats

    def _draw(self) -> None:
        """Make the noise of the steps from this one on."""
        factor, first = self._factor, self.taken - 1
        count = min(self._at_once, self.steps - first)
        reach = min(factor.band - 1, first)
        bits = FINENESS + factor.coefficient_bits
        drawn = self._noise.gaussian(count * self.width, bits).reshape(count, self.width)
        room = np.empty((reach + count, self.width))
        room[:reach] = self._known[len(self._known) - reach :]
        new = room[reach:]
        new[:] = drawn
        rows = [factor.row(first + place) for place in range(count)]
        if reach:
            far = np.zeros((count, reach))
            for place, row in enumerate(rows):
                older = row[place + 1 :]
                far[place, reach - older.size :] = older[::-1]
            new -= far @ room[:reach]
        for place, row in enumerate(rows):
            near = row[1 : place + 1]
            if near.size:
                new[place] -= near[::-1] @ new[place - near.size : place]
            half = int(row[0]) // 2
            new[place] = (new[place].astype(np.int64) + half) // int(row[0])
        if np.abs(new).max() >= LIMIT:
            raise PrivacyError("the noise of a stream is larger than noise can be.")
        self._known, self._ahead = room, count

    def _past(self) -> Array:
        used = self._known[: len(self._known) - self._ahead]
        reach = min(self._factor.band - 1, self.taken)
        if len(used) < reach:  # only as it is unpacked
            return np.empty((reach, self.width))
        return used[len(used) - reach :]

    def _remember(self, past: Array) -> None:
        if past.size and np.abs(past).max() >= LIMIT:
            raise PrivacyError("the noise of a stream is larger than noise can be.")
        self._known, self._ahead = past.astype(np.float64), 0


def _sum_of_squares(whole: Vector) -> int:
    """Return the sum of squares of whole numbers below 2**52, exactly."""
    return sum(int(one) ** 2 for one in whole)
