"""The last line of each history that this process has seen.

Rollback protection within a process: a high-water mark for each history. Whoever puts an older copy
of the ledger in the place of a newer one takes charges back. A process that has seen a line refuses
a ledger in which that line is missing, or another; by the key of the data set, so wherever it is.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """A line of a history: its number and its digest, which stands for all lines before it.

    What rollback is measured against.
    """

    line: int
    digest: str


NOTHING = Mark(0, "")

_marks: dict[str, Mark] = {}
_lock = threading.Lock()


def last_seen(key: str) -> Mark:
    """Return the last line that was seen of the ledger with this key."""
    return _marks.get(key, NOTHING)


def remember(key: str, mark: Mark) -> None:
    """Keep a line that is on disk; an earlier one than is kept already changes nothing.

    Examples
    --------
    >>> remember("a key", Mark(2, "ab")), remember("a key", Mark(1, "cd")), last_seen("a key")
    (None, None, Mark(line=2, digest='ab'))
    """
    with _lock:
        if mark.line > last_seen(key).line:
            _marks[key] = mark
