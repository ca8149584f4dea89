"""``discreet card``: what a model promises, for people and for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import AsJson, one_line
from discreet.cli.new_files import check_new, write_text
from discreet.cli.shared_options import LedgerDataset, ModelFolder


def card(
    folder: ModelFolder,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file.")] = None,
    md: Annotated[Path | None, typer.Option(help="Write Markdown to this file.")] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that paid, to say what is left of it.")
    ] = None,
    dataset: LedgerDataset = None,
    force: Annotated[bool, typer.Option("--force", help="Write over existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the privacy card of a model, or write it: who is protected, how well, what that means.

    Reads the model folder alone, and the ledger if it is given; charges nothing.

    Example:

        discreet card model --ledger patients.db --html card.html
    """
    from discreet.artifact import load  # slow to import
    from discreet.cli.model_folder import about_stored, shapes_of
    from discreet.ledger import Ledger
    from discreet.report import card as card_of

    for path in (html, md):
        if path is not None:
            check_new(path, force=force)
    model = load(folder)
    books = None if ledger is None else Ledger(ledger, dataset)
    said, shown = about_stored(folder), shapes_of(model)
    found = card_of(model.release_, ledger=books, about=said, shapes=shown)
    written = [path for path in (html, md) if path is not None]
    for path, text in ((html, found.html), (md, found.markdown)):
        if path is not None:
            write_text(path, text(), force=force)
    if as_json:
        typer.echo(json.dumps(json.loads(found.to_json()), indent=2))
    elif written:
        typer.echo(one_line(f"Wrote {' and '.join(map(str, written))}."))
    elif sys.stdout.isatty():
        from rich.console import Console  # slow to import
        from rich.markdown import Markdown

        Console().print(Markdown(found.markdown()))
    else:
        typer.echo(found.markdown(), nl=False)
