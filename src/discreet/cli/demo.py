"""``discreet demo``: the demonstration, or its table in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from discreet import tables
from discreet.cli.console import AsJson, print_result, show_status
from discreet.cli.new_files import NewFolder
from discreet.datasets import HOSPITAL, hospital
from discreet.errors import InputError
from discreet.schema import CLASSIFICATION, Schema, Target, write

TARGET = "back_within_90_days"

SCHEMA = Schema(
    dict(HOSPITAL),
    Target(TARGET, CLASSIFICATION, classes=("no", "yes")),
    name="hospital",
    protects="one patient",
)

PREAMBLE = """A made-up hospital: nobody in it exists.
What a clinician would declare about it without opening the table."""


def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--write", help="Write the table and a schema to this new folder instead."),
    ] = None,
    patients: Annotated[int, typer.Option(help="How many, a quarter held out.", min=100)] = 20_000,
    as_json: AsJson = False,
) -> None:
    """Show a private model of made-up patients: what it promises and what that costs.

    With --write, write the patients to files, to run the whole chain on: hospital.csv and
    hospital.parquet, holdout.csv of other patients, and schema.toml.

    Example:

        discreet demo --write hospital
    """
    if folder is not None:
        _write(folder, patients, as_json)
        return
    if as_json:
        raise InputError("the demonstration is for people; --json goes with --write.")
    from discreet.demo import main  # draws pictures

    main(patients=patients)


def _write(folder: Path, patients: int, as_json: bool) -> None:
    with NewFolder(folder) as new, show_status("Making up patients"):
        columns = _columns(patients)
        cut = 3 * patients // 4
        train = {name: cells[:cut] for name, cells in columns.items()}
        rest = {name: cells[cut:] for name, cells in columns.items()}
        new.give_room()
        new.inside.mkdir()
        tables.write(new.inside / "hospital.csv", train)
        tables.write(new.inside / "hospital.parquet", train)
        tables.write(new.inside / "holdout.csv", rest)
        schema = write(SCHEMA, preamble=PREAMBLE)
        (new.inside / "schema.toml").write_text(schema, encoding="utf-8")
        new.publish()
    names = ["hospital.csv", "hospital.parquet", "holdout.csv", "schema.toml"]
    print_result(
        f"Wrote {', '.join(names)} to {folder}: {cut} made-up patients, {patients - cut} held out.",
        {"folder": str(folder), "files": names, "rows": cut, "held_out": patients - cut},
        as_json=as_json,
    )


def _columns(patients: int) -> dict[str, Any]:
    table = hospital(patients)
    columns: dict[str, Any] = {}
    for place, name in enumerate(table.columns):
        cells = [None if cell != cell else cell for cell in table.X[:, place].tolist()]
        columns[name] = np.array(cells, dtype=object)
    columns[TARGET] = np.where(table.y, "yes", "no")
    return columns
