r"""Exact draws of the floor of a scaled Gaussian or Laplace variable.

For :math:`X` standard Gaussian or Laplace, :func:`draw` returns :math:`\lfloor 2^k X \rfloor` with
its exact law: integers out, no rounding of a float decides any of them.

The half line [0, 16) is cut into 1024 columns of width 1/64. With ``f`` the unnormalised density,
``N`` = 65536 and ``Z`` the integral of ``f`` in column units, column ``c`` owns
``floor(N f(right edge) / Z)`` of ``N`` equally likely slots *for certain*: about 99 % of draws are
a table look-up and shifts. The remaining slots stand for the residual density
``N f(x) / Z - certain[c]``, drawn by rejection. A rejection is decided in floating point when the
two sides are further apart than ``FILTER_WIDTH``, far above the error of either, and in decimal
interval arithmetic with as many fresh bits as it takes otherwise.

The Gaussian stays below 16: the little mass beyond goes to the residual columns (total variation
2**-189 a draw). The Laplace tail beyond 16 is exact, because the law has no memory.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import numpy as np

from discreet._types import Array, Integers
from discreet._types import Words as WordArray
from discreet.noise.words import WordSupply

COLUMNS = 1024
COLUMN_BITS = 6  # columns per unit, as a power of two
EDGE = COLUMNS >> COLUMN_BITS  # 16: where the columns end
SLOTS = 1 << 16
WEIGHT_BITS = 24
MIN_BITS, MAX_BITS = 12, 50
CHUNK = 65_536

FILTER_WIDTH = 2.0**-28
"""Sides of a rejection closer than this are compared exactly (float error: below 2**-40)."""

TABLE_DIGITS = 50


def decimal_context(digits: int) -> decimal.Context:
    """Return decimal arithmetic with so many digits and room for any exponent."""
    return decimal.Context(  # every field, so that nothing comes from the user's DefaultContext
        prec=digits,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        capitals=1,
        clamp=0,
        flags=[],
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


def decimal_pi(digits: int) -> Decimal:
    """Compute pi by Machin's formula 16 arctan(1/5) - 4 arctan(1/239), in integers."""
    one = 10 ** (digits + 10)

    def arctan_of_inverse(n: int) -> int:
        term: int = one // n
        total = term
        k, sign = 1, -1
        while term:
            term //= n * n
            k += 2
            total += sign * (term // k)
            sign = -sign
        return total

    value = 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)
    context = decimal_context(digits + 5)
    return context.divide(Decimal(value), Decimal(one))


def _gaussian_area(digits: int) -> Decimal:
    context = decimal_context(digits)
    half_pi = context.divide(decimal_pi(digits), Decimal(2))
    return context.multiply(Decimal(1 << COLUMN_BITS), context.sqrt(half_pi))


def _laplace_area(digits: int) -> Decimal:
    return Decimal(1 << COLUMN_BITS)


def _gaussian_exponent(x: Decimal, context: decimal.Context) -> Decimal:
    return context.divide(context.multiply(x, x), Decimal(-2))


def _laplace_exponent(x: Decimal, context: decimal.Context) -> Decimal:
    return context.minus(x)


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """The tables of one law; ``certain`` and ``weight`` are made with decimals, never floats."""

    name: str
    area: Callable[[int], Decimal]  # the integral of the density in column units
    exponent: Callable[[Decimal, decimal.Context], Decimal]
    float_exponent: Callable[[Array], Array]
    has_tail: bool

    def height(self, x: Decimal, digits: int) -> Decimal:
        """Return N f(x) / Z, rounded to ``digits`` digits."""
        context = decimal_context(digits)
        density = context.exp(self.exponent(x, context))
        return context.divide(context.multiply(Decimal(SLOTS), density), self.area(digits))

    def tail_height(self, digits: int) -> Decimal:
        """Return the whole residual mass beyond the last column, as if it were one column."""
        context = decimal_context(digits)
        return context.multiply(Decimal(1 << COLUMN_BITS), self.height(Decimal(EDGE), digits))

    def residual_between(self, column: int, offset: int, bits: int) -> tuple[Decimal, Decimal]:
        """Bound the residual density over offsets [offset, offset + 1] / 2**bits of a column."""
        digits = TABLE_DIGITS + bits // 2
        if column == COLUMNS:
            low = high = self.tail_height(digits)
        else:
            context = decimal_context(digits)
            steps = Decimal(1 << (bits + COLUMN_BITS))
            left = context.divide(Decimal((column << bits) + offset), steps)
            right = context.divide(Decimal((column << bits) + offset + 1), steps)
            low, high = self.height(right, digits), self.height(left, digits)
        certain = Decimal(int(tables(self).certain[column]))
        with decimal.localcontext(decimal_context(2 * digits)):
            slack = Decimal(10) ** (12 - digits)
            return low - certain - slack, high - certain + slack


GAUSSIAN = NoiseLaw("gaussian", _gaussian_area, _gaussian_exponent, lambda x: x * x * -0.5, False)
LAPLACE = NoiseLaw("laplace", _laplace_area, _laplace_exponent, lambda x: -x, True)


@dataclass(frozen=True, eq=False)
class Tables:
    """What :func:`draw` looks up."""

    certain: Integers  # slots that belong to a column whatever the offset (0 for the tail)
    column_of_slot: Integers
    first_residual_slot: int
    weight: Integers  # at least 2**24 times the residual's supremum, column by column
    cumulative: Integers
    peak: float  # N / Z, for the float filter
    tail: float


@cache
def tables(law: NoiseLaw) -> Tables:
    """Make the tables of a law, once a process."""
    with decimal.localcontext(decimal_context(2 * TABLE_DIGITS)):
        slack = Decimal(10) ** (10 - TABLE_DIGITS)  # the heights themselves are rounded
        edges = [Decimal(c) / (1 << COLUMN_BITS) for c in range(COLUMNS + 1)]
        heights = [law.height(edge, TABLE_DIGITS) for edge in edges]
        tail = law.tail_height(TABLE_DIGITS) if law.has_tail else Decimal(0)
        certain = [int(heights[c + 1] - slack) for c in range(COLUMNS)] + [0]
        supremum = [heights[c] - certain[c] + slack for c in range(COLUMNS)] + [tail * (1 + slack)]
        weight = [_ceiling(s * (1 << WEIGHT_BITS)) for s in supremum]
    columns = np.repeat(np.arange(COLUMNS + 1), certain)
    column_of_slot = np.zeros(SLOTS, dtype=np.int64)
    column_of_slot[: columns.size] = columns
    return Tables(
        certain=np.array(certain, dtype=np.int64),
        column_of_slot=column_of_slot,
        first_residual_slot=int(columns.size),
        weight=np.array(weight, dtype=np.int64),
        cumulative=np.cumsum(np.array(weight, dtype=np.int64)),
        peak=float(heights[0]),
        tail=float(tail),
    )


def _ceiling(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=decimal.ROUND_CEILING))


@cache
def _shifted_columns(law: NoiseLaw, bits: int) -> Integers:
    return tables(law).column_of_slot << (bits - COLUMN_BITS)


def draw(law: NoiseLaw, words: WordSupply, count: int, bits: int) -> Integers:
    """Return ``count`` independent values of floor(2**bits * X), exactly."""
    first_residual = np.uint64(tables(law).first_residual_slot)
    column_start = _shifted_columns(law, bits)
    offset_mask = np.uint64((1 << (bits - COLUMN_BITS)) - 1)
    one, slot_shift = np.uint64(1), np.uint64(48)
    drawn = np.empty(count, dtype=np.int64)
    left_over = []
    for start in range(0, count, CHUNK):
        word = words.take(min(CHUNK, count - start))
        magnitude = drawn[start : start + word.size]
        slot = word >> slot_shift
        np.take(column_start, slot.view(np.int64), out=magnitude, mode="clip")
        residual = np.flatnonzero(slot >= first_residual)
        np.right_shift(word, one, out=slot)
        slot &= offset_mask
        magnitude |= slot.view(np.int64)
        word &= one
        sign = np.negative(word.view(np.int64), out=word.view(np.int64))  # 0 or all ones
        magnitude[residual] = 0
        magnitude ^= sign
        left_over.append(residual + start)
    positions = np.concatenate(left_over) if left_over else np.empty(0, dtype=np.int64)
    drawn[positions] ^= _draw_residual(law, words, positions.size, bits)
    return drawn


def _draw_residual(law: NoiseLaw, words: WordSupply, count: int, bits: int) -> Integers:
    """Return ``count`` magnitudes from the residual density."""
    kept: list[Integers] = []
    missing = count
    while missing:
        columns, offsets = _propose(law, words, 2 * missing + 24)
        columns, offsets = columns[:missing], offsets[:missing]
        magnitude = (columns << (bits - COLUMN_BITS)) | (
            offsets >> np.uint64(64 - (bits - COLUMN_BITS))
        ).astype(np.int64)
        in_tail = np.flatnonzero(columns == COLUMNS)
        if in_tail.size:
            beyond = draw(law, words, in_tail.size, bits)
            magnitude[in_tail] = (EDGE << bits) + np.where(beyond < 0, ~beyond, beyond)
        kept.append(magnitude)
        missing -= magnitude.size
    return np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)


def _propose(law: NoiseLaw, words: WordSupply, count: int) -> tuple[Integers, WordArray]:
    """Return the columns and offsets of those proposals that are accepted, in order."""
    table = tables(law)
    total = int(table.cumulative[-1])
    supply = words.take(3 * count)
    ticket = (supply[:count] >> np.uint64(64 - total.bit_length())).astype(np.int64)
    valid = ticket < total
    column = np.searchsorted(table.cumulative, ticket[valid], side="right").astype(np.int64)
    offset, height = supply[count : 2 * count][valid], supply[2 * count :][valid]
    accepted = _accepts(law, words, column, offset, height)
    return column[accepted], offset[accepted]


def _accepts(
    law: NoiseLaw, words: WordSupply, column: Integers, offset: WordArray, height: WordArray
) -> Integers:
    """Return the indices of proposals below the residual density."""
    table = tables(law)
    x = (column + offset * 2.0**-64) * 2.0**-COLUMN_BITS
    density = np.where(column == COLUMNS, table.tail, table.peak * np.exp(law.float_exponent(x)))
    bar = height * 2.0**-64 * (table.weight[column] * 2.0**-WEIGHT_BITS)
    margin = density - table.certain[column] - bar
    accepted = margin > 0
    for i in np.flatnonzero(np.abs(margin) <= FILTER_WIDTH):
        accepted[i] = _accepts_exactly(law, words, int(column[i]), int(offset[i]), int(height[i]))
    return np.flatnonzero(accepted)


def _accepts_exactly(
    law: NoiseLaw, words: WordSupply, column: int, offset: int, height: int
) -> bool:
    """Decide one rejection in interval arithmetic, with fresh bits while it is undecided."""
    weight = int(tables(law).weight[column])
    bits = 64
    while True:
        low, high = law.residual_between(column, offset, bits)
        context = decimal_context(TABLE_DIGITS + 2 * bits)
        unit = Decimal(1 << (bits + WEIGHT_BITS))
        if context.divide(Decimal((height + 1) * weight), unit) <= low:
            return True
        if context.divide(Decimal(height * weight), unit) >= high:
            return False
        more = words.take(2)
        offset = (offset << 64) | int(more[0])
        height = (height << 64) | int(more[1])
        bits += 64
