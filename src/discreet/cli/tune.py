"""``discreet tune``: pay once, choose a model among several, and write it with its card."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from discreet.cli.console import AsJson, note_seeded_noise, note_warnings, show_status
from discreet.cli.new_files import NewFolder
from discreet.cli.shared_options import (
    ChargedLedger,
    Delta,
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


def tune(
    schema_file: SchemaFile,
    data: TableFiles,
    out: NewModelFolder,
    grid: Annotated[
        list[str] | None,
        typer.Option(help="A TOML file, or a line such as 'C = [0.01, 0.1]'; may be repeated."),
    ] = None,
    ledger: ChargedLedger = None,
    no_ledger: NoLedgerCharged = False,
    epsilon: Annotated[
        float | None, typer.Option(help="The privacy budget of the whole search; or in the schema.")
    ] = None,
    delta: Delta = None,
    method: Annotated[str, typer.Option(help="auto, split, repeat or compose.")] = "auto",
    dataset: LedgerDataset = None,
    part: LedgerPart = None,
    purpose: Purpose = "",
    max_rows: MaxRows = None,
    rehearse: Rehearse = None,
    as_json: AsJson = False,
) -> None:
    """Choose parameters privately and fit the model, charged once before a row is used.

    A grid lists values of parameters of the model, and ranges of columns:

        C = [0.01, 0.1, "default"]
        ranges.age = [[18, 100], [0, 120]]

    Candidates are fitted privately to parts of the rows and compared on others. The ledger is
    charged once, for the whole search. No score is shown: use `discreet score` for a private one.

    Example:

        discreet tune hospital/schema.toml hospital/hospital.parquet \\
            --grid 'margin = [0.0, 1.0, 2.0]' --ledger patients.db --epsilon 1 --out model
    """
    from discreet import tables  # slow to import
    from discreet.cli import fit_steps as steps
    from discreet.cli.tune_grid import list_values, read_grid
    from discreet.model_selection import PrivateSearchCV
    from discreet.model_selection.candidates import describe
    from discreet.schema import read

    schema = read(schema_file)
    model = steps.make_model(schema, epsilon, delta, None, max_rows, None)
    values = list_values(read_grid(grid or []), schema.declared_columns())
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    search = PrivateSearchCV(
        model, values, epsilon=model.epsilon, delta=model.delta, method=method, ledger=books,
        unit=model.unit,
        expected_rows=schema.expected_rows, max_rows=model.max_rows, rehearsal=rehearse,
    )  # fmt: skip
    tables.check(data, schema)
    with NewFolder(out) as folder:
        given = steps.open_data(schema, data, on_cluster=False)
        with Unhurried(search), note_warnings(LargeDeltaWarning), show_status("Searching"):
            search.fit(**given, purpose=purpose or "discreet tune")
            del given
            chosen = search.best_estimator_
            chosen.ledger = books
            said = replace(schema, columns=chosen.columns)
            steps.keep(chosen, said, books, folder, out)
    if not search.release_.is_private:
        note_seeded_noise("the model")
    words = describe(search.best_params_ or {})
    first = f"Chosen among {len(search.candidates_)} by {search.method_}: {words}."
    more = {
        "candidates": len(search.candidates_),
        "method": search.method_,
        "chosen": search.best_index_,
        "chosen_words": words,
    }
    steps.tell(chosen, books, out, as_json, first, more)
