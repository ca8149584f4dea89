"""``discreet demo``: the demonstration, or its table in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import AsJson, print_result, show_status
from discreet.cli.new_files import NewFolder
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.datasets import HospitalTable


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
    hospital.parquet, holdout.csv of other patients, and schema.toml; and several stays of each of
    other patients, stays.parquet, with stays.toml. No ledger of yours is charged.

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


TARGET, PERSON = "back_within_90_days", "patient_id"
STAYS = ("stays.parquet", "stays.toml")

PREAMBLE = """A synthetic hospital: nobody in it exists.
What a clinician would declare about it without opening the table."""


def write_hospital(folder: Path, patients: int, as_json: bool) -> None:
    """Write so many patients to a new folder, a quarter of them held out."""
    from discreet import tables  # slow to import
    from discreet.datasets import HOSPITAL, hospital, hospital_stays
    from discreet.schema import CLASSIFICATION, Schema, Target, write

    schema = Schema(
        dict(HOSPITAL),
        Target(TARGET, CLASSIFICATION, classes=("no", "yes")),
        name="hospital",
        protects="one patient",
        rows_per_person=1,
    )
    with NewFolder(folder) as new, show_status("Making up patients"):
        columns, table = _columns_of(hospital(patients)), hospital_stays(patients // 4)
        cut = 3 * patients // 4
        train = {name: cells[:cut] for name, cells in columns.items()}
        rest = {name: cells[cut:] for name, cells in columns.items()}
        new.give_room()
        new.inside.mkdir()
        tables.write(new.inside / "hospital.csv", train)
        tables.write(new.inside / "hospital.parquet", train)
        tables.write(new.inside / "holdout.csv", rest)
        stays = {PERSON: table.patients, **_columns_of(table)}
        tables.write(new.inside / "stays.parquet", stays)
        several = replace(schema, name="stays", person=PERSON, unit="auto", rows_per_person=None)
        for name, declared in {"schema.toml": schema, "stays.toml": several}.items():
            text = write(declared, preamble=PREAMBLE)
            (new.inside / name).write_text(text, encoding="utf-8")
        new.publish()
    names = ["hospital.csv", "hospital.parquet", "holdout.csv", "schema.toml"]
    print_result(
        f"Wrote {', '.join(names)} to {folder}: {cut} synthetic patients, "
        f"{patients - cut} held out. And {', '.join(STAYS)}: several stays of each of "
        f"{patients // 4} patients.",
        {"folder": str(folder), "files": [*names, *STAYS], "rows": cut, "held_out": patients - cut},
        as_json=as_json,
    )


def _columns_of(table: HospitalTable) -> dict[str, Any]:
    import numpy as np  # slow to import

    columns: dict[str, Any] = {}
    for place, name in enumerate(table.columns):
        cells = [None if cell != cell else cell for cell in table.X[:, place].tolist()]
        columns[name] = np.array(cells, dtype=object)
    columns[TARGET] = np.where(table.y, "yes", "no")
    return columns
