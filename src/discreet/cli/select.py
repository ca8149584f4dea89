"""``discreet select``: pay, choose columns, and write the choice with its card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.cluster import Cluster, connect
from discreet.cli.console import AsJson, note_seeded_noise, note_warnings, print_note, show_status
from discreet.cli.new_files import NewFolder
from discreet.cli.shared_options import (
    ChargedLedger,
    Delta,
    LedgerDataset,
    LedgerPart,
    MaxRows,
    NoLedgerCharged,
    Purpose,
    Rehearse,
    SchemaFile,
    TableFiles,
)
from discreet.cli.signals import Unhurried
from discreet.errors import InputError, LargeDeltaWarning

METHODS = ("peeling", "votes", "columns", "subsets", "lasso")


def select(
    schema_file: SchemaFile,
    data: TableFiles,
    features: Annotated[int, typer.Option(help="How many columns to choose.")],
    out: Annotated[
        Path, typer.Option(help="The new folder for the choice and its card.", metavar="FOLDER")
    ],
    method: Annotated[
        str,
        typer.Option(
            help="peeling: the columns of largest covariance with the target, one after another, "
            "always an answer. votes: the set that most of many blocks of rows choose, or no "
            "stable answer. columns: the columns that most blocks choose, each by itself. subsets: "
            "the set on which a linear model errs least, of up to 100,000. lasso: the columns that "
            "a LASSO uses, or no stable answer; numbers only, and expected_rows in the schema."
        ),
    ] = "peeling",
    ledger: ChargedLedger = None,
    no_ledger: NoLedgerCharged = False,
    epsilon: Annotated[
        float | None,
        typer.Option(help="The privacy budget of this choice; or say it in the schema."),
    ] = None,
    delta: Delta = None,
    dataset: LedgerDataset = None,
    part: LedgerPart = None,
    purpose: Purpose = "",
    blocks: Annotated[
        int | None,
        typer.Option(help="How many blocks vote. [what the budget needs if most of them agree]"),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="How many blocks are worked on at once; -1 for all cores.")
    ] = None,
    max_rows: MaxRows = None,
    rehearse: Rehearse = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Choose columns of a table privately, charged to a ledger before a row is used.

    Which columns matter is told by the choice, so it costs budget like a model. A model that is
    fitted to the chosen columns afterwards is charged by itself. Votes may find no stable answer,
    which is charged as an answer is: it says something about the rows too. The folder gets the
    choice, the schema and a privacy card, all at once or not at all.

    Example:

        discreet select hospital/schema.toml hospital/hospital.parquet --features 2 \\
            --ledger patients.db --epsilon 0.5 --out choice
    """
    from discreet import tables  # slow to import
    from discreet.cli import fit_steps as steps
    from discreet.cli import select_steps
    from discreet.schema import read

    schema = read(schema_file)
    options = steps.find_options(schema, epsilon, delta, max_rows, rehearse)
    selector = select_steps.make_selector(schema, method, features, blocks, jobs, options)
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    selector.ledger = books
    tables.check(data, schema)
    if cluster is not None and not tables.are_files(data):
        raise InputError("--cluster is for a folder or pattern of Parquet files; got one file.")
    print_note(select_steps.plan_in_words(selector, schema, method))
    with connect(cluster), NewFolder(out) as folder:
        given = steps.open_data(schema, data, on_cluster=cluster is not None)
        with Unhurried(selector), note_warnings(LargeDeltaWarning), show_status("Choosing"):
            selector.fit(**given, purpose=purpose)
            del given
            steps.keep(selector, schema, books, folder, out)
    if not selector.release_.is_private:
        note_seeded_noise("the choice")
    first, more = select_steps.outcome(selector, method)
    steps.tell(selector, books, out, as_json, first=first, more=more)
