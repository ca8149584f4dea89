"""``discreet demo``: the demonstration, or its table in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import AsJson
from discreet.errors import InputError


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--write",
            help="Write the table and a schema to this new folder instead.",
            metavar="FOLDER",
        ),
    ] = None,
    patients: Annotated[int, typer.Option(help="How many, a quarter held out.", min=100)] = 20_000,
    as_json: AsJson = False,
) -> None:
    """Show a private model of synthetic patients: what it promises and what that costs.

    With --write, write the patients to files, to run the whole chain on: hospital.csv and
    hospital.parquet, holdout.csv of other patients, and schema.toml. No ledger of yours is charged.

    Example:

        discreet demo --write hospital
    """
    if folder is not None:
        from discreet.cli.hospital_files import write_hospital  # slow to import

        write_hospital(folder, patients, as_json)
        return
    if as_json:
        raise InputError("the demonstration is for people; --json goes with --write.")
    from discreet.demo import main  # slow to import

    main(patients=patients)
