"""``discreet fit``: pay, fit, and write a model with its card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.cluster import Cluster, connect
from discreet.cli.console import AsJson, note_warnings, print_note, show_status
from discreet.cli.late_help import LEARNERS
from discreet.cli.new_files import NewFolder
from discreet.cli.signals import Unhurried
from discreet.errors import InputError, LargeDeltaWarning


def fit(
    schema_file: Annotated[Path, typer.Argument(help="What is declared.", metavar="SCHEMA")],
    data: Annotated[
        Path,
        typer.Argument(
            help="A CSV or Parquet file, or a folder or quoted pattern of Parquet files.",
            metavar="DATA",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="The new folder for the model and its card.", metavar="FOLDER")
    ],
    ledger: Annotated[
        str | None, typer.Option(help="Who pays: a ledger file, or postgresql://...")
    ] = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Keep no books; nothing limits repetition then.")
    ] = False,
    epsilon: Annotated[
        float | None, typer.Option(help="What this fit may spend; or say it in the schema.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="The chance of more than epsilon; 0 asks for none. [1e-9]")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Which data set of the ledger, if it holds several.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(help="Charge this declared part: DATA must hold no other rows.")
    ] = None,
    purpose: Annotated[str, typer.Option(help="What the ledger writes beside the charge.")] = "",
    mechanism: Annotated[
        str | None, typer.Option(help=f"auto, {LEARNERS}; or say it in the schema.")
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(help="A public bound on the number of rows; of more, the first are used."),
    ] = None,
    rehearse: Annotated[
        int | None,
        typer.Option(
            help="A seed: repeatable noise, NOT PRIVATE, for made-up data.", metavar="SEED"
        ),
    ] = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Fit a private model of a table, charged to a ledger before a row is used.

    Everything is checked first: schema, columns, types, ledger, room for the result. Values
    outside the declared ranges and missing cells are no error, they are brought inside. The folder
    gets the model, its schema and its privacy card, all at once or not at all.

    Example:

        discreet fit hospital/schema.toml hospital/hospital.parquet \\
            --ledger patients.db --epsilon 1 --out model
    """
    from discreet import tables  # slow to import
    from discreet.cli import fit_steps as steps
    from discreet.schema import read

    schema = read(schema_file)
    model = steps.make_model(schema, epsilon, delta, mechanism, max_rows, rehearse)
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    model.ledger = books
    tables.check(data, schema)
    if cluster is not None and not tables.are_files(data):
        raise InputError("--cluster is for a folder or pattern of Parquet files; got one file.")
    with connect(cluster), NewFolder(out) as folder:
        given = steps.open_data(schema, data, on_cluster=cluster is not None)
        with Unhurried(model), note_warnings(LargeDeltaWarning), show_status("Fitting"):
            model.fit(**given, purpose=purpose)
            del given
            steps.keep(model, schema, books, folder, out)
    if not model.release_.is_private:
        print_note("This was a rehearsal: the noise can be repeated, so the model is NOT PRIVATE.")
    steps.tell(model, books, out, as_json)
