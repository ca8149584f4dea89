"""``discreet tune``: pay once, choose a model among several, and write it with its card."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from discreet.errors import InputError, LargeDeltaWarning

if TYPE_CHECKING:
    from discreet.preprocessing import Column


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
    from discreet.model_selection import PrivateSearchCV
    from discreet.model_selection.candidates import describe
    from discreet.schema import read

    schema = read(schema_file)
    model = steps.make_model(schema, epsilon, delta, None, max_rows, None, "linear")
    values = list_values(read_grid(grid or []), schema.declared_columns())
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    search = PrivateSearchCV(
        model, values, epsilon=model.epsilon, delta=model.delta, method=method, ledger=books,
        unit=model.unit, **schema.contributions(),
        expected_rows=schema.expected_rows, max_rows=model.max_rows, rehearsal=rehearse,
    )  # fmt: skip
    table = tables.open_table(data, schema)
    with NewFolder(out) as folder:
        given = steps.open_data(table)
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


RANGES = "ranges"
"""The table of a grid that lists ranges of columns."""

DEFAULT = "default"
"""What stands in a grid for a parameter that is left open: TOML has no word for nothing."""


def read_grid(given: Sequence[str]) -> dict[str, Any]:
    """Return a grid of parameters: that of a TOML file, or of lines such as ``C = [0.1, 1]``.

    Examples
    --------
    >>> read_grid(["C = [0.1, 'default']", "ranges.age = [[18, 100], [0, 120]]"])
    {'C': [0.1, 'default'], 'ranges': {'age': [[18, 100], [0, 120]]}}
    """
    if not given:
        raise InputError("--grid is missing: name a TOML file, or write --grid 'C = [0.01, 0.1]'.")
    text = "\n".join(given)
    if len(given) == 1 and "=" not in text:
        path = Path(text)
        if not path.is_file():
            raise InputError(f"{path} is no file; a line of a grid is written as C = [0.01, 0.1].")
        text = path.read_text(encoding="utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the grid is no TOML: {error}.") from None


def list_values(grid: dict[str, Any], columns: dict[str, Column]) -> dict[str, list[Any]]:
    """Return what each parameter is chosen among, as a search takes it."""
    values: dict[str, list[Any]] = {}
    for name, listed in grid.items():
        if name == RANGES:
            values["columns"] = _with_ranges(listed, columns)
        elif not isinstance(listed, list):
            raise InputError(f"{name} must be a list of values to choose among; got {listed!r}.")
        else:
            values[name] = [None if value == DEFAULT else value for value in listed]
    return values


def _with_ranges(listed: Any, columns: dict[str, Column]) -> list[dict[str, Column]]:
    """Return the columns with every combination of ranges; what stands for gaps stays."""
    from discreet.preprocessing import Numeric  # slow to import

    if not isinstance(listed, dict):
        raise InputError("ranges must be a table: ranges.age = [[18, 100], [0, 120]].")
    for name, ranges in listed.items():
        if not isinstance(columns.get(name), Numeric):
            raise InputError(f"ranges.{name}: the schema declares no number of this name.")
        is_list = isinstance(ranges, list) and all(
            isinstance(one, list) and len(one) == 2 for one in ranges
        )
        if not is_list or not ranges:
            raise InputError(f"ranges.{name} must be a list of ranges, each of two numbers.")

    def narrow(column: Any, low: Any, high: Any) -> Numeric:
        return Numeric(low, high, fill=column.fill, whole=column.whole)

    return [
        columns
        | {name: narrow(columns[name], *ends) for name, ends in zip(listed, one, strict=True)}
        for one in product(*listed.values())
    ]
