"""What a mechanism's proof note claims, taken from the note itself."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources

from discreet import _checks
from discreet.errors import InputError

CLAIM = re.compile(
    r"^\*\*Claim\.\*\*\s*(.*?)(?=^\*\*[A-Z][^*\n]*\*\*|^#+ |\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Theorem:
    """The statements of a proof note, and what identifies the note as it was installed.

    Parameters
    ----------
    note
        The file beside the mechanism.
    statement
        What it claims, in Markdown.
    digest
        SHA-256 of the note.

    Examples
    --------
    >>> theorem_of("gaussian_sum").note
    'discreet/mechanisms/gaussian_sum.md'
    """

    note: str
    statement: str
    digest: str


def theorem_of(mechanism: str) -> Theorem:
    """Return what is proved about the mechanism of this name.

    Examples
    --------
    >>> found = theorem_of("private_count")
    >>> found.note, found.statement[:31]
    ('discreet/mechanisms/private_count.md', 'The released count is pure `(1 ')
    """
    _checks.instance(str, mechanism=mechanism)
    note = resources.files("discreet.mechanisms") / f"{mechanism}.md"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", mechanism) or not note.is_file():
        raise InputError(
            f"no proof note belongs to a mechanism called {mechanism!r}; cards are for releases of "
            "this library's own mechanisms."
        )
    text = note.read_text(encoding="utf-8")
    claims = [claim.strip() for claim in CLAIM.findall(text)]
    if not claims:
        raise InputError(f"the proof note of {mechanism} states no claim.")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Theorem(f"discreet/mechanisms/{mechanism}.md", "\n\n".join(claims), digest)
