"""``discreet split``: two files of a table, for training and for testing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import AsJson, print_result, show_status
from discreet.cli.new_files import check_new, new_file
from discreet.cli.shared_options import KeyFile, SchemaFile, TableFiles
from discreet.errors import InputError

LARGEST_KEY = 2**16


def split(
    schema_file: SchemaFile,
    data: TableFiles,
    out: Annotated[
        tuple[Path, Path],
        typer.Option(
            help="Two new .csv or .parquet files: for training, and for testing.",
            metavar="TRAIN TEST",
        ),
    ],
    test_share: Annotated[
        float, typer.Option(help="About which share of the records is for testing.")
    ] = 0.25,
    person: Annotated[
        str | None,
        typer.Option(
            help="The column that says whose row each is: all rows of a person go to one side. "
            "[the schema's]",
            metavar="COLUMN",
        ),
    ] = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Split a table for training and testing: a record's side depends on that record alone.

    It is a hash of the record's declared cells and its target, or of the person. One record more or
    fewer changes one of the two files, and moves no other record, as a split by position would.
    With the same key the parts are the same again. How many rows each has is private, and not told.
    Nothing is charged: both files are as private as the table.

    Example:

        discreet split hospital/schema.toml hospital/hospital.csv --out train.parquet test.parquet
    """
    from discreet import tables  # slow to import, as all of these
    from discreet.data.stored.sources import format_of
    from discreet.schema import read

    schema = read(schema_file)
    sides = tables.declared_sides(schema, test_share, read_key(key_file))
    for path in out:
        format_of(path, is_new=True)
        check_new(path)
    train, test = out
    if train.resolve() == test.resolve():
        raise InputError("--out needs two names of new files; got one twice.")
    table = tables.open_table(data, schema)
    with show_status("Splitting"), new_file(train) as first, new_file(test) as second:
        tables.split_table(table, sides, (first, second), person=person)
    print_result(
        f"Wrote {train} and {test}.", {"train": str(train), "test": str(test)}, as_json=as_json
    )


def read_key(path: Path | None) -> bytes | None:
    """Return the key in a file, without white space around it; None if there is no file."""
    if path is None:
        return None
    with path.open("rb") as file:
        key = file.read(LARGEST_KEY + 1)
    if len(key) > LARGEST_KEY or not key.strip():
        raise InputError(f"{path}: a key must be a text of at most {LARGEST_KEY} bytes.")
    return key.strip()
