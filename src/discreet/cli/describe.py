"""``discreet describe``: a private "Table 1" of the declared columns of a table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import AsJson, note_seeded_noise, note_warnings, print_result, show_status
from discreet.cli.failures import Unwritten
from discreet.cli.new_files import check_new, new_file
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
from discreet.errors import DiscreetError, InputError, LargeDeltaWarning

if TYPE_CHECKING:
    from discreet.statistics import Description


def describe(
    schema_file: SchemaFile,
    data: TableFiles,
    ledger: ChargedLedger = None,
    no_ledger: NoLedgerCharged = False,
    epsilon: Annotated[
        float | None,
        typer.Option(help="The privacy budget of this description; or say it in the schema."),
    ] = None,
    delta: Delta = None,
    by: Annotated[
        str | None,
        typer.Option(help="A declared category: everything is told for each of its levels, too."),
    ] = None,
    level: Annotated[float, typer.Option(help="The confidence level of intervals.")] = 0.95,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="A new file: .html (a page), .csv (a line for each statistic), .json (the "
            "release), .png, .svg or .pdf (a picture). Repeat it for several.",
            metavar="FILE",
        ),
    ] = None,
    dataset: LedgerDataset = None,
    part: LedgerPart = None,
    purpose: Purpose = "",
    max_rows: MaxRows = None,
    rehearse: Rehearse = None,
    as_json: AsJson = False,
) -> None:
    """Describe every declared column privately, charged to a ledger before a row is used.

    Of numbers: missing cells, mean, standard deviation, quartiles; of categories, the target among
    them: counts and shares. All of it is one release and one charge, and every number has an
    interval for noise and sampling. The charge stands if the command fails.

    Example:

        discreet describe hospital/schema.toml hospital/hospital.parquet \\
            --ledger patients.db --epsilon 0.3 --by ward
    """
    from discreet import describe as describe_table  # slow to import, as all of these
    from discreet import tables
    from discreet.cli import fit_steps as steps
    from discreet.schema import read

    if not 0 < level < 1:
        raise InputError(f"--level must be between 0 and 1; got {level}.")
    for path in out or ():
        _check_out(path)
    schema = read(schema_file)
    schema.check_promise()
    options = steps.find_options(schema, epsilon, delta, max_rows, rehearse)
    columns = schema.all_columns()
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    table = tables.open_table(data, schema)
    with show_status("Reading the table"):
        rows = table.all_columns()
    paid = SimpleNamespace()
    with Unhurried(paid):
        with note_warnings(LargeDeltaWarning), show_status("Describing"):
            found = describe_table(
                rows, columns=columns, by=by, unit=schema.unit, ledger=books, level=level,
                purpose=purpose or "discreet describe", **options,
            )  # fmt: skip
            del rows
            paid.release_ = found.release_
        _keep(found, out or [])
        if not found.release_.is_private:
            note_seeded_noise("the description")
        print_result(found.summary(), _document(found), as_json=as_json)


WRITERS: dict[str, Callable[[Description, Path], Any]] = {
    ".html": lambda found, path: path.write_text(found.html(), encoding="utf-8"),
    ".csv": lambda found, path: path.write_text(found.csv(), encoding="utf-8"),
    ".json": lambda found, path: path.write_text(found.release_.to_json(), encoding="utf-8"),
    **dict.fromkeys((".png", ".svg", ".pdf"), lambda found, path: found.plot().savefig(path)),
}
"""How each kind of file is written."""


def _check_out(path: Path) -> None:
    if path.suffix not in WRITERS:
        raise InputError(f"--out must end in {', '.join(WRITERS)}; got {path}.")
    check_new(path)


def _keep(found: Description, files: list[Path]) -> None:
    """Write what was released: paid for, so that a full disk must not lose it."""
    for path in files:
        try:
            with new_file(path) as temporary:
                WRITERS[path.suffix](found, temporary)
        except BaseException as error:  # an impatient key too
            why = f" ({error})" if isinstance(error, DiscreetError) else ""
            problem = f"{path} cannot be written{why}; the release is paid for and kept"
        else:
            continue
        raise Unwritten(f"{problem} {_rescue(found)}")


def _rescue(found: Description) -> str:
    """Save the release somewhere else, and say where."""
    try:
        place = Path(tempfile.mkdtemp(prefix="discreet-rescued-"))
        (place / "release.json").write_text(found.release_.to_json(), encoding="utf-8")
        (place / "description.csv").write_text(found.csv(), encoding="utf-8")
    except Exception:
        typer.echo(found.release_.to_json())
        return "on the standard output only, as JSON: copy it from there."
    return f"in {place}."


def _document(found: Description) -> dict[str, Any]:
    guarantee, is_private = found.privacy_, found.release_.is_private
    return {
        "statistics": found.lines(),
        "level": found.read.level,
        "epsilon": guarantee.epsilon() if is_private else None,
        "delta": guarantee.quoted_delta if is_private else None,
        "charge": found.release_.receipt_number or None,
    }
