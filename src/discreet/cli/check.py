"""``discreet check``: what a fit would do to a table, for the eyes of its owner."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.console import REFUSED, AsJson, print_result, show_status
from discreet.cli.shared_options import SchemaFile, TableFiles


def check(
    schema_file: SchemaFile,
    data: TableFiles,
    person: Annotated[
        str | None,
        typer.Option(
            help="The column that says whose row each is. [the schema's]", metavar="COLUMN"
        ),
    ] = None,
    rows_per_person: Annotated[
        int | None,
        typer.Option(
            help="How many rows of one person the promise is meant for; by default the schema's. "
            "For the unit of a record."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find mistakes in a schema before any budget is spent, by looking at the table.

    Shares of cells outside each range, labels that nobody declared, cells that are missing, rows of
    the same person. WHAT IT PRINTS IS AS PRIVATE AS THE TABLE: it is for the owner's eyes, no
    ledger is charged, and nothing of it is stored. Exits with 1 if something serious was found.

    Example:

        discreet check hospital/schema.toml hospital/hospital.parquet
    """
    import discreet  # slow to import, as all of these
    from discreet import tables
    from discreet.cli import fit_steps as steps
    from discreet.inspection import Finding
    from discreet.schema import read

    schema = read(schema_file)
    most = schema.rows_per_person if rows_per_person is None else rows_per_person
    person = schema.person if person is None else person
    model = steps.make_model(schema, schema.epsilon or 1.0, None, None, None, None)
    with show_status("Looking at the table"):
        table = tables.open_for_owner(data, schema, person=person)
        found = discreet.check(model, **table.given, rows_per_person=most, protects=schema.protects)
        if table.refusal:
            advice = "A fit is refused as long as this is so; the cells are named below."
            found = found.with_finding(Finding("serious", "the file", table.refusal, advice))
    print_result(str(found), found.document(), as_json=as_json)
    if found.is_serious:
        raise typer.Exit(REFUSED)
