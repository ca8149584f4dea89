"""``discreet demo``: the demonstration, or its table in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.console import AsJson, print_result, show_status
from discreet.cli.new_files import NewFolder
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
        write_hospital(folder, patients, as_json)
        return
    if as_json:
        raise InputError("the demonstration is for people; --json goes with --write.")
    from discreet.cli.demonstration import main  # slow to import

    main(patients=patients)


TARGET = "back_within_90_days"

PREAMBLE = """A synthetic hospital: nobody in it exists.
What a clinician would declare about it without opening the table."""


def write_hospital(folder: Path, patients: int, as_json: bool) -> None:
    """Write so many patients to a new folder, a quarter of them held out."""
    from discreet import tables  # slow to import
    from discreet.datasets import HOSPITAL
    from discreet.schema import CLASSIFICATION, Schema, Target, write

    schema = Schema(
        dict(HOSPITAL),
        Target(TARGET, CLASSIFICATION, classes=("no", "yes")),
        name="hospital",
        protects="one patient",
        rows_per_person=1,
    )
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
        text = write(schema, preamble=PREAMBLE)
        (new.inside / "schema.toml").write_text(text, encoding="utf-8")
        new.publish()
    names = ["hospital.csv", "hospital.parquet", "holdout.csv", "schema.toml"]
    print_result(
        f"Wrote {', '.join(names)} to {folder}: {cut} synthetic patients, "
        f"{patients - cut} held out.",
        {"folder": str(folder), "files": names, "rows": cut, "held_out": patients - cut},
        as_json=as_json,
    )


def _columns(patients: int) -> dict[str, Any]:
    import numpy as np  # slow to import

    from discreet.datasets import hospital

    table = hospital(patients)
    columns: dict[str, Any] = {}
    for place, name in enumerate(table.columns):
        cells = [None if cell != cell else cell for cell in table.X[:, place].tolist()]
        columns[name] = np.array(cells, dtype=object)
    columns[TARGET] = np.where(table.y, "yes", "no")
    return columns
