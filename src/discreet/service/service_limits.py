"""What a service takes: sizes, rates, deadlines and the public delay of its answers."""

from __future__ import annotations

from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError

MOST_ROWS = 10**9
SLOWEST, FASTEST = 1e-6, 1e9
"""Rows a second."""


def check_rate(rate: float | None, burst: int | None) -> None:
    """Refuse rates and bursts whose times cannot be counted; None stands for another's."""
    if burst is not None:
        _checks.whole(at_least=1, at_most=MOST_ROWS, burst=burst)
    if rate is not None:
        _checks.positive(rate=rate)
        if not SLOWEST <= rate <= FASTEST:
            raise InputError(f"rate must lie between {SLOWEST:g} and {FASTEST:g}; got {rate:g}.")


@dataclass(frozen=True)
class ServiceLimits:
    """Public limits of a service; none of them depends on a record.

    Parameters
    ----------
    max_rows
        How many rows one request may hold.
    max_bytes
        How long the body of a request may be, and a line of a stream.
    max_lines
        How many rows one stream may hold.
    rate
        Rows a second that one key may ask for in the long run, over all workers.
    burst
        Rows that one key may ask for at once; at least ``max_rows``, so that a full batch fits.
    deadline
        Seconds within which a body must arrive, and again within which it must be answered.
    pad
        Seconds after which an answer leaves, whatever it took to find it; work that takes longer
        leaves after a whole multiple of it. Zero switches padding off.
    pad_row
        Seconds by which each further row of a request makes the pad longer.
    at_once
        How many requests a worker computes at the same time; others wait.
    refuse_closed
        Whether rows that the private model is not asked about any more are refused; otherwise they
        are answered from earlier answers, with the status that says so.

    Examples
    --------
    >>> ServiceLimits(pad=0.1).max_rows
    200
    >>> ServiceLimits(burst=10)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: burst must be at least max_rows, 200; got 10.
    """

    max_rows: int = 200
    max_bytes: int = 1_000_000
    max_lines: int = 100_000
    rate: float = 100.0
    burst: int = 1000
    deadline: float = 30.0
    pad: float = 0.25
    pad_row: float = 0.025
    at_once: int = 8
    refuse_closed: bool = False

    def __post_init__(self) -> None:
        _checks.whole(at_least=1, at_most=1_000_000, max_rows=self.max_rows)
        _checks.whole(at_least=1024, at_most=2**30, max_bytes=self.max_bytes)
        _checks.whole(at_least=1, at_most=MOST_ROWS, max_lines=self.max_lines)
        check_rate(self.rate, self.burst)
        _checks.whole(at_least=1, at_most=256, at_once=self.at_once)
        _checks.instance(bool, refuse_closed=self.refuse_closed)
        _checks.positive(deadline=self.deadline)
        _checks.not_negative(pad=self.pad, pad_row=self.pad_row)
        _checks.finite(deadline=self.deadline, pad=self.pad, pad_row=self.pad_row)
        if self.burst < self.max_rows:
            raise InputError(f"burst must be at least max_rows, {self.max_rows}; got {self.burst}.")
        if self.pad > self.deadline:
            raise InputError(
                f"pad must not exceed the deadline, {self.deadline:g} s; got {self.pad:g}."
            )
