"""``discreet select``: pay, choose columns, and write the choice with its card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import _checks
from discreet.cli.cluster import Cluster, check_spread, connect
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

if TYPE_CHECKING:
    from discreet.cli.model_folder import Selection
    from discreet.schema import Schema

MAKERS: dict[str, tuple[str, dict[str, str]]] = {
    "peeling": ("PeelingSupport", {}),
    "votes": ("BlockVoteSupport", {"vote": "support"}),
    "columns": ("BlockVoteSupport", {"vote": "columns"}),
    "subsets": ("ExponentialSupport", {}),
    "lasso": ("LassoStability", {}),
}
"""The selector of each method, and what sets it apart."""

METHODS = tuple(MAKERS)
WITH_BLOCKS = ("votes", "columns")


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
    from discreet.schema import read

    schema = read(schema_file)
    options = steps.find_options(schema, epsilon, delta, max_rows, rehearse)
    options |= schema.contributions()
    selector = make_selector(schema, method, features, blocks, jobs, options)
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    selector.ledger = books
    table = tables.open_table(data, schema)
    check_spread(cluster, table)
    print_note(plan_in_words(selector, schema, method))
    with connect(cluster), NewFolder(out) as folder:
        given = steps.open_data(table, on_cluster=cluster is not None)
        with Unhurried(selector), note_warnings(LargeDeltaWarning), show_status("Choosing"):
            selector.fit(**given, purpose=purpose)
            del given
            steps.keep(selector, schema, books, folder, out)
    if not selector.release_.is_private:
        note_seeded_noise("the choice")
    first, more = outcome(selector, method)
    steps.tell(selector, books, out, as_json, first=first, more=more)


def make_selector(
    schema: Schema,
    method: str,
    features: int,
    blocks: int | None,
    jobs: int | None,
    options: dict[str, Any],
) -> Selection:
    """Return the selector, from what is said on the command line or in the schema."""
    from discreet import feature_selection  # slow to import
    from discreet.schema import CLASSIFICATION

    _checks.one_of(METHODS, method=method)
    schema.check_promise()
    columns = schema.declared_columns()
    _checks.whole(features=features, at_least=1, at_most=len(columns))
    if method in WITH_BLOCKS:
        options = {**options, "blocks": blocks, "n_jobs": jobs}
    elif blocks is not None or jobs is not None:
        raise InputError(f"--blocks and --jobs are for votes of blocks; {method} has none.")
    if method == "lasso":
        options = {**options, "expected_rows": schema.expected_rows}
    if schema.target.task == CLASSIFICATION:
        options = {**options, "classes": list(schema.target.classes)}
    else:
        options = {**options, "target_range": schema.target.range}
    name, own = MAKERS[method]
    maker = getattr(feature_selection, name)
    selector: Selection = maker(features, columns=columns, unit=schema.unit, **own, **options)
    if selector.feature_map().sought is not None:
        raise InputError(
            f"{schema.source} has columns with public_bounds, whose ranges only a fit finds; "
            "declare their range to choose among them."
        )
    return selector


def plan_in_words(selector: Selection, schema: Schema, method: str) -> str:
    """Say what will be done, before anything is paid."""
    from discreet.privacy.guarantee import in_three_digits as up  # slow to import

    columns = len(schema.columns)
    said = (
        f"Choosing {selector.n_features_to_select} of {columns} columns by {method}, for epsilon "
        f"{up(selector.epsilon)}"
    )
    if method in ("votes", "lasso"):
        said += "; that there is no stable answer would cost the same"
    return f"{said}."


def outcome(selector: Selection, method: str) -> tuple[str, dict[str, Any]]:
    """Return what was chosen, for people and for programs."""
    names = [str(selector.feature_names_in_[place]) for place in selector.selected_]
    told = {"method": method, "is_stable": bool(selector.is_stable_), "columns": names}
    if not selector.is_stable_:
        return "No stable answer: no choice of columns was far enough ahead.", told
    return f"Chosen: {', '.join(names)}.", told
