"""``discreet init``: propose a schema file for a table."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.console import AsJson, print_note, print_result, show_status
from discreet.cli.new_files import check_new, write_text
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.schema import Schema

PREAMBLE = """What is declared about this table; `discreet init` proposed names and types.

Fill in every empty range and every empty list of categories, from knowledge of the subject
(a law, an instrument, a form) and not by looking at the data: what is measured here is given away.
Values outside are no error, they are clipped. Say what one record is under `protects`,
and under `rows_per_person` how many rows one patient, client or user may have at most.
Columns that must not be used go to the list `ignored`."""

LEAK = """WARNING: ranges and categories in this file were MEASURED from the data by --measure.
They tell something about the records they were measured from, and no guarantee covers that.
Replace them by what you would have declared without looking."""

FIRST_LINE = """The first line of the file was taken as the names of its columns.
Check that the names in this file are no values of a record. If they are, delete this file, put
a line of names before the first record, and run `discreet init` again."""

MOST_CATEGORIES = 50
"""A column with more labels is no category to measure, but names or numbers of people."""


def init(
    data: Annotated[Path, typer.Argument(help="A CSV or Parquet file.", metavar="DATA")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write the schema. [schema.toml or schema.csv]")
    ] = None,
    target: Annotated[str, typer.Option(help="The column to be predicted.")] = "",
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Fill in ranges and categories from the data. THIS IS A LEAK."
        ),
    ] = False,
    as_sheet: Annotated[
        bool, typer.Option("--csv", help="Write a spreadsheet, one line a column, and not TOML.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Propose a schema file: names and types of columns, with empty ranges for you to declare.

    No value of the table is copied, unless --measure asks for it; only that a --target holds
    nothing but zeros and ones, or true and false, is looked at. The first line of a CSV file is
    taken as names of columns, and they are copied. Charges nothing.

    Example:

        discreet init hospital/hospital.csv --target back_within_90_days --out new.toml
    """
    from discreet import tables  # slow to import
    from discreet.schema import propose, write, write_sheet
    from discreet.schema.schema import KINDS

    if as_sheet and measure:
        raise InputError(
            "--measure has to say in the file that it is a leak, and a spreadsheet has no place "
            "for that; drop --csv."
        )
    suffix = ".csv" if as_sheet else ".toml"
    out = Path(f"schema{suffix}") if out is None else out
    check_new(out, force=force)
    if out.suffix.lower() != suffix:
        hint = "; drop --csv for TOML" if as_sheet else "; --csv writes a spreadsheet"
        raise InputError(f"--out must end in {suffix}; got {out}{hint}.")
    with show_status("Looking at the columns"):
        kinds = tables.describe(data)
        if target and target not in kinds:
            near = [name for name in kinds if target.lower() in name.lower()]
            near = near or difflib.get_close_matches(target, list(kinds), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{data}: there is no column {target!r} to be the target.{hint}")
        usable = {name: kind for name, kind in kinds.items() if kind in KINDS}
        found = tables.measure(data, usable, MOST_CATEGORIES) if measure else {}
        classes = tables.classes_of_truth(data, target) if target in usable else ()
    schema = propose(data.stem, kinds, target, found, classes)
    notes = dict.fromkeys(found, "MEASURED: a leak")
    warnings = [LEAK] if measure else []
    if tables.has_names_as_text(data):
        warnings.append(FIRST_LINE)
    preamble = "\n\n".join([*warnings, PREAMBLE])
    text = write_sheet(schema) if as_sheet else write(schema, preamble=preamble, notes=notes)
    write_text(out, text, force=force)
    for warning in warnings:
        print_note(warning.replace("this file", str(out)) if warning is FIRST_LINE else warning)
    print_result(
        _tell(out, schema, measure),
        {
            "schema": str(out),
            "columns": {name: kinds[name] for name in schema.columns},
            "ignored": list(schema.ignored),
            "target": target or None,
            "is_measured": measure,
        },
        as_json=as_json,
    )


def _tell(out: Path, schema: Schema, measured: bool) -> str:
    lines = [f"Wrote {out}: {len(schema.columns)} columns."]
    if schema.ignored:
        names = ", ".join(name or "the first, which has no name" for name in schema.ignored)
        lines.append(f"Ignored, because no schema has their type: {names}.")
    is_sheet = out.suffix.lower() == ".csv"
    if not schema.target.name:
        how = "Give the role `predict` to" if is_sheet else "Name under [target]"
        lines.append(f"{how} the column to be predicted.")
    lines.append(
        "Replace what was measured by what you know."
        if measured
        else "Now declare ranges and categories in it, from knowledge and not from the data."
    )
    return "\n".join(lines)
