"""Lines of a history that cannot be changed without notice.

A hash chain of events, by SHA-256. The digest of a line covers its text and the digest of the line
before it, so the last digest stands for the whole history. Whoever keeps it elsewhere, on a privacy
card say, notices any later change, even one that rewrites everything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet._types import Json
from discreet.errors import LedgerError

BEGINNING = "discreet ledger 1"
"""What stands for the digest before the first line."""


@dataclass(frozen=True)
class Line:
    """One event: what happened to which charge (0 for the data set itself).

    An entry of the hash chain.
    """

    number: int
    charge: int
    what: str
    text: str
    digest: str

    def row(self, dataset: int) -> dict[str, Any]:
        """Return the line as it is stored."""
        return {
            "dataset": dataset,
            "line": self.number,
            "charge": self.charge,
            "what": self.what,
            "text": self.text,
            "digest": self.digest,
        }

    @property
    def document(self) -> Json:
        """What is written in the line."""
        document = parse_or_none(self.text)
        if not isinstance(document, dict):
            raise LedgerError(f"line {self.number} of the history cannot be read; run verify.")
        return document


def next_line(number: int, charge: int, what: str, before: str, facts: Mapping[str, Any]) -> Line:
    """Return the line after the one with the digest ``before``.

    Examples
    --------
    >>> first = next_line(1, 0, "declared", BEGINNING, {"name": "patients"})
    >>> second = next_line(2, 1, "reserved", first.digest, {"purpose": "a mean"})
    >>> second.digest == digest_of(first.digest, second.text)
    True
    """
    document = {"line": number, "charge": charge, "what": what, **facts}
    text = json.dumps(document, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return Line(number, charge, what, text, digest_of(before, text))


def parse_or_none(text: object) -> Any:
    """Return what a JSON text says; None if it is none.

    Examples
    --------
    >>> parse_or_none('{"a": 1}'), parse_or_none("{")
    ({'a': 1}, None)
    """
    try:
        return json.loads(text)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError):
        return None


def digest_of(before: str, text: str) -> str:
    """Return the digest of a line's text after the digest ``before``."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
