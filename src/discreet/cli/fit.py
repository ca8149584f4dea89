"""``discreet fit``: pay, fit, and write a model with its card."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.cluster import Cluster, check_spread, connect
from discreet.cli.console import AsJson, note_seeded_noise, note_warnings, show_status
from discreet.cli.late_help import LEARNERS
from discreet.cli.new_files import NewFolder
from discreet.cli.shared_options import (
    ChargedLedger,
    Delta,
    KeyFile,
    LedgerDataset,
    LedgerPart,
    MaxRows,
    NewModelFolder,
    NoLedgerCharged,
    Purpose,
    Rehearse,
    SchemaFile,
    TableFiles,
)
from discreet.cli.signals import Unhurried
from discreet.errors import LargeDeltaWarning


def fit(
    schema_file: SchemaFile,
    data: TableFiles,
    out: NewModelFolder,
    ledger: ChargedLedger = None,
    no_ledger: NoLedgerCharged = False,
    epsilon: Annotated[
        float | None, typer.Option(help="The privacy budget of this fit; or say it in the schema.")
    ] = None,
    delta: Delta = None,
    dataset: LedgerDataset = None,
    part: LedgerPart = None,
    purpose: Purpose = "",
    mechanism: Annotated[
        str | None, typer.Option(help=f"auto, {LEARNERS}; or say it in the schema.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="additive: a curve for each column, which may bend; linear: a coefficient for "
            "each. If left out, additive for classes, and linear for numbers, without a delta, "
            "with a --mechanism, or where no range is declared. For numbers ask for additive from "
            "some 4000 rows times epsilon on.",
        ),
    ] = None,
    max_rows: MaxRows = None,
    test_share: Annotated[
        float | None,
        typer.Option(
            help="Leave about this share of the records out, each by itself as `discreet split` "
            "does; `discreet score` with the same share scores them."
        ),
    ] = None,
    key_file: KeyFile = None,
    rehearse: Rehearse = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Fit a private model of a table, charged to a ledger before a row is used.

    Everything is checked first: schema, columns, types, ledger, disk space. Values outside the
    declared ranges are clipped, and missing cells filled, without an error. The ledger is charged
    epsilon and delta; the charge stands if the fit fails. The folder gets the model, its schema and
    its privacy card, all at once or not at all.

    Example:

        discreet fit hospital/schema.toml hospital/hospital.parquet \\
            --ledger patients.db --epsilon 1 --out model
    """
    from discreet import tables  # slow to import
    from discreet.cli import fit_steps as steps
    from discreet.schema import read

    schema = read(schema_file)
    model = steps.make_model(schema, epsilon, delta, mechanism, max_rows, rehearse, kind)
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    model.ledger = books
    side = steps.find_side(schema, test_share, key_file, test=False)
    table = tables.open_table(data, schema)
    check_spread(cluster, table)
    with connect(cluster), NewFolder(out) as folder:
        given = steps.open_data(table, on_cluster=cluster is not None, side=side)
        with Unhurried(model), note_warnings(LargeDeltaWarning), show_status("Fitting"):
            model.fit(**given, purpose=purpose)
            del given
            steps.keep(model, schema, books, folder, out)
    if not model.release_.is_private:
        note_seeded_noise("the model")
    steps.tell(model, books, out, as_json)
