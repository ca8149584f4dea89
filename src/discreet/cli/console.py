"""What commands print, and the codes they exit with.

Results go to stdout, everything else (notes, a spinner) to stderr.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

DONE = 0
REFUSED = 1
"""Over budget, refuted, unsound: understood, and not done."""

WRONG_INPUT = 2
"""A command, an option, a schema or a table is not as it must be."""

FILES = 3
"""The operating system or the ledger could not read or write."""

BUG = 70
INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
"""An option of every command."""


def one_line(text: str) -> str:
    """Return a text on one line, with nothing that a terminal would obey.

    Examples
    --------
    >>> one_line("two\\nlines" + chr(27) + "[31m")
    'two lines [31m'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def print_result(text: str, document: dict[str, Any], *, as_json: bool) -> None:
    """Print a result, for people or for programs."""
    typer.echo(json.dumps(document, indent=2) if as_json else text)


def print_note(text: str) -> None:
    """Say something beside the result."""
    typer.echo(one_line(text), err=True)


def note_seeded_noise(result: str) -> None:
    """Say of a result that it was simulated, so that nobody publishes it."""
    print_note(f"Seeded noise (--rehearse) can be reproduced, which makes {result} NOT PRIVATE.")


@contextmanager
def note_warnings(kind: type[Warning]) -> Iterator[None]:
    """Say warnings of one kind beside the result, when they come; nothing else warns here."""

    def note(message: Warning | str, *_: object) -> None:
        print_note(f"Is this meant? {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", kind)
        warnings.showwarning = note  # type: ignore[assignment]
        yield


@contextmanager
def show_status(on: str) -> Iterator[None]:
    """Show that work goes on, if somebody watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # slow to import

    with Console(stderr=True).status(on):
        yield
