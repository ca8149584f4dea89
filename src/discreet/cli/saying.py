"""What commands print: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from discreet.cli.failures import one_line

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
"""An option of every command."""


def result(text: str, document: dict[str, Any], *, as_json: bool) -> None:
    """Print a result, for people or for programs."""
    typer.echo(json.dumps(document, indent=2) if as_json else text)


def note(text: str) -> None:
    """Say something beside the result."""
    typer.echo(one_line(text), err=True)


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show that work goes on, if somebody watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # slow to import

    with Console(stderr=True).status(on):
        yield
