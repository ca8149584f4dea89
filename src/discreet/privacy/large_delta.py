"""Whether a delta is small enough for a promise, asked of public values alone."""

from __future__ import annotations

LARGE_DELTA = 1e-4
"""Beyond, a delta is questioned, however many records there are."""


def question_delta(delta: float, records: float | None = None) -> str:
    """Return why a delta is too large to be meant, and what to do; nothing if it is not.

    A mechanism that publishes each record with a chance of delta keeps every promise at that delta;
    of n records it gives away n times delta.

    Examples
    --------
    >>> question_delta(1e-6, records=10_000)
    ''
    >>> question_delta(1e-3)
    'delta = 0.001 allows one record in 1,000 to be given away entirely; use 1e-06 or less.'
    """
    one_in = LARGE_DELTA if records is None else min(LARGE_DELTA, 1 / records)
    if delta <= one_in:
        return ""
    told = f"delta = {delta:g} allows one record in {1 / delta:,.0f} to be given away entirely"
    if delta <= LARGE_DELTA and records is not None:
        told += f", and there may be {records:,.0f} of them"
    return f"{told}; use {min(1e-6, one_in / 100):.0e} or less."
