"""Amounts of privacy as decimals: what was quoted is added up and compared exactly.

A float stands for the decimal that it is written as. Ten times 0.1 is 1 and fits into a budget of
1; a sum that is larger by one part in 10**17 does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation

Amounts = tuple[Decimal, ...]

EXACT = Context(prec=3000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation])
"""Digits for any sum of floats; one that needed more would raise, not round."""

INFINITE = Decimal("Infinity")


def amount(value: float) -> Decimal:
    """Return the decimal that a number is written as; what is no number is infinite.

    Examples
    --------
    >>> amount(0.1), amount(float("nan"))
    (Decimal('0.1'), Decimal('Infinity'))
    """
    written = Decimal(repr(float(value)))
    return INFINITE if written.is_nan() else EXACT.normalize(written)


def amounts(*values: float) -> Amounts:
    """Return the decimals that numbers are written as."""
    return tuple(map(amount, values))


def add(first: Amounts, second: Amounts) -> Amounts:
    """Add two lists of amounts, exactly.

    Examples
    --------
    >>> add(amounts(0.1, 1e-300), amounts(0.2, float("inf")))
    (Decimal('0.3'), Decimal('Infinity'))
    """
    return tuple(EXACT.normalize(EXACT.add(*pair)) for pair in zip(first, second, strict=True))


def add_up(listed: Iterable[Amounts], *, start: Amounts) -> Amounts:
    """Add up lists of amounts, exactly."""
    for each in listed:
        start = add(start, each)
    return start


def share_of(part: Decimal, value: float) -> Decimal:
    """Return a part of a number as it is written.

    Examples
    --------
    >>> share_of(Decimal("0.5"), 3e-6)
    Decimal('0.0000015')
    """
    return EXACT.normalize(EXACT.multiply(part, amount(value)))


def split(whole: Decimal, times: int) -> float:
    """Return the largest number that fits so many times into an amount; zero if none does.

    Examples
    --------
    >>> each = split(amount(1e-5), 3)
    >>> 3 * amount(each) <= amount(1e-5) < 3 * amount(each + 1e-21)
    True
    """
    each = max(0.0, float(whole) / times)
    while each > 0 and EXACT.multiply(amount(each), Decimal(times)) > whole:
        each = math.nextafter(each, 0.0)
    return each


def is_within(costs: Amounts, limit: Amounts) -> bool:
    """Say whether no amount is above its limit."""
    return all(cost <= most for cost, most in zip(costs, limit, strict=True))
