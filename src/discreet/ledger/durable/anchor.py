"""A line of a history kept outside the ledger, which shows to anyone whether it was rolled back.

A checkpoint of the hash chain, against rollback. Whoever owns a ledger can put an older copy in its
place, or rewrite all of it, digests included; nothing inside can show that. A line kept elsewhere
does: a ledger that no longer contains it was changed. Each anchor is one line of JSON, so that a
file collects them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from discreet.errors import InputError, InputTypeError
from discreet.ledger.durable.hash_chain import parse_or_none


@dataclass(frozen=True)
class Anchor:
    """A checkpoint of a ledger's history: how many lines it had, and the digest of the last.

    A checkpoint of the hash chain.

    Parameters
    ----------
    dataset
        The name of the data set.
    key
        What tells this ledger from all others.
    lines
        How many lines there were.
    digest
        Of the last of them, in hexadecimal.
    time
        When the anchor was made, in the format of ISO 8601.

    Examples
    --------
    >>> anchor = Anchor("patients", "5e2a", 7, "c0ffee", "2026-01-31T12:00:00+00:00")
    >>> Anchor.from_text(anchor.to_text()) == anchor
    True
    """

    dataset: str
    key: str
    lines: int
    digest: str
    time: str

    def to_text(self) -> str:
        """Return one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a line back; anything else is refused."""
        document = parse_or_none(text)
        kinds = {"dataset": str, "key": str, "lines": int, "digest": str, "time": str}
        is_one = isinstance(document, dict) and set(document) == {f.name for f in fields(cls)}
        if not is_one or not all(type(document[name]) is kind for name, kind in kinds.items()):
            raise InputError(
                "an anchor must be a line as written by 'discreet ledger anchor'; this is none."
            )
        return cls(**document)


def read_anchors(where: str | Path) -> tuple[Anchor, ...]:
    """Return the anchors of a file, or of a text that is one.

    Examples
    --------
    >>> line = Anchor("patients", "5e2a", 7, "c0ffee", "2026-01-31T12:00:00+00:00").to_text()
    >>> [anchor.lines for anchor in read_anchors(line)]
    [7]
    """
    if not isinstance(where, str | Path):
        raise InputTypeError(f"an anchor is a path or a text; got {type(where).__name__}.")
    text = str(where)
    if not text.lstrip().startswith("{"):
        try:
            text = Path(where).read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise InputError(f"there are no anchors to be read at {str(where)!r}.") from None
    found = tuple(Anchor.from_text(line) for line in text.splitlines() if line.strip())
    if not found:
        raise InputError(f"there are no anchors in {str(where)!r}.")
    return found


def append_anchors(anchors: Iterable[Anchor], path: Path) -> None:
    """Add anchors to a file, each on a line of its own, on disk when this returns."""
    lines = "".join(anchor.to_text() + "\n" for anchor in anchors)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        raise InputError(f"{path}: cannot be written to; check the folder.") from None
