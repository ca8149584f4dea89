"""Whether the records of a CSV file are apart, so that none reaches into another.

Every quote must open a cell, close one, or be written twice within quotes. Then a byte is inside
quotes exactly if an odd number of quotes come before it, and there is one way to read the file. A
record that leaves a quote open turns inside and outside for all bytes after it, so that the file
ends inside quotes and is refused. That no record reaches into another is thus sure of a file with
one malformed record at most. A second one that leaves a quote open, too, can close the first, and
all between are then read as one cell: ``"a`` in one record and ``",no`` at the end of a later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet._types import Integers
from discreet.errors import InputError

LONGEST_LINE = 2**22
"""A longer record of a CSV file is refused, wherever it is."""

SCANNED_AT_ONCE = 2**20
"""Bytes that are looked at together; no more than the longest line."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
QUOTE, LINE_ENDS = b'"', b"\n\r"

Bytes = NDArray[np.uint8]

_IS_EDGE = np.isin(np.arange(256), list(b'",' + LINE_ENDS))
"""Which bytes may stand before a quote that opens and after one that closes."""


def check_records(path: Path) -> None:
    """Refuse a CSV file in which a quote or a length lets one record change how others are read."""
    state = _Start()
    for window in _windows(path):
        state = _scan_window(path, window, state)
    if state.is_quoted:
        raise InputError(
            f"{path}: a cell opens a quote that no cell closes. Is the file complete? A quote "
            "within a quoted cell is written twice."
        )


@dataclass(frozen=True)
class _Start:
    """What the bytes before a window leave behind."""

    is_quoted: bool = False
    length: int = 0  # of the record so far


def _windows(path: Path) -> Iterator[bytes]:
    """Yield all bytes of a file, each once with both its neighbours inside of a window.

    A file begins and ends as if there were a line end.
    """
    with path.open("rb") as file:
        if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            file.seek(0)
        window = b"\n"
        while block := file.read(SCANNED_AT_ONCE):
            window += block
            yield window
            window = window[-2:]
        yield window + b"\n"


def _scan_window(path: Path, window: bytes, start: _Start) -> _Start:
    """Check all bytes of a window but the first and the last, which are its neighbours'."""
    end = len(window) - 1
    quotes = np.empty(0, dtype=np.int64)
    if window.find(QUOTE, 1, end) >= 0:
        quotes = _places(window, QUOTE)
        _check_quotes(path, window, quotes, is_quoted=start.is_quoted)
    ends = _first_and_last_end(window, quotes, is_quoted=start.is_quoted)
    _check_length(path, start.length + (end if ends is None else ends[0]) - 1)
    length = start.length + end - 1 if ends is None else end - 1 - ends[1]
    return _Start(start.is_quoted ^ bool(quotes.size % 2), length)


def _check_quotes(path: Path, window: bytes, quotes: Integers, *, is_quoted: bool) -> None:
    found = np.frombuffer(window, np.uint8)
    opening, closing = quotes[int(is_quoted) :: 2], quotes[1 - int(is_quoted) :: 2]
    if not (_IS_EDGE[found[opening - 1]].all() and _IS_EDGE[found[closing + 1]].all()):
        raise InputError(
            f"{path}: a quote stands within a cell. Put quotes around the whole cell, and write a "
            "quote within them twice."
        )


def _check_length(path: Path, length: int) -> None:
    if length > LONGEST_LINE:
        raise InputError(
            f"{path}: some line is longer than {LONGEST_LINE // 2**20} MiB. Quotes may be "
            "unbalanced."
        )


def _first_and_last_end(
    window: bytes, quotes: Integers, *, is_quoted: bool
) -> tuple[int, int] | None:
    """Return where the first and the last record end in a window, None if none does."""
    end = len(window) - 1
    if not quotes.size:
        if is_quoted:
            return None
        found = [window.find(mark, 1, end) for mark in (b"\n", b"\r")]
        first = min((place for place in found if place >= 0), default=None)
        return None if first is None else (first, max(_last(window, end)))
    places = _places(window, LINE_ENDS)
    outside = (np.searchsorted(quotes, places) + is_quoted) % 2 == 0
    ends = places[outside]
    return (int(ends[0]), int(ends[-1])) if ends.size else None


def _last(window: bytes, end: int) -> list[int]:
    return [window.rfind(mark, 1, end) for mark in (b"\n", b"\r")]


def _places(window: bytes, marks: bytes) -> Integers:
    """Return where one of some bytes stands, but for the first and the last byte."""
    found: Bytes = np.frombuffer(window, np.uint8)[1:-1]
    is_mark = found == marks[0]
    for mark in marks[1:]:
        is_mark |= found == mark
    return np.flatnonzero(is_mark).astype(np.int64) + 1
