"""``discreet serve``: answer questions over HTTP, from a released model or an oracle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.console import print_note
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.service.service_target import ServiceTarget

HERE = ("127.0.0.1", "localhost", "::1")
WEB = ("fastapi", "starlette", "uvicorn", "prometheus_client", "anyio", "pydantic")


def serve(
    path: Annotated[
        Path,
        typer.Argument(
            help="The folder that `discreet fit` wrote, or oracle.toml.", metavar="MODEL|ORACLE"
        ),
    ],
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at.")] = 8000,
    workers: Annotated[int, typer.Option(help="How many processes answer.")] = 1,
    keys: Annotated[
        str | None, typer.Option(help="Where the keys are: a file, or postgresql://...")
    ] = None,
    is_open: Annotated[
        bool, typer.Option("--open", help="Let everybody ask; for released models.")
    ] = False,
    pad: Annotated[
        float | None, typer.Option(help="Send answers after so many seconds (against timing).")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Rows a second that a key may ask for.")
    ] = None,
    burst: Annotated[int | None, typer.Option(help="Rows that a key may ask for at once.")] = None,
    max_rows: Annotated[int | None, typer.Option(help="Rows that a request may hold.")] = None,
    deadline: Annotated[
        float | None, typer.Option(help="Seconds within which a request must be answered.")
    ] = None,
    pay_again: Annotated[
        bool,
        typer.Option("--pay-again", help="Charge again although a killed start was charged."),
    ] = False,
) -> None:
    """Serve a model over HTTP: predictions, the privacy card, what is left, and a page for people.

    A released model is public, and its answers charge nothing. An oracle holds a private model: its
    first start charges the ledger and fits, later ones resume from its store and charge nothing.
    Keys are made by `discreet keys create`. Put TLS in front of it before others than this machine
    can reach it.

    Example:

        discreet serve model --keys keys.db --port 8000
    """
    from discreet.cli.model_folder import SCHEMA, about_stored  # slow to import, as all of these

    try:
        from discreet.service.server import run_server
        from discreet.service.service_target import find_target
    except ModuleNotFoundError as error:
        if error.name not in WEB:
            raise
        raise InputError(
            f"a service needs the package {error.name!r}: pip install 'discreet[cli,serve]'."
        ) from None

    given = {
        "pad": pad, "rate": rate, "burst": burst, "max_rows": max_rows, "deadline": deadline
    }  # fmt: skip
    limits = {name: value for name, value in given.items() if value is not None}
    about = about_stored(path) if (path / SCHEMA).is_file() else None
    target = find_target(path, keys=keys, is_open=is_open, limits=limits, about=about)
    if target.is_oracle:
        from discreet.service.oracle_start import begin_oracle, check_oracle

        check_oracle(target.path)
        _check_keys(target)  # before anything is paid
        identity = begin_oracle(target.path, print_note, pays_again=pay_again)
        target = replace(target, identity=identity)
    else:
        _check_keys(target)
    title = target.open_answering().title
    if host not in HERE:
        print_note("Others can reach this address: put TLS in front, or keys travel in the open.")

    def say_so() -> None:
        print_note(f"Serving {title!r} at http://{host}:{port}/ with {workers} worker(s).")

    run_server(target, host=host, port=port, workers=workers, on_up=say_so)


def _check_keys(target: ServiceTarget) -> None:
    """Refuse to begin where nobody could ask."""
    book = target.open_keys()
    if book is not None:
        book.close()
